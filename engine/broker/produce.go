package broker

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// delayedProduce waits in purgatory until every partition is decided
// (DelayedProduce).
type delayedProduce struct {
	req     *sim.Request // nil for an internal append
	from    string
	resp    *wire.ProduceResponse
	waits   []produceWait
	timer   *sim.Timer
	onReply func(*wire.ProduceResponse) // an internal append: the coordinator's
	done    bool
}

type produceWait struct {
	h        *hosted
	i        int // in resp.Parts
	required int64
	decided  bool
}

func (n *Node) handleProduce(r *sim.Request, q *wire.ProduceRequest) {
	resp, waits := n.appendAll(q)
	switch {
	case q.Acks == 0:
		for _, p := range resp.Parts {
			if p.ErrorCode != kafka.None {
				r.Drop("the broker refused a write with acks=0: " + p.ErrorCode.String())
				return
			}
		}
		r.Release()
	case q.Acks == 1 || len(waits) == 0:
		r.Reply(resp, 0, false)
	default:
		n.park(&delayedProduce{req: r, from: r.From, resp: resp, waits: waits}, journal.Millis(q.TimeoutMs))
	}
}

// appendAll is ReplicaManager.appendRecords: one partition after the other.
func (n *Node) appendAll(q *wire.ProduceRequest) (*wire.ProduceResponse, []produceWait) {
	resp := &wire.ProduceResponse{}
	var waits []produceWait
	cause := n.w.Cause()
	for _, p := range q.Parts {
		n.w.Because(cause, func() {
			res, h, required := n.appendOne(q.Acks, p)
			resp.Parts = append(resp.Parts, res)
			if res.ErrorCode == kafka.None && q.Acks == -1 {
				waits = append(waits, produceWait{h: h, i: len(resp.Parts) - 1, required: required})
			}
		})
	}
	return resp, waits
}

// appendOne follows Partition.appendRecordsToLeader: leadership, the size of the
// ISR, the producer's sequence, then the log, the high watermark, the waiters.
func (n *Node) appendOne(acks int16, p wire.ProducePart) (wire.ProduceResult, *hosted, int64) {
	res := wire.ProduceResult{Part: p.Part, BaseOffset: -1, LogStartOffset: -1}
	h := n.leads(p.Part)
	if h == nil {
		res.ErrorCode, res.CurrentLeader = n.leaderError(p.Part)
		return res, nil, 0
	}
	if acks < -1 || acks > 1 {
		res.ErrorCode = kafka.InvalidRequiredAcks
		return res, nil, 0
	}
	if acks == -1 && len(h.rep.ISR()) < n.img.MinISR(p.Part) {
		res.ErrorCode = kafka.NotEnoughReplicas
		return res, nil, 0
	}
	if p.Batch.Bytes > n.maxMessageBytes(p.Part) {
		res.ErrorCode = kafka.MessageTooLarge
		return res, nil, 0
	}
	b := fromWire(p.Batch)
	dup, errName := h.log.CheckProducer(b, replica.FromClient)
	if errName != "" {
		res.ErrorCode, _ = kafka.ParseErrorCode(errName)
		return res, nil, 0
	}
	res.LogStartOffset = h.log.LogStart()
	if dup != nil {
		// The log has this batch: answer as for the first copy, which with
		// acks=all means waiting for the high watermark like a new write.
		h.emit(journal.ProducerDuplicate, false, journal.F("baseOffset", dup.BaseOffset, "records", p.Batch.Records))
		res.BaseOffset = dup.BaseOffset
		return res, h, dup.LastOffset + 1
	}
	res.BaseOffset = h.append(b)
	return res, h, h.log.LEO()
}

// append writes a batch to the leader's log and lets the consequences happen.
func (h *hosted) append(b replica.Batch) int64 {
	stored := h.log.AppendAsLeader(b, h.rep.LeaderEpoch())
	op := logOp(stored)
	h.emit(journal.ReplicaAppend, false,
		journal.F("baseOffset", stored.Base, "count", len(stored.IDs), "epoch", stored.Epoch, "records", op.IDs),
		journal.Change{Key: h.keys.log, Val: op})
	h.advanceHW()
	h.completeFetches()
	return stored.Base
}

