package web_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/demo"
)

// oneConn is a listener that accepts one connection of the test's own.
type oneConn struct {
	conn chan net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, errors.New("closed")
	}
}
func (l *oneConn) Close() error   { close(l.done); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestAReaderThatTakesNothingIsClosed: a page that stops reading costs the server
// half a minute and no more. The pipe has no buffer and time is the bubble's own.
func TestAReaderThatTakesNothingIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		l := &oneConn{conn: make(chan net.Conn, 1), done: make(chan struct{})}
		l.conn <- there
		s := web.New(demo.Library{}, web.DefaultLimits())
		srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
		go func() { _ = srv.Serve(l) }()

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
		conn, _, err := websocket.Dial(ctx, "http://highwater/ws", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{"highwater.v1"}})
		require.NoError(t, err)
		require.NoError(t, conn.Write(ctx, websocket.MessageText, []byte(`{"op":"open","scenario":"demo"}`)))

		started := time.Now()
		<-time.After(29 * time.Second)
		<-time.After(3 * time.Second)
		synctest.Wait()
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		assert.Less(t, time.Since(started), time.Minute, "the connection was closed, not waited for")
		_ = conn.CloseNow()
		s.Close()
		_ = srv.Close()
		transport.CloseIdleConnections()
		synctest.Wait()
	})
}
