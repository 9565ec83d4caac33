// Package story is the story clock: it slows the interesting milliseconds of a
// run and folds its idle seconds. It also derives the values that only the view
// needs. This is the only package of the engine that computes with floats.
package story

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// Break is a point of the clock: at story time S (seconds) the playhead is at
// event N and virtual time T. Between two breaks all is linear.
type Break struct {
	N int
	T journal.Time
	S float64
}

// Fold is a stretch of story in which long idle time passes.
type Fold struct {
	S0, S1 float64
	Label  string
}

// Chapter is where a chapter begins, and what it looks at.
type Chapter struct {
	N     int
	Focus []string
}

// Story is a run's clock. S strictly increases, T never decreases.
type Story struct {
	Breaks []Break
	Folds  []Fold
}

// The measures of the clock, in seconds of story.
const (
	flight     = 0.7 // the shortest salient flight in the air
	dwell      = 0.6 // an instant that matters
	tick       = 0.04
	foldLength = 1.2
	chapterMin = 5
	chapterMax = 40
)

// Clock computes the story of a run that ends at a virtual time.
func Clock(j *journal.Journal, chapters []Chapter, end journal.Time) Story {
	c := clock{j: j, end: end}
	c.cut(chapters)
	var st Story
	s := 0.0
	for i := range c.segments {
		s = c.play(&st, &c.segments[i], s)
	}
	return st
}

type clock struct {
	j        *journal.Journal
	end      journal.Time
	segments []segment
}

// segment is the lead-in or a chapter: the events from first to before next.
type segment struct {
	first, next int
	t0, t1      journal.Time
	focus       []string
	chapter     bool
}

func (c *clock) cut(chapters []Chapter) {
	events := c.j.Events
	ns := slices.Clone(chapters)
	slices.SortFunc(ns, func(a, b Chapter) int { return a.N - b.N })
	at := func(n int) journal.Time { return events[n-1].T }
	if len(ns) == 0 || ns[0].N > 1 {
		s := segment{first: 1, next: len(events) + 1, t1: c.end}
		if len(ns) > 0 {
			s.next, s.t1 = ns[0].N, at(ns[0].N)
		}
		c.segments = append(c.segments, s)
	}
	for i, ch := range ns {
		s := segment{first: ch.N, next: len(events) + 1, t0: at(ch.N), t1: max(c.end, at(ch.N)), focus: ch.Focus, chapter: true}
		if i+1 < len(ns) {
			s.next, s.t1 = ns[i+1].N, at(ns[i+1].N)
		}
		c.segments = append(c.segments, s)
	}
}

// piece is a stretch between two events with its length in story time.
type piece struct {
	n    int
	t    journal.Time
	len  float64
	fold string
}

func (c *clock) play(st *Story, g *segment, s float64) float64 {
	pieces := c.pieces(g)
	total := 0.0
	for _, p := range pieces {
		total += p.len
	}
	scale := 1.0
	if total > chapterMax {
		scale = chapterMax / total
	}
	st.add(g.first, g.t0, s)
	length := 0.0
	for _, p := range pieces {
		s0 := s
		s += p.len * scale
		length += p.len * scale
		st.add(p.n, p.t, s)
		if p.fold != "" {
			st.Folds = append(st.Folds, Fold{s0, s, p.fold})
		}
	}
	if g.chapter && length < chapterMin {
		s += chapterMin - length
		st.add(g.next-1, g.t1, s)
	}
	return s
}

func (st *Story) add(n int, t journal.Time, s float64) {
	if k := len(st.Breaks); k > 0 {
		last := st.Breaks[k-1]
		if s <= last.S {
			if n > last.N {
				st.Breaks[k-1].N, st.Breaks[k-1].T = n, max(t, last.T)
			}
			return
		}
		n, t = max(n, last.N), max(t, last.T)
	}
	st.Breaks = append(st.Breaks, Break{n, t, s})
}

