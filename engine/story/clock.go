// Package story is the story clock: it slows the interesting milliseconds of a
// run and folds its idle seconds. It also derives the values that only the view
// needs. This is the only package of the engine that computes with floats.
package story

import (
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

// Part is the lead-in or a chapter as the clock plays it. Speed is 1 at the
// pace of the clock; it is above 1 where all of the part is sped up alike,
// because it would last longer than a chapter may.
type Part struct {
	N      int // its first event
	S0, S1 float64
	Speed  float64
}

// Story is a run's clock. S strictly increases; T and N never decrease.
type Story struct {
	Breaks []Break
	Folds  []Fold
	Parts  []Part
}

// The measures of the clock, in seconds of story.
const (
	flight     = 0.7  // the shortest salient flight in the air
	dwell      = 0.6  // an instant that matters
	blink      = 0.04 // the shortest gap in which nothing salient happens
	foldShort  = 0.6  // a fold lasts so long that its label can be read…
	foldLong   = 1.2  // …and never longer
	chapterMin = 5.0
	chapterMax = 40.0
)

// foldFrom is the gap that is labelled as a fold. Anything shorter is the
// handling between two messages, which needs no word.
const foldFrom = 100 * journal.Millisecond

// Clock computes the story of a run that ends at a virtual time. Chapters
// partition the run by their first events; what comes before the first is the
// lead-in, which has no focus and may be shorter than a chapter.
func Clock(j *journal.Journal, chapters []Chapter, end journal.Time) Story {
	var st Story
	if len(j.Events) == 0 {
		return st
	}
	c := clock{j: j, end: max(end, j.Events[len(j.Events)-1].T)}
	c.findFlights()
	s := 0.0
	for _, g := range c.cut(chapters) {
		s = c.play(&st, &g, s)
	}
	return st
}

type clock struct {
	j       *journal.Journal
	end     journal.Time
	flights []sent // by departure
}

// sent is a message in the air that says something.
type sent struct {
	e        *journal.Event
	from, to journal.Time
}

func (c *clock) findFlights() {
	for i := range c.j.Events {
		e := &c.j.Events[i]
		if (e.Kind == journal.RequestSend || e.Kind == journal.ResponseSend) && !e.Chatter && e.Arrive > e.T && salient(e) {
			c.flights = append(c.flights, sent{e, e.T, e.Arrive})
		}
	}
}

// salient messages carry data, an error or a change of state. An incremental
// Fetch that lists nothing repeats the last one.
func salient(e *journal.Event) bool {
	switch b := e.F.(type) {
	case *wire.FetchRequest:
		return len(b.Parts) > 0
	case *wire.FetchResponse:
		return len(b.Parts) > 0 || b.ErrorCode != 0
	}
	return true
}

// segment is the lead-in or a chapter: the events from first to before next.
type segment struct {
	first, next int
	t0, t1      journal.Time
	focus       []string
	chapter     bool
}

func (c *clock) cut(chapters []Chapter) []segment {
	last := len(c.j.Events)
	var cs []Chapter
	for _, ch := range chapters {
		if ch.N >= 1 && ch.N <= last {
			cs = append(cs, ch)
		}
	}
	slices.SortStableFunc(cs, func(a, b Chapter) int { return a.N - b.N })
	// Two chapters that begin at one event would leave the first without any.
	cs = slices.CompactFunc(cs, func(a, b Chapter) bool { return a.N == b.N })
	out := []segment{{first: 1}}
	if len(cs) > 0 && cs[0].N == 1 {
		out = nil
	}
	for _, ch := range cs {
		out = append(out, segment{first: ch.N, t0: c.j.Events[ch.N-1].T, focus: ch.Focus, chapter: true})
	}
	for i := range out {
		out[i].next, out[i].t1 = last+1, c.end
		if i+1 < len(out) {
			out[i].next, out[i].t1 = out[i+1].first, out[i+1].t0
		}
	}
	return out
}

// piece is a step of the clock to event n and time t. Pieces whose time does not
// move are dwells.
type piece struct {
	n    int
	t    journal.Time
	len  float64
	fold string
}

// play adds a segment, from story time s on, and returns where it ends.
func (c *clock) play(st *Story, g *segment, s float64) float64 {
	pieces := c.pieces(g)
	total := 0.0
	for _, p := range pieces {
		total += p.len
	}
	part := Part{N: g.first, S0: s, Speed: 1}
	if total > chapterMax {
		part.Speed = total / chapterMax
	}
	st.add(g.first, g.t0, s)
	for _, p := range pieces {
		s0 := s
		s += p.len / part.Speed
		st.add(p.n, p.t, s)
		if p.fold != "" {
			st.Folds = append(st.Folds, Fold{s0, s, p.fold})
		}
	}
	if g.chapter && total < chapterMin {
		s = part.S0 + chapterMin
	}
	st.add(g.next-1, g.t1, s)
	part.S1 = s
	st.Parts = append(st.Parts, part)
	return s
}

// add appends a break. A break at the same story time moves on to the later
// event, so that an instant shows what happened in it while it lasts.
func (st *Story) add(n int, t journal.Time, s float64) {
	if k := len(st.Breaks); k > 0 {
		last := &st.Breaks[k-1]
		n, t = max(n, last.N), max(t, last.T)
		if s <= last.S {
			last.N, last.T = n, t
			return
		}
	}
	st.Breaks = append(st.Breaks, Break{n, t, s})
}

// instant is a moment at which the clock stops: its events that dwell, with
// what each lasts, between the first and the last event of that moment.
type instant struct {
	t      journal.Time
	n      []int
	before int // the last event before it
	last   int // the last event of it
}

// pieces walks the segment from one stop to the next. Between two stops it goes
// at the pace of the shortest salient flight in the air, and where none is it
// takes the whole gap at once.
func (c *clock) pieces(g *segment) []piece {
	stops := c.stops(g)
	air := c.air(g)
	var out []piece
	t, n := g.t0, g.first
	for _, stop := range stops {
		if stop.t > t {
			out = append(out, c.glide(air, t, stop.t, n, max(stop.before, n))...)
			t = stop.t
		}
		for i, m := range stop.n {
			out = append(out, piece{n: m, t: t})
			after := stop.last
			if i+1 < len(stop.n) {
				after = stop.n[i+1]
			}
			out = append(out, piece{n: after, t: t, len: dwell})
		}
		n = max(n, stop.last)
	}
	if g.t1 > t {
		out = append(out, c.glide(air, t, g.t1, n, g.next-1)...)
	}
	return out
}

// stops finds the instants that last. Of one kind the first event of an instant
// is enough: a metadata batch may elect fifty leaders at once.
func (c *clock) stops(g *segment) []instant {
	var out []instant
	for n := g.first; n < g.next; {
		at := instant{t: c.j.Events[n-1].T, before: n - 1}
		var seen []journal.Kind
		for ; n < g.next && c.j.Events[n-1].T == at.t; n++ {
			e := &c.j.Events[n-1]
			at.last = n
			if !e.Chatter && dwells(e) && onFocus(e, g.focus) && !slices.Contains(seen, e.Kind) {
				seen = append(seen, e.Kind)
				at.n = append(at.n, n)
			}
		}
		if len(at.n) > 0 {
			out = append(out, at)
		}
	}
	return out
}

// dwells says whether an event is worth stopping for: it changes what replicas,
// the controller or an application hold for true.
func dwells(e *journal.Event) bool {
	switch e.Kind {
	case journal.HWAdvance, journal.HWLearn, journal.ISRPropose, journal.ISRCommit, journal.LeaderElect, journal.ReplicaLeader,
		journal.ReplicaAppend, journal.ReplicaTruncate, journal.BrokerFence, journal.BrokerUnfence, journal.QuorumLeader,
		journal.NodeCrash, journal.NodeVanish, journal.NodeStart, journal.ProducerPartition, journal.ProducerAcked,
		journal.ProducerRetry, journal.ProducerFailed, journal.ConsumerDeliver, journal.GroupGeneration, journal.OffsetCommit:
		return true
	}
	return false
}

// onFocus says whether an event concerns what the chapter looks at.
func onFocus(e *journal.Event, focus []string) bool {
	if len(focus) == 0 {
		return true
	}
	for _, f := range focus {
		if f == e.Part || f == e.Node || f == e.Group || f == e.From || f == e.To || names(e.F, f) {
			return true
		}
	}
	return false
}

// names says whether a message lists a partition, besides the first, which the
// event names itself.
func names(f any, part string) bool {
	switch b := f.(type) {
	case *wire.ProduceRequest:
		return slices.ContainsFunc(b.Parts, func(p wire.ProducePart) bool { return p.Part == part })
	case *wire.ProduceResponse:
		return slices.ContainsFunc(b.Parts, func(p wire.ProduceResult) bool { return p.Part == part })
	case *wire.FetchRequest:
		return slices.ContainsFunc(b.Parts, func(p wire.FetchPart) bool { return p.Part == part })
	case *wire.FetchResponse:
		return slices.ContainsFunc(b.Parts, func(p wire.FetchResult) bool { return p.Part == part })
	case *wire.AlterPartitionRequest:
		return slices.ContainsFunc(b.Parts, func(p wire.AlterPartitionPart) bool { return p.Part == part })
	case *wire.AlterPartitionResponse:
		return slices.ContainsFunc(b.Parts, func(p wire.AlterPartitionResult) bool { return p.Part == part })
	}
	return false
}

// air is the segment's salient flights, whole: one that began before the segment
// keeps the pace that it had.
func (c *clock) air(g *segment) *sky {
	out := &sky{}
	for _, f := range c.flights {
		if f.from < g.t1 && f.to > g.t0 && onFocus(f.e, g.focus) {
			out.flights = append(out.flights, f)
		}
	}
	return out
}

// glide moves from t to end without a stop, from event n to event last.
func (c *clock) glide(air *sky, t, end journal.Time, n, last int) []piece {
	var out []piece
	for t < end {
		shortest, until := air.shortest(t, end)
		p := piece{t: until, n: n}
		if until == end {
			p.n = last
		}
		if shortest > 0 {
			p.len = flight * float64(until-t) / float64(shortest)
		} else {
			p.len, p.fold = c.idle(t, until)
		}
		t = until
		out = append(out, p)
	}
	return out
}

// sky is the salient flights of a segment by departure. Those before done have
// all landed, as the clock never goes back.
type sky struct {
	flights []sent
	done    int
}

// shortest is the shortest flight in the air at t, 0 if there is none, and until
// when that is so.
func (k *sky) shortest(t, until journal.Time) (shortest, till journal.Time) {
	for k.done < len(k.flights) && k.flights[k.done].to <= t {
		k.done++
	}
	for _, f := range k.flights[k.done:] {
		if f.from > t {
			return shortest, min(until, f.from)
		}
		if f.to > t {
			until = min(until, f.to)
			if d := f.to - f.from; shortest == 0 || d < shortest {
				shortest = d
			}
		}
	}
	return shortest, until
}

// idle is how long a gap without anything salient lasts, and its label if it is
// a fold.
func (c *clock) idle(t, until journal.Time) (float64, string) {
	d := float64(until-t) / float64(journal.Second)
	if until-t < foldFrom {
		return max(d, blink), ""
	}
	return min(max(d, foldShort), foldLong), c.label(t, until)
}
