package client

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// memberState is AbstractCoordinator.MemberState.
type memberState uint8

const (
	unjoined memberState = iota
	preparingRebalance
	completingRebalance
	stable
)

// Why a member joins; JoinGroup says so since KIP-800.
const (
	reasonRebalancing = "group is already rebalancing"
	reasonRevoke      = "need to revoke partitions and re-join"
	reasonMemberID    = "need to re-join with the given member-id"
	reasonMetadata    = "cached metadata has changed"
	reasonClosed      = "the consumer is being closed"
	reasonPollTimeout = "consumer poll timeout has expired."
)

// classicMember is the consumer's side of the classic protocol
// (ConsumerCoordinator, AbstractCoordinator): poll() joins, a background thread
// sends the heartbeats.
type classicMember struct {
	c         *Consumer
	protocols []string
	eager     bool

	state      memberState
	generation int32 // −1 none
	id         string
	protocol   string
	reason     string
	needs      bool // a rejoin is needed
	joining    bool
	prepared   bool           // onJoinPrepare has run for the join under way
	snapshot   map[string]int // partition counts of the group's topics, at the leader

	beat     *sim.Timer
	beatAt   journal.Time // of the last one sent
	inFlight bool
	session  *sim.Timer
	came     []string // the assignment that SyncGroup brought and poll() has not taken yet, nil for none

	// had is what the sticky assignor remembers, also after the member has revoked
	// it to join (StickyAssignor.onAssignment).
	had *wire.UserData
}

func newClassicMember(c *Consumer) *classicMember {
	m := &classicMember{c: c, generation: -1, needs: true, prepared: true, eager: true}
	for _, s := range strings.FieldsFunc(c.cfg.String("partition.assignment.strategy"), func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
		m.protocols = append(m.protocols, assignorName(s))
	}
	m.eager = slices.ContainsFunc(m.protocols, func(p string) bool { return p != "cooperative-sticky" })
	return m
}

// assignorName is the protocol name of an assignor's class.
func assignorName(class string) string {
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "RangeAssignor":
		return "range"
	case "RoundRobinAssignor":
		return "roundrobin"
	case "StickyAssignor":
		return "sticky"
	case "CooperativeStickyAssignor":
		return "cooperative-sticky"
	}
	return class
}

func (m *classicMember) instance() string { return m.c.cfg.String("group.instance.id") }

// formed is a member at rest since a SyncGroup a moment ago.
func (m *classicMember) formed(generation int32, memberID string, beat journal.Time) {
	m.state, m.generation, m.id, m.protocol, m.needs, m.prepared = stable, generation, memberID, m.protocols[0], false, false
	m.remember(m.c.assign)
	m.beatAt = m.c.w.Now() - m.interval() + beat
	m.beatLater()
	m.watchSession()
}

func (m *classicMember) remember(assignment []string) {
	m.had = &wire.UserData{PreviousAssignment: listOf(slices.Clone(assignment)), Generation: m.generation}
}

func (m *classicMember) interval() journal.Time {
	return journal.Millis(m.c.cfg.Millis("heartbeat.interval.ms"))
}

// step rejoins when the leader sees that the group's topics have other partitions.
func (m *classicMember) step() {
	if m.snapshot == nil || m.state != stable || m.needs {
		return
	}
	for t, n := range m.snapshot {
		if m.c.partCount[t] != n {
			m.rejoin(reasonMetadata)
			return
		}
	}
}

func (m *classicMember) rejoin(reason string) {
	m.needs, m.reason = true, reason
}

// subscribed is a changed subscription.
func (m *classicMember) subscribed() { m.rejoin("the subscription has changed") }

// forget drops generation and member id; what the member owned is lost
// (resetStateAndGeneration).
func (m *classicMember) forget(reason string) {
	m.state, m.generation, m.id, m.came = unjoined, -1, "", nil
	m.beat.Stop()
	m.session.Stop()
	m.rejoin(reason)
}

// identity of a commit. From JoinGroup to the answer of SyncGroup there is none:
// the client refuses the commit itself (ConsumerCoordinator.sendOffsetCommitRequest,
// generationIfStable).
func (m *classicMember) identity() (int32, string, kafka.ErrorCode) {
	switch {
	case m.state == preparingRebalance || m.state == completingRebalance:
		return -1, "", kafka.RebalanceInProgress
	case m.state != stable || m.generation < 0:
		return -1, "", kafka.UnknownMemberID
	}
	return m.generation, m.id, kafka.None
}

