package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// modernState is MemberState of the consumer protocol's client.
type modernState uint8

const (
	joiningGroup modernState = iota
	reconciling
	acknowledging
	settled // STABLE
	fencedMember
	stale // max.poll.interval.ms is over
	left
)

const (
	joinEpoch        = 0
	leaveEpoch       = -1
	leaveStaticEpoch = -2
)

// consumerMember is the consumer's side of the consumer protocol
// (ConsumerMembershipManager, ConsumerHeartbeatRequestManager, KIP-848): a
// background thread sends the heartbeats, poll() reconciles what they bring.
type consumerMember struct {
	c        *Consumer
	state    modernState
	id       string
	epoch    int32
	interval journal.Time
	target   []string // nil: none came yet
	owned    []string // nil: never reconciled
	topics   []string // as last sent, nil to send them again
	busy     bool     // a reconciliation waits for its commit
	beat     *sim.Timer
	inFlight bool
	again    bool // a heartbeat is due as soon as this one is answered
}

func newConsumerMember(c *Consumer) *consumerMember {
	return &consumerMember{c: c, id: c.opt.NewID(c.id), interval: 5 * journal.Second}
}

func (m *consumerMember) instance() string { return m.c.cfg.String("group.instance.id") }

func (m *consumerMember) formed(epoch int32, memberID string, beat journal.Time) {
	m.state, m.epoch, m.id = settled, epoch, memberID
	m.owned, m.target, m.topics = listOf(slices.Clone(m.c.assign)), listOf(slices.Clone(m.c.assign)), m.c.opt.Topics
	m.beatAfter(beat)
}

func (m *consumerMember) step() {
	if m.state == joiningGroup && m.beat == nil && len(m.c.known) > 0 && !m.inFlight {
		m.heartbeat()
	}
}

func (m *consumerMember) identity() (int32, string, kafka.ErrorCode) {
	if m.epoch <= 0 {
		return -1, "", kafka.UnknownMemberID
	}
	return m.epoch, m.id, kafka.None
}

func (m *consumerMember) offsetFetch(q *wire.OffsetFetchRequest) {
	q.MemberID, q.MemberEpoch = m.id, m.epoch
}

func (m *consumerMember) refused(code kafka.ErrorCode) {
	switch code {
	case kafka.UnknownMemberID:
		if m.epoch > 0 {
			m.fence()
		}
	case kafka.FencedInstanceID:
		m.c.fail("FencedInstanceIdException", "")
	}
}

// subscribed sends the new subscription with the next heartbeat, at once.
func (m *consumerMember) subscribed() {
	m.topics = nil
	m.heartbeat()
}

func (m *consumerMember) beatAfter(d journal.Time) {
	m.beat.Stop()
	m.beat = m.c.proc.After(d, m.heartbeat)
	m.beat.Because(-1)
}

// request is the next heartbeat: everything on joining, what is owned on
// acknowledging, else nothing that has not changed.
func (m *consumerMember) request() *wire.ConsumerGroupHeartbeatRequest {
	c := m.c
	q := &wire.ConsumerGroupHeartbeatRequest{GroupID: c.group, MemberID: m.id, MemberEpoch: m.epoch, InstanceID: m.instance(), RebalanceTimeoutMs: -1}
	switch m.state {
	case joiningGroup:
		q.RebalanceTimeoutMs, q.ServerAssignor, q.RackID = c.cfg.Millis("max.poll.interval.ms"), c.cfg.String("group.remote.assignor"), c.cfg.String("client.rack")
		q.TopicPartitions = []string{}
		m.topics = nil
	case acknowledging:
		q.TopicPartitions = listOf(slices.Clone(m.owned))
		m.state = settled
	}
	if m.topics == nil {
		m.topics = listOf(slices.Sorted(slices.Values(c.opt.Topics)))
		q.SubscribedTopicNames = m.topics
	}
	return q
}

func (m *consumerMember) heartbeat() {
	c := m.c
	if c.closed || m.state == stale || m.state == fencedMember || m.state == left {
		return
	}
	if m.inFlight {
		m.again = true
		return
	}
	m.inFlight = true
	m.beat.Stop()
	c.withCoordinator(func() bool { return c.closed || !m.inFlight }, func(conn *sim.Conn) {
		if m.state == stale || m.state == fencedMember || m.state == left {
			m.inFlight = false
			return
		}
		m.beatAfter(m.interval)
		q := m.request()
		quiet := q.TopicPartitions == nil && q.SubscribedTopicNames == nil
		c.call(conn, &sim.Call{API: kafka.ConsumerGroupHeartbeat, Group: c.group, Chatter: quiet, Body: q, Done: func(r sim.Result) {
			m.inFlight = false
			a, ok := r.Body.(*wire.ConsumerGroupHeartbeatResponse)
			if c.closed || m.state == stale || m.state == fencedMember || m.state == left {
				return
			}
			if !ok {
				a = &wire.ConsumerGroupHeartbeatResponse{ErrorCode: kafka.Network}
			}
			m.heard(q, a)
			if m.again && !c.closed {
				m.again = false
				m.heartbeat()
			}
		}})
	})
}

