package replica

import "sort"

// Batch is a record batch in a log.
type Batch struct {
	Base          int64
	Epoch         int32   // leader epoch in which it was appended
	IDs           []int32 // records, by number
	ProducerID    int64   // −1 without idempotence
	ProducerEpoch int16
	BaseSeq       int32
	Bytes         int
	Control, Txn  bool
}

// Last is the offset of the last record.
func (b Batch) Last() int64 { return b.Base + int64(len(b.IDs)) - 1 }

// Log is UnifiedLog without segments.
type Log struct {
	batches   []Batch
	start     int64
	leo       int64
	hw        int64
	saved     int64 // the high watermark on disk
	flushed   int64 // the log end on disk; the rest is in the page cache
	epochs    EpochCache
	producers producers
}

// NewLog is an empty log that starts at offset 0.
func NewLog() *Log { return &Log{producers: producers{}} }

// StartAt empties the log and lets it begin at an offset
// (UnifiedLog.truncateFullyAndStartAt).
func (l *Log) StartAt(offset int64) {
	l.batches, l.producers = nil, producers{}
	l.start, l.leo, l.hw = offset, offset, offset
	l.epochs.Clear()
}

// LogStart is the first offset available.
func (l *Log) LogStart() int64 { return l.start }

// LEO is the log end offset: what the next record gets.
func (l *Log) LEO() int64 { return l.leo }

// HW is the high watermark as this replica knows it.
func (l *Log) HW() int64 { return l.hw }

// Restart is the log as a new process finds it: the high watermark is the one
// from the checkpoint file.
func (l *Log) Restart() {
	l.SetHW(l.saved)
	l.epochs.TruncateFromEnd(l.leo)
}

// LoseUnflushed is a power cut: what was in the page cache only is gone.
func (l *Log) LoseUnflushed() { l.Truncate(max(l.flushed, l.start)) }

// Flush says that everything is on the disk.
func (l *Log) Flush() { l.flushed = l.leo }

// SetHW moves the high watermark, within the log.
func (l *Log) SetHW(hw int64) { l.hw = max(l.start, min(hw, l.leo)) }

// SaveHW writes the high watermark to the checkpoint file
// (ReplicaManager.checkpointHighWatermarks).
func (l *Log) SaveHW() { l.saved = l.hw }

// SavedHW is the high watermark in the checkpoint file, with which a restart
// begins. It lags behind, and a truncation may leave it beyond the end.
func (l *Log) SavedHW() int64 { return l.saved }

// Epochs is the leader-epoch cache.
func (l *Log) Epochs() *EpochCache { return &l.epochs }

// Batches returns the content. Do not change it.
func (l *Log) Batches() []Batch { return l.batches }

// AppendAsLeader gives a batch its offsets and the leader's epoch.
func (l *Log) AppendAsLeader(b Batch, epoch int32) Batch {
	b.Base, b.Epoch = l.leo, epoch
	return l.AppendAsFollower(b)
}

// AppendAsFollower writes a batch as the leader has it.
func (l *Log) AppendAsFollower(b Batch) Batch {
	l.epochs.Assign(b.Epoch, b.Base)
	l.batches = append(l.batches, b)
	l.leo = b.Last() + 1
	l.producers.update(b)
	return b
}

// Truncate cuts the log at an offset (UnifiedLog.truncateTo). A batch that reaches
// beyond it goes whole. The high watermark goes down with the log, and the
// producers are as the remaining batches left them.
func (l *Log) Truncate(to int64) {
	switch {
	case to >= l.leo:
		// The epoch of a leadership that wrote nothing begins at the log end. It
		// goes too: nobody else knows it, and the next Fetch would diverge again.
		l.epochs.TruncateFromEnd(l.leo)
		return
	case to < l.start:
		l.StartAt(to)
		return
	}
	n := len(l.batches)
	for n > 0 && l.batches[n-1].Last() >= to {
		n--
	}
	l.batches = l.batches[:n:n]
	l.leo = l.start
	if n > 0 {
		l.leo = l.batches[n-1].Last() + 1
	}
	l.hw = min(l.hw, l.leo)
	l.flushed = min(l.flushed, l.leo)
	l.epochs.TruncateFromEnd(l.leo)
	l.producers = producers{}
	for _, b := range l.batches {
		l.producers.update(b)
	}
}

// Read returns whole batches from the one that holds from, all below end, up to
// maxBytes. With one, the first comes even if it is larger.
func (l *Log) Read(from, end int64, maxBytes int, one bool) []Batch {
	var out []Batch
	bytes := 0
	lo := len(l.batches)
	for lo > 0 && l.batches[lo-1].Last() >= from {
		lo--
	}
	for _, b := range l.batches[lo:] {
		if b.Base >= end || b.Last() >= end || bytes+b.Bytes > maxBytes && (len(out) > 0 || !one) {
			break
		}
		bytes += b.Bytes
		out = append(out, b)
	}
	return out
}

// RecordAt is the number of the record at an offset; false where there is none.
func (l *Log) RecordAt(offset int64) (id int32, ok bool) {
	if offset < l.start || offset >= l.leo {
		return 0, false
	}
	// The first batch that reaches the offset.
	i := sort.Search(len(l.batches), func(i int) bool { return l.batches[i].Last() >= offset })
	if i == len(l.batches) || l.batches[i].Base > offset {
		return 0, false
	}
	return l.batches[i].IDs[offset-l.batches[i].Base], true
}

// CheckProducer tests a batch against the producer's state.
func (l *Log) CheckProducer(b Batch, origin Origin) (*BatchMeta, string) {
	return l.producers.check(b, origin)
}
