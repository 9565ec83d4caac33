package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// admin sends an admin request; the answer is what was refused.
func admin[R wire.AdminAnswer](l *lab, api kafka.API, body any) []wire.Refusal {
	l.t.Helper()
	a, _ := ask[R](l, api, body)
	return a.Refused()
}

func (l *lab) move(part string, to ...int32) []wire.Refusal {
	l.t.Helper()
	return admin[*wire.AlterPartitionReassignmentsResponse](l, kafka.AlterPartitionReassignments, &wire.AlterPartitionReassignmentsRequest{Parts: []wire.Reassignment{{Part: part, Replicas: to}}})
}

func (l *lab) elect(kind int8, parts ...string) []wire.Refusal {
	l.t.Helper()
	return admin[*wire.ElectLeadersResponse](l, kafka.ElectLeaders, &wire.ElectLeadersRequest{ElectionType: kind, Parts: parts})
}

func (l *lab) set(kind int8, name, key, value string) []wire.Refusal {
	l.t.Helper()
	return admin[*wire.IncrementalAlterConfigsResponse](l, kafka.IncrementalAlterConfigs, &wire.IncrementalAlterConfigsRequest{
		Resources: []wire.ConfigResource{{Type: kind, Name: name, Configs: []wire.KeyValue{{Name: key, Value: value}}}}})
}

func (l *lab) grow(topic string, count int32, assign ...[]int32) []wire.Refusal {
	l.t.Helper()
	return admin[*wire.CreatePartitionsResponse](l, kafka.CreatePartitions, &wire.CreatePartitionsRequest{Topics: []wire.MorePartitions{{Name: topic, Count: count, Assignments: assign}}})
}

// fourth registers broker 4 and unfences it.
func (l *lab) fourth() {
	l.epoch[4] = l.register(&wire.BrokerRegistrationRequest{BrokerID: 4, IncarnationID: "new", PreviousBrokerEpoch: -1}).BrokerEpoch
	l.beat(4, nil)
}

func refused(what string, code kafka.ErrorCode) []wire.Refusal {
	return []wire.Refusal{{What: what, Code: code}}
}

func TestAReassignmentEndsWithTheAlterPartitionThatFillsTheISR(t *testing.T) {
	l := newLab(t, "1")
	l.fourth()
	from := l.end()
	assert.Empty(t, l.move("orders-0", 4, 2, 3))
	a := l.alter(0, 1, l.isr(1, 2, 3, 4)...)
	assert.Equal(t, kafka.NewLeaderElected, a.ErrorCode, "the leader that asked is gone")
	assert.Equal(t, []string{
		"PartitionChangeRecord orders-0 replicas 4,2,3,1 removing 1 adding 4",
		"PartitionChangeRecord orders-0 isr 2,3,4 leader 4 replicas 4,2,3 removing none adding none",
	}, l.written(from))
	p := l.nodes[2].Image().Partition("orders-0")
	assert.Equal(t, int32(1), p.LeaderEpoch)
	assert.Equal(t, int32(2), p.PartitionEpoch)
	assert.False(t, p.Reassigning())
}

func TestAFollowerThatLeavesBumpsTheLeaderEpoch(t *testing.T) {
	l := newLab(t, "1")
	from := l.end()
	assert.Empty(t, l.move("orders-0", 1, 2))
	assert.Equal(t, []string{"PartitionChangeRecord orders-0 isr 1,2 leader 1 replicas 1,2"}, l.written(from), "nothing to wait for: one record")
	l.fourth()
	from = l.end()
	assert.Empty(t, l.move("orders-0", 1, 4))
	a := l.alter(1, 2, l.isr(1, 2, 4)...)
	assert.Equal(t, kafka.None, a.ErrorCode)
	assert.Equal(t, int32(2), a.LeaderEpoch)
	assert.Equal(t, []int32{1, 4}, a.ISR)
	assert.Equal(t, []string{
		"PartitionChangeRecord orders-0 replicas 1,4,2 removing 2 adding 4",
		"PartitionChangeRecord orders-0 isr 1,4 leader 1 replicas 1,4 removing none adding none",
	}, l.written(from))
}

