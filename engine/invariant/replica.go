package invariant

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// replica is one copy of a partition.
type replica struct {
	node    string
	part    *partition
	role    string
	epoch   int64
	hw      int64 // −1: unknown, its process is dead
	leo     int64
	maximal []string // nodes
	log     []journal.Entry
	base    int64
	seen    int64 // compared up to here
	lost    bool  // a power cut took records that the leader knows it had
	touched bool
}

// partition is what all replicas and the metadata say.
type partition struct {
	name    string
	voided  bool // its records are promised to nobody any more
	first   int64
	ids     []string         // committed, from first on
	leaders map[int64]string // by leader epoch
	hws     map[int64]int64  // highest, by leader epoch
	top     int64            // highest of all replicas and epochs
	touched bool

	meta   committed
	before committed // at the last look
}

// committed is what the metadata log says of a partition.
type committed struct {
	leader, leaderEpoch, partitionEpoch int64
	assigned, isr                       []string
}

func (c *checker) partition(name string) *partition {
	p := c.parts[name]
	if p == nil {
		p = &partition{name: name, first: -1, leaders: map[int64]string{}, hws: map[int64]int64{}, meta: committed{leader: -1}}
		c.parts[name] = p
		c.order = append(c.order, p)
	}
	return p
}

func (c *checker) replicaOf(node, part string) *replica {
	key := node + "/" + part
	r := c.byName[key]
	if r == nil {
		r = &replica{node: node, part: c.partition(part), epoch: -1, hw: -1}
		c.byName[key] = r
		c.replicas = append(c.replicas, r)
	}
	return r
}

func (r *replica) slot(field string) slot {
	s := slot{rep: r}
	switch field {
	case "role":
		s.set = func(v any) { r.role, _ = v.(string); r.lost = r.lost && r.role == "offline" }
	case "leaderEpoch":
		s.set = func(v any) { r.epoch = number(v) }
	case "hw":
		s.set = func(v any) {
			r.hw = number(v)
			r.part.top = max(r.part.top, r.hw)
		}
	case "leo":
		s.set = func(v any) { r.leo = number(v) }
	case "maximalIsr":
		s.set = func(v any) { r.maximal = brokers(v) }
	case "log":
		s.set = r.apply
	default:
		return slot{}
	}
	return s
}

// brokers are the nodes of a list such as "1,2".
func brokers(v any) (nodes []string) {
	ids, _ := v.(string)
	for _, id := range strings.Split(ids, ",") {
		if id != "" {
			nodes = append(nodes, "b"+id)
		}
	}
	return nodes
}

func (r *replica) apply(v any) {
	op, ok := v.(journal.LogOp)
	if !ok {
		r.log, r.base, r.seen = nil, 0, 0 // the replica is gone
		return
	}
	switch op.Op {
	case journal.LogStart:
		r.base, r.log = op.Base, nil
	case journal.LogTruncate:
		r.log = r.log[:max(op.Base-r.base, 0)]
		r.seen = min(r.seen, op.Base)
	case journal.LogAppend:
		if len(r.log) == 0 {
			r.base = op.Base
		}
		for _, id := range op.IDs {
			r.log = append(r.log, journal.Entry{ID: id, Epoch: op.Epoch})
		}
	}
}

// remember notes what an event says about promises.
func (c *checker) remember(e *journal.Event) {
	switch e.Kind {
	case journal.RequestSend:
		if q, ok := e.F.(*wire.ProduceRequest); ok {
			for _, p := range q.Parts {
				for _, id := range p.Batch.Records {
					c.acks[id] = q.Acks
				}
			}
		}
	case journal.MetadataAppend:
		c.appended(e)
	case journal.NodeCrash:
		for _, ch := range e.Ch {
			if op, ok := ch.Val.(journal.LogOp); ok && op.Op == journal.LogTruncate {
				if s := c.slot(ch.Key); s.rep != nil {
					s.rep.lost, s.rep.role = true, "offline"
					s.rep.part.voided = s.rep.part.voided || op.Base < s.rep.part.end()
				}
			}
		}
	}
}

