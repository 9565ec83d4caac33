package web

import "github.com/highwater-kafka/highwater/engine/journal"

// roots shortens chains of causes: a page has the main track only, and one idle
// fetch leads to the next for minutes.
type roots struct {
	main []int // by event number: itself on the main track, else the nearest main event up its chain, 0 where none is
	hops []int // by event number: background events from it to that one, itself included
}

func rootsOf(j *journal.Journal) roots {
	size := 1
	if n := len(j.Events); n > 0 {
		size = j.Events[n-1].N + 1
	}
	r := roots{make([]int, size), make([]int, size)}
	for i := range j.Events {
		e := &j.Events[i]
		if !e.Chatter {
			r.main[e.N] = e.N
			continue
		}
		r.hops[e.N] = 1
		if up := why(e); up > 0 {
			r.main[e.N], r.hops[e.N] = r.main[up], r.hops[up]+1
		}
	}
	return r
}

// why is the event that a chain of causes goes on with: what kept something
// away, before what came.
func why(e *journal.Event) int {
	if e.Missing > 0 {
		return e.Missing
	}
	return e.Cause
}

// via is where the chain of an event comes back to the main track, and after how
// many background events; nil where it does not leave it. The number is 0 where a
// background event is the first of the chain.
func (r roots) via(e *journal.Event) *[2]int {
	up := why(e)
	if up <= 0 || up >= len(r.hops) || r.hops[up] == 0 {
		return nil
	}
	return &[2]int{r.main[up], r.hops[up]}
}