func (m *consumerMember) heard(q *wire.ConsumerGroupHeartbeatRequest, a *wire.ConsumerGroupHeartbeatResponse) {
	c := m.c
	switch a.ErrorCode {
	case kafka.None:
	case kafka.UnknownMemberID, kafka.FencedMemberEpoch:
		m.fence()
		return
	case kafka.FencedInstanceID, kafka.UnreleasedInstanceID, kafka.UnsupportedAssignor, kafka.GroupMaxSizeReached, kafka.InconsistentGroupProtocol:
		c.fail(exceptionName(a.ErrorCode), "")
		return
	default:
		c.coordinatorError(a.ErrorCode != kafka.Network, a.ErrorCode)
		if q.SubscribedTopicNames != nil {
			m.topics = nil
		}
		if q.TopicPartitions != nil && m.state == settled {
			m.state = acknowledging
		}
		m.beatAfter(c.retryBackoff(0))
		return
	}
	m.epoch, m.interval = a.MemberEpoch, journal.Millis(a.HeartbeatIntervalMs)
	if a.Assignment != nil {
		m.target = a.Assignment
	}
	if m.state == joiningGroup {
		m.state = settled
	}
	if m.target != nil && (m.owned == nil || !same(m.owned, m.target)) {
		m.state = reconciling
	}
	c.step()
}

func exceptionName(code kafka.ErrorCode) string {
	switch code {
	case kafka.FencedInstanceID:
		return "FencedInstanceIdException"
	case kafka.UnreleasedInstanceID:
		return "UnreleasedInstanceIdException"
	case kafka.UnsupportedAssignor:
		return "UnsupportedAssignorException"
	case kafka.GroupMaxSizeReached:
		return "GroupMaxSizeReachedException"
	}
	return code.String()
}

// same says whether two lists hold the same partitions.
func same(a, b []string) bool { return len(minus(a, b)) == 0 && len(minus(b, a)) == 0 }

// poll reconciles: commit, give up, take over, acknowledge
// (AbstractMembershipManager.maybeReconcile).
func (m *consumerMember) poll() {
	c := m.c
	switch m.state {
	case fencedMember, stale:
		if len(c.assign) > 0 {
			c.callback(partitionsLost, c.assign, nil)
		}
		if m.state == stale && m.inFlight {
			return
		}
		m.state, m.epoch, m.owned, m.target, m.topics = joiningGroup, joinEpoch, nil, nil, nil
		m.heartbeat()
		return
	case reconciling:
	default:
		return
	}
	if m.busy || c.closing {
		return
	}
	m.busy = true
	target := m.target
	for _, p := range minus(c.assign, target) {
		c.revoking[p] = true
	}
	offsets := c.positions(nil)
	if !c.auto() || len(offsets) == 0 {
		m.reconcile(target)
		return
	}
	c.autoInFlight = true
	c.commitOffsets(offsets, func(kafka.ErrorCode) {
		m.reconcile(target)
		c.autoCommitted()
	})
}

func (m *consumerMember) reconcile(target []string) {
	c := m.c
	m.busy = false
	if c.closed || m.state != reconciling {
		return
	}
	cause := c.w.Cause()
	revoked, added := minus(c.assign, target), minus(target, c.assign)
	if len(revoked) > 0 {
		c.w.Because(cause, func() { c.callback(partitionsRevoked, revoked, minus(c.assign, revoked)) })
	}
	c.w.Because(cause, func() { c.callback(partitionsAssigned, added, target) })
	m.owned = listOf(slices.Clone(target))
	m.state = acknowledging
	c.w.Because(c.w.Cause(), m.heartbeat)
	if m.target != nil && !same(m.owned, m.target) {
		m.state = reconciling
	}
	c.w.Because(c.w.Cause(), c.step)
}

// fence abandons everything; the member joins anew.
func (m *consumerMember) fence() {
	m.state, m.epoch = fencedMember, joinEpoch
	m.beat.Stop()
	m.beat = nil
	m.c.step()
}

// late is the background thread after max.poll.interval.ms without a poll(): it
// leaves, and comes back with the next poll().
func (m *consumerMember) late() {
	c := m.c
	if m.epoch <= 0 || c.closed {
		return
	}
	c.w.Emit(journal.Event{Kind: journal.TimerFire, Node: c.id, Group: c.group, F: journal.F("timer", "max.poll.interval.ms", "afterMs", c.cfg.Millis("max.poll.interval.ms"))})
	m.state = stale
	m.beat.Stop()
	m.beat = nil
	m.sendLeave(func() {})
	m.epoch = joinEpoch
}

func (m *consumerMember) sendLeave(done func()) {
	c := m.c
	link := c.coordinatorLink()
	if c.coordinator <= 0 || !c.link(link).conn.Open() {
		done()
		return
	}
	epoch := int32(leaveEpoch)
	if m.instance() != "" {
		epoch = leaveStaticEpoch
	}
	q := &wire.ConsumerGroupHeartbeatRequest{GroupID: c.group, MemberID: m.id, MemberEpoch: epoch, InstanceID: m.instance(), RebalanceTimeoutMs: -1, TopicPartitions: []string{}}
	c.call(c.link(link).conn, &sim.Call{API: kafka.ConsumerGroupHeartbeat, Group: c.group, Body: q, Done: func(sim.Result) { done() }})
}

// leave is close() after the commit.
func (m *consumerMember) leave(done func()) {
	c := m.c
	if len(c.assign) > 0 {
		c.callback(partitionsRevoked, c.assign, nil)
	}
	in := m.epoch > 0
	m.state = left
	m.beat.Stop()
	if !in {
		done()
		return
	}
	m.sendLeave(done)
}
