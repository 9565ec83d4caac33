package controller

import (
	"math"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// ControlState is what the controller takes a broker for (BrokerControlState).
type ControlState string

// The control states.
const (
	FencedState        ControlState = "FENCED"
	UnfencedState      ControlState = "UNFENCED"
	ControlledShutdown ControlState = "CONTROLLED_SHUTDOWN"
	ShutdownNow        ControlState = "SHUTDOWN_NOW"
)

// session is what the active controller remembers of a broker between two
// heartbeats. It is in its memory only: a new active controller begins anew
// (BrokerHeartbeatManager).
type session struct {
	epoch      int64 // the broker epoch it belongs to
	contact    journal.Time
	offset     int64 // metadata offset of the last heartbeat
	shutdownAt int64 // offset that ended its leaderships; −1: not in controlled shutdown
}

// never is before any heartbeat.
const never = math.MinInt64 / 2

// session of a registration; a new broker epoch begins without contact.
func (n *Node) session(b *image.Broker) *session {
	s := n.sessions[b.ID]
	if s == nil || s.epoch != b.Epoch {
		s = &session{epoch: b.Epoch, contact: never, offset: -1, shutdownAt: -1}
		n.sessions[b.ID] = s
	}
	return s
}

// freshSessions gives all brokers a whole broker.session.timeout.ms.
func (n *Node) freshSessions() {
	for _, id := range n.img.BrokerIDs() {
		s := n.session(n.img.Brokers[id])
		s.contact, s.offset = n.w.Now(), n.hw-1
	}
}

// expired is BrokerHeartbeatTracker.isExpired: strictly later.
func (n *Node) expired(s *session) bool {
	return s.contact+journal.Millis(n.cfg.Millis("broker.session.timeout.ms")) < n.w.Now()
}

// checkSessions looks for a broker whose session has expired, each eighth of
// broker.session.timeout.ms (QuorumController.maybeFenceStaleBroker). One is fenced
// at a time; if there is another, the next look comes at once. A broker that has
// stopped in order has a session too: its end writes a second fence.
func (n *Node) checkSessions() {
	wait := max(journal.Millis(n.cfg.Millis("broker.session.timeout.ms"))/8, journal.Millisecond)
	n.later(wait, n.fenceStale)
}

func (n *Node) fenceStale() {
	var stale []*image.Broker
	for _, id := range n.img.BrokerIDs() {
		b := n.img.Brokers[id]
		if s := n.session(b); s.contact != never && n.expired(s) {
			stale = append(stale, b)
		}
	}
	if len(stale) == 0 {
		n.checkSessions()
		return
	}
	n.session(stale[0]).contact = never
	n.write(n.fence(stale[0]), nil)
	if len(stale) > 1 {
		n.later(0, n.fenceStale)
		return
	}
	n.checkSessions()
}

// heartbeat keeps a broker's session and moves it between the control states
// (ReplicationControlManager.processBrokerHeartbeat).
func (n *Node) heartbeat(r *sim.Request, q *wire.BrokerHeartbeatRequest) {
	b := n.img.Brokers[q.BrokerID]
	if b == nil || b.Epoch != q.BrokerEpoch {
		r.Reply(&wire.BrokerHeartbeatResponse{ErrorCode: kafka.StaleBrokerEpoch}, 0, false)
		return
	}
	s := n.session(b)
	s.contact = n.w.Now()
	current := UnfencedState
	switch {
	case b.Fenced:
		current = FencedState
	case b.Shutdown:
		current = ControlledShutdown
	}
	next := NextControlState(current, q, b.Epoch, n.leads(b.ID), s.shutdownAt, n.lowestActiveOffset())
	s.offset = q.CurrentMetadataOffset
	resp := &wire.BrokerHeartbeatResponse{IsCaughtUp: q.CurrentMetadataOffset >= b.Epoch, IsFenced: next == FencedState || next == ShutdownNow, ShouldShutDown: next == ShutdownNow}
	if next == current {
		n.answer(r, resp, true)
		return
	}
	var recs []wire.MetaRecord
	switch next {
	case UnfencedState:
		recs = n.unfence(b)
	case ControlledShutdown:
		recs = n.shutdown(b)
	default:
		recs = n.fence(b)
	}
	last := n.write(recs, func() { r.Reply(resp, 0, false) })
	s.shutdownAt = -1
	if next == ControlledShutdown {
		s.shutdownAt = last
	}
}

// NextControlState is BrokerHeartbeatManager.calculateNextBrokerState (KIP-631,
// KIP-841). A broker stops only when every active broker has learned that it
// leads nothing any more, so that its followers know whom to ask instead.
func NextControlState(current ControlState, q *wire.BrokerHeartbeatRequest, registered int64, leads bool, shutdownAt, lowestActive int64) ControlState {
	switch current {
	case FencedState:
		switch {
		case q.WantShutDown:
			return ShutdownNow
		case !q.WantFence && q.CurrentMetadataOffset >= registered:
			return UnfencedState
		}
		return FencedState
	case UnfencedState:
		switch {
		case q.WantFence && q.WantShutDown:
			return ShutdownNow
		case q.WantFence:
			return FencedState
		case q.WantShutDown && leads:
			return ControlledShutdown
		case q.WantShutDown:
			return ShutdownNow
		}
		return UnfencedState
	case ControlledShutdown:
		if !leads && shutdownAt <= lowestActive {
			return ShutdownNow
		}
		return ControlledShutdown
	}
	return ShutdownNow
}

func (n *Node) leads(broker int32) bool {
	for _, part := range n.img.Parts() {
		if n.img.Partition(part).Leader == broker {
			return true
		}
	}
	return false
}

// lowestActiveOffset is the smallest metadata offset that an active broker has
// told.
func (n *Node) lowestActiveOffset() int64 {
	low := int64(math.MaxInt64)
	for _, id := range n.img.BrokerIDs() {
		if n.mayLead(id) {
			s := n.session(n.img.Brokers[id])
			low = min(low, s.offset)
		}
	}
	return low
}

// mayLead is ClusterControlManager.isActive.
func (n *Node) mayLead(id int32) bool {
	b := n.img.Brokers[id]
	return b != nil && !b.Fenced && !b.Shutdown
}

// fence takes a broker out of all ISRs, elects in its place, and only then
// fences it, all in one batch (handleBrokerFenced).
func (n *Node) fence(b *image.Broker) []wire.MetaRecord {
	return append(n.remove(b.ID, nil), wire.MetaRecord{Type: "BrokerRegistrationChangeRecord", BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: 1})
}

// shutdown moves away what a broker leads while it still serves
// (handleBrokerInControlledShutdown).
func (n *Node) shutdown(b *image.Broker) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "BrokerRegistrationChangeRecord", BrokerID: b.ID, BrokerEpoch: b.Epoch, Shutdown: 1}}
	return append(recs, n.remove(b.ID, nil)...)
}

