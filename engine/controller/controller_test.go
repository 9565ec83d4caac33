package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

const ms = journal.Millisecond

// lab is a formed quorum of three with a topic orders on brokers 1, 2, 3, and a
// client that speaks for broker 1.
type lab struct {
	*sim.World
	t     *testing.T
	nodes []*controller.Node
	conn  *sim.Conn
	epoch map[int32]int64 // broker epochs
}

func newLab(t *testing.T, minISR string) *lab {
	t.Helper()
	w := sim.NewWorld(7, sim.Network{Broker: 2 * ms, Client: 2 * ms, Handle: 100}, 100_000)
	voters := []int32{101, 102, 103}
	topics := []controller.FormedTopic{{Name: "orders", Assign: [][]int32{{1, 2, 3}, {2, 3, 1}}, Config: []wire.KeyValue{{Name: "min.insync.replicas", Value: minISR}}}}
	log, img := controller.FormedLog(voters, []int32{1, 2, 3}, topics, 0, "1", controller.Features())
	l := &lab{World: w, t: t, epoch: map[int32]int64{}}
	for _, id := range img.BrokerIDs() {
		l.epoch[id] = img.Brokers[id].Epoch
	}
	for _, id := range voters {
		p := w.AddProcess(kafka.NodeName(kafka.BrokerID(id)), false, nil)
		n := controller.New(w, p, id, voters, kafka.NewConfig("broker", nil), controller.Features())
		p.SetHandler(n)
		l.nodes = append(l.nodes, n)
	}
	b1 := w.AddProcess("b1", false, nil)
	l.conn = w.Connect(b1, w.Process("c1"), "controller")
	for _, n := range l.nodes {
		n.Formed(log, 1, 101)
	}
	w.Emit(journal.Event{Kind: journal.Boot, Cause: -1})
	for _, n := range l.nodes {
		n.ParkFetches(l.nodes[0], 100*ms)
		n.Start()
	}
	return l
}

// ask sends a request as broker 1 and returns the answer and when it came.
func ask[R any](l *lab, api kafka.API, body any) (answer R, after journal.Time) {
	l.t.Helper()
	sent, answered := l.Now(), false
	l.conn.Call(&sim.Call{API: api, Body: body, Done: func(r sim.Result) {
		answer, _ = r.Body.(R)
		after, answered = l.Now()-sent, true
	}})
	require.NoError(l.t, l.Run(l.Now()+journal.Second))
	require.True(l.t, answered, "%s is answered", api)
	return answer, after
}

func (l *lab) alter(leaderEpoch, partitionEpoch int32, isr ...wire.BrokerEpoch) wire.AlterPartitionResult {
	l.t.Helper()
	a, _ := ask[*wire.AlterPartitionResponse](l, kafka.AlterPartition, &wire.AlterPartitionRequest{BrokerID: 1, BrokerEpoch: l.epoch[1],
		Parts: []wire.AlterPartitionPart{{Part: "orders-0", LeaderEpoch: leaderEpoch, PartitionEpoch: partitionEpoch, NewISR: isr}}})
	require.Equal(l.t, kafka.None, a.ErrorCode)
	return a.Parts[0]
}

// isr is an ISR with the brokers' current epochs.
func (l *lab) isr(ids ...int32) (out []wire.BrokerEpoch) {
	for _, id := range ids {
		out = append(out, wire.BrokerEpoch{BrokerID: id, BrokerEpoch: l.epoch[id]})
	}
	return out
}

func TestAWriteCountsWhenAMajorityHasIt(t *testing.T) {
	l := newLab(t, "1")
	_, after := ask[*wire.AlterPartitionResponse](l, kafka.AlterPartition, &wire.AlterPartitionRequest{BrokerID: 1, BrokerEpoch: l.epoch[1],
		Parts: []wire.AlterPartitionPart{{Part: "orders-0", NewISR: l.isr(1, 2)}}})
	assert.GreaterOrEqual(t, after, 29*ms, "the append linger, a round to a voter and the answer's way")
	assert.LessOrEqual(t, after, 60*ms)
	for _, n := range l.nodes {
		assert.Equal(t, []int32{1, 2}, n.Image().Partition("orders-0").ISR, "%s has applied it", n.Name())
	}
}

func TestWithoutAMajorityNothingIsCommitted(t *testing.T) {
	l := newLab(t, "1")
	l.Process("c2").Pause()
	l.Process("c3").Pause()
	answered := false
	l.conn.Call(&sim.Call{API: kafka.AlterPartition, Body: &wire.AlterPartitionRequest{BrokerID: 1, BrokerEpoch: l.epoch[1],
		Parts: []wire.AlterPartitionPart{{Part: "orders-0", NewISR: l.isr(1, 2)}}}, Done: func(sim.Result) { answered = true }})
	require.NoError(t, l.Run(journal.Second))
	assert.False(t, answered)
	assert.Equal(t, []int32{1, 2, 3}, l.nodes[0].Image().Partition("orders-0").ISR)
	l.Process("c2").Resume()
	require.NoError(t, l.Run(2*journal.Second))
	assert.True(t, answered, "one of two followers is enough")
}

