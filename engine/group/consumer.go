package group

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// The special member epochs of ConsumerGroupHeartbeat.
const (
	joinEpoch        = 0
	leaveEpoch       = -1
	leaveStaticEpoch = -2
)

// consumer is a group of the consumer protocol (ConsumerGroup, KIP-848).
type consumer struct {
	epoch       int32 // group epoch
	hash        string
	targetEpoch int32
	targetAt    journal.Time // when the target was computed
	hasTarget   bool
	assignor    string // of the last computation
	target      map[string][]string
	members     map[string]*consumerMember
	joined      int
}

// MemberState is where a member is in its reconciliation.
type MemberState string

// The states of a member (org.apache.kafka.coordinator.group.modern.MemberState).
const (
	MemberStable MemberState = "STABLE"
	Unrevoked    MemberState = "UNREVOKED_PARTITIONS"
	Unreleased   MemberState = "UNRELEASED_PARTITIONS"
	Unknown      MemberState = "UNKNOWN"
)

// consumerMember is ConsumerGroupMember.
type consumerMember struct {
	id, client, instance string
	order                int
	topics               []string
	assignor             string
	rebalanceTimeout     journal.Time
	epoch, previous      int32
	state                MemberState
	assigned             map[string]int32 // to the member's epoch when it got the partition
	pending              map[string]int32 // to be revoked
	classic              *classicValue    // the member speaks the classic protocol
}

func newConsumer() *consumer {
	return &consumer{epoch: 1, target: map[string][]string{}, members: map[string]*consumerMember{}}
}

func (c *consumer) clone() *consumer {
	d := *c
	d.target, d.members = maps.Clone(c.target), map[string]*consumerMember{}
	for id, m := range c.members {
		x := *m
		x.assigned, x.pending = maps.Clone(m.assigned), maps.Clone(m.pending)
		d.members[id] = &x
	}
	return &d
}

func (c *consumer) ids() []string { return slices.Sorted(maps.Keys(c.members)) }

func (c *consumer) state() State {
	switch {
	case len(c.members) == 0:
		return Empty
	case c.epoch > c.targetEpoch:
		return Assigning
	}
	for _, m := range c.members {
		if m.state != MemberStable || m.epoch != c.targetEpoch {
			return Reconciling
		}
	}
	return Stable
}

func (c *consumer) static(instance string) *consumerMember {
	for _, m := range c.members {
		if instance != "" && m.instance == instance {
			return m
		}
	}
	return nil
}

// holder says whether a member has a partition, or has to give it back.
func (c *consumer) holder(part string) *consumerMember {
	for _, m := range c.members {
		if _, ok := m.assigned[part]; ok {
			return m
		}
		if _, ok := m.pending[part]; ok {
			return m
		}
	}
	return nil
}

// topics are what the members subscribe to, sorted.
func (c *consumer) topics() []string {
	var ts []string
	for _, m := range c.members {
		ts = append(ts, m.topics...)
	}
	slices.Sort(ts)
	return slices.Compact(ts)
}

// metadataHash tells two states of the subscribed topics apart.
func (s *Shard) metadataHash(topics []string) string {
	var b []string
	for _, t := range topics {
		if n := s.opt.Partitions(t); n > 0 {
			b = append(b, t+":"+strconv.Itoa(n))
		}
	}
	return strings.Join(b, " ")
}

// ConsumerGroupHeartbeat serves a ConsumerGroupHeartbeat
// (GroupMetadataManager.consumerGroupHeartbeat).
func (s *Shard) ConsumerGroupHeartbeat(now journal.Time, q *wire.ConsumerGroupHeartbeatRequest, client string, to any) Result {
	s.begin(now)
	h := heartbeat{s: s, q: q, client: client, to: to}
	h.serve()
	return s.end()
}

