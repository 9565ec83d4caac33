package kafka

import "sort"

// Sticky is the built-in partitioner for records without key (BuiltInPartitioner,
// KIP-480, KIP-794): it stays with a partition until batch.size bytes went there.
type Sticky struct {
	BatchSize int64
	Draw      func() int32 // a non-negative random number
	current   int32
	bytes     int64
	started   bool
}

// Partition is where the next record goes. all is the topic's partition count,
// available those with a known leader; load, if it applies, draws instead.
func (s *Sticky) Partition(all int32, available []int32, load *LoadTable) int32 {
	if !s.started {
		s.started = true
		s.current = s.pick(all, available, load)
	}
	return s.current
}

func (s *Sticky) pick(all int32, available []int32, load *LoadTable) int32 {
	r := s.Draw()
	switch {
	case load != nil:
		return load.Pick(r)
	case len(available) > 0:
		return available[int(r)%len(available)]
	}
	return r % all
}

// Appended counts what a record added. full says whether the last batch of the
// partition is full: only then is a partition left, unless twice batch.size bytes
// went there.
func (s *Sticky) Appended(bytes int64, full bool) {
	s.bytes += bytes
	if s.bytes >= s.BatchSize && full || s.bytes >= 2*s.BatchSize {
		s.bytes, s.started = 0, false
	}
}

// LoadTable draws partitions with short queues more often.
type LoadTable struct {
	Cumulative []int32
	IDs        []int32
}

// NewLoadTable weighs each partition with the longest queue + 1 − its own. Nil
// where the draw is even: fewer than two partitions, or all queues equal and
// none left out of total.
func NewLoadTable(queues, ids []int32, total int) *LoadTable {
	if total < 2 || len(queues) == 0 {
		return nil
	}
	longest, equal := queues[0], true
	for _, q := range queues[1:] {
		equal = equal && q == queues[0]
		longest = max(longest, q)
	}
	if equal && len(queues) == total {
		return nil
	}
	t := &LoadTable{IDs: ids}
	sum := int32(0)
	for _, q := range queues {
		sum += longest + 1 - q
		t.Cumulative = append(t.Cumulative, sum)
	}
	return t
}

// Pick is the first partition whose cumulative weight is above the draw.
func (t *LoadTable) Pick(random int32) int32 {
	x := random % t.Cumulative[len(t.Cumulative)-1]
	i := sort.Search(len(t.Cumulative), func(i int) bool { return t.Cumulative[i] > x })
	return t.IDs[i]
}
