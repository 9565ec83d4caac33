package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/highwater-kafka/highwater/static"
)

// Limits bound what one server does for all and for one.
type Limits struct {
	Message       int64         // bytes of a message from a page
	Events        int           // events of a run
	RunsPerSecond int           // new runs; those in the cache are free
	Parallel      int           // runs computed at once
	CachedRuns    int           //
	WriteTimeout  time.Duration // for a reader that takes nothing
}

// DefaultLimits suit a laptop and a classroom.
func DefaultLimits() Limits {
	return Limits{Message: 256 << 10, Events: 500_000, RunsPerSecond: 20, Parallel: 4, CachedRuns: 64, WriteTimeout: 30 * time.Second}
}

// Server is Highwater's HTTP handler.
type Server struct {
	Limits Limits

	lib    Library
	cache  *cache
	router chi.Router
	down   chan struct{} // closed when the server stops
	stop   sync.Once
}

// New makes a server over a library.
func New(lib Library, lim Limits) *Server {
	s := &Server{Limits: lim, lib: lib, cache: newCache(lib, lim), down: make(chan struct{})}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.Compress(5, "text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml"))
	r.Get("/", s.menu)
	r.Get("/keys", s.keys)
	r.Get("/concepts", s.concepts)
	r.Get("/s/{id}", s.player)
	r.Get("/embed/{id}", s.embed)
	r.Get("/still/{file}", s.still)
	r.Get("/ws", s.stream)
	r.Get("/static/{hash}/*", s.static)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = fmt.Fprintln(w, "ok")
	})
	r.NotFound(s.notFound)
	s.router = r
	return s
}

// ServeHTTP sets what all answers have in common.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	s.router.ServeHTTP(w, r)
}

// static serves the embedded files for ever under their hash. Sandboxed frames
// load modules only from where any origin may read.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "*")
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	data, found := static.File(name)
	if !found || chi.URLParam(r, "hash") != static.Hash() {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// Close ends the streams, so that a shutdown need not wait for them.
func (s *Server) Close() { s.stop.Do(func() { close(s.down) }) }

// Listen opens the port of an address, or says in one sentence why not and
// what to do.
func Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program; choose another port with -addr, such as -addr %s", addr, nextPort(addr))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s; choose a port above 1023 with -addr", addr)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s; give -addr as host:port, such as 127.0.0.1:8080: %w", addr, err)
	}
	return l, nil
}

func nextPort(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	n, perr := strconv.Atoi(port)
	if err != nil || perr != nil || n >= 65535 {
		return "127.0.0.1:8081"
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

// Serve answers on a listener until the context ends, then lets what is under
// way finish for a few seconds.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	srv.RegisterOnShutdown(s.Close)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		return srv.Close()
	}
	return err
}
