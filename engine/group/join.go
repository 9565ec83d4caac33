package group

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// JoinGroup serves a JoinGroup of a client (classicGroupJoin). It may be answered
// much later.
func (s *Shard) JoinGroup(now journal.Time, q *wire.JoinGroupRequest, client string, to any) Result {
	s.begin(now)
	refuse := func(code kafka.ErrorCode) {
		s.answer(to, &wire.JoinGroupResponse{ErrorCode: code, GenerationID: -1, MemberID: q.MemberID})
	}
	g := s.group(q.GroupID)
	cfg := s.opt.Config
	switch {
	case q.SessionTimeoutMs < cfg.Millis("group.min.session.timeout.ms") || q.SessionTimeoutMs > cfg.Millis("group.max.session.timeout.ms"):
		refuse(kafka.InvalidSessionTimeout)
	case g == nil || g.classic == nil && g.consumer == nil:
		if q.MemberID != "" {
			refuse(kafka.UnknownMemberID)
			break
		}
		s.firstJoin(q, client, to)
	case g.consumer != nil:
		s.joinConsumerGroup(g, q, client, to, refuse)
	default:
		s.join(g, q, client, to, refuse)
	}
	return s.end()
}

// firstJoin makes the group. Its first request is answered when an empty
// GroupMetadata record is committed.
func (s *Shard) firstJoin(q *wire.JoinGroupRequest, client string, to any) {
	g := s.group(q.GroupID)
	if g == nil {
		g = s.newGroup(q.GroupID)
	}
	g.classic = newClassic()
	s.emit(g, journal.GroupState, journal.F("state", string(Empty), "reason", "the first member asks to join"))
	s.write(g.id, func(code kafka.ErrorCode) {
		refuse := func(code kafka.ErrorCode) {
			s.answer(to, &wire.JoinGroupResponse{ErrorCode: code, GenerationID: -1, MemberID: q.MemberID})
		}
		if code != kafka.None {
			refuse(appendError(code))
			return
		}
		s.join(g, q, client, to, refuse)
	}, g.metadataRecord())
}

func (s *Shard) join(g *group, q *wire.JoinGroupRequest, client string, to any, refuse func(kafka.ErrorCode)) {
	c := g.classic
	size := int64(len(c.members) + len(c.pending))
	known := c.members[q.MemberID] != nil || c.pending[q.MemberID]
	_, back := c.static[q.Instance]
	switch {
	case c.state == Dead:
		refuse(kafka.CoordinatorNotAvailable)
	case size >= s.opt.Config.Int("group.max.size") && !known && !back:
		refuse(kafka.GroupMaxSizeReached)
	case !c.supports(q.ProtocolType, q.Protocols):
		refuse(kafka.InconsistentGroupProtocol)
	case q.MemberID == "" && q.Instance != "":
		s.joinStatic(g, q, client, to)
	case q.MemberID == "":
		id := s.opt.NewID(client)
		c.pending[id] = true
		s.later(journal.Millis(q.SessionTimeoutMs), g, session(id), func(g *group) { s.classicSilent(g, id) })
		s.answer(to, &wire.JoinGroupResponse{ErrorCode: kafka.MemberIDRequired, GenerationID: -1, MemberID: id})
	case c.pending[q.MemberID]:
		s.addMember(g, q.MemberID, q, client, to)
	default:
		if code := c.known(q.MemberID, q.Instance); code != kafka.None {
			refuse(code)
			return
		}
		s.rejoin(g, c.members[q.MemberID], q, to, refuse)
	}
}

func (m *classicMember) update(q *wire.JoinGroupRequest, to any) {
	m.sessionTimeout, m.rebalanceTimeout = journal.Millis(q.SessionTimeoutMs), journal.Millis(q.RebalanceTimeoutMs)
	m.protocols, m.join = q.Protocols, to
}

// addMember is addMemberThenRebalanceOrCompleteJoin.
func (s *Shard) addMember(g *group, id string, q *wire.JoinGroupRequest, client string, to any) {
	c := g.classic
	if c.state == PreparingRebalance && c.generation == 0 {
		c.newMember = true
	}
	m := &classicMember{id: id, client: client, instance: q.Instance, fresh: true}
	m.update(q, to)
	c.protocolType = q.ProtocolType
	c.add(m)
	s.watch(g, m, newMemberJoinTimeout)
	s.emit(g, journal.MemberJoin, journal.F("member", client, "memberId", id, "instance", q.Instance))
	s.rebalanceOrComplete(g, client+" joins")
}

