package story_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/story"
)

// base is a partition at rest: three replicas with five records.
func base() []journal.Change {
	c := func(k string, v any) journal.Change { return journal.Change{Key: k, Val: v} }
	return []journal.Change{
		c("meta/orders-0/leader", int32(1)), c("meta/orders-0/replicas", "1,2,3"), c("meta/orders-0/isr", "1,2,3"), c("meta/orders-0/minIsr", 2),
		c("b1/orders-0/leo", int64(5)), c("b2/orders-0/leo", int64(5)), c("b3/orders-0/leo", int64(5)), c("b1/orders-0/hw", int64(5)),
		c("b1/orders-0/remote/b2/leo", int64(5)), c("b1/orders-0/remote/b3/leo", int64(5)),
		c("a1/orders-0/position", int64(5)),
	}
}

func TestDerive(t *testing.T) {
	ch := func(pairs ...any) (out []journal.Change) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, journal.Change{Key: pairs[i].(string), Val: pairs[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		name string
		ch   []journal.Change
		want map[string]any // at the end
	}{
		{"at rest", nil, map[string]any{
			"v/orders-0/base": int64(0), "v/orders-0/isr": "ISR 3 of 3, min 2", "v/orders-0/headroom": int64(1),
			"v/b1/orders-0/sync": "", "v/b2/orders-0/sync": "in sync", "v/b3/orders-0/status": "fetches from broker 1",
			"v/b1/orders-0/note": "2, 3 seen at 5", "v/a1/orders-0/lag": int64(0), "v/a1/lag": "lag 0",
		}},
		{"a follower is behind", ch("b1/orders-0/leo", int64(6), "b2/orders-0/leo", int64(6), "b1/orders-0/remote/b2/leo", int64(6)), map[string]any{
			"v/b2/orders-0/sync": "in sync", "v/b3/orders-0/sync": "1 behind, in sync", "v/b1/orders-0/note": "3 seen at 5; 2 seen at 6",
		}},
		{"a follower is out", ch("b1/orders-0/leo", int64(8), "meta/orders-0/isr", "1,2"), map[string]any{
			"v/b3/orders-0/sync": "out of sync, 3 behind", "v/orders-0/isr": "ISR 2 of 3, min 2", "v/orders-0/headroom": int64(0),
		}},
		{"epochs and headroom", ch("meta/orders-0/leaderEpoch", int32(2), "meta/orders-0/partitionEpoch", int32(5)), map[string]any{
			"v/orders-0/epochs": "headroom 1 · leader epoch 2", "v/orders-0/more": "partition epoch 5",
		}},
		{"nobody leads", ch("meta/orders-0/leader", int32(-1), "meta/orders-0/isr", "", "meta/orders-0/elr", "1,2", "meta/orders-0/lastKnownElr", "1"), map[string]any{
			"v/orders-0/epochs": "headroom −2 · no leader", "v/orders-0/more": "partition epoch 0 · ELR 1,2",
		}},
		{"nobody is eligible", ch("meta/orders-0/leader", int32(-1), "meta/orders-0/isr", "", "meta/orders-0/lastKnownElr", "1"), map[string]any{
			"v/orders-0/more": "partition epoch 0 · last led by 1",
		}},
		{"a recovering leader", ch("meta/orders-0/leaderRecoveryState", int32(1)), map[string]any{"v/orders-0/more": "partition epoch 0 · RECOVERING"}},
		{"a controller's log", ch("c1/leo", int64(9), "c1/commit", int64(7)), map[string]any{"v/c1/offsets": "LEO 9 · HW 7"}},
		{"a link is cut one way", ch("link/c1/b2", "cut"), map[string]any{"v/cut/b2/c1": "half cut"}},
		{"a link is cut both ways", ch("link/b2/b1", "cut", "link/b1/b2", "cut"), map[string]any{"v/cut/b1/b2": "cut"}},
		{"a link is sound again", append(ch("link/b2/b1", "slow"), ch("link/b2/b1", nil)...), map[string]any{"v/cut/b1/b2": nil}},
		{"below the minimum", ch("meta/orders-0/isr", "1"), map[string]any{"v/orders-0/isr": "ISR 1 of 3, min 2", "v/orders-0/headroom": int64(-1)}},
		{"the window keeps a slot free", ch("b1/orders-0/leo", int64(8)), map[string]any{"v/orders-0/base": int64(1)}},
		{"the window moves by what is needed", ch("b1/orders-0/leo", int64(11)), map[string]any{"v/orders-0/base": int64(4)}},
		{"the window moves back at a truncation", append(ch("b1/orders-0/leo", int64(11)), ch("b1/orders-0/leo", int64(5))...), map[string]any{"v/orders-0/base": int64(0)}},
		{"another leader", ch("meta/orders-0/leader", int32(2), "b1/orders-0/role", "follower", "b2/orders-0/hw", int64(4)), map[string]any{
			"v/b1/orders-0/status": "fetches from broker 2", "v/b1/orders-0/note": nil, "v/b2/orders-0/status": nil, "v/a1/orders-0/lag": int64(0),
		}},
		{"an old leader that has not heard of it", ch("meta/orders-0/leader", int32(2), "b1/orders-0/role", "leader"), map[string]any{"v/b1/orders-0/status": nil}},
		{"the leader is dead", ch("b1/state", "crashed"), map[string]any{"v/b2/orders-0/status": "✕ broker 1 is down"}},
		{"a follower is dead", ch("b2/state", "vanished"), map[string]any{"v/b2/orders-0/status": nil, "v/b3/orders-0/status": "fetches from broker 1"}},
		{"no leader", ch("meta/orders-0/leader", int32(-1), "meta/orders-0/isr", "1"), map[string]any{
			"v/b2/orders-0/sync": nil, "v/b2/orders-0/status": nil, "v/b1/orders-0/note": nil, "v/a1/orders-0/lag": int64(0), "v/orders-0/isr": "ISR 1 of 3, min 2",
		}},
		{"a consumer is behind", ch("b1/orders-0/hw", int64(9), "b1/orders-0/leo", int64(9)), map[string]any{"v/a1/orders-0/lag": int64(4), "v/a1/lag": "lag 4"}},
		{"a consumer gives the partition up", ch("a1/orders-0/position", nil), map[string]any{"v/a1/orders-0/lag": nil, "v/a1/lag": nil}},
		{"producers wait", ch("b1/orders-0/waiting", "DelayedFetch a1, DelayedProduce order-service"), map[string]any{"v/b1/orders-0/waiting": "DelayedProduce: waits for HW"}},
		{"fetches wait, as a list", ch("b1/orders-0/waiting", []string{"DelayedFetch b2", "DelayedFetch a1"}), map[string]any{"v/b1/orders-0/waiting": "DelayedFetch: 2, a1"}},
		{"replicas as a list", ch("meta/orders-0/isr", []int32{1, 2}), map[string]any{"v/orders-0/isr": "ISR 2 of 3, min 2"}},
		{"a reassignment runs", ch("meta/orders-0/replicas", "4,2,3,1", "meta/orders-0/adding", "4", "meta/orders-0/removing", "1,3", "b4/orders-0/leo", int64(2)),
			map[string]any{"v/b4/orders-0/sync": "joins, 3 behind", "v/b3/orders-0/sync": "in sync, leaves", "v/b2/orders-0/sync": "in sync", "v/b1/orders-0/note": "2, 3 seen at 5 · leaves"}},
		{"a replica is gone", ch("meta/orders-0/replicas", "1,2", "b3/orders-0/leo", nil), map[string]any{"v/b3/orders-0/sync": nil, "v/b3/orders-0/status": nil}},
		{"a partition with a longer name is another one", ch("b1/orders-01/leo", int64(99)), map[string]any{"v/orders-0/base": int64(0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &journal.Journal{Events: []journal.Event{{N: 1, Kind: journal.Boot, Ch: base()}, {N: 2, Kind: journal.ReplicaAppend, Ch: c.ch}}}
			before, err := json.Marshal(j)
			require.NoError(t, err)
			got := map[string]any{}
			view := story.Derive(j, []string{"orders-0"}, 8)
			for n := 1; n <= 2; n++ {
				for _, x := range view[n] {
					got[x.Key] = x.Val
				}
			}
			for k, v := range c.want {
				assert.Equal(t, v, got[k], k)
			}
			after, err := json.Marshal(j)
			require.NoError(t, err)
			assert.JSONEq(t, string(before), string(after), "the journal stays as it is")
		})
	}
}

func TestDeriveSaysOnlyWhatChanges(t *testing.T) {
	j := &journal.Journal{Events: []journal.Event{{N: 1, Ch: base()}, {N: 2, Ch: base()}, {N: 3, Ch: []journal.Change{{Key: "c1/quorum", Val: 7}}}}}
	view := story.Derive(j, []string{"orders-0"}, 8)
	assert.NotEmpty(t, view[1])
	assert.Empty(t, view[2])
	assert.Empty(t, view[3])
}

func TestDeriveShowsHowAKeyBecomesAPartition(t *testing.T) {
	j := &journal.Journal{Events: []journal.Event{{N: 1, Kind: journal.ProducerPartition, Node: "order-service",
		F: journal.F("key", "order-17", "hash", int64(1568318961), "partitions", 3, "partition", 0, "how", "key")}}}
	view := story.Derive(j, nil, 8)
	assert.Equal(t, []journal.Change{
		{Key: "v/order-service/key", Val: "key order-17 → P0"}, {Key: "v/order-service/hash", Val: "murmur2(key) & 0x7fffffff"},
		{Key: "v/order-service/result", Val: "= 1568318961 mod 3 = 0"},
	}, view[1])
}
