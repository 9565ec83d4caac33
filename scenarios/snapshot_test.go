package scenarios_test

import (
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
			x := journal.NewIndex(res.Journal)
			last := len(res.Journal.Events)
			logs := map[string]*journal.Log{}
			for _, c := range res.Final {
				op, ok := c.Val.(journal.LogOp)
				if !ok {
					// A Fetch whose answer or successor is on its way is still shown as
					// waiting; writes are exact.
					assert.Equal(t, writes(c.Key, c.Val), writes(c.Key, x.Get(c.Key, last)), c.Key)
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
			require.NotEmpty(t, logs)
			for key, want := range logs {
				assert.Equal(t, *want, x.LogAt(key, last), key)
			}
		})
	}
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
