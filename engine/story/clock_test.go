package story_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/story"
)

const ms = journal.Millisecond

// random makes a journal as rough as a real one: messages that overlap, idle
// seconds, several events at one time, chatter, and two or three chapters.
func random(r *rand.Rand) (*journal.Journal, []story.Chapter, journal.Time) {
	j := &journal.Journal{}
	t := journal.Time(0)
	kinds := []journal.Kind{journal.HWAdvance, journal.ISRCommit, journal.LeaderElect, journal.PurgatoryWait, journal.TimerFire, journal.MetadataApply}
	add := func(e journal.Event) {
		e.N, e.T = len(j.Events)+1, t
		if r.IntN(2) == 0 {
			e.Cause = r.IntN(e.N)
		}
		j.Events = append(j.Events, e)
	}
	add(journal.Event{Kind: journal.Boot})
	for range 1 + r.IntN(120) {
		switch r.IntN(6) {
		case 0:
			t += journal.Time(r.IntN(40_000)) * ms
		case 1, 2:
			t += journal.Time(r.IntN(5000))
		}
		part := fmt.Sprintf("orders-%d", r.IntN(3))
		if r.IntN(3) == 0 {
			add(journal.Event{Kind: kinds[r.IntN(len(kinds))], Node: "b1", Part: part, F: journal.F("timer", "request.timeout.ms", "afterMs", int64(30_000))})
			continue
		}
		q := &wire.FetchRequest{}
		if r.IntN(2) == 0 {
			q.Parts = []wire.FetchPart{{Part: part}}
		}
		add(journal.Event{Kind: journal.RequestSend, API: "Fetch", Node: "b2", From: "b2", To: "b1", Part: part, F: q, Chatter: r.IntN(3) == 0, Msg: len(j.Events),
			Arrive: t + journal.Time(r.IntN(4000))})
	}
	var chapters []story.Chapter
	n := 1 + r.IntN(min(3, len(j.Events)))
	for range 1 + r.IntN(3) {
		if n > len(j.Events) {
			break
		}
		c := story.Chapter{N: n}
		if r.IntN(2) == 0 {
			c.Focus = []string{fmt.Sprintf("orders-%d", r.IntN(3))}
		}
		chapters = append(chapters, c)
		n += 1 + r.IntN(60)
	}
	return j, chapters, t + journal.Time(r.IntN(10_000))*ms
}

func TestTheClockKeepsItsPromises(t *testing.T) {
	for seed := range uint64(2000) {
		j, chapters, end := random(rand.New(rand.NewPCG(seed, 1)))
		st := story.Clock(j, chapters, end)
		require.Equal(t, st, story.Clock(j, chapters, end), "seed %d: the same journal gives the same clock", seed)
		checkOrder(t, seed, j, st, end)
		checkParts(t, seed, st, chapters)
		checkFolds(t, seed, st)
		checkFlights(t, seed, j, st, chapters)
	}
}

func checkOrder(t *testing.T, seed uint64, j *journal.Journal, st story.Story, end journal.Time) {
	b := st.Breaks
	require.Equal(t, story.Break{N: b[0].N}, b[0], "seed %d: the clock starts at 0", seed)
	for i := 1; i < len(b); i++ {
		require.Greater(t, b[i].S, b[i-1].S, "seed %d, break %d", seed, i)
		require.GreaterOrEqual(t, b[i].T, b[i-1].T, "seed %d, break %d", seed, i)
		require.GreaterOrEqual(t, b[i].N, b[i-1].N, "seed %d, break %d", seed, i)
	}
	for i := range b {
		require.LessOrEqual(t, j.At(b[i].N).T, b[i].T, "seed %d, break %d shows nothing before its time", seed, i)
	}
	last := b[len(b)-1]
	require.Equal(t, len(j.Events), last.N, "seed %d: the clock shows all events", seed)
	require.Equal(t, end, last.T, "seed %d: the clock ends with the run", seed)
}

func checkParts(t *testing.T, seed uint64, st story.Story, chapters []story.Chapter) {
	parts := st.Parts
	if chapters[0].N > 1 {
		require.Equal(t, 1, parts[0].N, "seed %d: a lead-in", seed)
		require.LessOrEqual(t, parts[0].S1-parts[0].S0, 40.001)
		parts = parts[1:]
	}
	require.Len(t, parts, len(chapters), "seed %d", seed)
	for i, p := range parts {
		require.Equal(t, chapters[i].N, p.N)
		require.GreaterOrEqual(t, p.S1-p.S0, 4.999, "seed %d, chapter %d", seed, i)
		require.LessOrEqual(t, p.S1-p.S0, 40.001, "seed %d, chapter %d", seed, i)
		require.GreaterOrEqual(t, p.Speed, 1.0)
		if p.Speed > 1 {
			require.InDelta(t, 40, p.S1-p.S0, 0.001, "seed %d: sped up only as much as needed", seed)
		}
	}
	for i := 1; i < len(st.Parts); i++ {
		require.Equal(t, st.Parts[i-1].S1, st.Parts[i].S0, "seed %d: chapters follow each other", seed)
	}
}