// unfence lets a broker lead again, first of all what nobody leads
// (handleBrokerUnfenced).
func (n *Node) unfence(b *image.Broker) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "BrokerRegistrationChangeRecord", BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: -1}}
	for _, part := range n.img.Parts() {
		if n.img.Partition(part).Leader != image.NoLeader {
			continue
		}
		c := n.change(part, func(id int32) bool { return id == b.ID || n.mayLead(id) })
		if r := c.Build(); r != nil {
			recs = append(recs, *r)
		}
	}
	return recs
}

// remove takes a broker out of the ISRs it is in; one that stopped uncleanly
// also leaves the ELRs, for it may have lost its last records
// (generateLeaderAndIsrUpdates).
func (n *Node) remove(broker int32, unclean []int32) (recs []wire.MetaRecord) {
	for _, part := range n.img.Parts() {
		p := n.img.Partition(part)
		if !slices.Contains(p.ISR, broker) && !(len(unclean) > 0 && slices.Contains(p.ELR, broker)) {
			continue
		}
		c := n.change(part, func(id int32) bool { return id != broker && n.mayLead(id) })
		c.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(id int32) bool { return id == broker })
		c.Unclean = unclean
		if r := c.Build(); r != nil {
			recs = append(recs, *r)
		}
	}
	return recs
}

// change begins a change of a partition with what its settings allow.
func (n *Node) change(part string, acceptable func(int32) bool) *PartitionChange {
	c := NewPartitionChange(part, n.img.Partition(part), acceptable, n.img.MinISR(part), n.img.ELR())
	if n.uncleanAllowed(part) {
		c.Election = Unclean
	}
	return c
}

// uncleanAllowed is unclean.leader.election.enable: the topic's, the cluster's,
// then this controller's own.
func (n *Node) uncleanAllowed(part string) bool {
	const key = "unclean.leader.election.enable"
	topic, _ := image.Split(part)
	if t := n.img.Topics[topic]; t != nil {
		if v, ok := t.Config[key]; ok {
			return v == "true"
		}
	}
	if v, ok := n.img.Cluster[key]; ok {
		return v == "true"
	}
	return n.cfg.Bool(key)
}

// register takes a broker's registration (ClusterControlManager.registerBroker).
// Its epoch is the offset of the record. An id whose session still runs belongs
// to another process; one that does not name the last epoch stopped uncleanly
// (KIP-966).
func (n *Node) register(r *sim.Request, q *wire.BrokerRegistrationRequest) {
	var recs []wire.MetaRecord
	if old := n.img.Brokers[q.BrokerID]; old != nil {
		if old.Incarnation == q.IncarnationID {
			n.answer(r, &wire.BrokerRegistrationResponse{BrokerEpoch: old.Epoch}, false) // it asks again
			return
		}
		if !n.expired(n.session(old)) {
			r.Reply(&wire.BrokerRegistrationResponse{ErrorCode: kafka.DuplicateBrokerRegistration, BrokerEpoch: -1}, 0, false)
			return
		}
		if q.PreviousBrokerEpoch != old.Epoch {
			recs = n.remove(q.BrokerID, []int32{q.BrokerID})
		}
	}
	recs = append(recs, wire.MetaRecord{Type: "RegisterBrokerRecord", BrokerID: q.BrokerID, Incarnation: q.IncarnationID, Value: q.Rack, Fenced: 1})
	resp := &wire.BrokerRegistrationResponse{}
	resp.BrokerEpoch = n.write(recs, func() { r.Reply(resp, 0, false) })
}

// sessionState is the committed state of a broker, for session/<broker>.
func sessionState(b *image.Broker) string {
	switch {
	case b.Fenced:
		return "fenced"
	case b.Shutdown:
		return "shutdown"
	}
	return "active"
}

// sessionKinds are the events of a broker whose state changed.
var sessionKinds = map[string]journal.Kind{"fenced": journal.BrokerFence, "shutdown": journal.BrokerShutdown, "active": journal.BrokerUnfence}

// sessionEvent tells that a broker's state is committed. What is missing behind
// a fence is the fault that kept the heartbeats away, if one did.
func (n *Node) sessionEvent(id int32, state string) {
	e := journal.Event{Kind: sessionKinds[state], Node: kafka.NodeName(kafka.BrokerID(id))}
	if state == "fenced" {
		e.Missing = n.w.FaultBetween(e.Node, n.name)
	}
	n.w.Emit(e)
}
