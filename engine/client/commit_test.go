package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Between JoinGroup and the answer of SyncGroup a cooperative member reads on, and
// the client itself refuses each commit with RebalanceInProgressException
// (ConsumerCoordinator.sendOffsetCommitRequest).
func TestNoCommitIsSentWhileItJoins(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 1)
	joins := 0
	l.answer = func(_ string, r *sim.Request) bool {
		switch r.Body.(type) {
		case *wire.JoinGroupRequest:
			joins++
			a := &wire.JoinGroupResponse{GenerationID: int32(joins), ProtocolName: "cooperative-sticky", Leader: "somebody", MemberID: "m"}
			wait := journal.Time(0)
			if joins == 2 {
				wait = 3 * journal.Second
			}
			l.w.After(wait, func() { r.Reply(a, 0, false) })
		case *wire.SyncGroupRequest:
			r.Reply(&wire.SyncGroupResponse{ProtocolName: "cooperative-sticky", Assignment: []string{"orders-0"}}, 0, false)
		case *wire.HeartbeatRequest:
			a := &wire.HeartbeatResponse{}
			if joins == 1 {
				a.ErrorCode = kafka.RebalanceInProgress
			}
			r.Reply(a, 0, false)
		default:
			return false
		}
		return true
	}
	c := NewConsumer(l.w, l.w.AddProcess("a1", true, nil), Options{ID: "a1", Group: "g", Topics: []string{"orders"}, Brokers: l.brokers,
		Config: kafka.NewConfig("consumer", pairs([]string{"partition.assignment.strategy", "CooperativeStickyAssignor", "auto.commit.interval.ms", "200", "auto.offset.reset", "earliest"}))})
	l.at(0, c.Start)
	l.at(4*journal.Second, func() { c.Commit(nil) })
	l.run(10 * journal.Second)

	var joined, synced journal.Time
	var commits []journal.Time
	for _, e := range l.w.J.Events {
		switch {
		case e.Kind == journal.RequestSend && e.API == string(kafka.JoinGroup):
			joined = e.T
		case e.Kind == journal.ResponseReceive && e.API == string(kafka.SyncGroup):
			synced = e.T
		case e.Kind == journal.RequestSend && e.API == string(kafka.OffsetCommit):
			commits = append(commits, e.T)
		}
	}
	require.Equal(t, 2, joins)
	require.Greater(t, synced, joined+3*journal.Second)
	before, after := 0, 0
	for _, at := range commits {
		switch {
		case at < joined:
			before++
		case at > synced:
			after++
		default:
			t.Errorf("a commit is sent at %s, between %s and %s", at, joined, synced)
		}
	}
	assert.Greater(t, before, 10)
	assert.Greater(t, after, 10)
	assert.Equal(t, []string{"RebalanceInProgressException"}, tails(l.events(journal.ConsumerCommitted, "error")), "commitSync throws")
}

// CommitRequestManager.AutoCommitState.shouldAutoCommit: the consumer of the consumer
// protocol skips an interval while its last automatic commit is not answered, the
// classic one (ConsumerCoordinator.maybeAutoCommitOffsetsAsync) sends another.
func TestAutomaticCommitsInFlight(t *testing.T) {
	for protocol, want := range map[string][]string{
		"consumer": {"0.2s", "1.2041s", "2.2082s", "3.2123s"},
		"classic":  {"0.2s", "0.4s", "0.6s", "0.8s"},
	} {
		l := newLab(t)
		l.store("orders-0", 1)
		l.answer = func(_ string, r *sim.Request) bool {
			q, is := r.Body.(*wire.OffsetCommitRequest)
			if is {
				l.w.After(journal.Second, func() {
					r.Reply(&wire.OffsetCommitResponse{Parts: []wire.PartError{{Part: q.Parts[0].Part}}}, 0, false)
				})
			}
			return is
		}
		c := l.consumer("g", "auto", 0, 0, "auto.offset.reset", "earliest", "group.protocol", protocol, "auto.commit.interval.ms", "200")
		l.at(0, c.Start)
		l.run(4 * journal.Second)
		assert.Equal(t, want, heads(l.sent(kafka.OffsetCommit))[:4], protocol)
	}
}
