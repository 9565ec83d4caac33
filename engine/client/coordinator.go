package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// coordMark begins the name of a link to a coordinator. Kafka gives it a node id
// of its own (Integer.MAX_VALUE − id), so that commits do not queue up behind a
// Fetch that waits at the same broker.
const coordMark = "^"

func (c *Consumer) coordinatorLink() string {
	return coordMark + kafka.NodeName(kafka.BrokerID(c.coordinator))
}

// waiter is something that needs the group's coordinator.
type waiter struct {
	fn   func(conn *sim.Conn)
	dead func() bool // no longer wanted
}

// withCoordinator runs fn with a connection to the group's coordinator, now or
// when it is found.
func (c *Consumer) withCoordinator(dead func() bool, fn func(conn *sim.Conn)) {
	c.waiters = append(c.waiters, waiter{fn, dead})
	c.coordinate()
}

// coordinate finds the coordinator with FindCoordinator, from any node, and
// connects to it; a coordinator that cannot be reached is looked up again
// (ConsumerCoordinator.ensureCoordinatorReady).
func (c *Consumer) coordinate() {
	c.waiters = slices.DeleteFunc(c.waiters, func(w waiter) bool { return w.dead() })
	if len(c.waiters) == 0 || c.closed || c.finding {
		return
	}
	if c.coordinator > 0 {
		link := c.coordinatorLink()
		if l := c.link(link); !l.conn.Open() && !l.opening && l.failures > 0 && l.after > c.w.Now() {
			c.unknownCoordinator()
		} else if conn := c.ready(link); conn != nil {
			ws := c.waiters
			c.waiters = nil
			n := c.w.Cause()
			for _, w := range ws {
				c.w.Because(n, func() { w.fn(conn) })
			}
			return
		} else {
			return // tick goes on
		}
	}
	if wait := c.findAfter - c.w.Now(); wait > 0 {
		c.finding = true
		c.proc.After(wait, func() { c.finding = false; c.coordinate() })
		return
	}
	node, conn := c.leastLoaded()
	if conn == nil {
		return
	}
	c.finding = true
	c.call(conn, &sim.Call{API: kafka.FindCoordinator, Group: c.group, Body: &wire.FindCoordinatorRequest{Keys: []string{c.group}}, Done: func(r sim.Result) {
		c.finding = false
		a, ok := r.Body.(*wire.FindCoordinatorResponse)
		if ok && len(a.Coordinators) > 0 && a.Coordinators[0].ErrorCode == kafka.None {
			c.coordinator = a.Coordinators[0].NodeID
		} else {
			c.lost(node)
			c.unknownCoordinator()
		}
		c.coordinate()
	}})
}

// unknownCoordinator is AbstractCoordinator.markCoordinatorUnknown.
func (c *Consumer) unknownCoordinator() {
	c.coordinator = -1
	c.findAfter = c.w.Now() + c.retryBackoff(0)
}

// coordinatorError says whether to try again after an answer of the coordinator,
// and forgets a coordinator that is none any more.
func (c *Consumer) coordinatorError(answered bool, code kafka.ErrorCode) bool {
	switch {
	case !answered:
		c.lost(c.coordinatorLink())
		c.unknownCoordinator()
		return true
	case code == kafka.NotCoordinator, code == kafka.CoordinatorNotAvailable, code == kafka.RequestTimedOut:
		c.unknownCoordinator()
		return true
	}
	return code.Retriable()
}
