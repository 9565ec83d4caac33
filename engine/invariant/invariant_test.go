package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

func set(key string, v any) journal.Change { return journal.Change{Key: key, Val: v} }

func replica(node, role string, epoch int32, hw int64, ids ...string) []journal.Change {
	k := node + "/orders-0/"
	return []journal.Change{set(k+"role", role), set(k+"leaderEpoch", epoch), set(k+"leo", int64(len(ids))), set(k+"hw", hw), set(k+"maximalIsr", "1,2"),
		set(k+"log", journal.LogOp{Op: journal.LogAppend, IDs: ids})}
}

func meta(leader, leaderEpoch, partitionEpoch int32, isr string) []journal.Change {
	k := "meta/orders-0/"
	return []journal.Change{set(k+"leader", leader), set(k+"leaderEpoch", leaderEpoch), set(k+"partitionEpoch", partitionEpoch), set(k+"replicas", "1,2"), set(k+"isr", isr)}
}

// sound is a run in which broker 2 takes over from broker 1, in a few events.
func sound() []journal.Event {
	start := append(replica("b1", "leader", 0, 2, "r1", "r2"), replica("b2", "follower", 0, 2, "r1", "r2")...)
	start = append(append(start, meta(1, 0, 0, "1,2")...), set("c1/role", "leader"), set("c1/epoch", int32(1)), set("c1/commit", int64(10)), set("b1/metadata", int64(9)))
	return []journal.Event{
		{Kind: journal.Boot, Ch: start},
		{Kind: journal.RequestSend, F: &wire.ProduceRequest{Acks: -1, Parts: []wire.ProducePart{{Part: "orders-0", Batch: wire.Batch{Records: []string{"r2"}}}}}},
		{Kind: journal.ProducerAcked, Part: "orders-0", F: journal.F("records", []string{"r2"}, "baseOffset", int64(1))},
		{Kind: journal.MetadataAppend, Node: "c1", F: journal.F("baseOffset", int64(10))},
		{Kind: journal.MetadataCommit, Node: "c1", Ch: append(meta(2, 1, 1, "2"), set("c1/commit", int64(11)))},
		{Kind: journal.GroupState, Group: "g", Ch: append(shares("m", "orders-0"), append(shares("n", "orders-1"), set("g/protocol", "consumer"), set("g/groupEpoch", int32(3)), set("g/targetEpoch", int32(3)))...)},
		{Kind: journal.RequestSend, API: "OffsetCommit", Group: "g", Msg: 7, From: "m", F: &wire.OffsetCommitRequest{GroupID: "g", Epoch: 3, MemberID: "m"}},
		{Kind: journal.RequestReceive, API: "OffsetCommit", Group: "g", Msg: 7, From: "m", To: "b1"},
		{Kind: journal.ResponseSend, API: "OffsetCommit", Group: "g", Msg: 7, From: "b1", To: "m", F: &wire.OffsetCommitResponse{Parts: []wire.PartError{{Part: "orders-0"}}}},
		{Kind: journal.ConsumerDeliver, Node: "m", Part: "orders-0", Group: "g", F: journal.F("records", []string{"r1", "r2"}, "offset", int64(0))},
		{Kind: journal.ReplicaLeader, Ch: []journal.Change{set("b1/orders-0/role", "offline"), set("b2/orders-0/role", "leader"), set("b2/orders-0/leaderEpoch", int32(1)), set("b2/orders-0/maximalIsr", "2")}},
	}
}

// shares are the keys of a member that has what it shall have.
func shares(name string, parts ...string) []journal.Change {
	k := "g/" + name + "/"
	return []journal.Change{set(k+"state", "stable"), set(k+"epoch", int32(3)), set(k+"assignment", parts), set(k+"target", parts)}
}

func TestASoundRunBreaksNothing(t *testing.T) {
	for _, o := range check(sound()) {
		assert.Positive(t, o.Checked, o.Name)
		assert.Nil(t, o.Broken, o.Name)
	}
}

func check(events []journal.Event) []invariant.Outcome {
	for i := range events {
		events[i].N = i + 1
	}
	return invariant.Check(&journal.Journal{Events: events})
}