// advanceHW moves the high watermark if it may and completes who waited for it.
func (h *hosted) advanceHW() {
	from := h.log.HW()
	if !h.rep.MaybeIncrementLeaderHW(int64(h.n.w.Now()), h.n.img.MinISR(h.part)) {
		return
	}
	n := h.emit(journal.HWAdvance, false, journal.F("from", from, "to", h.log.HW()))
	h.n.w.Because(n, h.completeProduces)
	h.n.w.Because(n, h.completeFetches)
}

func (n *Node) maxMessageBytes(part string) int {
	topic, _ := splitPart(part)
	if t := n.img.Topics[topic]; t != nil {
		if _, ok := t.Config["max.message.bytes"]; ok {
			return int(kafka.NewConfig("topic", t.Config).Int("max.message.bytes"))
		}
	}
	return int(n.cfg.Int("message.max.bytes"))
}

// park puts a produce into purgatory, or answers it at once.
func (n *Node) park(d *delayedProduce, timeout journal.Time) {
	if d.tryComplete() {
		return
	}
	parts := d.open()
	d.timer = n.proc.After(timeout, d.expire)
	for _, w := range d.waits {
		if !w.decided {
			w.h.produces = append(w.h.produces, d)
		}
	}
	w := parts[0]
	w.h.emit(journal.PurgatoryWait, false, journal.F("operation", "DelayedProduce", "requiredOffset", w.required, "waitsFor", w.h.laggards(w.required)))
	d.timer.Because(n.w.Cause())
}

// laggards are the brokers whose receipt is missing.
func (h *hosted) laggards(required int64) []string {
	var ids []string
	maximal := h.rep.MaximalISR()
	for _, r := range h.rep.Remotes() {
		for _, id := range maximal {
			if id == r.ID && r.LEO < required {
				ids = append(ids, kafka.NodeName(kafka.BrokerID(id)))
			}
		}
	}
	return ids
}

func (d *delayedProduce) open() []produceWait {
	var ws []produceWait
	for _, w := range d.waits {
		if !w.decided {
			ws = append(ws, w)
		}
	}
	return ws
}

// tryComplete is DelayedProduce.tryComplete; it answers when all is decided.
func (d *delayedProduce) tryComplete() bool {
	if d.done {
		return true
	}
	for i := range d.waits {
		w := &d.waits[i]
		if w.decided {
			continue
		}
		p := &d.resp.Parts[w.i]
		verdict := w.h.rep.CheckEnoughReplicas(w.required, w.h.n.img.MinISR(w.h.part))
		if verdict == "WAIT" {
			continue
		}
		w.decided = true
		p.ErrorCode, _ = kafka.ParseErrorCode(verdict)
		if p.ErrorCode == kafka.NotLeaderOrFollower {
			p.ErrorCode, p.CurrentLeader = w.h.n.leaderError(w.h.part)
			p.BaseOffset = -1
		}
	}
	if len(d.open()) > 0 {
		return false
	}
	d.finish(journal.PurgatoryComplete)
	return true
}

func (d *delayedProduce) expire() {
	for i := range d.waits {
		w := &d.waits[i]
		if !w.decided {
			d.resp.Parts[w.i].ErrorCode = kafka.RequestTimedOut
			w.decided = true
		}
	}
	d.finish(journal.PurgatoryExpire)
}

func (d *delayedProduce) finish(kind journal.Kind) {
	d.done = true
	wasParked := d.timer != nil
	d.timer.Stop()
	for _, w := range d.waits {
		w.h.produces = without(w.h.produces, d)
	}
	if wasParked {
		h := d.waits[0].h
		h.emit(kind, false, journal.F("operation", "DelayedProduce"))
	}
	if d.onReply != nil {
		d.onReply(d.resp)
		return
	}
	d.req.Reply(d.resp, 0, false)
}

func (h *hosted) completeProduces() {
	cause := h.n.w.Cause()
	for _, d := range append([]*delayedProduce(nil), h.produces...) {
		h.n.w.Because(cause, func() { d.tryComplete() })
	}
}

// without removes x in place; whoever walks such a list walks a copy.
func without[T comparable](xs []T, x T) []T {
	if i := slices.Index(xs, x); i >= 0 {
		return slices.Delete(xs, i, i+1)
	}
	return xs
}
