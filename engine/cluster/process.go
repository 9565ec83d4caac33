package cluster

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// machine is a node with a disk: its process may end and begin anew.
type machine interface {
	Name() string
	// Forget is what ended with the process.
	Forget() []journal.Change
	// Stop ends the process in order; done runs when it may end.
	Stop(done func())
}

// machine finds a broker or controller by name, nil for another node.
func (r *run) machine(name string) machine {
	for _, id := range r.ids {
		if b := r.brokers[id]; b.Name() == name {
			return b
		}
	}
	for _, c := range r.ctrls {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// endings are the ways in which a process ends at once.
var endings = map[string]struct {
	kind  journal.Kind
	state sim.State
}{
	"crash":  {journal.NodeCrash, sim.Crashed},
	"kill":   {journal.NodeCrash, sim.Crashed},
	"vanish": {journal.NodeVanish, sim.Vanished},
}

// lifeAndDeath crashes, stops and starts processes. What is asked of a process
// that is not there happens to nobody, and the journal says so.
func (r *run) lifeAndDeath(a *Action) {
	p := r.process(a.Node)
	if p == nil || p.Alive() == (a.Do == "start") {
		r.action("nothing", a.Node, journal.F("instead", a.Do))
		return
	}
	m := r.machine(a.Node)
	n := r.action(a.Do, a.Node, nil)
	r.w.Because(n, func() {
		switch a.Do {
		case "start":
			r.start(a.Node, m)
		case "stop":
			p.After(0, func() { // a paused process hears of the signal when it goes on
				m.Stop(func() { r.finish(a.Node, journal.NodeStop, sim.Stopped) })
			})
		default:
			r.finish(a.Node, endings[a.Do].kind, endings[a.Do].state)
			if b, ok := m.(*broker.Node); ok && a.Unflushed == "lost" {
				r.w.Attach(r.w.Cause(), b.LosePageCache())
			}
		}
	})
}

// finish ends a process and says what went with it.
func (r *run) finish(name string, kind journal.Kind, state sim.State) {
	p := r.process(name)
	if !p.Alive() {
		return
	}
	group := ""
	if g, _ := r.memberOf(name); g != nil {
		group = g.ID
	}
	n := r.w.Emit(journal.Event{Kind: kind, Node: name, Group: group, Ch: []journal.Change{{Key: journal.NodeKey(name, "state"), Val: string(state)}}})
	r.w.Because(n, func() { p.Kill(state) })
	switch m := r.machine(name); {
	case m != nil:
		r.w.Attach(n, m.Forget())
	case r.prods[name] != nil:
		r.w.Attach(n, r.prods[name].Forget())
	case r.cons[name] != nil:
		r.w.Attach(n, r.cons[name].Kill())
	}
}

// start begins a node's next process with what is on its disk.
func (r *run) start(name string, old machine) {
	n := r.w.Emit(journal.Event{Kind: journal.NodeStart, Node: name, Ch: []journal.Change{{Key: journal.NodeKey(name, "state"), Val: string(sim.Starting)}}})
	r.w.Because(n, func() {
		r.starts[name]++
		p := r.process(name)
		if c, ok := old.(*controller.Node); ok {
			next := r.newController(c.ID(), p)
			p.Start(next)
			r.ctrls[slices.Index(r.ctrls, c)] = next
			next.Boot(c.Disk())
			return
		}
		b := old.(*broker.Node)
		disk := b.Disk()
		next := r.newBroker(b.ID(), p)
		p.Start(next)
		r.brokers[b.ID()] = next
		next.Boot(disk, fmt.Sprintf("%s#%d", name, r.starts[name]+1))
	})
}

// pause stops a process for a while, or lets it go on.
func (r *run) pause(a *Action) {
	p := r.process(a.Node)
	if p == nil || !p.Alive() || (p.State() == sim.Paused) == (a.Do == "pause") {
		r.action("nothing", a.Node, journal.F("instead", a.Do))
		return
	}
	kind, do := journal.NodePause, p.Pause
	if a.Do == "resume" {
		kind, do = journal.NodeResume, p.Resume
	}
	n := r.action(a.Do, a.Node, nil)
	r.w.Because(n, func() {
		e := r.w.Emit(journal.Event{Kind: kind, Node: a.Node})
		do()
		r.w.Attach(e, []journal.Change{{Key: journal.NodeKey(a.Node, "state"), Val: string(p.State())}})
	})
}