// heartbeat is one ConsumerGroupHeartbeat while it is served: its records are one
// batch, and if they cannot be written nothing has happened.
type heartbeat struct {
	s       *Shard
	q       *wire.ConsumerGroupHeartbeatRequest
	client  string
	to      any
	g       *group
	c       *consumer
	before  *consumer
	records []Record
	classic *classicValue                                  // the member speaks the classic protocol…
	wrap    func(*wire.ConsumerGroupHeartbeatResponse) any // …and gets its answer
}

func (h *heartbeat) refuse(code kafka.ErrorCode) {
	h.answer(&wire.ConsumerGroupHeartbeatResponse{ErrorCode: code, MemberID: h.q.MemberID, MemberEpoch: 0})
}

func (h *heartbeat) answer(r *wire.ConsumerGroupHeartbeatResponse) {
	if h.wrap != nil {
		h.s.answer(h.to, h.wrap(r))
		return
	}
	h.s.answer(h.to, r)
}

func (h *heartbeat) record(typ, member string, v any) {
	h.records = append(h.records, Record{Type: typ, Group: h.g.id, Member: member, Value: v})
}

func (h *heartbeat) serve() {
	q, s := h.q, h.s
	h.g = s.group(q.GroupID)
	if q.ServerAssignor != "" && !slices.Contains(s.assignors(), q.ServerAssignor) {
		h.refuse(kafka.UnsupportedAssignor)
		return
	}
	if h.g != nil && h.g.classic != nil && !h.upgrade() {
		return
	}
	if h.g == nil || h.g.consumer == nil {
		if q.MemberEpoch != joinEpoch {
			h.refuse(kafka.UnknownMemberID)
			return
		}
		if h.g == nil {
			h.g = s.newGroup(q.GroupID)
		}
		h.g.consumer = newConsumer()
	} else if h.before == nil {
		h.before = h.g.consumer.clone()
	}
	h.c = h.g.consumer
	switch q.MemberEpoch {
	case leaveEpoch, leaveStaticEpoch:
		h.leave()
	default:
		h.beat()
	}
}

// commit writes the records and answers when they are committed; without records
// at once.
func (h *heartbeat) commit(r *wire.ConsumerGroupHeartbeatResponse) {
	if len(h.records) == 0 {
		h.answer(r)
		return
	}
	h.s.write(h.g.id, func(code kafka.ErrorCode) {
		if code == kafka.None {
			h.answer(r)
			return
		}
		h.undo(code)
		h.refuse(appendError(code))
	}, h.records...)
}

// undo restores the group after a batch that the log refused. One that only was
// not replicated in time stays.
func (h *heartbeat) undo(code kafka.ErrorCode) {
	if code == kafka.NotEnoughReplicas || code == kafka.NotLeaderOrFollower {
		h.g.consumer = h.before
	}
}

func (s *Shard) assignors() []string {
	return strings.FieldsFunc(s.opt.Config.String("group.consumer.assignors"), func(r rune) bool { return strings.ContainsRune("[], ", r) })
}

// member finds who asks, or lets it in.
func (h *heartbeat) member() (m *consumerMember, isNew bool, code kafka.ErrorCode) {
	q, c := h.q, h.c
	m = c.members[q.MemberID]
	if q.InstanceID != "" {
		return h.staticMember(m)
	}
	switch {
	case q.MemberEpoch != joinEpoch && m == nil:
		return nil, false, kafka.UnknownMemberID
	case m == nil:
		if int64(len(c.members)) >= h.s.opt.Config.Int("group.consumer.max.size") {
			return nil, false, kafka.GroupMaxSizeReached
		}
		return h.newMember(), true, kafka.None
	case q.MemberEpoch == joinEpoch:
		return m, false, kafka.None
	}
	return m, false, m.epochError(q.MemberEpoch, q.TopicPartitions)
}

func (h *heartbeat) newMember() *consumerMember {
	h.c.joined++
	m := &consumerMember{id: h.q.MemberID, client: h.client, instance: h.q.InstanceID, order: h.c.joined, state: MemberStable,
		assigned: map[string]int32{}, pending: map[string]int32{}}
	h.c.members[m.id] = m
	return m
}

