package query

import (
	"maps"
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// The questions in this file are about the whole run of a group, whatever the
// moment.

// turn is when a partition of a group changed hands: to a member, or to nobody.
type turn struct {
	at     journal.Time
	part   string
	member string // "" for nobody
}

// turns are the changes of owners as the members' own callbacks tell them, after
// what the group had at the start.
func (q *Q) turns(group string) (out []turn) {
	first := Q{x: q.x, j: q.j, sc: q.sc, n: 1, end: q.end}
	for _, m := range slices.Sorted(maps.Keys(first.Assignment(group))) {
		for _, p := range first.Assignment(group)[m] {
			out = append(out, turn{0, p, m})
		}
	}
	owner := map[string]string{}
	for _, x := range out {
		owner[x.part] = x.member
	}
	give := func(t journal.Time, part, member string) {
		if owner[part] != member {
			owner[part] = member
			out = append(out, turn{t, part, member})
		}
	}
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if e.Group != group {
			continue
		}
		switch e.Kind {
		case journal.ConsumerCallback:
			f, _ := e.F.(journal.Fields)
			parts, _ := f.Get("parts").([]string)
			for _, p := range parts {
				if f.Get("callback") == "onPartitionsAssigned" {
					give(e.T, p, e.Node)
				} else if owner[p] == e.Node {
					give(e.T, p, "")
				}
			}
		case journal.NodeCrash:
			for _, p := range slices.Sorted(maps.Keys(owner)) {
				if owner[p] == e.Node {
					give(e.T, p, "")
				}
			}
		}
	}
	return out
}

// Revoked are the partitions that were taken from a living member, each once.
func (q *Q) Revoked(group string) []string {
	taken := map[string]bool{}
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if f, ok := e.F.(journal.Fields); ok && e.Kind == journal.ConsumerCallback && e.Group == group && f.Get("callback") != "onPartitionsAssigned" {
			parts, _ := f.Get("parts").([]string)
			for _, p := range parts {
				taken[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(taken))
}

// Moved is how many partitions have had more than one owner.
func (q *Q) Moved(group string) (n int) {
	owner, moved := map[string]string{}, map[string]bool{}
	for _, x := range q.turns(group) {
		if x.member == "" {
			continue
		}
		if old := owner[x.part]; old != "" && old != x.member {
			moved[x.part] = true
		}
		owner[x.part] = x.member
	}
	return len(moved)
}

// Paused is how long partitions had no owner between one time and another, all
// added up: partition-seconds. Before its first owner a partition does not count.
func (q *Q) Paused(group string, from, to journal.Time) (sum journal.Time) {
	since := map[string]journal.Time{}
	add := func(a, b journal.Time) { sum += max(min(b, to)-max(a, from), 0) }
	for _, x := range q.turns(group) {
		if t, open := since[x.part]; open {
			add(t, x.at)
			delete(since, x.part)
		}
		if x.member == "" {
			since[x.part] = x.at
		}
	}
	for _, p := range slices.Sorted(maps.Keys(since)) {
		add(since[p], q.End())
	}
	return sum
}

// Gap is the longest time in which a partition had no owner that lives and polls,
// from its first owner on.
func (q *Q) Gap(group, part string) (longest journal.Time) {
	type change struct {
		at   journal.Time
		who  string // "" for a change of the owner
		busy journal.Time
	}
	var changes []change
	var owners []turn
	for _, x := range q.turns(group) {
		if x.part == part {
			owners = append(owners, x)
			changes = append(changes, change{at: x.at})
		}
	}
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if e.Kind != journal.ConsumerStall || e.Group != group {
			continue
		}
		f, _ := e.F.(journal.Fields)
		ms, _ := f.Get("forMs").(int64)
		changes = append(changes, change{e.T, e.Node, e.T + journal.Millis(ms)}, change{at: e.T + journal.Millis(ms)})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return int(a.at - b.at) })
	if len(owners) == 0 {
		return 0
	}
	busy := map[string]journal.Time{}
	since, open := journal.Time(0), false
	for _, c := range changes {
		if c.who != "" {
			busy[c.who] = max(busy[c.who], c.busy)
		}
		if c.at < owners[0].at {
			continue
		}
		owner := ""
		for _, x := range owners {
			if x.at <= c.at {
				owner = x.member
			}
		}
		reads := owner != "" && busy[owner] <= c.at
		switch {
		case reads && open:
			longest, open = max(longest, c.at-since), false
		case !reads && !open:
			since, open = c.at, true
		}
	}
	if open {
		longest = max(longest, q.End()-since)
	}
	return longest
}

