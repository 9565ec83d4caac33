package group

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// SyncGroup serves a SyncGroup (classicGroupSync). The leader's carries the
// assignment; it is in force once it is written.
func (s *Shard) SyncGroup(now journal.Time, q *wire.SyncGroupRequest, to any) Result {
	s.begin(now)
	refuse := func(code kafka.ErrorCode) { s.answer(to, &wire.SyncGroupResponse{ErrorCode: code}) }
	g := s.group(q.GroupID)
	switch {
	case g == nil || g.classic == nil && g.consumer == nil:
		refuse(kafka.UnknownMemberID)
	case g.consumer != nil:
		s.syncConsumerGroup(g, q, to, refuse)
	default:
		s.sync(g, q, to, refuse)
	}
	return s.end()
}

func (s *Shard) sync(g *group, q *wire.SyncGroupRequest, to any, refuse func(kafka.ErrorCode)) {
	c := g.classic
	code := c.known(q.MemberID, q.Instance)
	switch {
	case c.state == Dead:
		refuse(kafka.CoordinatorNotAvailable)
	case code != kafka.None:
		refuse(code)
	case q.GenerationID != c.generation:
		refuse(kafka.IllegalGeneration)
	case c.protocol != "" && q.ProtocolName != "" && q.ProtocolName != c.protocol:
		refuse(kafka.InconsistentGroupProtocol)
	case c.state == Empty:
		refuse(kafka.UnknownMemberID)
	case c.state == PreparingRebalance:
		refuse(kafka.RebalanceInProgress)
	case c.state == CompletingRebalance:
		c.members[q.MemberID].sync = to
		s.synced(g, q.MemberID)
		if q.MemberID == c.leader {
			s.storeAssignment(g, q)
		}
	default:
		s.synced(g, q.MemberID)
		m := c.members[q.MemberID]
		s.keepAlive(g, m)
		s.answer(to, &wire.SyncGroupResponse{ProtocolName: c.protocol, Assignment: list(m.assignment)})
	}
}

func (s *Shard) synced(g *group, id string) {
	delete(g.classic.unsynced, id)
	if len(g.classic.unsynced) == 0 {
		s.timers.cancel(g.id, "sync")
	}
}

// storeAssignment writes the leader's assignment; when it is committed the group
// is stable and all parked SyncGroups are answered.
func (s *Shard) storeAssignment(g *group, q *wire.SyncGroupRequest) {
	c := g.classic
	given := map[string][]string{}
	for _, a := range q.Assignments {
		given[a.MemberID] = a.Assignment
	}
	record := g.metadataRecordWith(given)
	generation := c.generation
	s.write(g.id, func(code kafka.ErrorCode) {
		if c.state != CompletingRebalance || c.generation != generation {
			return
		}
		if code != kafka.None {
			s.dropSync(g, appendError(code))
			s.prepareRebalance(g, "the assignment could not be stored")
			return
		}
		for _, id := range c.ids() {
			c.members[id].assignment = list(given[id])
		}
		c.to(Stable)
		for _, id := range c.ids() {
			m := c.members[id]
			s.emit(g, journal.GroupAssign, journal.F("member", m.client, "assignment", m.assignment))
		}
		s.emit(g, journal.GroupState, journal.F("state", string(Stable), "reason", "the assignment is stored"))
		for _, id := range c.ids() {
			if m := c.members[id]; m.sync != nil {
				s.answer(m.sync, &wire.SyncGroupResponse{ProtocolName: c.protocol, Assignment: m.assignment})
				m.sync = nil
				s.keepAlive(g, m)
			}
		}
	}, record)
}

// Heartbeat serves a Heartbeat (classicGroupHeartbeat).
func (s *Shard) Heartbeat(now journal.Time, q *wire.HeartbeatRequest, to any) Result {
	s.begin(now)
	s.answer(to, &wire.HeartbeatResponse{ErrorCode: s.heartbeat(q)})
	return s.end()
}

func (s *Shard) heartbeat(q *wire.HeartbeatRequest) kafka.ErrorCode {
	g := s.group(q.GroupID)
	if g == nil || g.classic == nil && g.consumer == nil {
		return kafka.UnknownMemberID
	}
	if g.consumer != nil {
		return s.heartbeatConsumerGroup(g, q)
	}
	c := g.classic
	if c.state == Dead {
		return kafka.CoordinatorNotAvailable
	}
	if code := c.known(q.MemberID, q.Instance); code != kafka.None {
		return code
	}
	switch {
	case q.GenerationID != c.generation:
		return kafka.IllegalGeneration
	case c.state == Empty:
		return kafka.UnknownMemberID
	}
	s.keepAlive(g, c.members[q.MemberID])
	if c.state == PreparingRebalance {
		return kafka.RebalanceInProgress
	}
	return kafka.None
}

// LeaveGroup serves a LeaveGroup (classicGroupLeave).
func (s *Shard) LeaveGroup(now journal.Time, q *wire.LeaveGroupRequest, to any) Result {
	s.begin(now)
	g := s.group(q.GroupID)
	r := &wire.LeaveGroupResponse{}
	if g == nil || g.classic == nil && g.consumer == nil {
		r.ErrorCode = kafka.UnknownMemberID
	} else {
		gone := false
		for _, m := range q.Members {
			code := kafka.UnknownMemberID
			if g.consumer != nil {
				code = s.leaveConsumerGroup(g, m)
			} else if g.classic.state != Dead {
				var was bool
				code, was = s.leave(g, m)
				gone = gone || was
			}
			r.Members = append(r.Members, wire.LeftMember{MemberID: m.MemberID, Instance: m.Instance, ErrorCode: code})
		}
		if gone {
			s.rebalanceWithout(g, "a member left")
		}
	}
	s.answer(to, r)
	return s.end()
}

// leave takes one member out; gone says that the group has one less.
func (s *Shard) leave(g *group, q wire.LeaveMember) (code kafka.ErrorCode, gone bool) {
	c := g.classic
	if c.pending[q.MemberID] {
		delete(c.pending, q.MemberID)
		s.timers.cancel(g.id, session(q.MemberID))
		s.maybeCompleteJoin(g)
		return kafka.None, false
	}
	id := q.MemberID
	if q.Instance != "" && id == "" {
		id = c.static[q.Instance] // removal by an administrator
	}
	if code := c.known(id, q.Instance); code != kafka.None {
		return code, false
	}
	m := c.members[id]
	s.fail(m, kafka.UnknownMemberID)
	c.remove(id)
	s.timers.cancel(g.id, session(id))
	s.emit(g, journal.MemberLeave, journal.F("member", m.client, "memberId", id, "reason", q.Reason))
	return kafka.None, true
}

func list(ps []string) []string {
	if ps == nil {
		return []string{}
	}
	return ps
}
