package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/sim"
)

const ms = journal.Millisecond

// echo answers every request with its body.
type echo struct{ got []any }

func (e *echo) Handle(r *sim.Request) {
	e.got = append(e.got, r.Body)
	r.Reply(r.Body, 0, false)
}

// silent never answers.
type silent struct{ held []*sim.Request }

func (s *silent) Handle(r *sim.Request) { s.held = append(s.held, r) }

type lab struct {
	*sim.World
	t            *testing.T
	client, node *sim.Process
}

// newLab is a client a and a server b, 2 ms apart.
func newLab(t *testing.T, h sim.Handler) *lab {
	t.Helper()
	w := sim.NewWorld(7, sim.Network{Broker: 2 * ms, Client: 2 * ms, Handle: 100}, 10_000)
	return &lab{w, t, w.AddProcess("a", false, nil), w.AddProcess("b", false, h)}
}

func (l *lab) run(until journal.Time) {
	l.t.Helper()
	require.NoError(l.t, l.Run(until))
}

// kinds are the kinds of all events so far.
func (l *lab) kinds() []journal.Kind {
	var ks []journal.Kind
	for _, e := range l.J.Events {
		ks = append(ks, e.Kind)
	}
	return ks
}

func (l *lab) find(k journal.Kind) *journal.Event {
	l.t.Helper()
	for i := range l.J.Events {
		if l.J.Events[i].Kind == k {
			return &l.J.Events[i]
		}
	}
	l.t.Fatalf("no %s", k)
	return nil
}

func TestARequestAndItsResponseAreFourEventsEachCausedByTheLast(t *testing.T) {
	l := newLab(t, &echo{})
	c := l.Connect(l.client, l.node, "test")
	var got sim.Result
	c.Call(&sim.Call{API: kafka.Fetch, Body: "x", Done: func(r sim.Result) { got = r }})
	l.run(20 * ms)
	assert.Equal(t, []journal.Kind{journal.RequestSend, journal.RequestReceive, journal.ResponseSend, journal.ResponseReceive}, l.kinds())
	for i := 1; i < 4; i++ {
		assert.Equal(t, i, l.J.Events[i].Cause)
	}
	assert.Equal(t, 2*ms, l.J.Events[1].T)
	assert.Equal(t, 2*ms+100, l.J.Events[2].T, "handling takes its time")
	assert.Equal(t, sim.Answered, got.Outcome)
	assert.Equal(t, "x", got.Body)
}

func TestAConnectionKeepsOrderAndServesOneRequestAtATime(t *testing.T) {
	h := &silent{}
	l := newLab(t, h)
	c := l.Connect(l.client, l.node, "test")
	for i := range 3 {
		c.Call(&sim.Call{API: kafka.Fetch, Body: i, Done: func(sim.Result) {}})
	}
	l.run(20 * ms)
	require.Len(t, h.held, 1, "Kafka mutes a channel until its request is answered")
	h.held[0].Reply(nil, 0, false)
	l.run(40 * ms)
	require.Len(t, h.held, 2)
	assert.Equal(t, 1, h.held[1].Body)
}

func TestACutHoldsAndHealingDeliversInOrder(t *testing.T) {
	h := &echo{}
	l := newLab(t, h)
	c := l.Connect(l.client, l.node, "test")
	cut := l.Emit(journal.Event{Kind: journal.NetCut})
	l.Cut("a", "b", cut)
	for i := range 2 {
		c.Call(&sim.Call{API: kafka.Fetch, Body: i, Done: func(sim.Result) {}})
	}
	l.run(journal.Second)
	assert.Empty(t, h.got)
	held := l.find(journal.MessageHeld)
	assert.Equal(t, cut, held.Missing, "the cut is named")
	l.Heal("a", "b")
	l.run(10 * journal.Second)
	assert.Equal(t, []any{0, 1}, h.got)
}

func TestATimeOutNamesWhatKeptTheAnswerAwayAndFailsAllInFlight(t *testing.T) {
	l := newLab(t, &silent{})
	c := l.Connect(l.client, l.node, "test")
	cut := l.Emit(journal.Event{Kind: journal.NetCut})
	l.Cut("a", "b", cut)
	var outcomes []sim.Outcome
	done := func(r sim.Result) { outcomes = append(outcomes, r.Outcome) }
	c.Call(&sim.Call{API: kafka.Produce, Timeout: journal.Second, Timer: "request.timeout.ms", Done: done})
	c.Call(&sim.Call{API: kafka.Produce, Done: done})
	l.run(5 * journal.Second)
	assert.Equal(t, []sim.Outcome{sim.TimedOut, sim.TimedOut}, outcomes, "all in flight count as timed out, the oldest first")
	fired := l.find(journal.TimerFire)
	held := l.J.At(fired.Missing)
	require.NotNil(t, held)
	assert.Equal(t, journal.MessageHeld, held.Kind)
	assert.Equal(t, cut, held.Missing, "Why? goes from the time-out over the held message to the cut")
	assert.False(t, c.Open())
}

