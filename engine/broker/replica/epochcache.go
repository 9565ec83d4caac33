// Package replica holds the state machines of one replica: its log with the
// leader-epoch cache and producer state, and the leader's view of a partition
// (ISR, high watermark). Methods say what happened; they never act.
package replica

import "slices"

// EpochEntry is one line of the leader-epoch cache.
type EpochEntry struct {
	Epoch       int32
	StartOffset int64
}

// EpochEnd is an epoch and the offset at which it ends; −1, −1 is undefined.
type EpochEnd struct {
	Epoch     int32
	EndOffset int64
}

var undefined = EpochEnd{-1, -1}

// EpochCache is LeaderEpochFileCache (KIP-101): ascending in epoch and offset.
type EpochCache struct{ entries []EpochEntry }

// Entries returns the entries. Do not change them.
func (c *EpochCache) Entries() []EpochEntry { return c.entries }

// Assign notes that an epoch begins at an offset (LeaderEpochFileCache.assign).
// The newest epoch is not noted twice; entries that the new one contradicts go,
// so that the cache stays ascending in both.
func (c *EpochCache) Assign(epoch int32, start int64) {
	if epoch < 0 || start < 0 {
		return
	}
	if n := len(c.entries); n > 0 && c.entries[n-1].Epoch == epoch && start >= c.entries[n-1].StartOffset {
		return
	}
	c.entries = slices.DeleteFunc(c.entries, func(e EpochEntry) bool { return e.Epoch >= epoch || e.StartOffset >= start })
	c.entries = append(c.entries, EpochEntry{epoch, start})
}

// Latest epoch, −1 if there is none.
func (c *EpochCache) Latest() int32 {
	if len(c.entries) == 0 {
		return -1
	}
	return c.entries[len(c.entries)-1].Epoch
}

// EndOffsetFor is the end of an epoch in a log that ends at leo
// (LeaderEpochFileCache.endOffsetFor, KIP-279). For an epoch that is not in the
// cache it is the next lower one that is, so that two replicas can find the last
// epoch they share.
func (c *EpochCache) EndOffsetFor(epoch int32, leo int64) EpochEnd {
	latest := c.Latest()
	switch {
	case epoch < 0 || epoch > latest:
		return undefined
	case epoch == latest:
		return EpochEnd{epoch, leo}
	}
	i := slices.IndexFunc(c.entries, func(e EpochEntry) bool { return e.Epoch > epoch })
	if i == 0 {
		return EpochEnd{epoch, c.entries[0].StartOffset}
	}
	return EpochEnd{c.entries[i-1].Epoch, c.entries[i].StartOffset}
}

// Previous is the largest epoch below one.
func (c *EpochCache) Previous(epoch int32) (int32, bool) {
	for _, e := range slices.Backward(c.entries) {
		if e.Epoch < epoch {
			return e.Epoch, true
		}
	}
	return 0, false
}

// Next is the smallest epoch above one.
func (c *EpochCache) Next(epoch int32) (int32, bool) {
	for _, e := range c.entries {
		if e.Epoch > epoch {
			return e.Epoch, true
		}
	}
	return 0, false
}

// EpochForOffset is the epoch in which an offset was written.
func (c *EpochCache) EpochForOffset(offset int64) (int32, bool) {
	for _, e := range slices.Backward(c.entries) {
		if e.StartOffset <= offset {
			return e.Epoch, true
		}
	}
	return 0, false
}

// TruncateFromEnd drops what starts at or after an offset
// (LeaderEpochFileCache.truncateFromEnd); an undefined offset (−1) changes nothing.
func (c *EpochCache) TruncateFromEnd(offset int64) {
	if offset < 0 {
		return
	}
	c.entries = slices.DeleteFunc(c.entries, func(e EpochEntry) bool { return e.StartOffset >= offset })
}

// TruncateFromStart drops what ends before an offset; the entry that covers it
// moves up to it (LeaderEpochFileCache.truncateFromStart).
func (c *EpochCache) TruncateFromStart(offset int64) {
	i := -1
	for k, e := range c.entries {
		if e.StartOffset <= offset {
			i = k
		}
	}
	if i < 0 {
		return
	}
	c.entries = c.entries[i:]
	c.entries[0].StartOffset = offset
}

// Clear empties the cache.
func (c *EpochCache) Clear() { c.entries = nil }
