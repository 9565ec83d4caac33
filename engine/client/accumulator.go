package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// batch is ProducerBatch.
type batch struct {
	part     string
	sends    []*send
	bytes    int
	memory   int64 // taken from buffer.memory
	created  journal.Time
	cause    int
	seq      int32 // −1 not yet drained
	pid      int64
	epoch    int16
	reset    bool // its sequence was rewritten after an epoch bump
	attempts int
	retryAt  journal.Time
	leader   int32 // leader epoch known at the last attempt
	open     bool
	pieces   bool // came from a batch that was too large
	done     bool
}

// queue is the deque of one partition, and what TransactionManager remembers of
// it (TxnPartitionEntry).
type queue struct {
	batches  []*batch // waiting
	inFlight []*batch // sent, no answer
	muted    bool     // max.in.flight=1: its batch is in flight

	pid        int64
	epoch      int16
	nextSeq    int32
	lastAcked  int32
	sequenced  []*batch // with a sequence and without a result, by sequence
	unresolved bool     // a batch that may have been written was given up
	rewrite    bool     // its sequences start again with the next epoch
}

func (b *batch) ids() []string {
	ids := make([]string, len(b.sends))
	for i, s := range b.sends {
		ids[i] = s.id
	}
	return ids
}

// last is the sequence of the last record.
func (b *batch) last() int32 { return addSeq(b.seq, len(b.sends)-1) }

func (b *batch) tell(w *sim.World, n int, ok bool) {
	b.done = true
	for _, s := range b.sends {
		w.Because(n, func() { s.done(ok) })
	}
}

// addSeq adds to a sequence, which wraps from 2147483647 to 0
// (DefaultRecordBatch.incrementSequence).
func addSeq(seq int32, n int) int32 { return int32((int64(seq) + int64(n)) % (1 << 31)) }

// lastOpen is the batch that a record joins, nil if it needs a new one.
func (p *Producer) lastOpen(s *send) *batch {
	q := p.queues[s.part]
	if q == nil || len(q.batches) == 0 {
		return nil
	}
	b := q.batches[len(q.batches)-1]
	if !b.open || b.bytes+s.bytes > int(p.cfg.Int("batch.size")) {
		return nil
	}
	return b
}

// newSize is what a new batch takes of buffer.memory (BufferPool.allocate).
func (p *Producer) newSize(s *send) int64 {
	return max(p.cfg.Int("batch.size"), int64(batchOverhead+s.bytes))
}

func (p *Producer) fits(s *send) bool { return p.lastOpen(s) != nil || p.newSize(s) <= p.free }

// release returns a batch's memory.
func (p *Producer) release(b *batch) {
	p.free += b.memory
	b.memory = 0
}

// exhausted says whether a send() waits for memory: then all batches may leave.
func (p *Producer) exhausted() bool {
	return len(p.unsent) > 0 && p.unsent[0].part != ""
}

// append adds a record to the last open batch of its partition, or a new one
// (RecordAccumulator.append).
func (p *Producer) append(s *send) {
	q := p.queues[s.part]
	if q == nil {
		q = &queue{pid: p.txn.pid, epoch: p.txn.epoch, lastAcked: -1}
		p.queues[s.part] = q
		p.order = append(p.order, s.part)
	}
	b := p.lastOpen(s)
	fresh := b == nil
	if fresh {
		if k := len(q.batches); k > 0 {
			q.batches[k-1].open = false
		}
		b = &batch{part: s.part, bytes: batchOverhead, memory: p.newSize(s), created: p.w.Now(), seq: -1, open: true, leader: -1}
		p.free -= b.memory
		q.batches = append(q.batches, b)
	}
	b.sends = append(b.sends, s)
	b.bytes += s.bytes
	if p.stuck(s) {
		p.stickyFor(s.topic).Appended(int64(s.bytes), len(q.batches) > 1 || p.full(b))
	}
	b.cause = p.emit(journal.ProducerBatch, s.part, journal.F("record", s.id, "count", len(b.sends)))
	if fresh {
		p.expireLater(b)
	}
}

func (p *Producer) full(b *batch) bool { return !b.open || b.bytes >= int(p.cfg.Int("batch.size")) }

// deliveryTimeout is delivery.timeout.ms, at least linger.ms + request.timeout.ms
// (KafkaProducer.configureDeliveryTimeout).
func (p *Producer) deliveryTimeout() journal.Time {
	return journal.Millis(max(p.cfg.Millis("delivery.timeout.ms"), p.cfg.Millis("linger.ms")+p.cfg.Millis("request.timeout.ms")))
}

