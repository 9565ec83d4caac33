package controller

import "github.com/highwater-kafka/highwater/engine/kafka/wire"

// metaLog is a copy of the metadata log (KafkaMetadataLog).
type metaLog struct {
	batches []wire.MetaBatch
	snap    *snapshot // the newest, nil if none was made
	base    LogEnd    // where the log begins: what was before is in a snapshot
}

// snapshot is the committed state below an offset (KIP-630).
type snapshot struct {
	id      wire.EpochEnd
	records []wire.MetaRecord
}

func (l *metaLog) end() LogEnd {
	if n := len(l.batches); n > 0 {
		return LogEnd{l.batches[n-1].Epoch, l.batches[n-1].Last() + 1}
	}
	return l.base
}

// empty says whether the log has no record but those of the quorum itself.
func (l *metaLog) empty() bool {
	for i := range l.batches {
		if t := l.batches[i].Records[0].Type; t != "LeaderChange" {
			return false
		}
	}
	return l.base == LogEnd{}
}

// since are the batches that end at or after an offset.
func (l *metaLog) since(offset int64) []wire.MetaBatch {
	i := len(l.batches)
	for i > 0 && l.batches[i-1].Last() >= offset {
		i--
	}
	return l.batches[i:]
}

// endOf is the largest epoch up to the one asked for, and where it ends.
func (l *metaLog) endOf(epoch int32) LogEnd {
	for i := len(l.batches) - 1; i >= 0; i-- {
		if b := &l.batches[i]; b.Epoch <= epoch {
			return LogEnd{b.Epoch, b.Last() + 1}
		}
	}
	return l.base
}

// check compares a follower's position with this log: it must fetch a snapshot,
// or cut its log back to what diverges, or it is in step (nil, nil;
// KafkaMetadataLog.validateOffsetAndEpoch).
func (l *metaLog) check(offset int64, epoch int32) (snap, diverging *wire.EpochEnd) {
	switch {
	case l.snap != nil && (offset == 0 || offset < l.base.Offset || epoch < l.base.Epoch):
		return &l.snap.id, nil
	case offset == 0 && epoch == 0:
		return nil, nil
	}
	if e := l.endOf(epoch); e.Epoch != epoch || e.Offset < offset {
		return nil, &wire.EpochEnd{Epoch: e.Epoch, EndOffset: e.Offset}
	}
	return nil, nil
}

// truncationPoint is where a log that diverges from its leader's has to end
// (ReplicatedLog.truncateToEndOffset).
func (l *metaLog) truncationPoint(leader wire.EpochEnd) int64 {
	own := l.endOf(leader.Epoch)
	if own.Epoch == leader.Epoch {
		return min(own.Offset, leader.EndOffset)
	}
	return own.Offset
}

func (l *metaLog) truncate(to int64) {
	n := len(l.batches)
	for n > 0 && l.batches[n-1].Last() >= to {
		n--
	}
	l.batches = l.batches[:n:n]
}

// load makes a snapshot the whole log.
func (l *metaLog) load(s *snapshot) {
	l.snap, l.batches, l.base = s, nil, LogEnd{s.id.Epoch, s.id.EndOffset}
}
