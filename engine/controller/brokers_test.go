package controller_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// beat is a heartbeat of a broker that has applied all of the log.
func (l *lab) beat(id int32, change func(*wire.BrokerHeartbeatRequest)) *wire.BrokerHeartbeatResponse {
	l.t.Helper()
	q := &wire.BrokerHeartbeatRequest{BrokerID: id, BrokerEpoch: l.epoch[id], CurrentMetadataOffset: l.nodes[0].Image().Offset}
	if change != nil {
		change(q)
	}
	a, _ := ask[*wire.BrokerHeartbeatResponse](l, kafka.BrokerHeartbeat, q)
	require.Equal(l.t, kafka.None, a.ErrorCode)
	return a
}

func wantFence(q *wire.BrokerHeartbeatRequest)    { q.WantFence = true }
func wantShutDown(q *wire.BrokerHeartbeatRequest) { q.WantShutDown = true }

// written are the short texts of the batches from a log position on, without
// NoOp records.
func (l *lab) written(from int64) (out []string) {
	for _, b := range l.nodes[0].LogFrom(from) {
		for i := range b.Records {
			if b.Records[i].Type != "NoOpRecord" {
				out = append(out, controller.RecordText(&b.Records[i]))
			}
		}
	}
	return out
}

func (l *lab) end() int64 {
	log := l.nodes[0].LogFrom(0)
	return log[len(log)-1].Last() + 1
}

// kinds of events about a broker or an election, in order.
func (l *lab) kinds() (out []journal.Kind) {
	for i := range l.J.Events {
		if k := l.J.Events[i].Kind; slices.Contains([]journal.Kind{journal.BrokerFence, journal.BrokerUnfence, journal.BrokerShutdown, journal.LeaderElect}, k) {
			out = append(out, k)
		}
	}
	return out
}

func TestFencingElectsFirstAndFencesLast(t *testing.T) {
	l := newLab(t, "2")
	from := l.end()
	assert.True(t, l.beat(1, wantFence).IsFenced)
	assert.Equal(t, []string{
		"PartitionChangeRecord orders-0 isr 2,3 leader 2",
		"PartitionChangeRecord orders-1 isr 2,3",
		"BrokerRegistrationChangeRecord broker 1 FENCE",
	}, l.written(from))
	assert.Equal(t, []journal.Kind{journal.LeaderElect, journal.BrokerFence}, l.kinds())
	x := journal.NewIndex(l.J)
	assert.Equal(t, "fenced", x.Str("session/b1", len(l.J.Events)))
	p := l.nodes[1].Image().Partition("orders-0")
	assert.Equal(t, int32(1), p.LeaderEpoch)
	assert.Equal(t, int32(2), p.Leader, "standby controllers apply it too")

	from = l.end()
	assert.False(t, l.beat(1, nil).IsFenced, "a broker that never died is unfenced by its next heartbeat")
	assert.Equal(t, []string{"BrokerRegistrationChangeRecord broker 1 UNFENCE"}, l.written(from))
}

func TestTheLastReplicaComesBackFromTheELR(t *testing.T) {
	l := newLab(t, "2")
	for _, id := range []int32{3, 2, 1} {
		l.beat(id, wantFence)
	}
	p := l.nodes[0].Image().Partition("orders-0")
	assert.Equal(t, int32(-1), p.Leader)
	assert.Empty(t, p.ISR)
	assert.Equal(t, []int32{1, 2}, p.ELR)
	assert.Equal(t, []int32{1}, p.LastKnownELR)
	from := l.end()
	l.beat(3, nil)
	assert.Equal(t, []string{"BrokerRegistrationChangeRecord broker 3 UNFENCE"}, l.written(from), "broker 3 may lack committed records")
	from = l.end()
	l.beat(2, nil)
	assert.Equal(t, []string{
		"BrokerRegistrationChangeRecord broker 2 UNFENCE",
		"PartitionChangeRecord orders-0 isr 2 leader 2 elr 1 lastKnownElr none",
		"PartitionChangeRecord orders-1 isr 2 leader 2 elr 1 lastKnownElr none",
	}, l.written(from))
}

func TestAControlledShutdownMovesLeadershipAndWaitsForTheOthers(t *testing.T) {
	l := newLab(t, "2")
	from := l.end()
	assert.False(t, l.beat(1, wantShutDown).ShouldShutDown)
	assert.Equal(t, []string{
		"BrokerRegistrationChangeRecord broker 1 IN_CONTROLLED_SHUTDOWN",
		"PartitionChangeRecord orders-0 isr 2,3 leader 2",
		"PartitionChangeRecord orders-1 isr 2,3",
	}, l.written(from))
	assert.False(t, l.beat(1, wantShutDown).ShouldShutDown, "the others have not told that they know")
	l.beat(2, nil)
	assert.False(t, l.beat(1, wantShutDown).ShouldShutDown, "broker 3 has not")
	l.beat(3, nil)
	from = l.end()
	assert.True(t, l.beat(1, wantShutDown).ShouldShutDown)
	assert.Equal(t, []string{"BrokerRegistrationChangeRecord broker 1 FENCE"}, l.written(from))
	assert.Equal(t, []journal.Kind{journal.LeaderElect, journal.BrokerShutdown, journal.BrokerFence}, sorted(l.kinds()))
}