func (m *classicMember) offsetFetch(*wire.OffsetFetchRequest) {}

func (m *classicMember) refused(code kafka.ErrorCode) {
	switch code {
	case kafka.FencedInstanceID:
		m.fenced()
	case kafka.UnknownMemberID, kafka.IllegalGeneration:
		if m.state == stable {
			m.forget("the coordinator does not know this member: " + code.String())
		}
	case kafka.RebalanceInProgress:
		m.rejoin("offset commit failed since group is already rebalancing")
	}
}

// fenced is the end of a static member: another one has its instance id. close()
// tells nobody.
func (m *classicMember) fenced() {
	m.forget("fenced")
	m.needs = false
	m.c.fail("FencedInstanceIdException", "")
}

// poll joins if need be: commit, give up partitions, JoinGroup, SyncGroup
// (ensureActiveGroup).
func (m *classicMember) poll() {
	if m.c.closing {
		return
	}
	if m.came != nil {
		m.complete(m.came)
	}
	if !m.needs || m.joining || len(m.c.known) == 0 {
		return
	}
	m.joining = true
	if m.prepared {
		m.join()
		return
	}
	m.prepared = true
	offsets := m.c.positions(nil)
	if !m.c.auto() || m.generation < 0 || len(offsets) == 0 {
		m.giveUp()
		return
	}
	if m.eager {
		// Until the commit is answered and all is revoked nothing more is fetched or
		// handed over: the position would run ahead of the commit
		// (maybeMarkPartitionsPendingRevocation).
		for _, p := range m.c.assign {
			m.c.revoking[p] = true
		}
	}
	m.c.commitOffsets(offsets, func(kafka.ErrorCode) { m.giveUp() })
}

// giveUp is onJoinPrepare: an eager member revokes all it has, a cooperative one
// keeps it; what belonged to a generation that ended is lost.
func (m *classicMember) giveUp() {
	c := m.c
	if c.closed {
		return
	}
	switch {
	case m.generation < 0:
		if len(c.assign) > 0 {
			c.callback(partitionsLost, c.assign, nil)
		}
	case m.eager:
		c.callback(partitionsRevoked, c.assign, nil)
	}
	m.join()
}

func (m *classicMember) subscription(protocol string) wire.Subscription {
	s := wire.Subscription{Topics: slices.Sorted(slices.Values(m.c.opt.Topics)), OwnedPartitions: listOf(nil), GenerationID: -1, RackID: m.c.cfg.String("client.rack")}
	if !m.eager {
		s.OwnedPartitions, s.GenerationID = listOf(slices.Clone(m.c.assign)), m.generation
	}
	if protocol == "sticky" {
		s.UserData = m.had
	}
	return s
}

func (m *classicMember) join() {
	m.state = preparingRebalance
	m.beat.Stop()
	m.session.Stop()
	c := m.c
	c.withCoordinator(func() bool { return !m.joining }, func(conn *sim.Conn) {
		q := &wire.JoinGroupRequest{GroupID: c.group, SessionTimeoutMs: c.cfg.Millis("session.timeout.ms"), RebalanceTimeoutMs: c.cfg.Millis("max.poll.interval.ms"),
			MemberID: m.id, Instance: m.instance(), ProtocolType: "consumer", Reason: m.reason}
		for _, p := range m.protocols {
			q.Protocols = append(q.Protocols, wire.JoinProtocol{Name: p, Metadata: m.subscription(p)})
		}
		// The answer comes when all members have joined.
		wait := max(c.requestTimeout(), journal.Millis(q.RebalanceTimeoutMs)+5*journal.Second)
		conn.Call(&sim.Call{API: kafka.JoinGroup, Group: c.group, Body: q, Timeout: wait, Timer: "max.poll.interval.ms", Done: func(r sim.Result) {
			a, ok := r.Body.(*wire.JoinGroupResponse)
			if !ok {
				a = &wire.JoinGroupResponse{ErrorCode: kafka.Network}
			}
			m.joined(a)
		}})
	})
}

// again joins once more, after retry.backoff.ms or at once.
func (m *classicMember) again(wait journal.Time) {
	if m.c.closed || m.c.closing {
		m.joining = false
		return
	}
	m.c.proc.After(wait, func() {
		if m.joining {
			m.join()
		}
	})
}

