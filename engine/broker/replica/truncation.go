package replica

// Diverging is the leader's answer to a follower whose log has parted from its
// own, nil where it has not (Partition.readRecords, KIP-595). ok is false where
// the leader cannot know: OFFSET_OUT_OF_RANGE.
func Diverging(epochs *EpochCache, leo int64, lastFetchedEpoch int32, fetchOffset int64) (div *EpochEnd, ok bool) {
	end := epochs.EndOffsetFor(lastFetchedEpoch, leo)
	if end == undefined {
		return nil, false
	}
	if end.Epoch < lastFetchedEpoch || end.EndOffset < fetchOffset {
		return &end, true
	}
	return nil, true
}

// TruncateTo is where a follower cuts its log on a DivergingEpoch
// (AbstractFetcherThread.getOffsetTruncationState). complete is false where the
// next Fetch will diverge again.
func TruncateTo(epochs *EpochCache, leo int64, div EpochEnd) (to int64, complete bool) {
	own := epochs.EndOffsetFor(div.Epoch, leo)
	switch {
	case own == undefined:
		return min(div.EndOffset, leo), true
	case own.Epoch != div.Epoch:
		return min(own.EndOffset, leo), false
	}
	return min(own.EndOffset, div.EndOffset, leo), true
}