func TestAlterPartitionIsValidatedInKafkasOrder(t *testing.T) {
	l := newLab(t, "1")
	require.Equal(t, kafka.None, l.alter(0, 0, l.isr(1, 2)...).ErrorCode)
	stale := []wire.BrokerEpoch{{BrokerID: 1, BrokerEpoch: l.epoch[1]}, {BrokerID: 2, BrokerEpoch: l.epoch[2] - 1}}
	for name, c := range map[string]struct {
		leaderEpoch, partitionEpoch int32
		isr                         []wire.BrokerEpoch
		want                        kafka.ErrorCode
	}{
		"a newer leader epoch than the controller's":    {1, 1, l.isr(1, 2), kafka.NotController},
		"a newer partition epoch than the controller's": {0, 2, l.isr(1, 2), kafka.NotController},
		"an older leader epoch":                         {-1, 1, l.isr(1, 2), kafka.FencedLeaderEpoch},
		"an older partition epoch":                      {0, 0, l.isr(1, 2, 3), kafka.InvalidUpdateVersion},
		"the leader is not in the ISR":                  {0, 1, l.isr(2, 3), kafka.InvalidRequest},
		"no replica":                                    {0, 1, append(l.isr(1), wire.BrokerEpoch{BrokerID: 9, BrokerEpoch: -1}), kafka.InvalidRequest},
		"a stale broker epoch":                          {0, 1, stale, kafka.IneligibleReplica},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			assert.Equal(t, c.want, l.alter(c.leaderEpoch, c.partitionEpoch, c.isr...).ErrorCode)
		})
	}
	l.t = t
	assert.Equal(t, kafka.InvalidRequest, l.alter(0, 1, l.isr(1, 2, 2)...).ErrorCode, "a replica twice")
	a := l.alter(0, 1, l.isr(3, 1, 2)...)
	assert.Equal(t, int32(2), a.PartitionEpoch, "refusals change nothing")
	assert.Equal(t, []int32{1, 2, 3}, a.ISR, "the recorded ISR is in ascending order")
	assert.Equal(t, []int32{1, 2, 3}, l.nodes[0].Image().Partition("orders-0").ISR)
}

func TestTheELRHoldsWhoLeftTheISRBelowMinISR(t *testing.T) {
	l := newLab(t, "2")
	p := func() *image.Partition { return l.nodes[0].Image().Partition("orders-0") }
	l.alter(0, 0, l.isr(1, 2)...)
	assert.Empty(t, p().ELR, "two are enough")
	l.alter(0, 1, l.isr(1)...)
	assert.Equal(t, []int32{2}, p().ELR)
	l.alter(0, 2, l.isr(1, 2)...)
	assert.Empty(t, p().ELR)
	assert.Equal(t, int32(0), p().LeaderEpoch, "the leader epoch counts elections, not changes of the ISR")
}

func TestCreateTopicsWritesOneBatchInKafkasOrder(t *testing.T) {
	l := newLab(t, "1")
	before := l.nodes[0].LogFrom(0)
	a, _ := ask[*wire.CreateTopicsResponse](l, kafka.CreateTopics, &wire.CreateTopicsRequest{Topics: []wire.CreateTopic{
		{Name: "new", NumPartitions: 3, ReplicationFactor: 3, Configs: []wire.KeyValue{{Name: "min.insync.replicas", Value: "2"}}}}})
	assert.Equal(t, kafka.None, a.Topics[0].ErrorCode)
	var types []string
	for _, b := range l.nodes[0].LogFrom(before[len(before)-1].Last() + 1) {
		if len(b.Records) > 1 {
			for _, r := range b.Records {
				types = append(types, r.Type)
			}
		}
	}
	assert.Equal(t, []string{"TopicRecord", "ConfigRecord", "ClearElrRecord", "PartitionRecord", "PartitionRecord", "PartitionRecord"}, types)
	leaders := map[int32]bool{}
	for _, p := range l.nodes[0].Image().Topics["new"].Parts {
		leaders[p.Leader] = true
	}
	assert.Len(t, leaders, 3, "leaders are even over the brokers")

	for name, c := range map[string]struct {
		topic wire.CreateTopic
		want  kafka.ErrorCode
	}{
		"it is there":          {wire.CreateTopic{Name: "orders", NumPartitions: 1, ReplicationFactor: 1}, kafka.TopicAlreadyExists},
		"no partitions":        {wire.CreateTopic{Name: "x", NumPartitions: 0, ReplicationFactor: 1}, kafka.InvalidPartitions},
		"too many replicas":    {wire.CreateTopic{Name: "x", NumPartitions: 1, ReplicationFactor: 4}, kafka.InvalidReplicationFactor},
		"a broker that is not": {wire.CreateTopic{Name: "x", NumPartitions: -1, ReplicationFactor: -1, Assignments: [][]int32{{1, 9}}}, kafka.InvalidReplicaAssignment},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := ask[*wire.CreateTopicsResponse](l, kafka.CreateTopics, &wire.CreateTopicsRequest{Topics: []wire.CreateTopic{c.topic}})
			assert.Equal(t, c.want, a.Topics[0].ErrorCode)
		})
	}
}

func TestAStandbyControllerRefuses(t *testing.T) {
	l := newLab(t, "1")
	l.conn = l.Connect(l.Process("b1"), l.Process("c2"), "controller")
	a, _ := ask[*wire.BrokerHeartbeatResponse](l, kafka.BrokerHeartbeat, &wire.BrokerHeartbeatRequest{BrokerID: 1, BrokerEpoch: l.epoch[1]})
	assert.Equal(t, kafka.NotController, a.ErrorCode)
}

func TestAHeartbeatWithAnOldBrokerEpochIsStale(t *testing.T) {
	l := newLab(t, "1")
	a, _ := ask[*wire.BrokerHeartbeatResponse](l, kafka.BrokerHeartbeat, &wire.BrokerHeartbeatRequest{BrokerID: 1, BrokerEpoch: l.epoch[1] - 1})
	assert.Equal(t, kafka.StaleBrokerEpoch, a.ErrorCode)
}