func (m *classicMember) joined(a *wire.JoinGroupResponse) {
	c := m.c
	if c.closed || c.closing {
		m.joining = false
		return
	}
	switch a.ErrorCode {
	case kafka.None:
		m.state, m.generation, m.id, m.protocol = completingRebalance, a.GenerationID, a.MemberID, a.ProtocolName
		m.beatAt = c.w.Now()
		m.beatLater()
		m.sync(a)
	case kafka.MemberIDRequired:
		m.id, m.reason = a.MemberID, reasonMemberID
		m.again(0)
	case kafka.UnknownMemberID, kafka.IllegalGeneration:
		m.forget("the coordinator does not know this member: " + a.ErrorCode.String())
		m.state = preparingRebalance
		m.again(c.retryBackoff(0))
	case kafka.FencedInstanceID:
		m.joining = false
		m.fenced()
	default:
		if c.coordinatorError(a.ErrorCode != kafka.Network, a.ErrorCode) || a.ErrorCode == kafka.RebalanceInProgress {
			m.again(c.retryBackoff(0))
			return
		}
		m.joining = false
		c.fail(a.ErrorCode.String(), "")
	}
}

// sync sends SyncGroup; the group leader has computed everybody's assignment.
func (m *classicMember) sync(a *wire.JoinGroupResponse) {
	c := m.c
	q := &wire.SyncGroupRequest{GroupID: c.group, GenerationID: a.GenerationID, MemberID: a.MemberID, Instance: m.instance(), ProtocolType: "consumer", ProtocolName: a.ProtocolName,
		Assignments: []wire.MemberAssignment{}}
	m.snapshot = nil
	if a.Leader == a.MemberID {
		if !a.SkipAssignment {
			q.Assignments = m.assignAll(a)
		}
		m.snapshot = map[string]int{}
		for _, x := range a.Members {
			for _, t := range x.Metadata.Topics {
				m.snapshot[t] = c.partCount[t]
			}
		}
	}
	c.withCoordinator(func() bool { return !m.joining }, func(conn *sim.Conn) {
		c.call(conn, &sim.Call{API: kafka.SyncGroup, Group: c.group, Body: q, Done: func(r sim.Result) {
			if c.closed || c.closing {
				m.joining = false
				return
			}
			b, ok := r.Body.(*wire.SyncGroupResponse)
			if !ok {
				b = &wire.SyncGroupResponse{ErrorCode: kafka.Network}
			}
			switch b.ErrorCode {
			case kafka.None:
				m.state, m.came = stable, listOf(b.Assignment)
				m.watchSession()
				if !c.busy {
					m.poll()
				}
			case kafka.RebalanceInProgress:
				m.reason = reasonRebalancing
				m.again(0)
			case kafka.UnknownMemberID, kafka.IllegalGeneration:
				m.forget("the coordinator does not know this member: " + b.ErrorCode.String())
				m.again(c.retryBackoff(0))
			case kafka.FencedInstanceID:
				m.joining = false
				m.fenced()
			default:
				c.coordinatorError(ok, b.ErrorCode)
				m.again(c.retryBackoff(0))
			}
		}})
	})
}

// complete is onJoinComplete: callbacks for what is gone and what is new. A
// cooperative member that gave something back joins again at once, so that
// somebody else can have it.
func (m *classicMember) complete(assignment []string) {
	c := m.c
	m.came, m.joining, m.needs, m.prepared, m.reason = nil, false, false, false, ""
	m.remember(assignment)
	c.autoCommitLater(journal.Millis(c.cfg.Millis("auto.commit.interval.ms")))
	added, revoked := minus(assignment, c.assign), minus(c.assign, assignment)
	cause := c.w.Cause()
	if m.eager {
		added = assignment
	} else if len(revoked) > 0 {
		c.w.Because(cause, func() { c.callback(partitionsRevoked, revoked, minus(c.assign, revoked)) })
		m.rejoin(reasonRevoke)
	}
	c.w.Because(cause, func() { c.callback(partitionsAssigned, added, assignment) })
	c.w.Because(c.w.Cause(), c.step)
}

// assignAll runs the chosen assignor over all members (onLeaderElected).
func (m *classicMember) assignAll(a *wire.JoinGroupResponse) []wire.MemberAssignment {
	topics := map[string]int{}
	for _, x := range a.Members {
		for _, t := range x.Metadata.Topics {
			if !slices.Contains(m.c.topics, t) {
				m.c.refreshFor(t)
			}
			if n := m.c.partCount[t]; n > 0 {
				topics[t] = n
			}
		}
	}
	given := assign(a.ProtocolName, a.Members, topics)
	var out []wire.MemberAssignment
	for _, x := range a.Members {
		out = append(out, wire.MemberAssignment{MemberID: x.MemberID, Assignment: listOf(given[x.MemberID])})
	}
	return out
}

