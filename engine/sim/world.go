// Package sim is the simulated physics: virtual time, one event queue, seeded
// random streams, processes that crash and pause, and a network whose
// connections keep order, hold under a cut and break with their process.
//
// Simplified: the network has one latency for broker links and one for client
// links; a process has one thread for requests; disks have no queue.
package sim

import (
	"container/heap"
	"fmt"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// World owns virtual time and the journal that the run writes.
type World struct {
	J         *journal.Journal
	MaxEvents int // the run stops with ErrTooLong when it has written so many

	seed    uint64
	now     journal.Time
	seq     uint64
	queue   timerQueue
	streams map[string]*Rand
	cause   int
	msg     int
	net     Network
	procs   map[string]*Process
	order   []*Process
	watch   []func(*journal.Event)
	err     error
}

// ErrTooLong says that a run would write more events than allowed.
type ErrTooLong struct{ Events int }

func (e ErrTooLong) Error() string {
	return fmt.Sprintf("the run writes more than %d events; end it earlier or produce less", e.Events)
}

// NewWorld makes an empty world.
func NewWorld(seed uint64, n Network, maxEvents int) *World {
	return &World{
		J: &journal.Journal{}, MaxEvents: maxEvents, seed: seed, net: n,
		streams: map[string]*Rand{}, procs: map[string]*Process{},
	}
}

// Now is the virtual time.
func (w *World) Now() journal.Time { return w.now }

// NowMs is the virtual time in milliseconds, as Kafka's clocks read it.
func (w *World) NowMs() int64 { return int64(w.now / journal.Millisecond) }

// Cause is the event in whose handling the code runs.
func (w *World) Cause() int { return w.cause }

// Because runs fn as the consequence of event n.
func (w *World) Because(n int, fn func()) {
	old := w.cause
	w.cause = n
	fn()
	w.cause = old
}

// Watch calls fn after each event, inside its instant.
func (w *World) Watch(fn func(*journal.Event)) { w.watch = append(w.watch, fn) }

// Emit writes an event. Cause is the current one unless the event brings its
// own; a negative Cause means none. The event becomes the cause of what follows
// in the same handler.
func (w *World) Emit(e journal.Event) int {
	e.N, e.T = len(w.J.Events)+1, w.now
	if e.Cause == 0 {
		e.Cause = w.cause
	}
	e.Cause = max(e.Cause, 0)
	w.J.Events = append(w.J.Events, e)
	w.cause = e.N
	if len(w.J.Events) >= w.MaxEvents && w.err == nil {
		w.err = ErrTooLong{w.MaxEvents}
	}
	for _, fn := range w.watch {
		fn(&w.J.Events[e.N-1])
	}
	return e.N
}

// Attach adds changes to an event that was written a moment ago: what a request
// tells its receiver belongs to its receipt, though handling it takes time.
func (w *World) Attach(n int, ch []journal.Change) {
	e := &w.J.Events[n-1]
	e.Ch = append(e.Ch, ch...)
}

// Fail ends the run with an error: it has come to something that cannot be
// simulated.
func (w *World) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Stream returns the random stream of a node and purpose.
func (w *World) Stream(node, purpose string) *Rand {
	name := node + "/" + purpose
	r, ok := w.streams[name]
	if !ok {
		r = NewRand(w.seed, name)
		w.streams[name] = r
	}
	return r
}

// NewRecord gives a record its id.
func (w *World) NewRecord(r journal.Record) string {
	r.ID, r.At = journal.RecordID(len(w.J.Records)+1), w.Now()
	w.J.Records = append(w.J.Records, r)
	return r.ID
}

// Timer is something that will happen.
type Timer struct {
	at    journal.Time
	seq   uint64
	cause int
	proc  *Process // nil: the world's own
	epoch int      // incarnation of proc that set it
	fn    func()
	dead  bool
}

// Because names the event whose consequence the timer is.
func (t *Timer) Because(n int) { t.cause = n }

// Stop cancels a timer; a nil or fired timer is fine.
func (t *Timer) Stop() {
	if t != nil {
		t.dead = true
	}
}

// At runs fn at a moment (now if it is past), as a consequence of the current event.
func (w *World) At(at journal.Time, fn func()) *Timer {
	w.seq++
	t := &Timer{at: max(at, w.now), seq: w.seq, cause: w.cause, fn: fn}
	heap.Push(&w.queue, t)
	return t
}

// After runs fn after d.
func (w *World) After(d journal.Time, fn func()) *Timer { return w.At(w.now+d, fn) }

// Run executes everything up to and including until.
func (w *World) Run(until journal.Time) error {
	for len(w.queue) > 0 && w.queue[0].at <= until && w.err == nil {
		t := heap.Pop(&w.queue).(*Timer)
		if t.dead {
			continue
		}
		w.now = t.at
		if p := t.proc; p != nil {
			if t.epoch != p.incarnation || !p.alive() {
				continue
			}
			if p.state == Paused {
				p.deferred = append(p.deferred, t)
				continue
			}
		}
		w.cause = t.cause
		t.dead = true
		t.fn()
	}
	w.now = max(w.now, until)
	return w.err
}

type timerQueue []*Timer

func (q timerQueue) Len() int { return len(q) }
func (q timerQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q timerQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *timerQueue) Push(x any)   { *q = append(*q, x.(*Timer)) }
func (q *timerQueue) Pop() any {
	old := *q
	t := old[len(old)-1]
	*q = old[:len(old)-1]
	return t
}