// after looks at what an event acknowledges.
func (c *checker) after(e *journal.Event) {
	f, ok := e.F.(journal.Fields)
	if e.Kind != journal.ProducerAcked || !ok {
		return
	}
	ids, _ := f.Get("records").([]string)
	base, _ := f.Get("baseOffset").(int64)
	p := c.parts[e.Part]
	if p == nil || p.voided || base < 0 {
		return
	}
	for i, id := range ids {
		if c.acks[id] != -1 {
			continue
		}
		at := base + int64(i)
		c.holds(acknowledged, at < p.end() && (at < p.first || p.ids[at-p.first] == id),
			func() string {
				return fmt.Sprintf("record %s is acknowledged at offset %d of %s and not committed there", id, at, p.name)
			})
	}
}

// end is the offset up to which records are known to be committed.
func (p *partition) end() int64 { return max(p.first, 0) + int64(len(p.ids)) }

// replica holds one replica against the rules.
func (c *checker) replica(r *replica) {
	if r.hw >= 0 {
		c.holds(hwInLog, r.hw <= r.leo && r.hw >= r.base,
			func() string {
				return fmt.Sprintf("%s: high watermark %d of %s outside its log [%d,%d]", r.part.name, r.hw, r.node, r.base, r.leo)
			})
	}
	if r.role == "leader" {
		c.leader(r)
	}
	if !r.part.voided && r.hw >= 0 {
		c.compare(r)
	}
}

func (c *checker) leader(r *replica) {
	p := r.part
	other, known := p.leaders[r.epoch]
	c.holds(oneLeader, !known || other == r.node,
		func() string {
			return fmt.Sprintf("%s and %s both lead %s in leader epoch %d", other, r.node, p.name, r.epoch)
		})
	if !known {
		p.leaders[r.epoch] = r.node
		c.elected(r)
	}
	c.holds(hwMonotonic, r.hw >= p.hws[r.epoch],
		func() string {
			return fmt.Sprintf("%s: high watermark went from %d to %d in leader epoch %d", p.name, p.hws[r.epoch], r.hw, r.epoch)
		})
	p.hws[r.epoch] = max(r.hw, p.hws[r.epoch])
	if p.voided {
		return
	}
	for _, m := range r.maximal {
		o := c.byName[m+"/"+p.name]
		c.holds(hwBound, o == nil || o.lost || o.leo < 0 || o.leo >= r.hw, // a replica that was taken away is no promise
			func() string {
				return fmt.Sprintf("%s: high watermark %d of %s is above log end %d of %s", p.name, r.hw, r.node, o.leo, o.node)
			})
	}
}

// elected: a new leader has every committed record (leader completeness).
func (c *checker) elected(r *replica) {
	p := r.part
	if p.voided || p.first < 0 {
		return
	}
	c.holds(complete, r.leo >= p.end(),
		func() string {
			return fmt.Sprintf("%s leads %s in leader epoch %d with log end %d, and offset %d is committed", r.node, p.name, r.epoch, r.leo, p.end()-1)
		})
	for at := max(r.base, p.first); at < min(r.leo, p.end()); at++ {
		id := r.log[at-r.base].ID
		c.holds(complete, id == p.ids[at-p.first],
			func() string {
				return fmt.Sprintf("%s leads %s with %s at offset %d, where %s is committed", r.node, p.name, id, at, p.ids[at-p.first])
			})
	}
}

// compare: what a replica has below its high watermark is what every other has
// there. A leader's high watermark is what makes a record committed.
func (c *checker) compare(r *replica) {
	p := r.part
	if p.first < 0 {
		p.first = r.base
	}
	for at := max(r.seen, r.base, p.first); at < min(r.hw, r.base+int64(len(r.log))); at++ {
		id := r.log[at-r.base].ID
		if at == p.end() {
			p.ids = append(p.ids, id)
		}
		c.holds(matching, at > p.end() || p.ids[at-p.first] == id,
			func() string {
				return fmt.Sprintf("%s offset %d is %s on %s and was committed as %s", p.name, at, id, r.node, p.ids[at-p.first])
			})
		r.seen = at + 1
	}
}
