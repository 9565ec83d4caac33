package broker

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// brokerState is BrokerState, without the states in which nothing is sent.
type brokerState uint8

const (
	starting brokerState = iota
	recovery
	running
	pendingControlledShutdown
	shuttingDown
)

const (
	// catchingUp is the pause between the heartbeats of a broker that starts, and
	// between the first two of one that stops.
	catchingUp = 10 * journal.Millisecond
	secondWish = 100 * journal.Millisecond
	// getReady is what a start does after the first metadata: request processing
	// is enabled, coordinators start.
	getReady = 100 * journal.Millisecond
	// exit is the time from the leave to stop, when the sockets close, to the end of
	// the process: logs are flushed, threads join.
	exit = 300 * journal.Millisecond
	// patience is how long a broker waits for that leave (KafkaBroker.shutdown).
	patience = 5 * 60 * journal.Second
)

// lifecycle registers the broker, sends the heartbeats that keep its session and
// asks for the leave to stop (BrokerLifecycleManager, KIP-631).
type lifecycle struct {
	n           *Node
	state       brokerState
	incarnation string
	registered  bool
	ready       bool // the broker may be unfenced
	asked       bool // one heartbeat with WantShutDown was answered
	previous    int64
	next        *sim.Timer
	inFlight    bool
	again       bool // send the next one as soon as this is answered
	stopped     func()
}

// start begins the heartbeats of a broker that is registered and unfenced; the
// first comes after d.
func (l *lifecycle) start(d journal.Time) {
	l.state, l.ready = running, true
	l.schedule(d)
}

// boot begins with the registration. The epoch of the last clean stop tells the
// controller that nothing was lost; −1: it was unclean (KIP-966).
func (l *lifecycle) boot(incarnation string, previous int64) {
	l.incarnation, l.previous = incarnation, previous
	l.send()
}

// stop asks the active controller for the leave to stop. done runs once the
// broker has it, or has waited five minutes for it.
func (l *lifecycle) stop(done func()) {
	n := l.n
	l.stopped = done
	if l.state != running || !n.cfg.Bool("controlled.shutdown.enable") {
		l.leave()
		return
	}
	l.state = pendingControlledShutdown
	n.proc.After(patience, l.leave)
	if l.inFlight {
		l.again = true
		return
	}
	l.schedule(0)
}

func (l *lifecycle) leave() {
	if l.state == shuttingDown {
		return
	}
	l.state = shuttingDown
	l.next.Stop()
	l.n.proc.StopServing()
	l.n.proc.After(exit, l.stopped)
}

func (l *lifecycle) schedule(d journal.Time) {
	l.next.Stop()
	l.next = l.n.proc.After(d, l.send)
}

func (l *lifecycle) interval() journal.Time {
	return journal.Millis(l.n.cfg.Millis("broker.heartbeat.interval.ms"))
}

func (l *lifecycle) send() {
	if l.inFlight || l.state == shuttingDown {
		return
	}
	n := l.n
	l.inFlight = true
	call := &sim.Call{API: kafka.BrokerHeartbeat, Chatter: true, Done: l.answered,
		Timeout: journal.Millis(n.cfg.Millis("broker.session.timeout.ms")) / 2, Timer: "half of broker.session.timeout.ms",
		Body: &wire.BrokerHeartbeatRequest{BrokerID: n.id, BrokerEpoch: n.epoch, CurrentMetadataOffset: n.img.Offset,
			WantFence: !l.ready, WantShutDown: l.state == pendingControlledShutdown}}
	if !l.registered {
		call.API, call.Chatter = kafka.BrokerRegistration, false
		call.Body = &wire.BrokerRegistrationRequest{BrokerID: n.id, IncarnationID: l.incarnation, Rack: n.cfg.String("broker.rack"), PreviousBrokerEpoch: l.previous}
	}
	n.channels.heartbeat.send(call)
}

func (l *lifecycle) answered(res sim.Result) {
	l.inFlight = false
	wait := l.interval()
	if res.Outcome == sim.Answered {
		switch r := res.Body.(type) {
		case *wire.BrokerRegistrationResponse:
			if r.ErrorCode == kafka.None {
				l.registered, l.n.epoch, wait = true, r.BrokerEpoch, 0
				l.n.w.Attach(l.n.w.Cause(), []journal.Change{{Key: journal.NodeKey(l.n.name, "epoch"), Val: r.BrokerEpoch}})
			}
		case *wire.BrokerHeartbeatResponse:
			if r.ErrorCode == kafka.None {
				wait = l.heard(r)
			}
		}
	}
	if l.state == shuttingDown {
		return
	}
	if l.again {
		l.again, wait = false, 0
	}
	l.schedule(wait)
}

// heard takes a heartbeat's answer and says when the next one is due.
func (l *lifecycle) heard(r *wire.BrokerHeartbeatResponse) journal.Time {
	switch l.state {
	case starting:
		if r.IsCaughtUp {
			l.state = recovery
			l.n.firstPublish()
			l.n.proc.After(getReady, l.unfence)
		}
		return catchingUp
	case recovery:
		if !r.IsFenced {
			l.state = running
		}
	case pendingControlledShutdown:
		if r.ShouldShutDown {
			l.leave()
			return 0
		}
		if !l.asked {
			l.asked = true
			return secondWish
		}
	}
	return l.interval()
}

// unfence ends the start: connections are accepted, and the next heartbeat no
// longer wants the fence (setReadyToUnfence).
func (l *lifecycle) unfence() {
	n := l.n
	l.ready = true
	n.proc.Ready()
	n.w.Emit(journal.Event{Kind: journal.NodeReady, Node: n.name, Ch: []journal.Change{{Key: journal.NodeKey(n.name, "state"), Val: string(n.proc.State())}}})
	if l.inFlight {
		l.again = true
		return
	}
	l.schedule(0)
}
