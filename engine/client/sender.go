package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// run is one pass of the Sender: which batches may leave, to which nodes, one
// Produce a node with at most one batch a partition.
func (p *Producer) run() {
	if p.idempotent && p.pid < 0 {
		p.initID()
		return
	}
	cause := p.w.Cause()
	next := journal.Time(-1)
	ready := map[string][]*queue{}
	var nodes []string
	for _, name := range p.order {
		q := p.queues[name]
		if len(q.batches) == 0 {
			continue
		}
		at := p.readyAt(q)
		if at > p.w.Now() {
			if next < 0 || at < next {
				next = at
			}
			continue
		}
		node := p.leader(name)
		if node == "" {
			p.refresh()
			continue
		}
		if p.blocked(q) {
			continue
		}
		if ready[node] == nil {
			nodes = append(nodes, node)
		}
		ready[node] = append(ready[node], q)
	}
	for _, node := range nodes {
		conn := p.ready(node)
		if conn == nil || conn.InFlight() >= int(p.cfg.Int("max.in.flight.requests.per.connection")) {
			continue
		}
		p.w.Because(cause, func() { p.drain(node, conn, ready[node]) })
	}
	p.wake.Stop()
	if next >= 0 {
		p.wake = p.proc.After(next-p.w.Now(), p.run)
		for _, name := range p.order {
			if q := p.queues[name]; len(q.batches) > 0 && p.readyAt(q) == next {
				p.wake.Because(q.batches[0].cause)
			}
		}
	}
}

// readyAt is when the first batch of a queue may leave (RecordAccumulator.batchReady).
func (p *Producer) readyAt(q *queue) journal.Time {
	b := q.batches[0]
	if b.attempts > 0 {
		// A newer leader epoch than at the last attempt skips the back-off (KIP-951).
		if p.meta[q.part].LeaderEpoch > b.leader {
			return p.w.Now()
		}
		return b.retryAt
	}
	if !b.open || len(q.batches) > 1 {
		return p.w.Now()
	}
	return b.created + journal.Millis(p.cfg.Millis("linger.ms"))
}

// blocked: one in flight mutes the partition; while a batch is being retried
// only the lowest sequence may leave.
func (p *Producer) blocked(q *queue) bool {
	if p.cfg.Int("max.in.flight.requests.per.connection") == 1 && len(q.inFlight) > 0 {
		return true
	}
	if !p.idempotent || len(q.inFlight) == 0 {
		return false
	}
	if len(q.inFlight) >= 5 {
		return true
	}
	for _, b := range append(slices.Clone(q.inFlight), q.batches[0]) {
		if b.attempts > 0 {
			return q.batches[0].seq < 0 || q.batches[0].seq > q.inFlight[0].seq
		}
	}
	return false
}