// sorted puts the elections first.
func sorted(ks []journal.Kind) []journal.Kind {
	slices.SortStableFunc(ks, func(a, b journal.Kind) int {
		switch {
		case a == b:
			return 0
		case a == journal.LeaderElect:
			return -1
		case b == journal.LeaderElect:
			return 1
		}
		return 0
	})
	return ks
}

func (l *lab) register(q *wire.BrokerRegistrationRequest) *wire.BrokerRegistrationResponse {
	l.t.Helper()
	a, _ := ask[*wire.BrokerRegistrationResponse](l, kafka.BrokerRegistration, q)
	return a
}

func TestABrokerRegistersFencedAndItsEpochIsItsOffset(t *testing.T) {
	l := newLab(t, "2")
	a := l.register(&wire.BrokerRegistrationRequest{BrokerID: 1, IncarnationID: "other", PreviousBrokerEpoch: -1})
	assert.Equal(t, kafka.DuplicateBrokerRegistration, a.ErrorCode, "its session still runs")

	a = l.register(&wire.BrokerRegistrationRequest{BrokerID: 4, IncarnationID: "new", PreviousBrokerEpoch: -1})
	require.Equal(t, kafka.None, a.ErrorCode)
	b := l.nodes[2].Image().Brokers[4]
	require.NotNil(t, b)
	assert.True(t, b.Fenced)
	assert.Equal(t, b.Epoch, a.BrokerEpoch)
	assert.Equal(t, a.BrokerEpoch, l.register(&wire.BrokerRegistrationRequest{BrokerID: 4, IncarnationID: "new"}).BrokerEpoch, "it asks again")
	assert.Empty(t, l.kinds(), "a registration is no fencing")

	l.epoch[4] = a.BrokerEpoch
	assert.True(t, l.beat(4, func(q *wire.BrokerHeartbeatRequest) { q.CurrentMetadataOffset = a.BrokerEpoch - 1 }).IsFenced, "it has not caught up")
	assert.False(t, l.beat(4, nil).IsFenced)
}

func TestWhoStoppedUncleanlyLeavesTheELR(t *testing.T) {
	l := newLab(t, "2")
	for _, id := range []int32{3, 2} {
		l.beat(id, wantFence)
	}
	assert.Equal(t, []int32{2}, l.nodes[0].Image().Partition("orders-0").ELR)
	for range 10 { // until the session of broker 2 is over
		l.beat(1, nil)
	}
	from := l.end()
	a := l.register(&wire.BrokerRegistrationRequest{BrokerID: 2, IncarnationID: "again", PreviousBrokerEpoch: -1})
	require.Equal(t, kafka.None, a.ErrorCode)
	assert.Equal(t, []string{
		"PartitionChangeRecord orders-0 elr none",
		"PartitionChangeRecord orders-1 elr none",
		"RegisterBrokerRecord broker 2",
	}, l.written(from))
}

func TestReplicasOfFencedBrokersAreNotInANewISR(t *testing.T) {
	l := newLab(t, "1")
	l.beat(1, wantFence)
	a, _ := ask[*wire.CreateTopicsResponse](l, kafka.CreateTopics, &wire.CreateTopicsRequest{Topics: []wire.CreateTopic{
		{Name: "a", Assignments: [][]int32{{1, 2, 3}}}, {Name: "b", Assignments: [][]int32{{1}}}, {Name: "c", Assignments: [][]int32{{2, 2}}},
		{Name: "d", Assignments: [][]int32{{2}, {2, 3}}}, {Name: "a", Assignments: [][]int32{{2}}}}})
	var codes []kafka.ErrorCode
	for _, x := range a.Topics {
		codes = append(codes, x.ErrorCode)
	}
	assert.Equal(t, []kafka.ErrorCode{kafka.None, kafka.InvalidReplicaAssignment, kafka.InvalidReplicaAssignment, kafka.InvalidReplicaAssignment, kafka.InvalidRequest}, codes)
	p := l.nodes[0].Image().Partition("a-0")
	assert.Equal(t, []int32{2, 3}, p.ISR)
	assert.Equal(t, int32(2), p.Leader)
}

func TestProducerIDsComeInBlocks(t *testing.T) {
	l := newLab(t, "1")
	for want := int64(0); want < 2000; want += 1000 {
		a, _ := ask[*wire.AllocateProducerIDsResponse](l, kafka.AllocateProducerIDs, &wire.AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: l.epoch[1]})
		assert.Equal(t, want, a.ProducerIDStart)
		assert.Equal(t, int32(1000), a.ProducerIDLen)
	}
	a, _ := ask[*wire.AllocateProducerIDsResponse](l, kafka.AllocateProducerIDs, &wire.AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: l.epoch[1] - 1})
	assert.Equal(t, kafka.StaleBrokerEpoch, a.ErrorCode)
}