// staticMember is a member with an instance id: a known instance that left for a
// while comes back under a new member id and takes over what it had.
func (h *heartbeat) staticMember(m *consumerMember) (*consumerMember, bool, kafka.ErrorCode) {
	q, c := h.q, h.c
	old := c.static(q.InstanceID)
	if q.MemberEpoch != joinEpoch {
		switch {
		case old == nil:
			return nil, false, kafka.UnknownMemberID
		case old.id != q.MemberID:
			return nil, false, kafka.FencedInstanceID
		}
		return m, false, m.epochError(q.MemberEpoch, q.TopicPartitions)
	}
	switch {
	case old == nil:
		return h.newMember(), true, kafka.None
	case old.id == q.MemberID:
		return old, false, kafka.None
	case old.epoch != leaveStaticEpoch:
		return nil, false, kafka.UnreleasedInstanceID
	}
	n := h.newMember()
	n.topics, n.assignor, n.rebalanceTimeout = old.topics, old.assignor, old.rebalanceTimeout
	n.previous, n.state, n.assigned = old.previous, old.state, maps.Clone(old.assigned)
	n.epoch = c.targetEpoch
	if t, ok := c.target[old.id]; ok {
		c.target[n.id] = t
	}
	h.forget(old)
	h.record(memberMetadata, n.id, n.metadata())
	h.record(targetMember, n.id, targetMemberValue{list(c.target[n.id])})
	h.record(currentAssignment, n.id, n.current())
	return n, false, kafka.None
}

// epochError checks the epoch of a member that is known
// (throwIfConsumerGroupMemberEpochIsInvalid): the previous one is accepted from a
// member that has not heard the last answer.
func (m *consumerMember) epochError(epoch int32, owned []string) kafka.ErrorCode {
	if epoch == m.epoch {
		return kafka.None
	}
	if epoch > m.epoch || epoch != m.previous || owned == nil {
		return kafka.FencedMemberEpoch
	}
	for _, p := range owned {
		if _, ok := m.assigned[p]; !ok {
			return kafka.FencedMemberEpoch
		}
	}
	return kafka.None
}

func (m *consumerMember) metadata() memberMetadataValue {
	return memberMetadataValue{Instance: m.instance, Client: m.client, Topics: list(m.topics), RebalanceTimeout: millis(m.rebalanceTimeout), Assignor: m.assignor, Classic: m.classic}
}

func (m *consumerMember) current() currentValue {
	return currentValue{m.epoch, m.previous, m.state, maps.Clone(m.assigned), maps.Clone(m.pending)}
}

// beat is a heartbeat of somebody who joins or stays.
func (h *heartbeat) beat() {
	q, s, c := h.q, h.s, h.c
	m, isNew, code := h.member()
	if code != kafka.None {
		if h.before == nil && len(c.members) == 0 {
			h.g.consumer = nil
		}
		h.refuse(code)
		return
	}
	bump := h.subscribe(m, isNew)
	hash := s.metadataHash(c.topics())
	if bump || hash != c.hash {
		c.epoch++
		c.hash = hash
		h.record(consumerMetadata, "", consumerMetadataValue{c.epoch, hash})
	}
	if isNew {
		s.emit(h.g, journal.MemberJoin, journal.F("member", h.client, "memberId", m.id, "instance", m.instance, "groupEpoch", c.epoch))
	}
	h.computeTarget()
	before := slices.Sorted(maps.Keys(m.assigned))
	h.reconcile(m, q.TopicPartitions)
	s.watchConsumer(h.g, m)
	r := &wire.ConsumerGroupHeartbeatResponse{MemberID: m.id, MemberEpoch: m.epoch, HeartbeatIntervalMs: s.opt.Config.Millis("group.consumer.heartbeat.interval.ms")}
	after := slices.Sorted(maps.Keys(m.assigned))
	full := q.MemberEpoch == joinEpoch || q.RebalanceTimeoutMs >= 0 && q.SubscribedTopicNames != nil && q.TopicPartitions != nil
	if full || !slices.Equal(before, after) {
		r.Assignment = list(after)
	}
	h.commit(r)
}