func TestADeadProcessResetsAVanishedHostSaysNothing(t *testing.T) {
	for state, want := range map[sim.State]bool{sim.Crashed: true, sim.Stopped: true, sim.Vanished: false} {
		t.Run(string(state), func(t *testing.T) {
			l := newLab(t, &silent{})
			c := l.Connect(l.client, l.node, "test")
			told := false
			c.Call(&sim.Call{API: kafka.Fetch, Done: func(r sim.Result) { told = r.Outcome == sim.Disconnected }})
			l.run(10 * ms)
			l.node.Kill(state)
			l.run(20 * ms)
			assert.Equal(t, want, told)
			assert.Equal(t, !want, c.Open())
		})
	}
}

func TestWhatWasSentBeforeACrashStillArrives(t *testing.T) {
	l := newLab(t, &echo{})
	c := l.Connect(l.client, l.node, "test")
	var got sim.Result
	c.Call(&sim.Call{API: kafka.Fetch, Body: "x", Done: func(r sim.Result) { got = r }})
	l.run(2*ms + 200)
	l.node.Kill(sim.Crashed)
	l.run(20 * ms)
	assert.Equal(t, sim.Answered, got.Outcome)
}

func TestAPausedProcessHandlesWhatWaitedWhenItGoesOn(t *testing.T) {
	h := &echo{}
	l := newLab(t, h)
	c := l.Connect(l.client, l.node, "test")
	fired := journal.Time(0)
	l.node.After(5*ms, func() { fired = l.Now() })
	l.node.Pause()
	c.Call(&sim.Call{API: kafka.Fetch, Body: "x", Done: func(sim.Result) {}})
	l.run(100 * ms)
	assert.Empty(t, h.got)
	l.node.Resume()
	l.run(200 * ms)
	assert.Equal(t, []any{"x"}, h.got)
	assert.Equal(t, 100*ms, fired, "its timers waited too")
}

func TestTimersDieWithTheirProcess(t *testing.T) {
	l := newLab(t, &echo{})
	l.node.After(5*ms, func() { t.Error("a timer of a dead process fired") })
	l.node.Kill(sim.Crashed)
	l.node.Start(&echo{})
	l.run(20 * ms)
}

func TestDialIsRefusedWhereNobodyListensAndHangsWhereNobodyAnswers(t *testing.T) {
	for state, want := range map[sim.State]journal.Time{sim.Crashed: 4 * ms, sim.Vanished: 10 * journal.Second} {
		t.Run(string(state), func(t *testing.T) {
			l := newLab(t, &echo{})
			l.node.Kill(state)
			at := journal.Time(-1)
			l.Dial(l.client, l.node, "test", 10*journal.Second, func(c *sim.Conn) {
				assert.Nil(t, c)
				at = l.Now()
			})
			l.run(20 * journal.Second)
			assert.Equal(t, want, at)
		})
	}
}

func TestStreamsDoNotDisturbOneAnother(t *testing.T) {
	draw := func(others ...string) (out []uint64) {
		w := sim.NewWorld(7, sim.Network{}, 10)
		for range 5 {
			for _, o := range others {
				w.Stream(o, "net").Uint64()
			}
			out = append(out, w.Stream("b1", "net").Uint64())
		}
		return out
	}
	assert.Equal(t, draw(), draw("b2", "b3"), "adding a node leaves the draws of others alone")
	assert.NotEqual(t, sim.NewRand(7, "b1/net").Uint64(), sim.NewRand(8, "b1/net").Uint64(), "the seed counts")
	assert.NotEqual(t, sim.NewRand(7, "b1/net").Uint64(), sim.NewRand(7, "b1/backoff").Uint64(), "the purpose counts")
}

func TestARunThatWritesTooMuchEndsWithAnError(t *testing.T) {
	w := sim.NewWorld(1, sim.Network{}, 10)
	var again func()
	again = func() {
		w.Emit(journal.Event{Kind: journal.Action})
		w.After(1, again)
	}
	again()
	var long sim.ErrTooLong
	require.ErrorAs(t, w.Run(journal.Second), &long)
	assert.Equal(t, 10, long.Events)
}

func TestTimersAtOneInstantFireInTheOrderInWhichTheyWereSet(t *testing.T) {
	w := sim.NewWorld(1, sim.Network{}, 10)
	var order []int
	for i := range 20 {
		w.At(5, func() { order = append(order, i) })
	}
	require.NoError(t, w.Run(10))
	for i, got := range order {
		assert.Equal(t, i, got)
	}
}
