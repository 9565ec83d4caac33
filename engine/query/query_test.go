package query

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

const (
	p  = "orders-0"
	ms = journal.Millisecond
)

func appended(base int64, ids ...string) journal.LogOp {
	return journal.LogOp{Op: journal.LogAppend, Base: base, IDs: ids}
}

// small is a run in which r1 is replicated, r2 is acknowledged by b1 alone, and
// b2 is elected without it.
func small() *Q {
	key := "k"
	j := &journal.Journal{Records: []journal.Record{{ID: "r1", Topic: "orders", Key: &key, Value: "one", Producer: "p"}, {ID: "r2", Topic: "orders", Value: "two", Producer: "p"}, {ID: "r3", Topic: "orders", Value: "three", Producer: "p"}}}
	add := func(t journal.Time, e journal.Event, kv ...any) {
		e.N, e.T = len(j.Events)+1, t
		for i := 0; i < len(kv); i += 2 {
			e.Ch = append(e.Ch, journal.Change{Key: kv[i].(string), Val: kv[i+1]})
		}
		j.Events = append(j.Events, e)
	}
	add(0, journal.Event{Kind: journal.Boot}, "meta/orders-0/leader", int32(1), "meta/orders-0/leaderEpoch", int32(0), "meta/orders-0/isr", []int32{2, 1}, "meta/orders-0/elr", "",
		"b1/orders-0/hw", int64(0), "b1/orders-0/leo", int64(0), "b2/orders-0/leo", int64(0), "c1/role", "leader", "c1/epoch", int32(3), "session/b1", "active", "g/coordinator", "b2")
	add(1*ms, journal.Event{Kind: journal.ProducerPartition, Node: "p", Part: p, F: journal.F("record", "r1")})
	add(2*ms, journal.Event{Kind: journal.ReplicaAppend, Node: "b1", Part: p, F: journal.F("baseOffset", int64(0))}, "b1/orders-0/log", appended(0, "r1"), "b1/orders-0/leo", int64(1))
	add(3*ms, journal.Event{Kind: journal.ReplicaAppend, Node: "b2", Part: p}, "b2/orders-0/log", appended(0, "r1"), "b2/orders-0/leo", int64(1))
	add(4*ms, journal.Event{Kind: journal.HWAdvance, Node: "b1", Part: p, F: journal.F("from", 0, "to", 1)}, "b1/orders-0/hw", int64(1))
	add(5*ms, journal.Event{Kind: journal.ProducerAcked, Node: "p", Part: p, F: journal.F("records", []string{"r1"}, "baseOffset", int64(0))})
	add(6*ms, journal.Event{Kind: journal.ConsumerDeliver, Node: "m", Part: p, F: journal.F("records", []string{"r1"}, "offset", int64(0))}, "m/orders-0/position", int64(1))
	add(7*ms, journal.Event{Kind: journal.OffsetCommit, Group: "g", Part: p, F: journal.F("offset", int64(0))}, "g/orders-0/committed", int64(0))
	add(10*ms, journal.Event{Kind: journal.ProducerPartition, Node: "p", Part: p, F: journal.F("record", "r2")})
	add(11*ms, journal.Event{Kind: journal.ReplicaAppend, Node: "b1", Part: p}, "b1/orders-0/log", appended(1, "r2"), "b1/orders-0/leo", int64(2))
	add(12*ms, journal.Event{Kind: journal.ProducerRetry, Node: "p", Part: p, F: journal.F("records", []string{"r2"}, "error", kafka.RequestTimedOut)})
	add(13*ms, journal.Event{Kind: journal.ProducerAcked, Node: "p", Part: p, F: journal.F("records", []string{"r2"}, "baseOffset", int64(1))})
	add(14*ms, journal.Event{Kind: journal.ResponseReceive, Node: "p", API: "Produce", F: &wire.ProduceResponse{Parts: []wire.ProduceResult{{Part: p, ErrorCode: kafka.NotLeaderOrFollower}}}})
	add(15*ms, journal.Event{Kind: journal.MetadataCommit}, "meta/orders-0/leader", int32(-1), "meta/orders-0/isr", []int32{})
	add(20*ms, journal.Event{Kind: journal.LeaderElect, Part: p}, "meta/orders-0/leader", int32(2), "meta/orders-0/leaderEpoch", int32(1), "meta/orders-0/isr", []int32{2}, "meta/orders-0/elr", []int32{3}, "b2/orders-0/hw", int64(1), "session/b1", "fenced")
	add(21*ms, journal.Event{Kind: journal.ReplicaTruncate, Node: "b1", Part: p, F: journal.F("to", int64(1), "from", int64(2))}, "b1/orders-0/log", journal.LogOp{Op: journal.LogTruncate, Base: 1}, "b1/orders-0/leo", int64(1))
	add(22*ms, journal.Event{Kind: journal.ProducerPartition, Node: "p", Part: p, F: journal.F("record", "r3")})
	add(23*ms, journal.Event{Kind: journal.RequestSend, Chatter: true, API: "Fetch", Node: "b1"})
	sc := &cluster.Scenario{Brokers: 3, Ctrls: 1, Config: map[string]string{"num.io.threads": "8"},
		Topics:    []cluster.Topic{{Name: "orders", Partitions: 3, Config: map[string]string{"min.insync.replicas": "2"}}},
		Producers: []cluster.Producer{{ID: "p", Config: map[string]string{"acks": "1"}}},
		Groups:    []cluster.Group{{ID: "g", Topics: []string{"orders"}, Members: []cluster.Member{{ID: "m", Assign: []string{p}}}}}}
	return New(journal.NewIndex(j), sc, 0, 30*ms)
}

