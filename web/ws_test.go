package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/demo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func dial(t *testing.T, url string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(context.Background(), url+"/ws", &websocket.DialOptions{Subprotocols: []string{"highwater.v1"}, HTTPHeader: header})
	require.NoError(t, err)
	conn.SetReadLimit(8 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func send(t *testing.T, c *websocket.Conn, msg string) {
	t.Helper()
	require.NoError(t, c.Write(context.Background(), websocket.MessageText, []byte(msg)))
}

func receive(t *testing.T, c *websocket.Conn) map[string]any {
	t.Helper()
	_, data, err := c.Read(context.Background())
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	return m
}

// receiveRun reads a run to its end.
func receiveRun(t *testing.T, c *websocket.Conn) (run map[string]any, ns []int, events []map[string]any, end map[string]any) {
	t.Helper()
	run = receive(t, c)
	require.Equal(t, "run", run["op"])
	for {
		m := receive(t, c)
		if m["op"] == "end" {
			return run, ns, events, m
		}
		require.Equal(t, "events", m["op"])
		require.Equal(t, "main", m["track"])
		for _, e := range m["events"].([]any) {
			event := e.(map[string]any)
			events = append(events, event)
			ns = append(ns, int(event["n"].(float64)))
		}
	}
}

func TestOpenSendsTheRunItsEventsAndTheVerdict(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, nil).URL, nil)
	send(t, conn, `{"op":"open","scenario":"demo","layout":"wide"}`)
	run, ns, events, end := receiveRun(t, conn)
	assert.Equal(t, "demo", run["id"])
	assert.NotContains(t, run, "stage", "the page has the wide stage already")
	assert.Equal(t, run["main"], float64(len(ns)))
	assert.Equal(t, []any{"r17", "order-service", "order-17", "created"}, run["records"].([]any)[16])
	assert.Nil(t, run["records"].([]any)[17].([]any)[2], "a record without key")
	assert.Equal(t, []any{1.0, 0.0, 0.0}, run["story"].([]any)[0])
	assert.IsIncreasing(t, ns)
	for _, e := range events {
		assert.NotEmpty(t, e["say"])
		assert.NotContains(t, e, "chatter")
		_, pill := e["pill"]
		assert.Equal(t, strings.HasSuffix(e["kind"].(string), ".send"), pill, "a pill is on every send and on nothing else")
	}
	ch, err := json.Marshal(events[0]["ch"])
	require.NoError(t, err)
	assert.Contains(t, string(ch), `["v/orders-0/base",0]`, "derived keys travel with the event")
	assert.Equal(t, true, end["verdict"].(map[string]any)["ok"])
}

func TestFromResumesAfterAnEvent(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, nil).URL, nil)
	send(t, conn, `{"op":"open","scenario":"demo","from":10}`)
	_, ns, _, _ := receiveRun(t, conn)
	assert.Equal(t, 11, ns[0])
	send(t, conn, `{"op":"open","scenario":"demo","from":9999}`)
	_, ns, _, _ = receiveRun(t, conn)
	assert.Empty(t, ns)
}

func TestChatterComesByRange(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, nil).URL, nil)
	send(t, conn, `{"op":"events","track":"chatter","from":1,"to":9}`)
	assert.Equal(t, "error", receive(t, conn)["op"], "a range of no run")
	send(t, conn, `{"op":"open","scenario":"demo"}`)
	receiveRun(t, conn)
	send(t, conn, `{"op":"events","track":"chatter","from":-5,"to":99999}`)
	m := receive(t, conn)
	assert.Equal(t, "chatter", m["track"])
	assert.Equal(t, true, m["done"])
	require.Len(t, m["events"], 1)
	assert.Equal(t, "BrokerHeartbeat", m["events"].([]any)[0].(map[string]any)["api"])
	send(t, conn, `{"op":"events","track":"chatter","from":1,"to":2}`)
	assert.Empty(t, receive(t, conn)["events"])
}

func TestStageRedraws(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, nil).URL, nil)
	send(t, conn, `{"op":"open","scenario":"demo","layout":"narrow"}`)
	run, _, _, _ := receiveRun(t, conn)
	assert.Contains(t, run["stage"], `viewBox="0 0 320 `)
	send(t, conn, `{"op":"stage","layout":"medium","open":["orders-0/b3"]}`)
	m := receive(t, conn)
	assert.Equal(t, "medium", m["layout"])
	assert.Contains(t, m["stage"], `data-log="b3/orders-0/log"`)
	assert.NotContains(t, m["stage"], `data-log="b1/orders-0/log"`)
}

