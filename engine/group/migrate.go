package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// A group changes its protocol while it has members (KIP-848): the first member
// of the consumer protocol converts a classic group, the last one that leaves
// converts it back. Meanwhile the requests of classic members are translated.

// upgrade converts the classic group in which a member of the consumer protocol
// wants to be; false: it was refused.
func (h *heartbeat) upgrade() bool {
	s, g, old := h.s, h.g, h.g.classic
	policy := s.opt.Config.String("group.consumer.migration.policy")
	switch {
	case h.q.MemberEpoch != joinEpoch:
		h.refuse(kafka.UnknownMemberID)
		return false
	case len(old.members) > 0 && (old.protocolType != "consumer" || policy != "bidirectional" && policy != "upgrade"):
		h.refuse(kafka.InconsistentGroupProtocol)
		return false
	}
	for _, id := range old.ids() {
		s.fail(old.members[id], kafka.RebalanceInProgress)
	}
	s.timers.cancel(g.id, "join")
	s.timers.cancel(g.id, "sync")
	c := newConsumer()
	h.record(groupMetadata, "", nil)
	g.classic, g.consumer = nil, c
	if len(old.members) == 0 {
		return true
	}
	c.epoch, c.targetEpoch, c.hasTarget, c.targetAt = old.generation, old.generation, true, s.now-s.millis("group.consumer.assignment.interval.ms")
	c.assignor = s.assignors()[0]
	for _, id := range old.ids() {
		x := old.members[id]
		m := &consumerMember{id: id, client: x.client, instance: x.instance, order: x.order, topics: slices.Sorted(slices.Values(x.metadata(old.protocol).Topics)),
			rebalanceTimeout: x.rebalanceTimeout, epoch: c.epoch, previous: c.epoch, state: MemberStable, assigned: map[string]int32{}, pending: map[string]int32{},
			classic: &classicValue{millis(x.sessionTimeout), x.protocols}}
		for _, p := range x.assignment {
			m.assigned[p] = c.epoch
		}
		c.members[id], c.target[id] = m, sortParts(x.assignment)
		c.joined = max(c.joined, x.order)
		h.record(memberMetadata, id, m.metadata())
		s.watchConsumer(g, m)
	}
	c.hash = s.metadataHash(c.topics())
	h.record(consumerMetadata, "", consumerMetadataValue{c.epoch, c.hash})
	for _, id := range c.ids() {
		h.record(targetMember, id, targetMemberValue{list(c.target[id])})
	}
	h.record(targetMetadata, "", targetMetadataValue{c.targetEpoch, c.targetAt})
	for _, id := range c.ids() {
		h.record(currentAssignment, id, c.members[id].current())
	}
	h.before = nil
	s.emit(g, journal.GroupState, journal.F("state", string(c.state()), "reason", "the group changes to the consumer protocol"))
	return true
}

// joinConsumerGroup is a JoinGroup in a group of the consumer protocol: the
// coordinator computes the assignment, so it is answered at once and without a
// leader (classicGroupJoinToConsumerGroup).
func (s *Shard) joinConsumerGroup(g *group, q *wire.JoinGroupRequest, client string, to any, refuse func(kafka.ErrorCode)) {
	c := g.consumer
	if q.ProtocolType != "consumer" || len(q.Protocols) == 0 {
		refuse(kafka.InconsistentGroupProtocol)
		return
	}
	id, m := q.MemberID, c.members[q.MemberID]
	switch {
	case id == "" && q.Instance == "":
		s.answer(to, &wire.JoinGroupResponse{ErrorCode: kafka.MemberIDRequired, GenerationID: -1, MemberID: s.opt.NewID(client)})
		return
	case id == "":
		id = s.opt.NewID(client)
	}
	sub := q.Protocols[0].Metadata
	h := heartbeat{s: s, client: client, to: to, g: g, c: c, before: c.clone(), q: &wire.ConsumerGroupHeartbeatRequest{GroupID: g.id, MemberID: id, InstanceID: q.Instance,
		RebalanceTimeoutMs: q.RebalanceTimeoutMs, SubscribedTopicNames: sub.Topics, TopicPartitions: list(sub.OwnedPartitions)}}
	if m != nil {
		h.q.MemberEpoch = m.epoch
	}
	h.classic = &classicValue{q.SessionTimeoutMs, q.Protocols}
	h.wrap = func(r *wire.ConsumerGroupHeartbeatResponse) any {
		if r.ErrorCode != kafka.None {
			return &wire.JoinGroupResponse{ErrorCode: r.ErrorCode, GenerationID: -1, MemberID: id}
		}
		return &wire.JoinGroupResponse{GenerationID: r.MemberEpoch, ProtocolName: q.Protocols[0].Name, MemberID: id}
	}
	h.beat()
}