// expireLater fails a batch without result after delivery.timeout.ms, whether it
// waits or is in flight (KIP-91).
func (p *Producer) expireLater(b *batch) {
	p.proc.After(b.created+p.deliveryTimeout()-p.w.Now(), func() {
		if b.done {
			return
		}
		q := p.queues[b.part]
		if i := slices.Index(q.batches, b); i >= 0 {
			q.batches = slices.Delete(q.batches, i, i+1)
		} else if i := slices.Index(q.inFlight, b); i >= 0 {
			q.inFlight = slices.Delete(q.inFlight, i, i+1)
		} else {
			return
		}
		n := p.w.Cause()
		p.forget(q, b)
		if p.idempotent && b.attempts > 0 {
			// An earlier attempt may have been written: no new batch leaves
			// until the others have their results (markSequenceUnresolved).
			q.unresolved = true
		}
		p.w.Because(n, func() { p.fail(b, timedOut) })
		p.w.Because(n, p.place)
		p.run()
	})
}

// backingOff says whether a batch waits for its retry. A newer leader epoch than
// at the last attempt skips the back-off (KIP-951).
func (p *Producer) backingOff(b *batch) bool {
	return b.attempts > 0 && b.retryAt > p.w.Now() && p.meta[b.part].LeaderEpoch <= b.leader
}

// readyAt is when the first batch of a queue may leave (RecordAccumulator.batchReady).
func (p *Producer) readyAt(q *queue) journal.Time {
	b := q.batches[0]
	switch {
	case p.backingOff(b):
		return b.retryAt
	case b.attempts > 0 || len(q.batches) > 1 || p.full(b) || p.closing || p.exhausted():
		return p.w.Now()
	}
	return b.created + journal.Millis(p.cfg.Millis("linger.ms"))
}

// ready are the nodes that lead a partition with a batch that may leave.
func (p *Producer) readyNodes() []string {
	var nodes []string
	for _, name := range p.order {
		q := p.queues[name]
		if len(q.batches) == 0 || q.muted {
			continue
		}
		node := p.leader(name)
		if node == "" {
			p.refresh()
			continue
		}
		if p.readyAt(q) <= p.w.Now() && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// drain takes the batches of one Produce out of their queues: one a partition of
// the node, also of partitions that still linger, from a place that moves on
// (RecordAccumulator.drainBatchesForOneNode).
func (p *Producer) drain(node string) []*batch {
	var led []string
	for _, part := range p.parts {
		if p.leader(part) == node {
			led = append(led, part)
		}
	}
	var out []*batch
	size := 0
	start := p.drainAt[node] % len(led)
	for k := range led {
		i := (start + k) % len(led)
		p.drainAt[node] = i
		q := p.queues[led[i]]
		if q == nil || len(q.batches) == 0 || q.muted || p.backingOff(q.batches[0]) {
			continue
		}
		b := q.batches[0]
		if len(out) > 0 && size+b.bytes > int(p.cfg.Int("max.request.size")) || p.idempotent && p.mustWait(q, b) {
			break
		}
		size += b.bytes
		q.batches = q.batches[1:]
		b.open = false
		p.sequence(q, b)
		b.leader = p.meta[b.part].LeaderEpoch
		q.muted = p.maxInFlight == 1 && p.acks != 0
		q.inFlight = append(q.inFlight, b)
		out = append(out, b)
	}
	return out
}

// reenqueue puts a batch back: first, or behind those with a lower sequence
// (RecordAccumulator.insertInSequenceOrder).
func (q *queue) reenqueue(b *batch) {
	i := 0
	for b.seq >= 0 && i < len(q.batches) && q.batches[i].seq >= 0 && q.batches[i].seq < b.seq {
		i++
	}
	q.batches = slices.Insert(q.batches, i, b)
}

// split cuts a batch that is too large for the broker into batches of batch.size;
// one that was cut before, in halves. It does not count as a retry
// (RecordAccumulator.splitAndReenqueue).
func (p *Producer) split(q *queue, b *batch) {
	target := int(p.cfg.Int("batch.size"))
	if b.pieces || b.bytes <= target {
		target = b.bytes / 2
	}
	p.forget(q, b)
	p.release(b)
	b.done = true
	var out []*batch
	seq := b.seq
	for _, s := range b.sends {
		k := len(out) - 1
		if k < 0 || out[k].bytes+s.bytes > target {
			k++
			out = append(out, &batch{part: b.part, bytes: batchOverhead, created: b.created, cause: p.w.Cause(), seq: seq, pid: b.pid, epoch: b.epoch,
				leader: -1, pieces: true})
		}
		out[k].sends = append(out[k].sends, s)
		out[k].bytes += s.bytes
		if seq >= 0 {
			seq = addSeq(seq, 1)
		}
	}
	for _, x := range slices.Backward(out) {
		q.reenqueue(x)
		p.expireLater(x)
		if p.idempotent {
			q.track(x)
		}
	}
}