func TestQuestions(t *testing.T) {
	q := small()
	early, none := q.At(8), q.At(14)
	pair := func(v any, ok bool) []any { return []any{v, ok} }
	lag, hasLag := early.Lag("g", p)
	_, noLag := none.Lag("g", p)
	waited, answered := q.Waited("two")
	_, unanswered := q.Waited("three")
	acks, _, _ := q.Config("p", "acks")
	_, _, unknown := q.Config("p", "no.such.key")
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"leader early", early.Leader(p), "b1"}, {"no leader", none.Leader(p), None}, {"leader", q.Leader(p), "b2"}, {"unknown", q.Leader("x-0"), None},
		{"epoch", q.Epoch(p), int64(1)}, {"isr sorted", early.ISR(p), []int{1, 2}}, {"isr", q.ISR(p), []int{2}}, {"no isr", none.ISR(p), []int{}},
		{"elr", q.ELR(p), []int{3}}, {"no elr", early.ELR(p), []int{}},
		{"hw", early.HW("b1", p), int64(1)}, {"no hw", early.HW("b3", p), int64(-1)}, {"leo", q.LEO("b1", p), int64(1)},
		{"log before", q.At(12).Log("b1", p), []string{"one", "two"}}, {"log", q.Log("b1", p), []string{"one"}},
		{"committed", q.Committed("g", p), int64(0)}, {"nothing committed", q.Committed("g", "orders-1"), int64(-1)},
		{"position", q.Position("m", p), int64(1)}, {"lag", pair(lag, hasLag), pair(int64(1), true)}, {"no lag", noLag, false},
		{"readable", q.Readable(p), int64(1)}, {"not readable", none.Readable(p), int64(-1)},
		{"acked early", early.Acked(), []string{"r1"}}, {"acked", q.Acked(), []string{"r1", "r2"}},
		{"lost", q.Lost(), []string{"r2"}}, {"not lost while on a disk", none.Lost(), []string{}},
		{"delivered", q.Delivered("one"), 1}, {"delivered by id", q.Delivered("r2"), 0},
		{"errors", q.Errors("p"), []string{"REQUEST_TIMED_OUT", "NOT_LEADER_OR_FOLLOWER"}},
		{"controller", q.Controller(), "c1"}, {"quorum epoch", q.QuorumEpoch(), int64(3)}, {"fenced", q.Fenced("b1"), true}, {"not fenced", early.Fenced("b1"), false},
		{"coordinator", q.Coordinator("g"), "b2"}, {"owner", q.Owner("g", p), "m"}, {"no owner", q.Owner("g", "orders-1"), None},
		{"config", acks, "1"}, {"unknown config", unknown, false}, {"partitions", q.Partitions("orders"), 3}, {"offsets topic", q.Partitions(OffsetsTopic), 50},
		{"partition", q.Partition("orders", "order-17"), 0}, {"partition of 1", q.Partition("orders", "pay-2"), 1}, {"hash", q.Hash("order-17"), int64(1568318961)},
		{"rec", q.Record(nil, "two"), "r2"}, {"no rec", q.Record(nil, "zero"), ""}, {"copies", q.Copies("one", p), 1}, {"no copies", q.Copies("two", p), 0},
		{"headroom", q.Headroom(p), int64(-1)}, {"min isr", q.MinISR(p), int64(2)},
		{"waited", pair(waited, answered), pair(3*ms, true)}, {"never answered", unanswered, false},
		{"longest counts to the end", q.Longest("p", 0, 30*ms), 8 * ms}, {"longest of some", q.Longest("p", 0, 9*ms), 4 * ms},
		{"offline", q.Offline(p), 5 * ms}, {"leader at", q.LeaderAt(p, 14*ms), "b1"}, {"leader at, later", q.LeaderAt(p, 20*ms), "b2"},
		{"gone", q.Gone("b1", p), int64(1)}, {"recovering", q.Recovering(p), false},
	} {
		assert.Equal(t, c.want, c.got, c.name)
	}
}

