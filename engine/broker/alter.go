package broker

import (
	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// alterManager sends ISR proposals, one request at a time with all that wait
// (DefaultAlterPartitionManager).
type alterManager struct {
	n        *Node
	pending  []alterItem
	inFlight bool
}

type alterItem struct {
	h    *hosted
	item *replica.AlterPartitionItem
}

// expireISR is the isr-expiration task: every half of replica.lag.time.max.ms,
// all led partitions.
func (n *Node) expireISR() {
	n.proc.After(journal.Time(n.lagTime()/2), func() {
		cause := n.w.Cause()
		for _, part := range n.parts {
			h := n.replicas[part]
			if !h.rep.IsLeader() {
				continue
			}
			n.w.Because(cause, func() {
				if item := h.rep.MaybeShrinkISR(int64(n.w.Now())); item != nil {
					n.propose(h, item, "shrink")
				}
			})
		}
		n.expireISR()
	}).Because(-1)
}

// checkpointHW is the highwatermark-checkpoint task: every
// replica.high.watermark.checkpoint.interval.ms all high watermarks go to
// replication-offset-checkpoint. The journal has the writes that change it.
func (n *Node) checkpointHW() {
	every := journal.Millis(n.cfg.Millis("replica.high.watermark.checkpoint.interval.ms"))
	n.proc.After(max(every, journal.Millisecond), func() {
		var ch []journal.Change
		for _, part := range n.parts {
			h := n.replicas[part]
			if h.log.SavedHW() != h.log.HW() {
				h.log.SaveHW()
				ch = h.diff(ch...)
			}
		}
		if ch != nil {
			n.w.Emit(journal.Event{Kind: journal.HWCheckpoint, Node: n.name, Ch: ch})
		}
		n.checkpointHW()
	}).Because(-1)
}

func (n *Node) propose(h *hosted, item *replica.AlterPartitionItem, change string) {
	missing := 0
	if change == "shrink" {
		missing = h.missing(item.NewISR)
	}
	n.w.Emit(journal.Event{Kind: journal.ISRPropose, Node: n.name, Part: h.part, Missing: missing, F: journal.F("isr", idsText(item.NewISR), "change", change), Ch: h.diff()})
	n.alter.pending = append(n.alter.pending, alterItem{h, item})
	n.alter.pump()
}

// missing is the fault that keeps away the fetches of a follower that is not in
// the new ISR.
func (h *hosted) missing(isr []int32) int {
	for _, r := range h.rep.Remotes() {
		in := false
		for _, id := range isr {
			in = in || id == r.ID
		}
		if !in {
			if f := h.n.w.FaultBetween(kafka.NodeName(kafka.BrokerID(r.ID)), h.n.name); f > 0 {
				return f
			}
		}
	}
	return 0
}

func (a *alterManager) pump() {
	if a.inFlight || len(a.pending) == 0 {
		return
	}
	batch := a.pending
	a.pending, a.inFlight = nil, true
	n := a.n
	q := &wire.AlterPartitionRequest{BrokerID: n.id, BrokerEpoch: n.epoch}
	for _, it := range batch {
		p := wire.AlterPartitionPart{Part: it.h.part, LeaderEpoch: it.item.LeaderEpoch, PartitionEpoch: it.item.PartitionEpoch, LeaderRecovery: 0}
		for _, id := range it.item.NewISR {
			e := n.epoch
			if id != n.id {
				e = liveness{n}.BrokerEpoch(id)
			}
			p.NewISR = append(p.NewISR, wire.BrokerEpoch{BrokerID: id, BrokerEpoch: e})
		}
		q.Parts = append(q.Parts, p)
	}
	n.channels.alterPartition.send(&sim.Call{API: kafka.AlterPartition, Body: q, Part: q.Parts[0].Part, Done: func(res sim.Result) {
		a.inFlight = false
		a.answered(batch, res)
		a.pump()
	}})
}

func (a *alterManager) answered(batch []alterItem, res sim.Result) {
	n := a.n
	r, _ := res.Body.(*wire.AlterPartitionResponse)
	if res.Outcome != sim.Answered || r.ErrorCode != kafka.None {
		// The same proposals again in a moment.
		n.proc.After(50*journal.Millisecond, func() {
			a.pending = append(batch, a.pending...)
			a.pump()
		})
		return
	}
	cause := n.w.Cause()
	for i, it := range batch {
		p := r.Parts[i]
		n.w.Because(cause, func() { a.decided(it, p) })
	}
}

func (a *alterManager) decided(it alterItem, p wire.AlterPartitionResult) {
	if p.ErrorCode != kafka.None {
		if again := it.h.rep.AlterFailed(p.ErrorCode.String()); again != nil {
			a.pending = append(a.pending, alterItem{it.h, again})
		}
		n := it.h.n
		n.w.Attach(n.w.Cause(), it.h.diff()) // the refusal ends the proposal
		return
	}
	if !it.h.rep.AlterCommitted(p.ISR, p.LeaderEpoch, p.PartitionEpoch) {
		return // metadata was faster
	}
	it.h.emit(journal.ISRCommit, false, journal.F("isr", idsText(p.ISR), "partitionEpoch", p.PartitionEpoch))
	it.h.advanceHW()
}