func TestARunningReassignmentIsTold(t *testing.T) {
	l := newLab(t, "1")
	l.fourth()
	l.move("orders-0", 4, 2, 3)
	x := journal.NewIndex(l.J)
	assert.Equal(t, "1", x.Str("meta/orders-0/removing", len(l.J.Events)))
	assert.Equal(t, "4", x.Str("meta/orders-0/adding", len(l.J.Events)))
	from := l.end()
	assert.Empty(t, l.move("orders-0"), "no target cancels it")
	assert.Equal(t, []string{"PartitionChangeRecord orders-0 leader 1 replicas 2,3,1 removing none adding none"}, l.written(from))
	x = journal.NewIndex(l.J)
	assert.Nil(t, x.Get("meta/orders-0/adding", len(l.J.Events)))
	assert.Equal(t, refused("orders-0", kafka.NoReassignmentInProgress), l.move("orders-0"))
}

func TestReassignmentsThatCannotBe(t *testing.T) {
	l := newLab(t, "1")
	from := l.end()
	assert.Equal(t, refused("payments-0", kafka.UnknownTopicOrPartition), l.move("payments-0", 1))
	assert.Equal(t, refused("orders-0", kafka.InvalidReplicaAssignment), l.move("orders-0", 1, 9))
	assert.Equal(t, refused("orders-0", kafka.InvalidReplicaAssignment), l.move("orders-0", 1, 1))
	assert.Empty(t, l.written(from))
}

func TestElectionsThatAreAskedFor(t *testing.T) {
	l := newLab(t, "2")
	assert.Equal(t, refused("orders-0", kafka.ElectionNotNeeded), l.elect(0, "orders-0"), "broker 1 leads")
	assert.Empty(t, l.elect(0), "of all partitions only those are told that need one")
	l.beat(1, wantFence)
	assert.Equal(t, refused("orders-0", kafka.PreferredLeaderNotAvailable), l.elect(0, "orders-0"), "broker 1 is fenced")
	l.beat(1, nil)
	assert.Equal(t, refused("orders-0", kafka.PreferredLeaderNotAvailable), l.elect(0, "orders-0"), "and then not in the ISR")
	l.beat(2, nil)
	l.beat(3, nil)
	l.conn = l.Connect(l.AddProcess("b2", false, nil), l.Process("c1"), "controller")
	a, _ := ask[*wire.AlterPartitionResponse](l, kafka.AlterPartition, &wire.AlterPartitionRequest{BrokerID: 2, BrokerEpoch: l.epoch[2],
		Parts: []wire.AlterPartitionPart{{Part: "orders-0", LeaderEpoch: 1, PartitionEpoch: 1, NewISR: l.isr(1, 2, 3)}}})
	assert.Equal(t, kafka.None, a.Parts[0].ErrorCode)
	from := l.end()
	assert.Empty(t, l.elect(0, "orders-0"))
	assert.Equal(t, []string{"PartitionChangeRecord orders-0 leader 1"}, l.written(from))
	assert.Equal(t, refused("orders-0", kafka.ElectionNotNeeded), l.elect(1, "orders-0"), "it has a leader")
	assert.Equal(t, refused("orders-9", kafka.UnknownTopicOrPartition), l.elect(1, "orders-9"))
	assert.Equal(t, refused("", kafka.InvalidRequest), l.elect(7))
}

// alone leaves orders without a leader, and then only broker 3 alive, which left
// the ISR while it was large enough.
func (l *lab) alone() {
	for _, id := range []int32{3, 2, 1} {
		l.beat(id, wantFence)
	}
	l.beat(3, nil)
}

func TestAnUncleanElectionLosesAndIsOnlyDoneOnDemand(t *testing.T) {
	l := newLab(t, "2")
	for _, id := range []int32{3, 2, 1} {
		l.beat(id, wantFence)
	}
	assert.Equal(t, refused("orders-0", kafka.EligibleLeadersNotAvailable), l.elect(1, "orders-0"), "nobody is alive")
	l.beat(3, nil)
	from := l.end()
	assert.Empty(t, l.elect(1))
	assert.Equal(t, []string{
		"PartitionChangeRecord orders-0 isr 3 leader 3 elr none lastKnownElr none leaderRecoveryState 1",
		"PartitionChangeRecord orders-1 isr 3 leader 3 elr none lastKnownElr none leaderRecoveryState 1",
	}, l.written(from))
}