func TestFilters(t *testing.T) {
	q := small()
	at := func(t journal.Time) *journal.Time { return &t }
	anchor := func(k journal.Kind) Filter { return Filter{Anchor: cluster.Anchor{Kind: k}} }
	assert.Equal(t, 3, q.Count(anchor(journal.ReplicaAppend)))
	assert.Equal(t, 1, q.At(3).Count(anchor(journal.ReplicaAppend)))
	f := anchor(journal.ReplicaAppend)
	f.After, f.Node = at(2*ms), "b1"
	assert.Equal(t, 11*ms, q.First(f).T)
	f.After, f.Before = nil, at(2*ms)
	assert.Nil(t, q.First(f), "before is strict")
	assert.Equal(t, 11*ms, q.Last(anchor(journal.ReplicaAppend)).T)
	d := anchor(journal.ConsumerDeliver)
	d.Record = "one"
	assert.Equal(t, 1, q.Count(d))
	d.Record = "two"
	assert.Equal(t, 0, q.Count(d))
	h := anchor(journal.HWAdvance)
	h.F = map[string]string{"to": "1"}
	assert.NotNil(t, q.First(h))
	o := Object(q.First(h))
	assert.Equal(t, 1, o["to"], "a field keeps its name where the event has none of it")
	assert.Equal(t, 0, Object(nil)["n"])
}

func TestFindAfter(t *testing.T) {
	j := small().j
	k := func(kind journal.Kind, nth int) *cluster.Anchor { return &cluster.Anchor{Kind: kind, Nth: nth} }
	assert.Equal(t, 3, FindAfter(j, k(journal.ReplicaAppend, 0), 0))
	assert.Equal(t, 4, FindAfter(j, k(journal.ReplicaAppend, 1), 3))
	assert.Equal(t, 0, FindAfter(j, k(journal.NodeCrash, 1), 4))
	assert.Equal(t, 6, FindAfter(j, k(journal.ProducerAcked, 1), 4))
	assert.Equal(t, 10, FindAfter(j, k(journal.ReplicaAppend, 3), 0))
	assert.Equal(t, 0, FindAfter(j, &cluster.Anchor{API: "Fetch"}, 0), "chatter is passed over")
	assert.Equal(t, 1, EventAt(j, 0))
	assert.Equal(t, 0, EventAt(j, -1))
	assert.Equal(t, len(j.Events), EventAt(j, 90*ms))
}

func TestField(t *testing.T) {
	v, ok := Field(&wire.ProduceRequest{Acks: -1}, "acks")
	assert.True(t, ok)
	assert.Equal(t, int16(-1), v)
	for _, f := range []any{nil, (*wire.ProduceRequest)(nil), 3, journal.F("a", 1), &wire.ProduceRequest{}} {
		_, ok := Field(f, "b")
		assert.False(t, ok)
	}
}