// classicMember finds a member that speaks the classic protocol.
func (c *consumer) classicMember(id, instance string) (*consumerMember, kafka.ErrorCode) {
	if x := c.static(instance); x != nil && x.id != id {
		return nil, kafka.FencedInstanceID
	}
	m := c.members[id]
	if m == nil || m.classic == nil {
		return nil, kafka.UnknownMemberID
	}
	return m, kafka.None
}

// syncConsumerGroup answers the assignment that the coordinator computed.
func (s *Shard) syncConsumerGroup(g *group, q *wire.SyncGroupRequest, to any, refuse func(kafka.ErrorCode)) {
	m, code := g.consumer.classicMember(q.MemberID, q.Instance)
	switch {
	case code != kafka.None:
		refuse(code)
	case q.GenerationID != m.epoch:
		refuse(kafka.IllegalGeneration)
	default:
		s.watchConsumer(g, m)
		s.answer(to, &wire.SyncGroupResponse{ProtocolName: q.ProtocolName, Assignment: sortParts(slices.Collect(maps.Keys(m.assigned)))})
	}
}

// heartbeatConsumerGroup tells a classic member to join again when the group has
// moved on, when it has to give something back, or when what it waits for is free.
func (s *Shard) heartbeatConsumerGroup(g *group, q *wire.HeartbeatRequest) kafka.ErrorCode {
	c := g.consumer
	m, code := c.classicMember(q.MemberID, q.Instance)
	switch {
	case code != kafka.None:
		return code
	case q.GenerationID != m.epoch:
		return kafka.IllegalGeneration
	}
	s.watchConsumer(g, m)
	waits := slices.ContainsFunc(c.target[m.id], func(p string) bool { x := c.holder(p); return x != nil && x != m })
	if m.epoch < c.targetEpoch || m.state == Unrevoked || m.state == Unreleased && !waits {
		return kafka.RebalanceInProgress
	}
	return kafka.None
}

func (s *Shard) leaveConsumerGroup(g *group, q wire.LeaveMember) kafka.ErrorCode {
	m, code := g.consumer.classicMember(q.MemberID, q.Instance)
	if code == kafka.None {
		s.fenceConsumer(g, m.id, q.Reason)
	}
	return code
}

// downgrade converts a group of which only classic members are left back to their
// protocol; they join again.
func (h *heartbeat) downgrade() {
	s, g, c := h.s, h.g, h.c
	policy := s.opt.Config.String("group.consumer.migration.policy")
	if len(c.members) == 0 || policy != "bidirectional" && policy != "downgrade" {
		return
	}
	for _, m := range c.members {
		if m.classic == nil {
			return
		}
	}
	d := newClassic()
	d.protocolType, d.generation, d.state, d.before = "consumer", c.epoch, Stable, CompletingRebalance
	for _, id := range c.ids() {
		m := c.members[id]
		d.add(&classicMember{id: id, client: m.client, instance: m.instance, sessionTimeout: journal.Millis(m.classic.SessionTimeout),
			rebalanceTimeout: m.rebalanceTimeout, protocols: m.classic.Protocols, assignment: sortParts(slices.Collect(maps.Keys(m.assigned)))})
		h.record(currentAssignment, id, nil)
		h.record(targetMember, id, nil)
		h.record(memberMetadata, id, nil)
	}
	d.protocol = d.choose()
	h.record(targetMetadata, "", nil)
	h.record(consumerMetadata, "", nil)
	g.consumer, g.classic = nil, d
	h.records = append(h.records, g.metadataRecord())
	for _, id := range d.ids() {
		s.keepAlive(g, d.members[id])
	}
	s.prepareRebalance(g, "the group changes to the classic protocol")
}
