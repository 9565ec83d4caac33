package replica

// Origin says where a batch comes from.
type Origin uint8

// The origins: only clients are checked.
const (
	FromClient Origin = iota
	FromReplication
)

// retained is ProducerStateEntry.NUM_BATCHES_TO_RETAIN.
const retained = 5

// BatchMeta is what is remembered of a batch.
type BatchMeta struct {
	BaseOffset, LastOffset int64
	BaseSeq, LastSeq       int32
}

type producerState struct {
	epoch   int16
	batches []BatchMeta // the last five, of this epoch
}

// producers is ProducerStateManager: by producer id.
type producers map[int64]*producerState

const maxSeq = 1<<31 - 1

// addSeq counts on, wrapping from 2147483647 to 0 (DefaultRecordBatch.incrementSequence).
func addSeq(seq int32, n int) int32 {
	return int32((int64(seq) + int64(n)) % (maxSeq + 1))
}

// check finds a duplicate among the remembered batches, or names the error of a
// batch that does not follow (ProducerAppendInfo.checkProducerEpoch,
// checkSequence).
func (ps producers) check(b Batch, origin Origin) (dup *BatchMeta, errName string) {
	if b.ProducerID < 0 || origin != FromClient {
		return nil, ""
	}
	s := ps[b.ProducerID]
	if s == nil {
		return nil, ""
	}
	last := addSeq(b.BaseSeq, len(b.IDs)-1)
	if s.epoch == b.ProducerEpoch {
		for i := range s.batches {
			if m := &s.batches[i]; m.BaseSeq == b.BaseSeq && m.LastSeq == last {
				return m, ""
			}
		}
	}
	switch {
	case b.ProducerEpoch < s.epoch:
		return nil, "INVALID_PRODUCER_EPOCH"
	case b.ProducerEpoch > s.epoch:
		if b.BaseSeq != 0 {
			return nil, "OUT_OF_ORDER_SEQUENCE_NUMBER"
		}
	case b.BaseSeq != s.next():
		return nil, "OUT_OF_ORDER_SEQUENCE_NUMBER"
	}
	return nil, ""
}

// next is the sequence that follows; an epoch without batches begins at 0.
func (s *producerState) next() int32 {
	if len(s.batches) == 0 {
		return 0
	}
	return addSeq(s.batches[len(s.batches)-1].LastSeq, 1)
}

// update notes a batch that is in the log (ProducerStateEntry.addBatch). Another
// epoch forgets the batches of the one before; a control batch has no sequence
// and only brings its epoch.
func (ps producers) update(b Batch) {
	if b.ProducerID < 0 {
		return
	}
	s := ps[b.ProducerID]
	if s == nil {
		s = &producerState{epoch: b.ProducerEpoch}
		ps[b.ProducerID] = s
	}
	if s.epoch != b.ProducerEpoch {
		s.epoch, s.batches = b.ProducerEpoch, nil
	}
	if b.Control {
		return
	}
	s.batches = append(s.batches, BatchMeta{b.Base, b.Last(), b.BaseSeq, addSeq(b.BaseSeq, len(b.IDs)-1)})
	if len(s.batches) > retained {
		s.batches = append([]BatchMeta(nil), s.batches[len(s.batches)-retained:]...)
	}
}
