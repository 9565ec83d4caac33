package query

import (
	"strings"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// Match says whether an anchor names an event; Nth is not looked at. It is the
// same test that actions wait with, so that an anchor means one thing everywhere.
func Match(a *cluster.Anchor, e *journal.Event) bool { return a.Matches(e) }

// FindAfter is the number of the Nth event after event n that an anchor names, or
// 0. Background events are passed over: they say nothing new.
func FindAfter(j *journal.Journal, a *cluster.Anchor, n int) int {
	left := max(a.Nth, 1)
	for i := max(n, 0); i < len(j.Events); i++ {
		e := &j.Events[i]
		if e.Chatter || !Match(a, e) {
			continue
		}
		if left--; left == 0 {
			return e.N
		}
	}
	return 0
}

// Filter narrows the events that Count, First and Last look at.
type Filter struct {
	cluster.Anchor
	After  *journal.Time   // strictly later
	Before *journal.Time   // strictly earlier
	Record string          // a record's value: f.record or f.records has its id
	ids    map[string]bool // of Record
}

func (q *Q) prepare(f *Filter) {
	if f.Record == "" {
		return
	}
	f.ids = map[string]bool{f.Record: true}
	for i := range q.j.Records {
		if q.j.Records[i].Value == f.Record {
			f.ids[q.j.Records[i].ID] = true
		}
	}
}

func (f *Filter) match(e *journal.Event) bool {
	if f.After != nil && e.T <= *f.After || f.Before != nil && e.T >= *f.Before || !f.Matches(e) {
		return false
	}
	if f.ids == nil {
		return true
	}
	for _, id := range recordsOf(e) {
		if f.ids[id] {
			return true
		}
	}
	return false
}

// recordsOf are the ids in f.record and f.records.
func recordsOf(e *journal.Event) []string {
	if v, ok := Field(e.F, "record"); ok {
		if s, ok := v.(string); ok {
			return []string{s}
		}
	}
	v, ok := Field(e.F, "records")
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case []string:
		return v
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' })
	}
	return nil
}
