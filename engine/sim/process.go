package sim

import "github.com/highwater-kafka/highwater/engine/journal"

// State of a process.
type State string

// The states, as they stand in <node>/state.
const (
	Running  State = "running"
	Starting State = "starting" // boots: it works, but accepts no connections yet
	Paused   State = "paused"
	Stopped  State = "stopped"
	Crashed  State = "crashed"
	Vanished State = "vanished"
)

// Handler is a node's code.
type Handler interface {
	// Handle serves a request; it answers with Reply, now or later.
	Handle(r *Request)
}

// Process is a node's process on its host.
type Process struct {
	Name string

	w           *World
	h           Handler
	state       State
	client      bool
	incarnation int
	deferred    []*Timer // timers and arrivals of a paused process, in order
	conns       []*Conn  // open connections with this process at either end
	fault       int      // the event that stopped or paused it
	closed      bool     // accepts no connections, though it runs
	resumes     State    // what a paused process goes back to
}

// AddProcess registers a running node. client says whether its links have the
// latency of a client.
func (w *World) AddProcess(name string, client bool, h Handler) *Process {
	p := &Process{Name: name, w: w, h: h, state: Running, client: client}
	w.procs[name] = p
	w.order = append(w.order, p)
	return p
}

// Process returns a node's process, or nil.
func (w *World) Process(name string) *Process { return w.procs[name] }

// SetHandler gives a process its code, where that needs the process first.
func (p *Process) SetHandler(h Handler) { p.h = h }

// Client says whether the process is a client, which accepts no connections.
func (p *Process) Client() bool { return p.client }

// State of the process.
func (p *Process) State() State { return p.state }

// Fault is the event that last stopped or paused the process, 0 if none.
func (p *Process) Fault() int { return p.fault }

func (p *Process) alive() bool { return p.state == Running || p.state == Starting || p.state == Paused }

// Alive says whether there is a process, be it paused.
func (p *Process) Alive() bool { return p.alive() }

// listens says whether a new connection is accepted; a paused process has the
// kernel accept for it.
func (p *Process) listens() bool {
	return !p.closed && (p.state == Running || p.state == Paused && p.resumes == Running)
}

// StopServing closes all connections that others have opened to the process, and
// accepts no more (SocketServer.stopProcessingRequests).
func (p *Process) StopServing() {
	p.closed = true
	for _, c := range append([]*Conn(nil), p.conns...) {
		if c.To == p {
			c.closeBy(p, "closed by "+p.Name+", which stops")
		}
	}
}

// After runs fn after d unless the process dies first; while it is paused the
// timer waits for the resume.
func (p *Process) After(d journal.Time, fn func()) *Timer {
	t := p.w.After(d, fn)
	t.proc, t.epoch = p, p.incarnation
	return t
}

// Kill ends the process. A crash, a kill and a stop close its connections,
// which the peers see one latency later; a vanished host says nothing.
func (p *Process) Kill(s State) {
	if !p.alive() {
		return
	}
	p.state, p.fault = s, p.w.cause
	p.incarnation++
	p.deferred = nil
	conns := p.conns
	p.conns = nil
	for _, c := range conns {
		c.peerDied(p, s)
	}
}

// Start begins the process anew, with new code: it boots until Ready.
func (p *Process) Start(h Handler) {
	p.state, p.h, p.closed = Starting, h, false
	p.incarnation++
}

// Ready ends the boot: the process accepts connections.
func (p *Process) Ready() {
	switch p.state {
	case Starting:
		p.state, p.fault = Running, 0
	case Paused:
		p.resumes = Running
	}
}

// Pause stops the process for a while (a long garbage collection, SIGSTOP).
// What arrives meanwhile waits.
func (p *Process) Pause() {
	if p.state == Running || p.state == Starting {
		p.resumes = p.state
		p.state, p.fault = Paused, p.w.cause
	}
}

// Resume lets it go on: what waited happens now, in its order.
func (p *Process) Resume() {
	if p.state != Paused {
		return
	}
	p.state = p.resumes
	ts := p.deferred
	p.deferred = nil
	for _, t := range ts {
		if t.dead {
			continue
		}
		n := p.w.At(p.w.now, t.fn)
		n.cause, n.proc, n.epoch = t.cause, p, t.epoch
	}
}