// rejoin is a JoinGroup of a member.
func (s *Shard) rejoin(g *group, m *classicMember, q *wire.JoinGroupRequest, to any, refuse func(kafka.ErrorCode)) {
	c := g.classic
	same := sameProtocols(m.protocols, q.Protocols)
	switch {
	case c.state == PreparingRebalance,
		c.state == CompletingRebalance && !same,
		c.state == Stable && (c.leader == m.id || !same):
		m.update(q, to)
		s.rebalanceOrComplete(g, m.client+" joins again")
	case c.state == CompletingRebalance, c.state == Stable:
		s.answer(to, c.joinAnswer(m, c.state == CompletingRebalance))
	default:
		refuse(kafka.UnknownMemberID)
	}
}

func sameProtocols(a, b []wire.JoinProtocol) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || text(a[i].Metadata) != text(b[i].Metadata) {
			return false
		}
	}
	return true
}

// joinAnswer is the answer of the current generation; its members go to the
// leader, if at all.
func (c *classic) joinAnswer(m *classicMember, members bool) *wire.JoinGroupResponse {
	r := &wire.JoinGroupResponse{GenerationID: c.generation, ProtocolName: c.protocol, Leader: c.leader, MemberID: m.id}
	if members && c.leader == m.id {
		for _, id := range c.ids() {
			x := c.members[id]
			r.Members = append(r.Members, wire.JoinMember{MemberID: id, Instance: x.instance, Metadata: x.metadata(c.protocol)})
		}
	}
	return r
}

func (s *Shard) rebalanceOrComplete(g *group, reason string) {
	if g.classic.state == PreparingRebalance {
		s.maybeCompleteJoin(g)
		return
	}
	s.prepareRebalance(g, reason)
}

// prepareRebalance begins the join phase. A group that was empty waits
// group.initial.rebalance.delay.ms for more members.
func (s *Shard) prepareRebalance(g *group, reason string) {
	c := g.classic
	if c.state == CompletingRebalance {
		s.dropSync(g, kafka.RebalanceInProgress)
	}
	initial := c.state == Empty
	s.setState(g, PreparingRebalance, reason)
	if initial {
		delay := s.millis("group.initial.rebalance.delay.ms")
		s.initialDelay(g, delay, max(c.rebalanceTimeout()-delay, 0))
		return
	}
	if c.allJoined() {
		s.completeJoin(g)
		return
	}
	s.later(c.rebalanceTimeout(), g, "join", s.completeJoin)
}

// dropSync ends the sync phase: nobody has an assignment.
func (s *Shard) dropSync(g *group, code kafka.ErrorCode) {
	c := g.classic
	s.timers.cancel(g.id, "sync")
	clear(c.unsynced)
	for _, id := range c.ids() {
		m := c.members[id]
		m.assignment = nil
		if m.sync != nil {
			s.answer(m.sync, &wire.SyncGroupResponse{ErrorCode: code})
			m.sync = nil
			s.keepAlive(g, m)
		}
	}
}

// initialDelay waits, and once more when somebody joined meanwhile
// (tryCompleteInitialRebalanceElseSchedule).
func (s *Shard) initialDelay(g *group, delay, remaining journal.Time) {
	s.later(delay, g, "join", func(g *group) {
		if c := g.classic; c.newMember && remaining > 0 {
			c.newMember = false
			next := min(s.millis("group.initial.rebalance.delay.ms"), remaining)
			s.initialDelay(g, next, max(remaining-delay, 0))
			return
		}
		s.completeJoin(g)
	})
}

// maybeCompleteJoin ends the join phase when all have joined; the first one of a
// group ends by its delay.
func (s *Shard) maybeCompleteJoin(g *group) {
	c := g.classic
	if c.state == PreparingRebalance && c.allJoined() && c.before != Empty {
		s.completeJoin(g)
	}
}