func TestRefusals(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	for name, c := range map[string]struct{ msg, code string }{
		"unknown scenario": {`{"op":"open","scenario":"none"}`, web.UnknownScenario},
		"not JSON":         {`{`, web.BadRequest},
		"unknown op":       {`{"op":"shutdown"}`, web.BadRequest},
		"bad text":         {`{"op":"open","text":"id: x"}`, web.BadScenario},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, srv.URL, nil)
			send(t, conn, c.msg)
			m := receive(t, conn)
			assert.Equal(t, "error", m["op"])
			assert.Equal(t, c.code, m["code"])
			assert.NotEmpty(t, m["message"])
			send(t, conn, `{"op":"open","scenario":"demo"}`)
			receiveRun(t, conn)
		})
	}
}

func TestAnyOriginReadsRunsButOnlyOurPagesSendText(t *testing.T) {
	srv := newServer(t, demo.Library{}, nil)
	for _, origin := range []string{"null", "https://example.org"} {
		conn := dial(t, srv.URL, http.Header{"Origin": {origin}})
		send(t, conn, `{"op":"open","scenario":"demo"}`)
		receiveRun(t, conn)
		send(t, conn, `{"op":"open","text":"id: x"}`)
		assert.Equal(t, web.Forbidden, receive(t, conn)["code"], origin)
	}
	conn := dial(t, srv.URL, http.Header{"Origin": {srv.URL}})
	send(t, conn, `{"op":"open","text":"id: x"}`)
	assert.Equal(t, web.BadScenario, receive(t, conn)["code"], "our own page may")
}

func TestAnOversizedMessageEndsTheConnection(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, nil).URL, nil)
	_ = conn.Write(context.Background(), websocket.MessageText, []byte(`{"op":"open","scenario":"`+strings.Repeat("x", 300<<10)+`"}`))
	_, _, err := conn.Read(context.Background())
	assert.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err))
}

func TestTheSubprotocolIsNeeded(t *testing.T) {
	conn, _, err := websocket.Dial(context.Background(), newServer(t, demo.Library{}, nil).URL+"/ws", nil)
	require.NoError(t, err)
	_, _, err = conn.Read(context.Background())
	assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
}

// counting counts the runs that were computed.
type counting struct {
	demo.Library
	opened  atomic.Int32
	version string
}

func (c *counting) Open(ctx context.Context, r web.OpenRequest) (*web.Run, *web.Problem) {
	c.opened.Add(1)
	return c.Library.Open(ctx, r)
}

func (c *counting) Version() string { return c.version }

func TestOneRunIsComputedOnceForAll(t *testing.T) {
	lib := &counting{}
	srv := newServer(t, lib, func(l *web.Limits) { l.RunsPerSecond = 1 })
	for range 5 {
		conn := dial(t, srv.URL, nil)
		send(t, conn, `{"op":"open","scenario":"demo","set":{},"actions":[ ]}`)
		receiveRun(t, conn)
	}
	get(t, srv.URL+"/s/demo")
	assert.EqualValues(t, 1, lib.opened.Load())
	conn := dial(t, srv.URL, nil)
	send(t, conn, `{"op":"open","scenario":"demo","seed":8}`)
	assert.Equal(t, web.TooBusy, receive(t, conn)["code"], "another run in the same second")
}

func TestAChangedLibraryIsAskedAgain(t *testing.T) {
	lib := &counting{version: "one"}
	srv := newServer(t, lib, nil)
	get(t, srv.URL+"/s/demo")
	lib.version = "two"
	get(t, srv.URL+"/s/demo")
	assert.EqualValues(t, 2, lib.opened.Load())
}

func TestARunThatIsTooLongIsRefused(t *testing.T) {
	conn := dial(t, newServer(t, demo.Library{}, func(l *web.Limits) { l.Events = 3 }).URL, nil)
	send(t, conn, `{"op":"open","scenario":"demo"}`)
	assert.Equal(t, web.TooLong, receive(t, conn)["code"])
}
