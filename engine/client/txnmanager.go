package client

import (
	"math"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// txnManager is what TransactionManager holds for an idempotent producer without
// transactions (KIP-98, KIP-360).
type txnManager struct {
	pid    int64 // −1 none
	epoch  int16
	asking bool
	bump   bool // an epoch bump was requested
}

// initID asks the least loaded node for a producer id; one without a block of ids
// says COORDINATOR_LOAD_IN_PROGRESS, and the client asks again, perhaps another.
func (p *Producer) initID() {
	if !p.idempotent || p.txn.pid >= 0 || p.txn.asking || p.closed || len(p.known) == 0 {
		return
	}
	node, conn := p.leastLoaded()
	if conn == nil {
		return // tick calls again
	}
	p.txn.asking = true
	p.call(conn, &sim.Call{API: kafka.InitProducerID, Body: &wire.InitProducerIDRequest{ProducerID: -1, ProducerEpoch: -1}, Done: func(r sim.Result) {
		if a, ok := r.Body.(*wire.InitProducerIDResponse); ok && a.ErrorCode == kafka.None {
			p.txn.asking = false
			p.newEpoch(a.ProducerID, a.ProducerEpoch)
			p.run()
			return
		}
		p.lost(node)
		p.proc.After(journal.Millis(p.cfg.Millis("retry.backoff.ms")), func() { p.txn.asking = false; p.run() })
	}})
}

// newEpoch works with another producer id or epoch. Sequences of partitions that
// asked for it start again, those in flight too; other partitions follow when
// nothing of theirs is outstanding.
func (p *Producer) newEpoch(pid int64, epoch int16) {
	p.txn.pid, p.txn.epoch = pid, epoch
	for _, name := range p.order {
		if q := p.queues[name]; q.rewrite {
			q.rewrite, q.unresolved = false, false
			p.startAtBeginning(q)
		}
	}
	p.emit(journal.ProducerID, "", journal.F("producerId", pid, "producerEpoch", epoch))
}

// startAtBeginning is TxnPartitionEntry.startSequencesAtBeginning.
func (p *Producer) startAtBeginning(q *queue) {
	q.pid, q.epoch, q.lastAcked, q.nextSeq = p.txn.pid, p.txn.epoch, -1, 0
	for _, b := range q.sequenced {
		b.pid, b.epoch, b.seq, b.reset = q.pid, q.epoch, q.nextSeq, true
		q.nextSeq = addSeq(q.nextSeq, len(b.sends))
	}
}

func (p *Producer) requestBump(q *queue) { q.rewrite, p.txn.bump = true, true }

// resolve decides on partitions where a batch was given up that may have been
// written, once nothing is outstanding there (maybeResolveSequences); then bumps
// the epoch if one was requested. A used-up epoch needs a new producer id.
func (p *Producer) resolve() {
	if !p.idempotent {
		return
	}
	for _, name := range p.order {
		q := p.queues[name]
		if !q.unresolved || len(q.sequenced) > 0 {
			continue
		}
		q.unresolved = false
		if q.nextSeq-q.lastAcked != 1 {
			p.requestBump(q)
		}
	}
	if !p.txn.bump {
		return
	}
	p.txn.bump = false
	if p.txn.epoch == math.MaxInt16 {
		p.txn.pid = -1
		return
	}
	p.newEpoch(p.txn.pid, p.txn.epoch+1)
}

// sequence gives a batch its place, when it is drained for the first time.
func (p *Producer) sequence(q *queue, b *batch) {
	if !p.idempotent {
		b.pid, b.epoch = -1, -1
		return
	}
	if b.seq >= 0 {
		return
	}
	if p.stale(q) {
		p.startAtBeginning(q)
	}
	b.pid, b.epoch, b.seq = q.pid, q.epoch, q.nextSeq
	q.nextSeq = addSeq(q.nextSeq, len(b.sends))
	q.track(b)
}

func (p *Producer) stale(q *queue) bool { return q.pid != p.txn.pid || q.epoch != p.txn.epoch }

// mustWait keeps batches back while order is in doubt: a batch without sequence
// behind another epoch's or unresolved ones, and a retry that is not the lowest
// outstanding sequence. So one is in flight until a retry is through
// (RecordAccumulator.shouldStopDrainBatchesForPartition).
func (p *Producer) mustWait(q *queue, b *batch) bool {
	if b.seq < 0 {
		return q.unresolved || p.stale(q) && len(q.sequenced) > 0
	}
	return len(q.sequenced) > 0 && q.sequenced[0].seq != b.seq
}

func (q *queue) track(b *batch) {
	i := 0
	for i < len(q.sequenced) && q.sequenced[i].seq < b.seq {
		i++
	}
	q.sequenced = slices.Insert(q.sequenced, i, b)
}

// forget ends the book-keeping of a batch (removeInFlightBatch).
func (p *Producer) forget(q *queue, b *batch) {
	if i := slices.Index(q.sequenced, b); i >= 0 {
		q.sequenced = slices.Delete(q.sequenced, i, i+1)
	}
}

// completed is TransactionManager.handleCompletedBatch.
func (p *Producer) completed(q *queue, b *batch) {
	if p.idempotent && b.pid == q.pid && b.epoch == q.epoch {
		q.lastAcked = max(q.lastAcked, b.last())
	}
	p.forget(q, b)
}

// mayRetry is TransactionManager.canRetry. A gap is real where the refused batch
// is the next one after the last that was acknowledged: then the epoch is bumped
// and the sequences start again.
func (p *Producer) mayRetry(q *queue, b *batch, code kafka.ErrorCode) bool {
	if !p.idempotent {
		return code.Retriable()
	}
	switch code {
	case kafka.OutOfOrderSequenceNumber:
		if q.unresolved || !b.reset && b.seq-q.lastAcked == 1 {
			p.requestBump(q)
		}
		return true
	case kafka.UnknownProducerID:
		if !b.reset {
			p.requestBump(q)
		}
		return true
	}
	return code.Retriable()
}

// gaveUp is TransactionManager.handleFailedBatch for a batch that the broker
// refused for good: its sequences are missing now. Without retries left nobody
// knows whether it was written.
func (p *Producer) gaveUp(q *queue, b *batch, code kafka.ErrorCode) {
	p.forget(q, b)
	if !p.idempotent || b.seq < 0 || code == kafka.ProducerFenced {
		return
	}
	if int64(b.attempts) < p.cfg.Int("retries") {
		p.requestBump(q)
	}
}
