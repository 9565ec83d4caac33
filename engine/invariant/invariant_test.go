package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
)

func set(key string, v any) journal.Change { return journal.Change{Key: key, Val: v} }

func replica(node, role string, hw, leo int64, ids ...string) []journal.Change {
	k := node + "/orders-0/"
	return []journal.Change{set(k+"role", role), set(k+"leaderEpoch", int32(0)), set(k+"leo", leo), set(k+"hw", hw), set(k+"maximalIsr", "1,2"),
		set(k+"log", journal.LogOp{Op: journal.LogAppend, IDs: ids})}
}

// TestEachInvariantCanFail breaks one at a time in an otherwise sound journal.
func TestEachInvariantCanFail(t *testing.T) {
	sound := append(replica("b1", "leader", 2, 2, "r1", "r2"), replica("b2", "follower", 2, 2, "r1", "r2")...)
	for name, last := range map[string][]journal.Change{
		"":                            {set("b1/orders-0/hw", int64(2))},
		"one leader per leader epoch": {set("b2/orders-0/role", "leader")},
		"high watermark not above the log end of any replica in the maximal ISR": {set("b2/orders-0/leo", int64(1)), set("b1/orders-0/hw", int64(2))},
		"high watermark monotonic within a leader epoch":                         {set("b1/orders-0/hw", int64(1))},
		"logs match below the high watermark": {set("b2/orders-0/log", journal.LogOp{Op: journal.LogTruncate, Base: 1}),
			set("b2/orders-0/log", journal.LogOp{Op: journal.LogAppend, Base: 1, IDs: []string{"r9"}}), set("b2/orders-0/hw", int64(2))},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal.Journal{Events: []journal.Event{{N: 1, Ch: sound}, {N: 2, Ch: last}}}
			for _, o := range invariant.Check(j) {
				assert.Positive(t, o.Checked, "%s had something to check", o.Name)
				if o.Name != name {
					assert.Nil(t, o.Broken, o.Name)
					continue
				}
				require.NotNil(t, o.Broken, o.Name)
				assert.Equal(t, 2, o.Broken.N)
				assert.NotEmpty(t, o.Broken.Why)
			}
		})
	}
}