// pieces walks the segment from one main event to the next.
func (c *clock) pieces(g *segment) []piece {
	air := c.flights(g)
	var out []piece
	t := g.t0
	last := g.first
	advance := func(to journal.Time, n int) {
		for t < to {
			rate, until := air.rate(t, to)
			length, fold := 0.0, ""
			dt := float64(until-t) / float64(journal.Second)
			if rate > 0 {
				length = dt * rate
			} else {
				length = min(foldLength, max(dt, tick))
				if dt > foldLength {
					fold = label(c.j, n, until-t)
				}
			}
			t = until
			at := last
			if until == to {
				at = max(n-1, last)
			}
			out = append(out, piece{at, t, length, fold})
		}
	}
	for n := g.first; n < g.next; n++ {
		e := &c.j.Events[n-1]
		if e.Chatter {
			continue
		}
		advance(e.T, n)
		last = n
		out = append(out, piece{n, t, dwellOf(e, g.focus), ""})
	}
	advance(g.t1, g.next)
	return out
}

// dwellOf is how long an instant lasts on the screen.
func dwellOf(e *journal.Event, focus []string) float64 {
	switch e.Kind {
	case journal.HWAdvance, journal.ISRCommit, journal.ISRPropose, journal.LeaderElect, journal.BrokerFence, journal.NodeCrash, journal.ReplicaTruncate,
		journal.ReplicaAppend, journal.ProducerPartition, journal.ProducerAcked, journal.ProducerRetry, journal.ConsumerDeliver, journal.HWLearn, journal.ReplicaLeader:
		if onFocus(e, focus) {
			return dwell
		}
	}
	return tick
}

func onFocus(e *journal.Event, focus []string) bool {
	if len(focus) == 0 {
		return true
	}
	for _, f := range focus {
		if f == e.Part || f == e.Node || f == e.Group || f == e.From || f == e.To {
			return true
		}
	}
	return false
}

// air holds the salient flights of a segment by departure.
type air []struct{ from, to journal.Time }

func (c *clock) flights(g *segment) air {
	var out air
	for n := max(g.first-200, 1); n < g.next; n++ {
		e := &c.j.Events[n-1]
		if (e.Kind == journal.RequestSend || e.Kind == journal.ResponseSend) && !e.Chatter && e.Arrive > g.t0 && salient(e) && onFocus(e, g.focus) {
			out = append(out, struct{ from, to journal.Time }{max(e.T, g.t0), min(e.Arrive, g.t1)})
		}
	}
	return out
}

// salient messages carry data, an error or a change of state.
func salient(e *journal.Event) bool {
	switch b := e.F.(type) {
	case *wire.FetchRequest:
		return len(b.Parts) > 0
	case *wire.FetchResponse:
		return len(b.Parts) > 0
	}
	return true
}

// rate is the story seconds per virtual second at t, 0 where nothing salient
// flies, and the moment until which that holds.
func (a air) rate(t, to journal.Time) (float64, journal.Time) {
	rate := 0.0
	until := to
	for _, f := range a {
		switch {
		case f.from > t:
			until = min(until, f.from)
		case f.to > t:
			until = min(until, f.to)
			rate = max(rate, flight/(float64(f.to-f.from)/float64(journal.Second)))
		}
	}
	return rate, until
}

// label says what a fold skips: the time-out that ends it, else its length.
func label(j *journal.Journal, n int, d journal.Time) string {
	for k := n; k < min(n+12, len(j.Events)+1); k++ {
		e := &j.Events[k-1]
		switch e.Kind {
		case journal.TimerFire:
			if fs, ok := e.F.(journal.Fields); ok {
				return fmt.Sprintf("%v, %s", fs.Get("timer"), seconds(d))
			}
		case journal.ISRPropose:
			return "replica.lag.time.max.ms, " + seconds(d)
		case journal.BrokerFence:
			return "broker session timeout, " + seconds(d)
		case journal.HWLearn:
			return "Fetch wait, " + seconds(d)
		case journal.PurgatoryExpire:
			return "Produce time-out, " + seconds(d)
		}
	}
	return seconds(d) + " idle"
}

func seconds(t journal.Time) string {
	if t < journal.Second {
		return fmt.Sprintf("%d ms", t/journal.Millisecond)
	}
	if t%journal.Second < 50*journal.Millisecond || t >= 20*journal.Second {
		return fmt.Sprintf("%d s", (t+journal.Second/2)/journal.Second)
	}
	return fmt.Sprintf("%.1f s", float64(t)/float64(journal.Second))
}