// subscribe takes what the member says of itself; bump says that the group needs
// a new epoch.
func (h *heartbeat) subscribe(m *consumerMember, isNew bool) (bump bool) {
	q := h.q
	was, preferred := text(m.metadata()), h.c.preferred(h.s.assignors())
	m.client, m.classic = h.client, h.classic
	if q.RebalanceTimeoutMs >= 0 {
		m.rebalanceTimeout = journal.Millis(q.RebalanceTimeoutMs)
	}
	if q.SubscribedTopicNames != nil {
		topics := slices.Sorted(slices.Values(q.SubscribedTopicNames))
		bump = !slices.Equal(topics, m.topics)
		m.topics = topics
	}
	if q.ServerAssignor != "" {
		m.assignor = q.ServerAssignor
	}
	if isNew || text(m.metadata()) != was {
		h.record(memberMetadata, m.id, m.metadata())
	}
	return bump || isNew || preferred != h.c.preferred(h.s.assignors())
}

// preferred is the assignor that most members want, else the broker's first
// (ConsumerGroup.preferredServerAssignor).
func (c *consumer) preferred(offered []string) string {
	votes := map[string]int{}
	for _, m := range c.members {
		if m.assignor != "" {
			votes[m.assignor]++
		}
	}
	best := offered[0]
	for _, a := range slices.Sorted(maps.Keys(votes)) {
		if votes[a] > votes[best] {
			best = a
		}
	}
	return best
}

// computeTarget runs the assignor when the group epoch is ahead of the target, at
// most once in group.consumer.assignment.interval.ms (KIP-1263): until then the
// last target is used, and the first heartbeat after it computes.
func (h *heartbeat) computeTarget() {
	c, s := h.c, h.s
	if c.epoch <= c.targetEpoch {
		return
	}
	interval := s.millis("group.consumer.assignment.interval.ms")
	if c.hasTarget && interval > 0 && s.now < c.targetAt+interval {
		return
	}
	assignor := c.preferred(s.assignors())
	target, ok := s.opt.Assign(assignor, s.spec(c))
	if !ok {
		return
	}
	for _, id := range c.ids() {
		if ps := sortParts(target[id]); !slices.Equal(ps, c.target[id]) || c.target[id] == nil {
			c.target[id] = list(ps)
			h.record(targetMember, id, targetMemberValue{list(ps)})
		}
	}
	c.targetEpoch, c.targetAt, c.hasTarget, c.assignor = c.epoch, s.now, true, assignor
	h.record(targetMetadata, "", targetMetadataValue{c.targetEpoch, c.targetAt})
	s.emit(h.g, journal.GroupTarget, journal.F("targetEpoch", c.targetEpoch, "assignor", assignor, "target", maps.Clone(c.target)))
}

// Spec is what a server-side assignor is given.
type Spec struct {
	Members []SpecMember // the newest first
	Topics  map[string]int
}

// SpecMember is a member with what its last target was.
type SpecMember struct {
	ID, Instance string
	Topics       []string
	Target       []string
}

func (s *Shard) spec(c *consumer) Spec {
	spec := Spec{Topics: map[string]int{}}
	ids := c.ids()
	slices.SortStableFunc(ids, func(a, b string) int { return c.members[b].order - c.members[a].order })
	for _, id := range ids {
		m := c.members[id]
		spec.Members = append(spec.Members, SpecMember{ID: id, Instance: m.instance, Topics: m.topics, Target: c.target[id]})
		for _, t := range m.topics {
			if n := s.opt.Partitions(t); n > 0 {
				spec.Topics[t] = n
			}
		}
	}
	return spec
}

