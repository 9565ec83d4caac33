package web_test

import (
	"context"
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/highwater-kafka/highwater/static"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/demo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newServer(t *testing.T, lib web.Library, change func(*web.Limits)) *httptest.Server {
	t.Helper()
	lim := web.DefaultLimits()
	if change != nil {
		change(&lim)
	}
	s := web.New(lib, lim)
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		srv.Close()
	})
	return srv
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

func TestPages(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	for path, want := range map[string]struct {
		code int
		has  []string
	}{
		"/":                             {200, []string{`href="/s/demo"`, `loading="lazy"`, `src="/still/demo.svg?card=1"`}},
		"/?q=ACKS":                      {200, []string{`href="/s/demo"`, `value="ACKS"`}},
		"/?q=nothing":                   {200, []string{"No scenario has these words."}},
		"/s/demo":                       {200, []string{`class="hw-player"`, `data-embed="false"`, `id="hw-boot"`, `data-layout="wide"`, `id="lane/orders-0/b2/b1"`}},
		"/s/demo?layout=narrow&seed=9":  {200, []string{`viewBox="0 0 320 `, `"seed":9`}},
		"/s/demo?theme=light":           {200, []string{`data-theme="light"`}},
		"/embed/demo":                   {200, []string{`data-embed="true"`}},
		"/s/none":                       {404, []string{"There is no such page"}},
		"/embed/none":                   {404, []string{"There is no such page"}},
		"/still/none.svg":               {404, []string{"There is no such page"}},
		"/nowhere":                      {404, []string{"There is no such page"}},
		"/healthz":                      {200, []string{"ok"}},
		"/still/demo.svg?n=12":          {200, []string{"<style>", "DelayedProduce: waits for 2, 3"}},
		"/still/demo.svg?layout=narrow": {200, []string{`viewBox="0 0 320 `}},
		"/still/demo.svg?card=1":        {200, []string{`viewBox="0 0 320 `, `data-part="orders-0"`}},
		"/concepts":                     {200, []string{`href="#isr"`, "ISR (in-sync replicas)", `aria-current="page"`}},
	} {
		t.Run(path, func(t *testing.T) {
			res, body := get(t, srv.URL+path)
			assert.Equal(t, want.code, res.StatusCode)
			for _, s := range want.has {
				assert.Contains(t, body, s)
			}
			assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		})
	}
}

func TestOnlyTheEmbedMayBeFramedAnywhere(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	for path, own := range map[string]bool{"/": true, "/s/demo": true, "/embed/demo": false, "/nowhere": true} {
		res, body := get(t, srv.URL+path)
		csp := res.Header.Get("Content-Security-Policy")
		assert.Equal(t, own, strings.Contains(csp, "frame-ancestors 'self'"), path)
		assert.Contains(t, csp, "default-src 'none'", path)
		assert.NotContains(t, csp, "unsafe", path)
		assert.Contains(t, csp, " ws://"+strings.TrimPrefix(srv.URL, "http://"), path)
		assert.Empty(t, res.Header.Get("X-Frame-Options"), path)
		assert.NotContains(t, body, " style=", "the policy refuses inline styles: %s", path)
		assert.NotContains(t, body, "<style", path)
		assert.NotContains(t, body, " onclick=", path)
	}
}

func TestStillsAreXMLAndShowTheirMoment(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	_, before := get(t, srv.URL+"/still/demo.svg?n=1")
	res, after := get(t, srv.URL+"/still/demo.svg?n=999")
	assert.Equal(t, "image/svg+xml", res.Header.Get("Content-Type"))
	for _, svg := range []string{before, after} {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
	}
	assert.NotContains(t, before, ">r17<")
	assert.Contains(t, after, ">r17<")
	assert.Contains(t, after, ">HW 6<")
	assert.Contains(t, after, "r17 acknowledged at 5")
}

func TestStaticFilesAreImmutableAndReadableByAnyOrigin(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	for name, kind := range map[string]string{"css/highwater.css": "text/css", "css/stage.css": "text/css", "font/highwater-sans.woff2": "font/woff2"} {
		res, _ := get(t, srv.URL+"/static/"+static.Hash()+"/"+name)
		assert.Equal(t, 200, res.StatusCode, name)
		assert.Contains(t, res.Header.Get("Content-Type"), kind)
		assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		assert.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	}
	for _, path := range []string{"/static/old/css/stage.css", "/static/" + static.Hash() + "/css/", "/static/" + static.Hash() + "/none.css"} {
		res, _ := get(t, srv.URL+path)
		assert.Equal(t, 404, res.StatusCode, path)
		assert.NotContains(t, res.Header.Get("Cache-Control"), "immutable", path)
	}
}

func TestPagesAreCompressed(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	req, err := http.NewRequest(http.MethodGet, srv.URL+"/s/demo", nil)
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
}

func TestATakenPortIsOneSentenceWithANextStep(t *testing.T) {
	l, err := web.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	_, err = web.Listen(l.Addr().String())
	require.ErrorContains(t, err, "is taken by another program")
	assert.ErrorContains(t, err, "-addr")
	_, err = web.Listen("nonsense")
	assert.ErrorContains(t, err, "host:port")
}

func TestServeEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- web.New(demo.Library{}, web.DefaultLimits()).Serve(ctx, l) }()
	get(t, "http://"+l.Addr().String()+"/healthz")
	conn := dial(t, "http://"+l.Addr().String(), nil)
	send(t, conn, `{"op":"open","scenario":"demo"}`)
	first := receive(t, conn)
	assert.Equal(t, "run", first["op"])
	cancel()
	assert.NoError(t, <-done, "an open stream must not hold up the end")
}
