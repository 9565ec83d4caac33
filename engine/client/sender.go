package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// run is Sender.runOnce until nothing more can leave: one Produce a ready node,
// again while there are batches and room for requests in flight.
func (p *Producer) run() {
	if p.running {
		p.again = true
		return
	}
	p.running = true
	cause := p.w.Cause()
	for p.again = true; p.again && !p.closed; {
		p.again = false
		p.w.Because(cause, p.resolve)
		if p.idempotent && p.txn.pid < 0 {
			p.w.Because(cause, p.initID)
			break
		}
		for _, node := range p.readyNodes() {
			conn := p.ready(node)
			if conn == nil || conn.InFlight() >= p.maxInFlight {
				continue
			}
			p.w.Because(cause, func() { p.again = p.sendTo(node, conn) || p.again })
		}
	}
	p.running = false
	p.wakeLater()
	if p.closing && p.finished() {
		p.shutdown()
	}
}

// wakeLater runs again when the next batch has lingered, or waited for its retry.
func (p *Producer) wakeLater() {
	p.wake.Stop()
	next, cause := journal.Time(-1), 0
	for _, name := range p.order {
		q := p.queues[name]
		if len(q.batches) == 0 || q.muted || p.closed {
			continue
		}
		if at := p.readyAt(q); at > p.w.Now() && (next < 0 || at < next) {
			next, cause = at, q.batches[0].cause
		}
	}
	if next >= 0 {
		p.wake = p.proc.After(next-p.w.Now(), p.run)
		p.wake.Because(cause)
	}
}

// sendTo sends one Produce (Sender.sendProduceRequest).
func (p *Producer) sendTo(node string, conn *sim.Conn) bool {
	batches := p.drain(node)
	if len(batches) == 0 {
		return false
	}
	q := &wire.ProduceRequest{Acks: p.acks, TimeoutMs: p.cfg.Millis("request.timeout.ms")}
	size := 0
	for _, b := range batches {
		size += b.bytes
		p.emit(journal.ProducerDrain, b.part, journal.F("records", b.ids(), "baseSequence", b.seq, "to", node))
		q.Parts = append(q.Parts, wire.ProducePart{Part: b.part, Batch: wire.Batch{ProducerID: b.pid, ProducerEpoch: b.epoch, BaseSequence: b.seq,
			Records: b.ids(), Bytes: b.bytes}})
	}
	call := &sim.Call{API: kafka.Produce, Body: q, Part: q.Parts[0].Part, Bytes: size}
	if p.acks == 0 {
		// Success when the bytes are sent; nobody will answer.
		call.OneWay = true
		conn.Call(call)
		cause := p.w.Cause()
		for _, b := range batches {
			p.w.Because(cause, func() { p.acked(b, -1) })
		}
		p.w.Because(cause, p.place)
		return true
	}
	call.Done = func(r sim.Result) { p.answered(node, batches, r) }
	p.call(conn, call)
	return true
}

func (p *Producer) answered(node string, batches []*batch, r sim.Result) {
	cause := p.w.Cause()
	for _, b := range batches {
		p.queues[b.part].muted = false
	}
	if r.Outcome != sim.Answered {
		code := kafka.Network
		if r.Outcome == sim.TimedOut {
			code = kafka.RequestTimedOut
		}
		for _, b := range batches {
			p.w.Because(cause, func() { p.refused(b, code) })
		}
		p.lost(node)
	} else {
		for _, res := range r.Body.(*wire.ProduceResponse).Parts {
			i := slices.IndexFunc(batches, func(b *batch) bool { return b.part == res.Part })
			if i < 0 {
				continue
			}
			p.hint(res.Part, res.CurrentLeader)
			p.w.Because(cause, func() { p.complete(batches[i], res) })
		}
	}
	p.w.Because(cause, p.place)
	p.run()
}

// complete is Sender.completeBatch.
func (p *Producer) complete(b *batch, res wire.ProduceResult) {
	switch res.ErrorCode {
	case kafka.None:
		p.acked(b, res.BaseOffset)
	case kafka.DuplicateSequenceNumber:
		p.acked(b, -1) // the log has it; where, the broker does not say
	default:
		p.refused(b, res.ErrorCode)
	}
}

// take removes a batch from the ones in flight; false where it expired meanwhile.
func (p *Producer) take(b *batch) bool {
	q := p.queues[b.part]
	i := slices.Index(q.inFlight, b)
	if i < 0 {
		return false
	}
	q.inFlight = slices.Delete(q.inFlight, i, i+1)
	return true
}

func (p *Producer) acked(b *batch, base int64) {
	if !p.take(b) {
		return
	}
	p.completed(p.queues[b.part], b)
	p.release(b)
	n := p.emit(journal.ProducerAcked, b.part, journal.F("records", b.ids(), "baseOffset", base))
	b.tell(p.w, n, true)
}

// refused is an error for a batch: again later, in pieces, or failed.
func (p *Producer) refused(b *batch, code kafka.ErrorCode) {
	if code.InvalidMetadata() {
		p.refresh()
	}
	if !p.take(b) {
		return
	}
	q := p.queues[b.part]
	late := p.w.Now()-b.created >= p.deliveryTimeout() || int64(b.attempts) >= p.cfg.Int("retries")
	switch {
	case code == kafka.MessageTooLarge && len(b.sends) > 1:
		p.split(q, b)
	case late || !p.mayRetry(q, b, code):
		p.gaveUp(q, b, code)
		p.fail(b, code.String())
	default:
		wait := p.retryBackoff(b.attempts)
		b.attempts++
		b.retryAt = p.w.Now() + wait
		q.reenqueue(b)
		b.cause = p.emit(journal.ProducerRetry, b.part, journal.F("records", b.ids(), "error", code.String(), "backoffMs", int64(wait/journal.Millisecond)))
	}
}
