package controller

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// This file is what a role change does beside changing the role: each role has one
// door, which tells the journal, sets the role's time-out and sends what the role
// sends (KafkaRaftClient's transitions and polls).

func (n *Node) fetchTimeout() journal.Time {
	return n.millis("controller.quorum.fetch.timeout.ms")
}

// checkQuorumTimeout is how long a leader leads without a majority that fetches.
func (n *Node) checkQuorumTimeout() journal.Time { return n.fetchTimeout() * 3 / 2 }

// electionTimeout is drawn anew for each role that waits for votes.
func (n *Node) electionTimeout() journal.Time {
	base := n.millis("controller.quorum.election.timeout.ms")
	if base <= 0 {
		return 0
	}
	return base + journal.Time(n.w.Stream(n.name, "election").Intn(int64(base)))
}

// remaining is what is left of the role's time-out.
func (n *Node) remaining() journal.Time { return max(n.deadline-n.w.Now(), 0) }

// expect ends the role after d, unless expect is called again before.
func (n *Node) expect(d journal.Time) {
	n.deadline = n.w.Now() + d
	n.timer.Stop()
	n.timer = n.proc.After(d, n.wake)
	n.timer.Because(-1)
}

// extend moves the end of the role without a new timer, for it happens with every
// Fetch.
func (n *Node) extend(d journal.Time) { n.deadline = n.w.Now() + d }

func (n *Node) wake() {
	if left := n.deadline - n.w.Now(); left > 0 {
		n.timer = n.proc.After(left, n.wake)
		n.timer.Because(-1)
		return
	}
	n.timedOut()
}

// timedOut is the end of the role's time. A process that is asked to end stands
// for nothing any more.
func (n *Node) timedOut() {
	if n.stopped != nil {
		return
	}
	switch n.q.Role {
	case Follower:
		n.overdue("controller.quorum.fetch.timeout.ms", n.q.Leader)
		n.becomeProspective()
	case Prospective:
		n.overdue("controller.quorum.election.timeout.ms", nobody)
		n.lose()
	case Unattached, Candidate:
		n.overdue("controller.quorum.election.timeout.ms", nobody)
		n.becomeProspective()
	case Leader:
		if len(n.q.Voters) == 1 {
			return
		}
		n.overdue("check quorum", nobody)
		n.becomeResigned(n.lead.successors())
	case Resigned:
		n.overdue("controller.quorum.election.timeout.ms", nobody)
		n.becomeUnattached(n.q.Epoch+1, 0)
	}
}

// overdue tells which time is over, and what kept away what would have come in
// time: from the leader, or from any voter.
func (n *Node) overdue(timer string, leader int32) {
	missing := 0
	for _, v := range n.q.Voters {
		if v == n.id || leader != nobody && v != leader {
			continue
		}
		name := kafka.NodeName(kafka.BrokerID(v))
		for _, fault := range []int{n.w.FaultBetween(name, n.name), n.w.FaultBetween(n.name, name)} {
			if missing == 0 {
				missing = fault
			}
		}
	}
	n.w.Emit(journal.Event{Kind: journal.TimerFire, Node: n.name, Missing: missing, F: journal.F("timer", timer)})
}

// turnTo is common to all doors: what the last role waited for is void.
func (n *Node) turnTo(kind journal.Kind, change func(), f func() journal.Fields) {
	if n.lead != nil {
		defer n.dropParked()
		defer n.renounce()
	}
	change()
	n.turn++
	n.timer.Stop()
	n.polling, n.wanted = false, nil
	n.w.Emit(journal.Event{Kind: kind, Node: n.name, F: f(), Ch: n.diff()})
}

func (n *Node) epochField() journal.Fields { return journal.F("epoch", n.q.Epoch) }

func (n *Node) becomeUnattached(epoch int32, timeout journal.Time) {
	n.turnTo(journal.QuorumUnattached, func() { n.q.unattached(epoch) }, n.epochField)
	if timeout <= 0 {
		turn := n.turn
		n.proc.After(0, func() {
			if n.turn == turn && n.stopped == nil {
				n.becomeProspective()
			}
		})
		return
	}
	n.expect(timeout)
	n.fetch()
}