// drain sends one Produce (RecordAccumulator.drainBatchesForOneNode).
func (p *Producer) drain(node string, conn *sim.Conn, qs []*queue) {
	start := p.drainAt[node] % len(qs)
	p.drainAt[node]++
	q := &wire.ProduceRequest{Acks: p.acks, TimeoutMs: p.cfg.Millis("request.timeout.ms")}
	var batches []*batch
	size := 0
	for i := range qs {
		qu := qs[(start+i)%len(qs)]
		b := qu.batches[0]
		if size > 0 && size+b.bytes > int(p.cfg.Int("max.request.size")) {
			continue
		}
		size += b.bytes
		qu.batches = qu.batches[1:]
		b.open = false
		b.pid, b.epoch = -1, -1
		if p.idempotent {
			b.pid, b.epoch = p.pid, p.epoch
			if b.seq < 0 {
				b.seq = qu.nextSeq
				qu.nextSeq = int32((int64(qu.nextSeq) + int64(len(b.sends))) % (1 << 31))
			}
		}
		b.leader = p.meta[qu.part].LeaderEpoch
		qu.inFlight = append(qu.inFlight, b)
		batches = append(batches, b)
		p.emit(journal.ProducerDrain, qu.part, journal.F("records", b.ids(), "baseSequence", b.seq, "to", node))
		q.Parts = append(q.Parts, wire.ProducePart{Part: qu.part, Batch: wire.Batch{ProducerID: b.pid, ProducerEpoch: b.epoch, BaseSequence: b.seq,
			Records: b.ids(), Bytes: b.bytes}})
	}
	call := &sim.Call{API: kafka.Produce, Body: q, Part: q.Parts[0].Part, Bytes: size, OneWay: p.acks == 0,
		Timeout: journal.Millis(p.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms"}
	if p.acks == 0 {
		// Success when the bytes are sent; nobody will answer.
		call.Timeout = 0
		conn.Call(call)
		cause := p.w.Cause()
		for _, b := range batches {
			p.w.Because(cause, func() { p.acked(b, -1) })
		}
		p.run()
		return
	}
	call.Done = func(r sim.Result) { p.answered(node, batches, r) }
	conn.Call(call)
}

func (p *Producer) answered(node string, batches []*batch, r sim.Result) {
	cause := p.w.Cause()
	if r.Outcome != sim.Answered {
		code := kafka.Network
		if r.Outcome == sim.TimedOut {
			code = kafka.RequestTimedOut
		}
		for _, b := range batches {
			p.w.Because(cause, func() { p.refused(b, code) })
		}
		p.lost(node)
		p.run()
		return
	}
	for i, res := range r.Body.(*wire.ProduceResponse).Parts {
		b := batches[i]
		p.w.Because(cause, func() {
			p.hint(res.Part, res.CurrentLeader)
			switch res.ErrorCode {
			case kafka.None:
				p.acked(b, res.BaseOffset)
			case kafka.DuplicateSequenceNumber:
				p.acked(b, -1)
			default:
				p.refused(b, res.ErrorCode)
			}
		})
	}
	p.run()
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
	n := p.emit(journal.ProducerAcked, b.part, journal.F("records", b.ids(), "baseOffset", base))
	for _, s := range b.sends {
		p.w.Because(n, func() { s.done(true) })
	}
}

// refused is Sender.completeBatch for an error: again later, or failed.
func (p *Producer) refused(b *batch, code kafka.ErrorCode) {
	if !p.take(b) {
		return
	}
	if code.InvalidMetadata() {
		p.refresh()
	}
	q := p.queues[b.part]
	if code == kafka.MessageTooLarge && len(b.sends) > 1 {
		p.split(q, b)
		return
	}
	gap := code == kafka.OutOfOrderSequenceNumber && p.idempotent
	if gap && b.seq == p.lowest(q, b) {
		p.bumpEpoch(q, b)
	}
	retriable := code.Retriable() || gap || code == kafka.UnknownProducerID
	if !retriable || int64(b.attempts) >= p.cfg.Int("retries") || p.w.Now()-b.created >= journal.Millis(p.cfg.Millis("delivery.timeout.ms")) {
		p.fail(b, code.String())
		return
	}
	wait := p.backoff("retry.backoff.ms", "retry.backoff.max.ms", b.attempts)
	b.attempts++
	b.retryAt = p.w.Now() + wait
	// Back to the front of its queue, ordered by sequence when idempotent.
	i := 0
	for p.idempotent && i < len(q.batches) && q.batches[i].seq >= 0 && q.batches[i].seq < b.seq {
		i++
	}
	q.batches = slices.Insert(q.batches, i, b)
	b.cause = p.emit(journal.ProducerRetry, b.part, journal.F("records", b.ids(), "error", code.String(), "backoffMs", int64(wait/journal.Millisecond)))
}

// lowest is the lowest outstanding sequence of a partition.
func (p *Producer) lowest(q *queue, b *batch) int32 {
	seq := b.seq
	for _, x := range append(slices.Clone(q.inFlight), q.batches...) {
		if x.seq >= 0 {
			seq = min(seq, x.seq)
		}
	}
	return seq
}

// bumpEpoch starts the sequences of a partition again in the next epoch: the log
// has a real gap (TransactionManager, KIP-360).
func (p *Producer) bumpEpoch(q *queue, b *batch) {
	p.epoch++
	next := int32(0)
	for _, x := range append([]*batch{b}, q.batches...) {
		if x.seq >= 0 {
			x.seq = next
			next += int32(len(x.sends))
		}
	}
	q.nextSeq = next
	p.emit(journal.ProducerID, "", journal.F("producerId", p.pid, "producerEpoch", p.epoch))
}

// split halves a batch that is too large; it does not count as a retry.
func (p *Producer) split(q *queue, b *batch) {
	half := len(b.sends) / 2
	var halves []*batch
	for _, sends := range [][]*send{b.sends[:half], b.sends[half:]} {
		x := &batch{part: b.part, sends: sends, created: b.created, cause: b.cause, seq: -1, bytes: batchOverhead, leader: -1}
		for _, s := range sends {
			x.bytes += s.bytes
		}
		halves = append(halves, x)
	}
	if b.seq >= 0 {
		halves[0].seq, halves[1].seq = b.seq, b.seq+int32(half)
	}
	q.batches = slices.Insert(q.batches, 0, halves...)
}
