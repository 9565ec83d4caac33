package scenarios_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
)

// TestFoldingGivesTheLiveState compares the folded journal with what the live
// objects say at the end of the run.
func TestFoldingGivesTheLiveState(t *testing.T) {
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			res, err := cluster.Run(&sc.Cluster)
			require.NoError(t, err)
			assert.Empty(t, foldDiffers(res))
		})
	}
}

// TestReadersKnowEveryValue: a value of a type that the index, the invariants and
// the page do not read would count as nothing.
func TestReadersKnowEveryValue(t *testing.T) {
	for _, sc := range scenarios.Builtin() {
		for _, set := range append([]scenarios.Variant{{}}, sc.Variants...) {
			changed, err := scenarios.Apply(sc, set.Set)
			require.NoError(t, err)
			res, err := cluster.Run(&changed.Cluster)
			require.NoError(t, err)
			for _, e := range res.Journal.Events {
				for _, c := range e.Ch {
					switch c.Val.(type) {
					case nil, bool, int, int32, int64, string, journal.Time, journal.LogOp, []string, map[string]int64:
					default:
						t.Fatalf("%s: event %d sets %s to a %T", sc.ID, e.N, c.Key, c.Val)
					}
				}
			}
		}
	}
}

// foldDiffers compares the folded journal with what the live objects say at the
// end of the run.
func foldDiffers(res *cluster.Result) (diffs []string) {
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	logs := map[string]*journal.Log{}
	for _, c := range res.Final {
		op, ok := c.Val.(journal.LogOp)
		if !ok {
			// A Fetch whose answer or successor is on its way is still shown as
			// waiting; writes are exact.
			if live, folded := writes(c.Key, c.Val), writes(c.Key, x.Get(c.Key, last)); !reflect.DeepEqual(live, folded) {
				diffs = append(diffs, fmt.Sprintf("%s is %v, folded %v", c.Key, live, folded))
			}
			continue
		}
		l := logs[c.Key]
		if l == nil {
			l = &journal.Log{Start: op.Base}
			logs[c.Key] = l
		}
		for _, id := range op.IDs {
			l.Entries = append(l.Entries, journal.Entry{ID: id, Epoch: op.Epoch, Flags: op.Flags})
		}
	}
	for key, want := range logs {
		if got := x.LogAt(key, last); !reflect.DeepEqual(*want, got) {
			diffs = append(diffs, fmt.Sprintf("%s is %v, folded %v", key, *want, got))
		}
	}
	if len(logs) == 0 {
		diffs = append(diffs, "there is no log")
	}
	slices.Sort(diffs)
	return diffs
}

// writes leaves only the waiting writes of a waiting key.
func writes(key string, v any) any {
	s, ok := v.(string)
	if !strings.HasSuffix(key, "/waiting") {
		return v
	}
	if !ok {
		return ""
	}
	var out []string
	for _, op := range strings.Split(s, ", ") {
		if strings.HasPrefix(op, "DelayedProduce") {
			out = append(out, op)
		}
	}
	return strings.Join(out, ", ")
}