// newEpoch takes an epoch that another node has told. The time-out of the election
// goes on where one runs.
func (n *Node) newEpoch(epoch int32) {
	switch n.q.Role {
	case Candidate, Prospective, Unattached, Resigned:
		n.becomeUnattached(epoch, n.remaining())
	default:
		n.becomeUnattached(epoch, n.electionTimeout())
	}
}

func (n *Node) becomeProspective() {
	n.turnTo(journal.QuorumProspect, n.q.prospective, n.epochField)
	if n.q.elected() {
		n.becomeCandidate()
		return
	}
	n.expect(n.electionTimeout())
	n.ask()
}

func (n *Node) becomeCandidate() {
	n.turnTo(journal.QuorumCandidate, n.q.candidate, n.epochField)
	if n.q.elected() {
		n.becomeLeader()
		return
	}
	n.expect(n.electionTimeout())
	n.ask()
}

func (n *Node) becomeFollower(epoch, leader int32) {
	n.turnTo(journal.QuorumFollower, func() { n.q.follower(epoch, leader) }, func() journal.Fields { return journal.F("epoch", epoch, "leader", leader) })
	n.expect(n.fetchTimeout())
	n.proc.After(0, n.fetch) // after what the message that told of the leader brings
	n.maybeLeave()
}

// becomeLeader opens the epoch with a record of its own: only with that can
// anything before it be committed.
func (n *Node) becomeLeader() {
	n.turnTo(journal.QuorumLeader, n.q.lead, n.epochField)
	n.lead = NewLeaderState(n.id, n.q.Voters, n.leo())
	n.expect(n.checkQuorumTimeout())
	first := n.leo() == 0
	if n.hw >= n.lead.start && !first {
		n.activate()
	}
	n.append(leaderChange(n.id, first), nil)
	n.begin()
}

// begin tells the voters that do not follow yet, again after half a fetch
// time-out.
func (n *Node) begin() {
	n.ask()
	if len(n.lead.acknowledged) < len(n.q.Voters) {
		n.later(n.fetchTimeout()/2, n.begin)
	}
}

// becomeResigned ends the leadership but not the epoch, so that nobody can take
// this node for a follower of itself.
func (n *Node) becomeResigned(successors []int32) {
	n.turnTo(journal.QuorumResign, n.q.resign, n.epochField)
	n.successors = append([]int32{}, successors...)
	n.q.votes = map[int32]bool{}
	n.expect(n.electionTimeout())
	n.ask()
}

// lose ends a pre-vote that was not won: back to the leader if one is known. Who
// was refused waits before it asks again.
func (n *Node) lose() {
	switch {
	case n.q.Leader != nobody:
		n.becomeFollower(n.q.Epoch, n.q.Leader)
	case n.q.rejected():
		n.becomeUnattached(n.q.Epoch, n.electionTimeout())
	default:
		n.becomeUnattached(n.q.Epoch, n.remaining())
	}
}

// hear takes an epoch and a leader that a message names. True: the role has
// changed or the message is out of date, and there is nothing more to do with it
// (KafkaRaftClient.maybeHandleCommonResponse).
func (n *Node) hear(code kafka.ErrorCode, epoch, leader int32) bool {
	switch {
	case epoch < n.q.Epoch || code == kafka.UnknownLeaderEpoch:
		return true
	case epoch > n.q.Epoch || code == kafka.FencedLeaderEpoch || code == kafka.NotLeaderOrFollower:
		n.follow(epoch, leader)
		return true
	case leader != nobody && leader != n.id && n.q.Leader == nobody:
		n.becomeFollower(epoch, leader)
		return code != kafka.None
	}
	return false
}

// follow goes to a newer epoch, or to the leader of this one once it is known
// (KafkaRaftClient.maybeTransition).
func (n *Node) follow(epoch, leader int32) {
	switch {
	case epoch > n.q.Epoch && leader == nobody:
		n.newEpoch(epoch)
	case epoch > n.q.Epoch, epoch == n.q.Epoch && leader != nobody && leader != n.id && n.q.Leader == nobody:
		n.becomeFollower(epoch, leader)
	}
}
