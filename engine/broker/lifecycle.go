package broker

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// lifecycle sends the heartbeats that keep the broker's session
// (BrokerLifecycleManager).
type lifecycle struct {
	n        *Node
	inFlight bool
}

// start begins the heartbeats; the first comes after d.
func (l *lifecycle) start(d journal.Time) { l.n.proc.After(d, l.beat) }

func (l *lifecycle) beat() {
	n := l.n
	if l.inFlight {
		return
	}
	l.inFlight = true
	n.observer.send(&sim.Call{API: kafka.BrokerHeartbeat, Chatter: true, Timeout: journal.Millis(n.cfg.Millis("broker.session.timeout.ms")), Timer: "broker.session.timeout.ms",
		Body: &wire.BrokerHeartbeatRequest{BrokerID: n.id, BrokerEpoch: n.epoch, CurrentMetadataOffset: n.img.Offset},
		Done: l.answered})
}

func (l *lifecycle) answered(res sim.Result) {
	l.inFlight = false
	if res.Outcome == sim.Answered {
		l.n.proc.After(journal.Millis(l.n.cfg.Millis("broker.heartbeat.interval.ms")), l.beat)
		return
	}
	l.n.proc.After(50*journal.Millisecond, l.beat)
}