func checkFolds(t *testing.T, seed uint64, st story.Story) {
	for i, f := range st.Folds {
		require.NotEmpty(t, f.Label, "seed %d", seed)
		require.Greater(t, f.S1, f.S0, "seed %d", seed)
		require.LessOrEqual(t, f.S1-f.S0, 1.2001, "seed %d", seed)
		if i > 0 {
			require.GreaterOrEqual(t, f.S0, st.Folds[i-1].S1-1e-9, "seed %d: folds do not overlap", seed)
		}
	}
}

// checkFlights: what says something and lies within one chapter lasts 0.7 s in
// the air, less only by the speed of that chapter.
func checkFlights(t *testing.T, seed uint64, j *journal.Journal, st story.Story, chapters []story.Chapter) {
	for i := range j.Events {
		e := &j.Events[i]
		q, ok := e.F.(*wire.FetchRequest)
		if !ok || e.Chatter || len(q.Parts) == 0 || e.Arrive <= e.T {
			continue
		}
		var focus []string
		k := -1
		for c := range chapters {
			if chapters[c].N <= e.N {
				k, focus = c, chapters[c].Focus
			}
		}
		if len(focus) > 0 && focus[0] != e.Part || k+1 < len(chapters) && e.Arrive > j.At(chapters[k+1].N).T || e.Arrive > st.Breaks[len(st.Breaks)-1].T {
			continue
		}
		speed := 1.0
		for _, p := range st.Parts {
			if p.N <= e.N {
				speed = p.Speed
			}
		}
		require.GreaterOrEqual(t, (arrives(st, e.Arrive)-leaves(st, e.T))*speed, 0.7-1e-6, "seed %d, event %d", seed, e.N)
	}
}

// leaves is the last story time that shows t, arrives the first.
func leaves(st story.Story, t journal.Time) float64 {
	b := st.Breaks
	for i := len(b) - 1; i > 0; i-- {
		if b[i-1].T <= t {
			return between(b[i-1], b[i], t)
		}
	}
	return b[0].S
}

func arrives(st story.Story, t journal.Time) float64 {
	b := st.Breaks
	for i := 1; i < len(b); i++ {
		if b[i].T >= t {
			return between(b[i-1], b[i], t)
		}
	}
	return b[len(b)-1].S
}

func between(a, b story.Break, t journal.Time) float64 {
	if b.T == a.T {
		return a.S
	}
	return min(a.S+(b.S-a.S)*float64(t-a.T)/float64(b.T-a.T), b.S)
}

func TestAnEmptyJournalHasNoStory(t *testing.T) {
	assert.Empty(t, story.Clock(&journal.Journal{}, nil, 0).Breaks)
}

func TestChaptersOutsideTheRunAreLeftOut(t *testing.T) {
	j := &journal.Journal{Events: []journal.Event{{N: 1, Kind: journal.Boot}}}
	st := story.Clock(j, []story.Chapter{{N: 0}, {N: 1}, {N: 1}, {N: 9}}, journal.Second)
	assert.Len(t, st.Parts, 1)
}

func TestAnInstantShowsItsEventWhileItLasts(t *testing.T) {
	j := &journal.Journal{Events: []journal.Event{
		{N: 1, Kind: journal.Boot},
		{N: 2, T: 50 * ms, Kind: journal.HWAdvance, Node: "b1", Part: "orders-0"},
		{N: 3, T: 80 * ms, Kind: journal.MetadataApply},
	}}
	st := story.Clock(j, nil, 90*ms)
	at := -1
	for i, b := range st.Breaks {
		if b.T == 50*ms && at < 0 {
			at = i
		}
	}
	require.Positive(t, at)
	assert.Equal(t, 2, st.Breaks[at].N)
	assert.Equal(t, 50*ms, st.Breaks[at+1].T)
	assert.InDelta(t, 0.6, st.Breaks[at+1].S-st.Breaks[at].S, 1e-9)
}