// reconcile moves the member one step towards its target.
func (h *heartbeat) reconcile(m *consumerMember, owned []string) {
	c, s := h.c, h.s
	was := text(m.current())
	next, code := reconcile(*m, c.targetEpoch, c.target[m.id], owned, func(part string) bool { return c.holder(part) == nil })
	if code != kafka.None {
		return
	}
	*m = next
	if text(m.current()) == was {
		return
	}
	h.record(currentAssignment, m.id, m.current())
	s.emit(h.g, journal.GroupAssign, journal.F("member", m.client, "assignment", slices.Sorted(maps.Keys(m.assigned)), "memberEpoch", m.epoch, "state", string(m.state),
		"pendingRevocation", slices.Sorted(maps.Keys(m.pending))))
	key, id := "revoke "+m.id, m.id
	if m.state != Unrevoked {
		s.timers.cancel(h.g.id, key)
		return
	}
	s.later(m.rebalanceTimeout, h.g, key, func(g *group) {
		s.fenceConsumer(g, id, "it did not revoke its partitions within the rebalance timeout")
	})
}

// leave is epoch −1, or −2 from a static member that will be back.
func (h *heartbeat) leave() {
	q, s, c := h.q, h.s, h.c
	m := c.members[q.MemberID]
	if q.InstanceID != "" {
		if m = c.static(q.InstanceID); m != nil && m.id != q.MemberID {
			h.refuse(kafka.FencedInstanceID)
			return
		}
	}
	if m == nil {
		h.refuse(kafka.UnknownMemberID)
		return
	}
	r := &wire.ConsumerGroupHeartbeatResponse{MemberID: m.id, MemberEpoch: q.MemberEpoch}
	if q.MemberEpoch == leaveStaticEpoch {
		m.epoch, m.pending = leaveStaticEpoch, map[string]int32{}
		h.record(currentAssignment, m.id, m.current())
		s.emit(h.g, journal.MemberLeave, journal.F("member", m.client, "memberId", m.id, "instance", m.instance, "forAWhile", true))
		h.commit(r)
		return
	}
	h.forget(m)
	c.epoch++
	h.record(consumerMetadata, "", consumerMetadataValue{c.epoch, c.hash})
	s.afterLeave(h.g)
	s.emit(h.g, journal.MemberLeave, journal.F("member", m.client, "memberId", m.id, "groupEpoch", c.epoch))
	h.downgrade()
	h.commit(r)
}

// forget takes a member out, with the tombstones.
func (h *heartbeat) forget(m *consumerMember) {
	h.record(currentAssignment, m.id, nil)
	h.record(targetMember, m.id, nil)
	h.record(memberMetadata, m.id, nil)
	h.s.dropConsumer(h.g, m)
}

func (s *Shard) dropConsumer(g *group, m *consumerMember) {
	delete(g.consumer.members, m.id)
	delete(g.consumer.target, m.id)
	s.timers.cancel(g.id, session(m.id))
	s.timers.cancel(g.id, "revoke "+m.id)
}

func (s *Shard) afterLeave(g *group) {
	if len(g.consumer.members) == 0 {
		g.emptied = s.now
	}
}

// watchConsumer restarts a member's session.
func (s *Shard) watchConsumer(g *group, m *consumerMember) {
	id := m.id
	d := s.millis("group.consumer.session.timeout.ms")
	if m.classic != nil {
		d = journal.Millis(m.classic.SessionTimeout)
	}
	s.later(d, g, session(id), func(g *group) { s.fenceConsumer(g, id, "its session timed out after "+d.String()) })
}

// fenceConsumer removes a member that is silent or does not let go
// (consumerGroupFenceMember).
func (s *Shard) fenceConsumer(g *group, id, reason string) {
	c := g.consumer
	if c == nil || c.members[id] == nil {
		return
	}
	h := heartbeat{s: s, q: &wire.ConsumerGroupHeartbeatRequest{MemberID: id}, g: g, c: c, before: c.clone()}
	m := c.members[id]
	h.forget(m)
	c.epoch++
	h.record(consumerMetadata, "", consumerMetadataValue{c.epoch, c.hash})
	s.afterLeave(g)
	s.emit(g, journal.MemberFence, journal.F("member", m.client, "memberId", id, "reason", reason, "groupEpoch", c.epoch))
	h.downgrade()
	h.commit(nil)
}

