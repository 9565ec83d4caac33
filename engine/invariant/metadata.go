package invariant

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// node is a broker, which observes the metadata log, or a controller.
type node struct {
	name    string
	role    string
	epoch   int64
	applied int64 // metadata offset, −1 none
}

// metadata is what is known of the metadata log.
type metadata struct {
	end     int64            // committed below this
	epoch   int64            // the quorum epoch of that commit
	leaders map[int64]string // by quorum epoch
}

func (c *checker) node(name string) *node {
	n := c.nodes[name]
	if n == nil {
		n = &node{name: name, applied: -1, epoch: -1}
		c.nodes[name] = n
		c.known = append(c.known, n)
	}
	return n
}

func (n *node) slot(field string) slot {
	switch field {
	case "role":
		return slot{node: n, set: func(v any) { n.role, _ = v.(string) }}
	case "epoch":
		return slot{node: n, set: func(v any) { n.epoch = number(v) }}
	case "metadata":
		return slot{node: n, set: func(v any) { n.applied = number(v) }}
	}
	return slot{}
}

func (c *checker) commitSlot(name string) slot {
	n := c.node(name)
	return slot{node: n, set: func(v any) {
		if v != nil {
			if end := number(v); end > c.meta.end {
				c.meta.end, c.meta.epoch = end, n.epoch
			}
		}
	}}
}

// member holds a broker or controller against the rules of the quorum.
func (c *checker) member(n *node) {
	if n.applied >= 0 {
		c.holds(applied, n.applied < c.meta.end,
			func() string {
				return fmt.Sprintf("%s has applied metadata offset %d; committed below %d", n.name, n.applied, c.meta.end)
			})
	}
	if n.role != "leader" {
		return
	}
	other, known := c.meta.leaders[n.epoch]
	c.holds(oneController, !known || other == n.name,
		func() string {
			return fmt.Sprintf("%s and %s both lead the quorum in epoch %d", other, n.name, n.epoch)
		})
	c.meta.leaders[n.epoch] = n.name
}

// appended: what is committed is never written again. A controller that has not
// heard of a later quorum epoch may write what will never be committed.
func (c *checker) appended(e *journal.Event) {
	base := number(get(e, "baseOffset"))
	if base >= 0 {
		c.holds(metaLog, base >= c.meta.end || c.node(e.Node).epoch < c.meta.epoch,
			func() string {
				return fmt.Sprintf("%s writes metadata offset %d; committed below %d", e.Node, base, c.meta.end)
			})
	}
}

func get(e *journal.Event, field string) any {
	f, _ := e.F.(journal.Fields)
	return f.Get(field)
}

func (p *partition) metaSlot(field string) slot {
	s := slot{part: p}
	switch field {
	case "leader":
		s.set = func(v any) { p.meta.leader = number(v) }
	case "leaderEpoch":
		s.set = func(v any) { p.meta.leaderEpoch = number(v) }
	case "partitionEpoch":
		s.set = func(v any) { p.meta.partitionEpoch = number(v) }
	case "replicas":
		s.set = func(v any) { p.meta.assigned = brokers(v) }
	case "isr":
		s.set = func(v any) { p.meta.isr = brokers(v) }
	case "leaderRecoveryState":
		s.set = func(v any) { p.voided = p.voided || number(v) == 1 }
	default:
		return slot{}
	}
	return s
}

// committed holds the metadata of a partition against its rules.
func (c *checker) committed(p *partition) {
	m := p.meta
	if m.assigned == nil {
		return // deleted, or only its replicas are known
	}
	ok := m.leader < 0 || slices.Contains(m.isr, fmt.Sprintf("b%d", m.leader))
	for _, id := range m.isr {
		ok = ok && slices.Contains(m.assigned, id)
	}
	c.holds(metaISR, ok, func() string {
		return fmt.Sprintf("%s: replicas %v, ISR %v, leader %d", p.name, m.assigned, m.isr, m.leader)
	})
	old := p.before
	c.holds(metaEpochs, m.leaderEpoch >= old.leaderEpoch && m.partitionEpoch >= old.partitionEpoch && (m.leader == old.leader || old.assigned == nil || m.leaderEpoch > old.leaderEpoch),
		func() string {
			return fmt.Sprintf("%s: leader %d in leader epoch %d, partition epoch %d, after leader %d, %d, %d", p.name, m.leader, m.leaderEpoch, m.partitionEpoch, old.leader, old.leaderEpoch, old.partitionEpoch)
		})
	p.before = m
}