// completeJoin ends the join phase: who is not back is out, static members
// excepted; the next generation begins and all parked JoinGroups are answered.
func (s *Shard) completeJoin(g *group) {
	c := g.classic
	if c == nil || c.state != PreparingRebalance {
		return
	}
	s.timers.cancel(g.id, "join")
	for _, id := range c.ids() {
		if m := c.members[id]; m.join == nil && m.instance == "" {
			c.remove(id)
			s.timers.cancel(g.id, session(id))
			s.emit(g, journal.MemberFence, journal.F("member", m.client, "memberId", id, "reason", "it did not join within the rebalance timeout"))
		}
	}
	if !c.electJoined() && len(c.members) > 0 {
		s.later(c.rebalanceTimeout(), g, "join", s.completeJoin)
		return
	}
	s.nextGeneration(g)
}

// electJoined makes a member leader that has joined, if there is one.
func (c *classic) electJoined() bool {
	if m := c.members[c.leader]; m != nil && m.join != nil {
		return true
	}
	id := c.newest(func(m *classicMember) bool { return m.join != nil })
	if id == "" {
		return false
	}
	c.leader = id
	return true
}

func (s *Shard) nextGeneration(g *group) {
	c := g.classic
	c.generation++
	clear(c.unsynced)
	if len(c.members) == 0 {
		c.protocol, c.leader = "", ""
		s.setState(g, Empty, "the last member is gone")
		s.write(g.id, func(kafka.ErrorCode) {}, g.metadataRecord())
		return
	}
	c.protocol = c.choose()
	c.to(CompletingRebalance)
	s.emit(g, journal.GroupGeneration, journal.F("generation", c.generation, "protocol", c.protocol, "leader", c.members[c.leader].client, "members", len(c.members)))
	s.emit(g, journal.GroupState, journal.F("state", string(CompletingRebalance), "reason", "all members have joined"))
	for _, id := range c.ids() {
		m := c.members[id]
		if m.join != nil {
			s.answer(m.join, c.joinAnswer(m, true))
			m.join = nil
		}
		m.fresh = false
		s.keepAlive(g, m)
		c.unsynced[id] = true
	}
	s.later(c.rebalanceTimeout(), g, "sync", s.syncTimeout)
}

// syncTimeout removes who has not sent SyncGroup (expirePendingSync).
func (s *Shard) syncTimeout(g *group) {
	c := g.classic
	if c == nil || c.state != CompletingRebalance && c.state != Stable || len(c.unsynced) == 0 {
		return
	}
	for _, id := range c.ids() {
		if m := c.members[id]; c.unsynced[id] {
			c.remove(id)
			s.timers.cancel(g.id, session(id))
			s.emit(g, journal.MemberFence, journal.F("member", m.client, "memberId", id, "reason", "it did not synchronise within the rebalance timeout"))
		}
	}
	s.prepareRebalance(g, "a member did not synchronise")
}

// joinStatic is a static member without a member id: a new one, or a known
// instance that comes back (KIP-345).
func (s *Shard) joinStatic(g *group, q *wire.JoinGroupRequest, client string, to any) {
	c := g.classic
	id := s.opt.NewID(client)
	old, back := c.static[q.Instance]
	if !back {
		s.addMember(g, id, q, client, to)
		return
	}
	m := c.members[old]
	s.fail(m, kafka.FencedInstanceID)
	s.timers.cancel(g.id, session(old))
	before := *m
	s.replace(c, m, id)
	m.client = client
	if c.unsynced[old] {
		delete(c.unsynced, old)
		c.unsynced[id] = true
	}
	protocols := m.protocols
	m.update(q, nil)
	s.keepAlive(g, m)
	s.emit(g, journal.MemberJoin, journal.F("member", client, "memberId", id, "instance", q.Instance, "replaces", old))
	switch {
	case c.state == Stable && c.protocol == c.choose():
		s.write(g.id, func(code kafka.ErrorCode) {
			if code != kafka.None {
				s.replace(c, m, old)
				m.protocols, m.sessionTimeout, m.rebalanceTimeout = protocols, before.sessionTimeout, before.rebalanceTimeout
				s.answer(to, &wire.JoinGroupResponse{ErrorCode: appendError(code), GenerationID: -1})
				return
			}
			r := c.joinAnswer(m, true)
			r.SkipAssignment = c.leader == m.id
			s.answer(to, r)
		}, g.metadataRecord())
	default:
		m.join = to
		s.rebalanceOrComplete(g, client+" is back")
	}
}

// replace gives a static member another member id.
func (s *Shard) replace(c *classic, m *classicMember, id string) {
	old := m.id
	delete(c.members, old)
	m.id = id
	c.members[id] = m
	c.static[m.instance] = id
	if c.leader == old {
		c.leader = id
	}
}
