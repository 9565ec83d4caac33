package catalog_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

// firstPicture is the most that may travel until scenario 1 plays: HTML, CSS,
// modules, font and the main track, as compressed on the wire.
const firstPicture = 150_000

// counting counts what a connection receives.
type counting struct {
	net.Conn
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

var imports = regexp.MustCompile(`from ?"\./([a-z]+\.js)"`)

func TestTheFirstPictureIsSmall(t *testing.T) {
	srv := httptest.NewServer(web.New(catalog.New(""), web.DefaultLimits()))
	t.Cleanup(srv.Close)
	var received atomic.Int64
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return counting{c, &received}, err
	}}}
	fetch := func(path string) string {
		t.Helper()
		resp, err := client.Get(srv.URL + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	html := fetch("/s/producer-write")
	static := regexp.MustCompile(`/static/[0-9a-f]+`).FindString(html)
	require.NotEmpty(t, static)
	css := ""
	for _, sheet := range regexp.MustCompile(static+`/css/[a-z]+\.css`).FindAllString(html, -1) {
		css += fetch(sheet)
	}
	for _, font := range regexp.MustCompile(`[a-z0-9-]+\.woff2`).FindAllString(css, -1) {
		fetch(static + "/font/" + font)
	}
	seen := map[string]bool{"main.js": true}
	for queue := []string{"main.js"}; len(queue) > 0; queue = queue[1:] {
		for _, m := range imports.FindAllStringSubmatch(fetch(static+"/js/"+queue[0]), -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				queue = append(queue, m[1])
			}
		}
	}
	require.Greater(t, len(seen), 10, "the modules were found")
	files := received.Load()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, srv.URL+"/ws", &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"highwater.v1"},
		CompressionMode: websocket.CompressionNoContextTakeover})
	require.NoError(t, err)
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	require.NoError(t, conn.Write(ctx, websocket.MessageText, []byte(`{"op":"open","scenario":"producer-write","layout":"wide","from":0}`)))
	for {
		_, msg, err := conn.Read(ctx)
		require.NoError(t, err)
		if strings.HasPrefix(string(msg), `{"op":"end"`) {
			break
		}
	}
	t.Logf("files %d bytes, run %d bytes", files, received.Load()-files)
	assert.LessOrEqual(t, received.Load(), int64(firstPicture))
}