// piece is a record in the hands of a member.
type piece struct {
	record, part, member string
	offset               int64
	at, done             journal.Time // done is −1 where the member died first
}

// pieces are all records that a group's members were handed, with when their work
// on them was finished.
func (q *Q) pieces(group string) (out []piece) {
	died := map[string][]journal.Time{}
	for i := range q.j.Events {
		if e := &q.j.Events[i]; e.Kind == journal.NodeCrash {
			died[e.Node] = append(died[e.Node], e.T)
		}
	}
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if e.Kind != journal.ConsumerDeliver || e.Group != group {
			continue
		}
		f, _ := e.F.(journal.Fields)
		offset, _ := f.Get("offset").(int64)
		done := e.T + q.work(e.Node)
		if done > q.End() || slices.ContainsFunc(died[e.Node], func(t journal.Time) bool { return t >= e.T && t < done }) {
			done = -1
		}
		for k, id := range recordsOf(e) {
			out = append(out, piece{id, e.Part, e.Node, offset + int64(k), e.T, done})
		}
	}
	return out
}

// work is what a member needs for a record.
func (q *Q) work(member string) journal.Time {
	for i := range q.sc.Groups {
		for _, m := range q.sc.Groups[i].Members {
			if m.ID == member {
				return m.Work
			}
		}
	}
	return 0
}

// Work is the time from the first record that a group was handed to the last one
// that it finished.
func (q *Q) Work(group string) journal.Time {
	from, to := journal.Time(-1), journal.Time(-1)
	for _, p := range q.pieces(group) {
		if from < 0 {
			from = p.at
		}
		to = max(to, p.done)
	}
	return max(to-from, 0)
}

// Twice is how many records a group finished more than once.
func (q *Q) Twice(group string) (n int) {
	times := map[string]int{}
	for _, p := range q.pieces(group) {
		if p.done >= 0 {
			if times[p.record]++; times[p.record] == 2 {
				n++
			}
		}
	}
	return n
}

// Never is how many records a group has passed and never finished: they are below
// what it has committed or, where it commits nothing, below its position. Records
// that were there before the run are not counted.
func (q *Q) Never(group string) (n int) {
	last := Q{x: q.x, j: q.j, sc: q.sc, n: len(q.j.Events), end: q.end}
	finished := map[string]bool{}
	for _, p := range q.pieces(group) {
		if p.done >= 0 {
			finished[p.record] = true
		}
	}
	for _, g := range q.sc.Groups {
		if g.ID != group {
			continue
		}
		for _, topic := range g.Topics {
			for i := range last.Partitions(topic) {
				part := topic + "-" + strconv.Itoa(i)
				log := q.x.LogAt(journal.ReplicaKey(last.Leader(part), part, "log"), last.n)
				passed := last.passed(g.ID, part)
				for k, e := range log.Entries {
					r := q.j.Record(e.ID)
					if log.Start+int64(k) < passed && r != nil && r.Producer != "" && !finished[e.ID] {
						n++
					}
				}
			}
		}
	}
	return n
}

// passed is the offset up to which a group counts the records as done.
func (q *Q) passed(group, part string) int64 {
	if c := q.Committed(group, part); c >= 0 {
		return c
	}
	most := int64(0)
	for i := range q.sc.Groups {
		for _, m := range q.sc.Groups[i].Members {
			if q.sc.Groups[i].ID == group {
				most = max(most, q.Position(m.ID, part))
			}
		}
	}
	return most
}

// Ordered says whether the records of a producer stand in a partition in the
// order in which it sent them; repeated ones count where they stand first.
func (q *Q) Ordered(producer, part string) bool {
	last := Q{x: q.x, j: q.j, sc: q.sc, n: len(q.j.Events), end: q.end}
	place := map[string]int{}
	for i := range q.j.Events {
		if e := &q.j.Events[i]; e.Kind == journal.ProducerPartition && e.Node == producer {
			for _, id := range recordsOf(e) {
				place[id] = len(place)
			}
		}
	}
	seen, at := map[string]bool{}, -1
	for _, e := range q.x.LogAt(journal.ReplicaKey(last.Leader(part), part, "log"), last.n).Entries {
		i, mine := place[e.ID]
		if !mine || seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		if i < at {
			return false
		}
		at = i
	}
	return true
}

// LogStart is the log start offset of a partition at its leader.
func (q *Q) LogStart(part string) int64 {
	return q.x.Int(journal.ReplicaKey(q.Leader(part), part, "logStart"), q.n, 0)
}
