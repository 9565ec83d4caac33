package journal

import "sort"

// Entry is one offset of a replica's log.
type Entry struct {
	ID    string
	Epoch int32
	Flags string
}

// Log is the content of a replica's log at one event.
type Log struct {
	Start   int64
	Entries []Entry // Entries[i] is at offset Start+i
}

// End is the log end offset: the offset that the next record gets.
func (l Log) End() int64 { return l.Start + int64(len(l.Entries)) }

type point struct {
	n   int
	val any
}

// Index answers what every key's value was at any event: for each key its
// changes sorted by number, so that a look-up is a binary search.
type Index struct {
	j    *Journal
	keys []string // sorted
	hist map[string][]point
}

// NewIndex reads a journal once.
func NewIndex(j *Journal) *Index {
	x := &Index{j: j, hist: map[string][]point{}}
	for i := range j.Events {
		e := &j.Events[i]
		for _, c := range e.Ch {
			x.hist[c.Key] = append(x.hist[c.Key], point{e.N, c.Val})
		}
	}
	for k := range x.hist {
		x.keys = append(x.keys, k)
	}
	sort.Strings(x.keys)
	return x
}

// Journal returns what the index was made of.
func (x *Index) Journal() *Journal { return x.j }

// Keys returns all keys that ever had a value, sorted. Do not change it.
func (x *Index) Keys() []string { return x.keys }

// Get returns the value of a key just after event n, or nil. For a log it is
// the last change; use LogAt.
func (x *Index) Get(key string, n int) any {
	h := x.hist[key]
	i := sort.Search(len(h), func(i int) bool { return h[i].n > n })
	if i == 0 {
		return nil
	}
	return h[i-1].val
}

// Int is Get for a number; def where the key has no value.
func (x *Index) Int(key string, n int, def int64) int64 {
	switch v := x.Get(key, n).(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	case Time:
		return int64(v)
	}
	return def
}

// Str is Get for a text; "" where the key has no value.
func (x *Index) Str(key string, n int) string {
	s, _ := x.Get(key, n).(string)
	return s
}

// Changes returns the numbers of the events that changed a key, ascending.
func (x *Index) Changes(key string) []int {
	h := x.hist[key]
	ns := make([]int, len(h))
	for i, p := range h {
		ns[i] = p.n
	}
	return ns
}

// LogAt folds the changes of a log key up to event n.
func (x *Index) LogAt(key string, n int) Log {
	var l Log
	for _, p := range x.hist[key] {
		if p.n > n {
			break
		}
		op, ok := p.val.(LogOp)
		if !ok {
			l = Log{}
			continue
		}
		l.apply(op)
	}
	return l
}

func (l *Log) apply(op LogOp) {
	switch op.Op {
	case LogAppend:
		if len(l.Entries) == 0 {
			l.Start = op.Base
		}
		l.Entries = l.Entries[:op.Base-l.Start]
		for _, id := range op.IDs {
			l.Entries = append(l.Entries, Entry{id, op.Epoch, op.Flags})
		}
	case LogTruncate:
		keep := max(op.Base-l.Start, 0)
		if keep < int64(len(l.Entries)) {
			l.Entries = l.Entries[:keep]
		}
		if len(l.Entries) == 0 {
			l.Start = op.Base
		}
	case LogStart:
		cut := min(op.Base-l.Start, int64(len(l.Entries)))
		if cut > 0 {
			l.Entries = append([]Entry(nil), l.Entries[cut:]...)
		}
		l.Start = op.Base
	}
}
