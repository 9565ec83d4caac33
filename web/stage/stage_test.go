package stage_test

import (
	"context"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web/stage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the expected files anew")

// values is a state written down in a test.
type values struct {
	keys map[string]any
	logs map[string]journal.Log
}

func (v values) Get(key string) any         { return v.keys[key] }
func (v values) Log(key string) journal.Log { return v.logs[key] }
func (v values) Producer(record string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(record, "r"))
	return n%4 - 1
}

func leaderState() values {
	return values{
		keys: map[string]any{
			"c1/role": "leader", "c1/epoch": 3, "c1/commit": 82, "c1/state": "running",
			"b1/state": "running", "session/b1": "active", "v/b1/note": "coordinator of group-a",
			"b1/orders-0/role": "leader", "b1/orders-0/leaderEpoch": 2, "b1/orders-0/isr": []int{1, 2, 3},
			"b1/orders-0/hw": int64(7), "b1/orders-0/leo": int64(9), "v/orders-0/base": int64(4),
			"v/b1/orders-0/waiting": "DelayedProduce: waits for 2, 3", "v/b1/orders-0/label": "Broker 1 leads orders-0",
			"group-a/orders-0/committed": int64(5), "v/group-a/orders-0/position": int64(7),
			"order-service/status": "r8 sent, no answer", "v/order-service/key": "key order-17 → P0",
			"group-a/state": "Stable", "group-a/a1/state": "stable", "v/a1/parts": "P0", "v/a1/lag": "lag 2",
		},
		logs: map[string]journal.Log{"b1/orders-0/log": {Start: 3, Entries: []journal.Entry{
			{ID: "r3", Epoch: 0}, {ID: "r4", Epoch: 0}, {ID: "r5", Epoch: 1}, {ID: "r6", Epoch: 1, Flags: "t"}, {ID: "r7", Epoch: 2}, {ID: "r8", Epoch: 2},
		}}},
	}
}

func spec(l stage.Layout) stage.Spec {
	return stage.Spec{
		Layout: l, Title: "Test", Controllers: []string{"c1"}, Brokers: []string{"b1", "b2", "b3"},
		Rows:      []stage.Row{{Part: "orders-0", Replicas: []string{"b1", "b2", "b3"}}},
		Producers: []stage.Producer{{ID: "order-service", Note: "acks=all · idempotent"}},
		Groups:    []stage.Group{{ID: "group-a", Members: []string{"a1"}}},
		Open:      []string{"orders-0/b1"},
		GroupLane: true, Cuts: [][2]string{{"b1", "b2"}, {"b1", "b3"}, {"b1", "c1"}},
	}
}

// golden compares a component with its file under testdata.
func golden(t *testing.T, name string, c templ.Component) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Render(context.Background(), &b))
	got := strings.ReplaceAll(b.String(), "><", ">\n<")
	file := filepath.Join("testdata", name+".svg")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got+"\n"), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got+"\n")
}

func TestComponents(t *testing.T) {
	pen := stage.Pen{State: leaderState()}
	wide, narrow := stage.Place(spec(stage.Wide)), stage.Place(spec(stage.Narrow))
	t.Run("controller", func(t *testing.T) { golden(t, "controller", stage.ControllerBox(pen, wide.Controllers[0])) })
	t.Run("broker", func(t *testing.T) { golden(t, "broker", stage.BrokerColumn(pen, wide.Brokers[0])) })
	t.Run("replica", func(t *testing.T) { golden(t, "replica", stage.ReplicaCard(pen, wide.Cards[0])) })
	t.Run("compact", func(t *testing.T) { golden(t, "compact", stage.CompactCard(pen, narrow.Cards[0])) })
	t.Run("producer", func(t *testing.T) { golden(t, "producer", stage.ProducerBox(pen, wide.Producers[0])) })
	t.Run("group", func(t *testing.T) { golden(t, "group", stage.GroupBox(pen, wide.Groups[0])) })
	t.Run("lane", func(t *testing.T) { golden(t, "lane", stage.LaneWords(pen, wide.Lanes[1])) })
}

func TestEveryLayoutIsWellFormedAndInItsFrame(t *testing.T) {
	for _, l := range []stage.Layout{stage.Wide, stage.Medium, stage.Narrow} {
		t.Run(string(l), func(t *testing.T) {
			svg, err := stage.Draw(spec(l), leaderState())
			require.NoError(t, err)
			d := xml.NewDecoder(strings.NewReader(svg))
			ids := map[string]bool{}
			for {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err, "a still is read as XML")
				if e, ok := tok.(xml.StartElement); ok {
					for _, a := range e.Attr {
						if a.Name.Local == "id" {
							assert.False(t, ids[a.Value], "the id %s is there twice", a.Value)
							ids[a.Value] = true
						}
						assert.NotEqual(t, "style", a.Name.Local, "the content security policy refuses style attributes")
					}
				}
			}
			p := stage.Place(spec(l))
			for _, c := range p.Cards {
				assert.LessOrEqual(t, c.X+c.W, p.W)
				assert.LessOrEqual(t, c.Y+c.H, p.H)
			}
		})
	}
}

func TestPillsHaveAWayBetweenAllThatTalk(t *testing.T) {
	for _, l := range []stage.Layout{stage.Wide, stage.Medium, stage.Narrow} {
		ways := map[string]string{}
		for _, w := range stage.Place(spec(l)).Paths {
			ways[w.ID] = w.D
		}
		for _, id := range []string{
			"lane/orders-0/b1/b2", "lane/orders-0/order-service/b1", "lane/orders-0/b1/a1", "lane/controller/b2/c1",
			"lane/controller/c1/b3", "lane/group/a1/b2", "lane/controller/order-service/b3", "lane/controller/admin/c1",
		} {
			assert.Contains(t, ways, id, "layout %s", l)
		}
	}
}

func TestWaysHaveLength(t *testing.T) {
	for _, l := range []stage.Layout{stage.Wide, stage.Medium, stage.Narrow} {
		for _, w := range stage.Place(spec(l)).Paths {
			from, to, ok := strings.Cut(strings.TrimPrefix(w.D, "M"), "H")
			require.True(t, ok)
			x, _, _ := strings.Cut(from, " ")
			assert.NotEqual(t, x, to, "%s in %s", w.ID, l)
		}
	}
}

func TestFit(t *testing.T) {
	assert.Equal(t, "order-service", stage.Fit("order-service", 200, 13, true))
	cut := stage.Fit("a-very-long-name-of-a-service", 100, 13, true)
	assert.True(t, strings.HasSuffix(cut, "…"), cut)
	assert.LessOrEqual(t, stage.Measure(cut, 13, true), 100.0)
	assert.Empty(t, strings.Trim(stage.Fit("wide", 1, 13, true), "…"), "what never fits is an ellipsis")
}