// mayCommit checks the member epoch. Since KIP-1251 an older epoch will do for a
// partition that the member has had since then.
func (c *consumer) mayCommit(q *wire.OffsetCommitRequest, part string) kafka.ErrorCode {
	if q.Epoch < 0 && len(c.members) == 0 {
		return kafka.None
	}
	m := c.members[q.MemberID]
	if m == nil {
		return kafka.UnknownMemberID
	}
	if q.Epoch == m.epoch {
		return kafka.None
	}
	stale := kafka.StaleMemberEpoch
	if m.classic != nil {
		stale = kafka.IllegalGeneration
	}
	since, ok := m.assigned[part]
	if !ok {
		since, ok = m.pending[part]
	}
	if q.Epoch > m.epoch || !ok || since > q.Epoch {
		return stale
	}
	return kafka.None
}

// mayFetch checks who fetches offsets (ConsumerGroup.validateOffsetFetch).
func (c *consumer) mayFetch(q *wire.OffsetFetchRequest) kafka.ErrorCode {
	switch m := c.members[q.MemberID]; {
	case m == nil:
		return kafka.UnknownMemberID
	case q.MemberEpoch != m.epoch:
		return kafka.StaleMemberEpoch
	}
	return kafka.None
}

func (s *Shard) loadedConsumer(g *group) {
	g.consumer.assignor = g.consumer.preferred(s.assignors())
	for _, id := range g.consumer.ids() {
		m := g.consumer.members[id]
		s.watchConsumer(g, m)
		if m.state == Unrevoked {
			s.later(m.rebalanceTimeout, g, "revoke "+id, func(g *group) {
				s.fenceConsumer(g, id, "it did not revoke its partitions within the rebalance timeout")
			})
		}
	}
}

// replayConsumer applies a record of the consumer protocol.
func (g *group) replayConsumer(typ, id string, read func(any) bool) {
	if g.consumer == nil {
		g.consumer = newConsumer()
	}
	c := g.consumer
	member := func() *consumerMember {
		m := c.members[id]
		if m == nil {
			c.joined++
			m = &consumerMember{id: id, client: id, order: c.joined, state: MemberStable, assigned: map[string]int32{}, pending: map[string]int32{}}
			c.members[id] = m
		}
		return m
	}
	switch typ {
	case consumerMetadata:
		var v consumerMetadataValue
		if !read(&v) {
			g.consumer = nil
			return
		}
		c.epoch, c.hash = v.Epoch, v.MetadataHash
	case memberMetadata:
		var v memberMetadataValue
		if !read(&v) {
			delete(c.members, id)
			return
		}
		m := member()
		m.instance, m.client, m.topics, m.assignor, m.rebalanceTimeout, m.classic = v.Instance, v.Client, v.Topics, v.Assignor, journal.Millis(v.RebalanceTimeout), v.Classic
	case targetMember:
		var v targetMemberValue
		if !read(&v) {
			delete(c.target, id)
			return
		}
		c.target[id] = v.Parts
	case targetMetadata:
		var v targetMetadataValue
		if read(&v) {
			c.targetEpoch, c.targetAt, c.hasTarget = v.Epoch, v.At, true
		}
	case currentAssignment:
		var v currentValue
		if !read(&v) {
			return
		}
		m := member()
		m.epoch, m.previous, m.state, m.assigned, m.pending = v.Epoch, v.Previous, v.State, v.Assigned, v.Pending
		if m.assigned == nil {
			m.assigned = map[string]int32{}
		}
		if m.pending == nil {
			m.pending = map[string]int32{}
		}
	}
}

// sortParts orders partitions by topic and number.
func sortParts(ps []string) []string {
	out := slices.Clone(ps)
	slices.SortFunc(out, func(a, b string) int {
		i, j := strings.LastIndexByte(a, '-'), strings.LastIndexByte(b, '-')
		if c := strings.Compare(a[:i], b[:j]); c != 0 {
			return c
		}
		x, _ := strconv.Atoi(a[i+1:])
		y, _ := strconv.Atoi(b[j+1:])
		return x - y
	})
	return out
}