// beatLater sets the next heartbeat, heartbeat.interval.ms after the last one.
func (m *classicMember) beatLater() {
	m.beat.Stop()
	m.beat = m.c.proc.After(max(m.beatAt+m.interval()-m.c.w.Now(), 0), m.heartbeat)
	m.beat.Because(-1)
}

// watchSession gives the coordinator up when none of its answers came for
// session.timeout.ms.
func (m *classicMember) watchSession() {
	m.session.Stop()
	m.session = m.c.proc.After(journal.Millis(m.c.cfg.Millis("session.timeout.ms")), func() {
		m.c.unknownCoordinator()
		m.watchSession()
	})
}

func (m *classicMember) heartbeat() {
	c := m.c
	if c.closed || m.generation < 0 || m.state != stable && m.state != completingRebalance {
		return
	}
	m.beatAt = c.w.Now()
	m.beatLater()
	if m.inFlight {
		return
	}
	m.inFlight = true
	over := func() bool { return m.generation < 0 || m.state != stable && m.state != completingRebalance }
	c.withCoordinator(func() bool {
		if over() {
			m.inFlight = false
		}
		return over()
	}, func(conn *sim.Conn) {
		generation := m.generation
		m.beatAt = c.w.Now()
		q := &wire.HeartbeatRequest{GroupID: c.group, GenerationID: generation, MemberID: m.id, Instance: m.instance()}
		c.call(conn, &sim.Call{API: kafka.Heartbeat, Group: c.group, Chatter: true, Body: q, Done: func(r sim.Result) {
			m.inFlight = false
			if c.closed || m.generation != generation {
				return
			}
			a, ok := r.Body.(*wire.HeartbeatResponse)
			if !ok {
				c.coordinatorError(false, kafka.Network)
				return
			}
			m.heard(a.ErrorCode)
		}})
	})
}

func (m *classicMember) heard(code kafka.ErrorCode) {
	c := m.c
	switch code {
	case kafka.None:
		m.watchSession()
		return
	case kafka.RebalanceInProgress:
		m.watchSession()
		if m.state == stable {
			m.rejoin(reasonRebalancing)
		}
	case kafka.UnknownMemberID, kafka.IllegalGeneration:
		if m.state != stable {
			return
		}
		m.forget("the coordinator does not know this member: " + code.String())
	case kafka.FencedInstanceID:
		m.fenced()
		return
	default:
		c.coordinatorError(true, code)
	}
	c.step()
}

// late is the background thread after max.poll.interval.ms without a poll(): it
// leaves the group, or as a static member only falls silent.
func (m *classicMember) late() {
	c := m.c
	if m.generation < 0 || c.closed {
		return
	}
	c.w.Emit(journal.Event{Kind: journal.TimerFire, Node: c.id, Group: c.group, F: journal.F("timer", "max.poll.interval.ms", "afterMs", c.cfg.Millis("max.poll.interval.ms"))})
	id := m.id
	m.forget(reasonPollTimeout)
	if m.instance() == "" {
		m.sendLeave(id, reasonPollTimeout, func() {})
	}
}

func (m *classicMember) sendLeave(id, reason string, done func()) {
	c := m.c
	link := c.coordinatorLink()
	if c.coordinator <= 0 || !c.link(link).conn.Open() {
		done()
		return
	}
	q := &wire.LeaveGroupRequest{GroupID: c.group, Members: []wire.LeaveMember{{MemberID: id, Instance: m.instance(), Reason: reason}}}
	c.call(c.link(link).conn, &sim.Call{API: kafka.LeaveGroup, Group: c.group, Body: q, Done: func(sim.Result) { done() }})
}

// leave is close() after the commit: callbacks, LeaveGroup. A static member
// leaves without a word (KIP-345).
func (m *classicMember) leave(done func()) {
	c := m.c
	if len(c.assign) > 0 {
		name := partitionsRevoked
		if m.generation < 0 {
			name = partitionsLost
		}
		c.callback(name, c.assign, nil)
	}
	id := m.id
	m.beat.Stop()
	m.session.Stop()
	m.state, m.generation, m.needs = unjoined, -1, false
	if m.instance() != "" || id == "" {
		done()
		return
	}
	m.sendLeave(id, reasonClosed, done)
}