// TestEachInvariantCanFail adds one event that breaks one of them.
func TestEachInvariantCanFail(t *testing.T) {
	other := []journal.Change{set("b2/orders-0/log", journal.LogOp{Op: journal.LogTruncate, Base: 1}),
		set("b2/orders-0/log", journal.LogOp{Op: journal.LogAppend, Base: 1, IDs: []string{"r9"}})}
	for name, last := range map[string]journal.Event{
		"one leader per leader epoch":         {Ch: []journal.Change{set("b1/orders-0/role", "leader"), set("b1/orders-0/leaderEpoch", int32(1))}},
		"high watermark within the log":       {Ch: []journal.Change{set("b1/orders-0/leo", int64(1))}},
		"logs match below the high watermark": {Ch: other},
		"high watermark not above the log end of any replica in the maximal ISR": {
			Ch: []journal.Change{set("b2/orders-0/maximalIsr", "1,2"), set("b1/orders-0/leo", int64(1)), set("b1/orders-0/hw", nil)}},
		"high watermark monotonic within a leader epoch": {Ch: []journal.Change{set("b2/orders-0/hw", int64(1))}},
		"a new leader has every committed record": {Ch: []journal.Change{set("b1/orders-0/role", "leader"), set("b1/orders-0/leaderEpoch", int32(2)),
			set("b1/orders-0/log", journal.LogOp{Op: journal.LogTruncate, Base: 1}), set("b1/orders-0/leo", int64(1)), set("b1/orders-0/hw", int64(1)), set("b1/orders-0/maximalIsr", "1")}},
		"a record acknowledged with acks=all is committed":                        {Kind: journal.ProducerAcked, Part: "orders-0", F: journal.F("records", []string{"r2"}, "baseOffset", int64(0))},
		"the committed ISR is part of the assignment, the leader part of the ISR": {Ch: meta(2, 1, 2, "1")},
		"leader epoch and partition epoch only grow":                              {Ch: meta(2, 1, 0, "2")},
		"committed metadata never changes":                                        {Kind: journal.MetadataAppend, Node: "c1", F: journal.F("baseOffset", int64(10))},
		"one active controller per quorum epoch":                                  {Ch: []journal.Change{set("c2/role", "leader"), set("c2/epoch", int32(1))}},
		"one owner per partition per group":                                       {Ch: []journal.Change{set("g/targetEpoch", int32(4)), set("g/n/assignment", []string{"orders-0"})}},
		"generations and epochs of a group only grow":                             {Ch: []journal.Change{set("g/groupEpoch", int32(2))}},
		"targets are disjoint, and a member at the target epoch has its target":   {Ch: []journal.Change{set("g/n/assignment", []string{"orders-2"})}},
		"no record is handed over at or above the high watermark":                 {Kind: journal.ConsumerDeliver, Part: "orders-0", F: journal.F("records", []string{"r3"}, "offset", int64(2))},
		"brokers apply committed metadata only":                                   {Ch: []journal.Change{set("b2/metadata", int64(11))}},
	} {
		t.Run(name, func(t *testing.T) {
			events := append(sound(), last)
			found := false
			for _, o := range check(events) {
				if o.Name != name {
					assert.Nil(t, o.Broken, o.Name)
					continue
				}
				found = true
				require.NotNil(t, o.Broken)
				assert.Equal(t, len(events), o.Broken.N)
				assert.NotEmpty(t, o.Broken.Why)
			}
			assert.True(t, found, "there is such an invariant")
		})
	}
}

// TestAnOldCommitNeverLands: of generations only the present one may commit; a
// member epoch may be behind, but not ahead.
func TestAnOldCommitNeverLands(t *testing.T) {
	for name, c := range map[string]struct {
		protocol string
		epoch    int32
		ok       bool
	}{
		"the present generation": {"classic", 5, true}, "an old generation": {"classic", 4, false}, "none, beside members": {"classic", -1, false},
		"the present member epoch": {"consumer", 3, true}, "one that is behind": {"consumer", 2, true}, "one that is ahead": {"consumer", 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := broken(append(sound(),
				journal.Event{Group: "g", Ch: []journal.Change{set("g/protocol", c.protocol), set("g/generation", int32(5))}},
				journal.Event{Kind: journal.RequestSend, API: "OffsetCommit", Group: "g", Msg: 8, From: "m", F: &wire.OffsetCommitRequest{GroupID: "g", Epoch: c.epoch, MemberID: "m"}},
				journal.Event{Kind: journal.RequestReceive, API: "OffsetCommit", Group: "g", Msg: 8, From: "m", To: "b1"},
				journal.Event{Kind: journal.ResponseSend, API: "OffsetCommit", Group: "g", Msg: 8, From: "b1", To: "m", F: &wire.OffsetCommitResponse{Parts: []wire.PartError{{Part: "orders-0"}}}}))
			assert.Equal(t, c.ok, b == nil)
		})
	}
}

// TestWhatVoidsAPromise: after an unclean election, or a power cut that takes
// committed records, their loss is Kafka's word kept.
func TestWhatVoidsAPromise(t *testing.T) {
	lost := []journal.Change{set("b2/orders-0/log", journal.LogOp{Op: journal.LogTruncate, Base: 1}), set("b2/orders-0/leo", int64(1)), set("b2/orders-0/hw", nil), set("b2/orders-0/role", "offline")}
	again := journal.Event{Ch: []journal.Change{set("b2/orders-0/role", "leader"), set("b2/orders-0/leaderEpoch", int32(2)), set("b2/orders-0/hw", int64(1))}}
	assert.NotNil(t, broken(append(sound(), journal.Event{Kind: journal.NodeStart, Ch: lost}, again)), "a log that lost its end by itself")
	assert.Nil(t, broken(append(sound(), journal.Event{Kind: journal.NodeCrash, Ch: lost}, again)), "a power cut")
	assert.Nil(t, broken(append(sound(), journal.Event{Ch: []journal.Change{set("meta/orders-0/leaderRecoveryState", int32(1))}}, journal.Event{Ch: lost}, again)), "an unclean election")
}

func broken(events []journal.Event) *invariant.Broken {
	for _, o := range check(events) {
		if o.Broken != nil {
			return o.Broken
		}
	}
	return nil
}