// fold runs a journal in which one thing happens after a long silence.
func fold(silence journal.Time, events ...journal.Event) string {
	j := &journal.Journal{Events: []journal.Event{{N: 1, Kind: journal.Boot}}}
	for _, e := range events {
		e.N = len(j.Events) + 1
		j.Events = append(j.Events, e)
	}
	j.Events = append(j.Events, journal.Event{N: len(j.Events) + 1, T: silence, Kind: journal.RequestSend, API: "Metadata", Cause: len(j.Events), From: "a", To: "b1", Arrive: silence + 3*ms})
	st := story.Clock(j, nil, silence+3*ms)
	if len(st.Folds) == 0 {
		return ""
	}
	return st.Folds[0].Label
}

func TestFoldsAreNamedAfterWhatEndsThem(t *testing.T) {
	s := journal.Second
	for _, c := range []struct {
		want    string
		silence journal.Time
		events  []journal.Event
	}{
		{"", 50 * ms, nil},
		{"400 ms idle", 400 * ms, nil},
		{"3.2 s idle", 3200 * ms, nil},
		{"request timeout, 30 s", 29 * s, []journal.Event{{T: 29 * s, Kind: journal.TimerFire, F: journal.F("timer", "request.timeout.ms", "afterMs", int64(30_000))}}},
		{"last 2 s of request timeout", 2 * s, []journal.Event{{T: 2 * s, Kind: journal.TimerFire, F: journal.F("timer", "request.timeout.ms", "afterMs", int64(30_000))}}},
		{"60 s until request timeout", 60 * s, []journal.Event{{T: 60 * s, Kind: journal.TimerFire, F: journal.F("timer", "request.timeout.ms", "afterMs", int64(30_000))}}},
		{"replica.socket.timeout.ms, 30 s", 30 * s, []journal.Event{{T: 30 * s, Kind: journal.TimerFire, F: journal.F("timer", "replica.socket.timeout.ms", "afterMs", int64(30_000))}}},
		{"Produce wait, 30 s", 30 * s, []journal.Event{{T: 30 * s, Kind: journal.PurgatoryExpire, Cause: 1, F: journal.F("operation", "DelayedProduce")}}},
		{"Fetch wait, 500 ms", 500 * ms, []journal.Event{{T: 500 * ms, Kind: journal.PurgatoryExpire, Cause: 1, F: journal.F("operation", "DelayedFetch")}}},
		{"retry backoff, 2 s", 2 * s, []journal.Event{{T: 0, Kind: journal.ProducerRetry, F: journal.F("backoffMs", int64(2000))}}},
	} {
		assert.Equal(t, c.want, fold(c.silence, c.events...))
	}
}

func TestFoldsEndedByTheClusterAreNamedToo(t *testing.T) {
	s := journal.Second
	run := func(e ...journal.Event) []story.Fold {
		j := &journal.Journal{Events: append([]journal.Event{{N: 1, Kind: journal.Boot}}, e...)}
		for i := range j.Events {
			j.Events[i].N = i + 1
		}
		return story.Clock(j, nil, j.Events[len(j.Events)-1].T).Folds
	}
	assert.Equal(t, "broker session timeout, 9 s", run(
		journal.Event{Kind: journal.NodeCrash, Node: "b1"}, journal.Event{T: 9 * s, Kind: journal.BrokerFence, Node: "b1", Missing: 2})[0].Label)
	assert.Equal(t, "replica.lag.time.max.ms, 30 s", run(
		journal.Event{Kind: journal.NetCut}, journal.Event{T: 30 * s, Kind: journal.ISRPropose, Part: "orders-0", Missing: 2, F: journal.F("change", "shrink")})[0].Label)
	q := &wire.FetchRequest{MaxWaitMs: 500}
	assert.Equal(t, "Fetch wait, 500 ms", run(
		journal.Event{Kind: journal.RequestSend, API: "Fetch", Msg: 7, Arrive: 2 * ms, F: q},
		journal.Event{T: 502 * ms, Kind: journal.ResponseSend, API: "Fetch", Msg: 7, Arrive: 504 * ms, F: &wire.FetchResponse{Parts: []wire.FetchResult{{Part: "orders-0", HighWatermark: 6}}}},
		journal.Event{T: 504 * ms, Kind: journal.HWLearn, Part: "orders-0"})[0].Label)
}

func TestFiftyElectionsAtOnceAreOneInstant(t *testing.T) {
	j := &journal.Journal{}
	for n := 1; n <= 50; n++ {
		j.Events = append(j.Events, journal.Event{N: n, T: 10 * ms, Kind: journal.LeaderElect, Part: fmt.Sprintf("orders-%d", n)})
	}
	st := story.Clock(j, nil, 10*ms)
	assert.Less(t, st.Breaks[len(st.Breaks)-1].S, 1.0)
}
