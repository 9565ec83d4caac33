package broker

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// controllerRetry is the pause of a channel that has no controller to talk to, and
// the reconnect backoff of its network client (NodeToControllerRequestThread).
const controllerRetry = 50 * journal.Millisecond

// channels are the ways to the active controller: for heartbeats and
// registrations, for ISR proposals, and for all that is forwarded.
type channels struct{ heartbeat, alterPartition, forwarding *channel }

func newChannels(n *Node) channels {
	return channels{&channel{n: n}, &channel{n: n}, &channel{n: n}}
}

// channel sends requests to whichever controller is active, one at a time and in
// order; what did not get there, or to one that is not active any more, is sent
// again (NodeToControllerChannelManager).
type channel struct {
	n       *Node
	link    *sim.Link // to the active controller as far as was known
	to      int32     // where link leads
	lost    bool      // it has to be looked up again
	queue   []*queued
	waiting bool // a pause runs
}

type queued struct {
	call sim.Call
	from journal.Time
}

// send queues a request. call.Timeout bounds all attempts together, 0: no bound.
func (c *channel) send(call *sim.Call) {
	c.queue = append(c.queue, &queued{*call, c.n.w.Now()})
	c.pump()
}

func (c *channel) pump() {
	if len(c.queue) == 0 || c.waiting || c.link != nil && c.link.Busy() {
		return
	}
	q := c.queue[0]
	left := q.call.Timeout
	if left > 0 {
		if left = q.from + q.call.Timeout - c.n.w.Now(); left <= 0 {
			c.queue = c.queue[1:]
			q.call.Done(sim.Result{Outcome: sim.TimedOut})
			c.pump()
			return
		}
	}
	if !c.aim() {
		c.pause()
		return
	}
	call := q.call
	timeout := journal.Millis(c.n.cfg.Millis("request.timeout.ms"))
	call.Timeout, call.Timer = timeout, "request.timeout.ms"
	if q.call.Timeout > 0 && q.call.Timeout < timeout {
		call.Timeout, call.Timer = q.call.Timeout, q.call.Timer
	}
	call.Done = func(res sim.Result) { c.answered(q, res) }
	c.link.Send(&call, connectTimeout)
}

// forwardTimeout is how long a broker tries to forward a request.
const forwardTimeout = 60 * journal.Second

// connectTimeout is socket.connection.setup.timeout.ms.
const connectTimeout = 10 * journal.Second

// aim looks up the active controller where the channel has none. One that is not
// active any more says so itself.
func (c *channel) aim() bool {
	if c.link == nil || c.lost {
		leader := c.n.observer.leader
		if leader == unknown {
			return false
		}
		if c.link == nil || c.to != leader {
			c.to, c.link = leader, sim.NewLink(c.n.proc, kafka.NodeName(kafka.BrokerID(leader)), "controller", controllerRetry, controllerRetry)
		}
		c.lost = false
	}
	return c.link.Ready()
}

func (c *channel) pause() {
	c.waiting = true
	c.n.proc.After(controllerRetry, func() {
		c.waiting = false
		c.pump()
	})
}

func (c *channel) answered(q *queued, res sim.Result) {
	if res.Outcome == sim.Answered && !notController(res.Body) {
		c.queue = c.queue[1:]
		q.call.Done(res)
		c.pump()
		return
	}
	c.link.Close("the controller is not active")
	c.lost = true
	c.pause()
}

// notController says whether an answer came from a controller that is not active.
func notController(body any) bool {
	switch r := body.(type) {
	case *wire.BrokerHeartbeatResponse:
		return r.ErrorCode == kafka.NotController
	case *wire.BrokerRegistrationResponse:
		return r.ErrorCode == kafka.NotController
	case *wire.AlterPartitionResponse:
		return r.ErrorCode == kafka.NotController
	case *wire.AllocateProducerIDsResponse:
		return r.ErrorCode == kafka.NotController
	case wire.AdminAnswer:
		return slices.ContainsFunc(r.Refused(), func(x wire.Refusal) bool { return x.Code == kafka.NotController })
	}
	return false
}