func TestSwitchingUncleanElectionsOnWaitsForTheCheck(t *testing.T) {
	l := newLab(t, "2")
	l.alone()
	from := l.end()
	assert.Empty(t, l.set(wire.TopicResource, "orders", "unclean.leader.election.enable", "true"))
	assert.Equal(t, []string{"ConfigRecord orders unclean.leader.election.enable=true"}, l.written(from))
	assert.Equal(t, int32(-1), l.nodes[0].Image().Partition("orders-0").Leader)
}

func TestANewMinISRClearsTheELR(t *testing.T) {
	l := newLab(t, "2")
	l.alter(0, 0, l.isr(1)...)
	assert.Equal(t, []int32{2, 3}, l.nodes[0].Image().Partition("orders-0").ELR)
	from := l.end()
	assert.Empty(t, l.set(wire.TopicResource, "orders", "min.insync.replicas", "1"))
	assert.Equal(t, []string{"ConfigRecord orders min.insync.replicas=1", "ClearElrRecord orders"}, l.written(from))
	assert.Empty(t, l.nodes[2].Image().Partition("orders-0").ELR)
	from = l.end()
	assert.Empty(t, l.set(wire.TopicResource, "orders", "min.insync.replicas", "1"))
	assert.Empty(t, l.written(from), "it is 1 already")
	assert.Empty(t, l.set(wire.BrokerResource, "", "min.insync.replicas", "2"))
	assert.Equal(t, []string{"ConfigRecord cluster min.insync.replicas=2", "ClearElrRecord cluster"}, l.written(from))
	assert.Equal(t, 1, l.nodes[0].Image().MinISR("orders-0"), "the topic's own goes first")
}

func TestConfigsThatCannotBe(t *testing.T) {
	l := newLab(t, "2")
	from := l.end()
	assert.Equal(t, refused("payments", kafka.UnknownTopicOrPartition), l.set(wire.TopicResource, "payments", "retention.ms", "1"))
	assert.Equal(t, refused("orders", kafka.InvalidConfig), l.set(wire.TopicResource, "orders", "min.insync.replicas", "0"))
	assert.Equal(t, refused("b1", kafka.InvalidConfig), l.set(wire.BrokerResource, "1", "min.insync.replicas", "1"), "all brokers share it while there are ELRs")
	assert.Equal(t, refused("b9", kafka.BrokerIDNotRegistered), l.set(wire.BrokerResource, "9", "message.max.bytes", "1"))
	assert.Empty(t, l.written(from))
}

func TestPartitionsAreAddedAndNeverTaken(t *testing.T) {
	l := newLab(t, "2")
	from := l.end()
	assert.Equal(t, refused("orders", kafka.InvalidPartitions), l.grow("orders", 1), "fewer")
	assert.Equal(t, refused("orders", kafka.InvalidPartitions), l.grow("orders", 2), "as many")
	assert.Equal(t, refused("payments", kafka.UnknownTopicOrPartition), l.grow("payments", 3))
	assert.Equal(t, refused("orders", kafka.InvalidReplicaAssignment), l.grow("orders", 4, []int32{3, 1, 2}), "one assignment for two")
	assert.Equal(t, refused("orders", kafka.InvalidReplicaAssignment), l.grow("orders", 3, []int32{3, 1}), "fewer replicas than the others")
	assert.Empty(t, l.written(from))
	assert.Empty(t, l.grow("orders", 3, []int32{3, 1, 2}))
	assert.Equal(t, []string{"PartitionRecord orders-2 replicas 3,1,2 leader 3"}, l.written(from))
	assert.Empty(t, l.grow("orders", 5))
	assert.Len(t, l.nodes[1].Image().Topics["orders"].Parts, 5)
}
