package broker

import (
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// pidBlock hands out producer ids from the block that the controller granted
// (RPCProducerIdManager): a broker without one answers
// COORDINATOR_LOAD_IN_PROGRESS and only then asks.
type pidBlock struct {
	n      *Node
	next   int64
	end    int64
	asking bool
}

func (p *pidBlock) handle(r *sim.Request) {
	if p.next >= p.end {
		r.Reply(&wire.InitProducerIDResponse{ErrorCode: kafka.CoordinatorLoadInProgress, ProducerID: -1, ProducerEpoch: -1}, 0, false)
		p.ask()
		return
	}
	p.next++
	r.Reply(&wire.InitProducerIDResponse{ProducerID: p.next - 1}, 0, false)
}

func (p *pidBlock) ask() {
	if p.asking {
		return
	}
	p.asking = true
	p.n.channels.forwarding.send(&sim.Call{API: kafka.AllocateProducerIDs, Body: &wire.AllocateProducerIDsRequest{BrokerID: p.n.id, BrokerEpoch: p.n.epoch},
		Done: func(res sim.Result) {
			p.asking = false
			if r, ok := res.Body.(*wire.AllocateProducerIDsResponse); ok && r.ErrorCode == kafka.None {
				p.next, p.end = r.ProducerIDStart, r.ProducerIDStart+int64(r.ProducerIDLen)
			}
		}})
}
