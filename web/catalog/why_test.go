package catalog_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

// onPage is what a page has of an event to walk up its causes.
type onPage struct {
	N, Cause, Missing int
	Via               *[2]int
}

// mainTrack is what a page gets of a scenario.
func mainTrack(t *testing.T, id string) map[int]onPage {
	t.Helper()
	srv := httptest.NewServer(web.New(catalog.New(""), web.DefaultLimits()))
	t.Cleanup(srv.Close)
	conn, _, err := websocket.Dial(t.Context(), srv.URL+"/ws", &websocket.DialOptions{Subprotocols: []string{"highwater.v1"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"op":"open","scenario":"`+id+`"}`)))
	events := map[int]onPage{}
	for {
		_, data, err := conn.Read(t.Context())
		require.NoError(t, err)
		var m struct {
			Op     string
			Events []onPage
		}
		require.NoError(t, json.Unmarshal(data, &m))
		for _, e := range m.Events {
			events[e.N] = e
		}
		if m.Op == "end" {
			return events
		}
	}
}

func TestAPageWalksTheSameReasonsAsTheJournalHas(t *testing.T) {
	for _, id := range []string{"producer-write", "isr-deep-dive"} {
		t.Run(id, func(t *testing.T) {
			run, problem := catalog.New("").Open(t.Context(), web.OpenRequest{Scenario: id})
			require.Nil(t, problem)
			page := mainTrack(t, id)
			through := 0
			for n := range page {
				var whole, short []int
				hops := 0
				for e := run.Journal.At(n); e != nil; {
					e = up(run.Journal, e)
					if e != nil && e.Chatter {
						hops++
					} else if e != nil {
						whole = append(whole, e.N)
					}
				}
				passed := 0
				for e, ok := page[n]; ok; {
					up := e.Cause
					if e.Missing > 0 {
						up = e.Missing
					}
					if e.Via != nil {
						up, passed = e.Via[0], passed+e.Via[1]
					}
					if up == 0 {
						break
					}
					short = append(short, up)
					e, ok = page[up]
					require.True(t, ok, "event %d is on the main track", up)
				}
				require.Equal(t, whole, short, "event %d", n)
				require.Equal(t, hops, passed, "background events above event %d", n)
				through += passed
			}
			assert.Positive(t, through, "some chains leave the main track")
		})
	}
}

func up(j *journal.Journal, e *journal.Event) *journal.Event {
	if e.Missing > 0 {
		return j.At(e.Missing)
	}
	if e.Cause > 0 {
		return j.At(e.Cause)
	}
	return nil
}
