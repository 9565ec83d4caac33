package controller

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// The reconnect backoff of a node's network client (KafkaRaftManager).
const (
	reconnectMin = 50 * journal.Millisecond
	reconnectMax = 500 * journal.Millisecond
)

// peer is another voter as this node reaches it (RequestManager).
type peer struct {
	*sim.Link
	n     *Node
	id    int32
	retry *sim.Timer
}

func newPeer(n *Node, id int32) *peer {
	return &peer{n: n, id: id, Link: sim.NewLink(n.proc, kafka.NodeName(kafka.BrokerID(id)), "raft", reconnectMin, reconnectMax)}
}

// send asks the peer. heard gets the answer, nil if none came, unless the role that
// asked has ended.
func (p *peer) send(call *sim.Call, heard func(any)) {
	p.prepare(call, heard)
	p.Send(call, call.Timeout)
}

func (p *peer) prepare(call *sim.Call, heard func(any)) {
	n, turn := p.n, p.n.turn
	call.Part, call.Timeout, call.Timer = metadataPart, n.millis("controller.quorum.request.timeout.ms"), "controller.quorum.request.timeout.ms"
	call.Done = func(res sim.Result) {
		if res.Outcome != sim.Answered {
			p.Backoff(n.millis("controller.quorum.retry.backoff.ms"))
			res.Body = nil
		}
		if turn == n.turn {
			heard(res.Body)
			return
		}
		n.free(p)
	}
}

// whenReady runs fn as soon as the peer does not back off any more, if the role is
// still the same.
func (p *peer) whenReady(fn func()) {
	turn := p.n.turn
	p.retry.Stop()
	p.retry = p.n.proc.After(p.Wait(), func() {
		if turn == p.n.turn {
			fn()
		}
	})
}
