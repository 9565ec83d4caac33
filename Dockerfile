# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /highwater ./cmd/highwater

FROM scratch
COPY --from=build /highwater /highwater
COPY --from=build /src/LICENSE /LICENSE
USER 65532:65532
ENV HIGHWATER_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s CMD ["/highwater", "health"]
ENTRYPOINT ["/highwater"]
