// Package invariant checks on a finished journal what must hold at every event
// of every run, whatever is broken around the cluster.
//
// The check is incremental: an event is held against the rules of what it
// touched, and every 500 events all rules look at everything.
//
// Two things void a promise in Kafka as well, and a partition they happen to is
// left out from then on where the promise is about its records: an election that
// may lose them (LeaderRecoveryState RECOVERING: unclean, or of the last known
// leader), and a power cut that takes committed records with the page cache.
package invariant

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// everything is the number of events after which all rules look at the whole
// state.
const everything = 500

// Broken is the first event at which an invariant does not hold.
type Broken struct {
	N   int
	Why string
}

// Outcome of one invariant.
type Outcome struct {
	Name    string
	Checked int // how often there was something to check
	Broken  *Broken
}

type rule int

// The rules, in the order in which Check lists them.
const (
	oneLeader rule = iota
	hwInLog
	hwBound
	hwMonotonic
	matching
	complete
	acknowledged
	metaISR
	metaEpochs
	metaLog
	oneController
	applied
	oneOwner
	groupEpochs
	oldCommit
	legal
	belowHW
	rules
)

var names = [rules]string{
	oneLeader:     "one leader per leader epoch",
	hwInLog:       "high watermark within the log",
	hwBound:       "high watermark not above the log end of any replica in the maximal ISR",
	hwMonotonic:   "high watermark monotonic within a leader epoch",
	matching:      "logs match below the high watermark",
	complete:      "a new leader has every committed record",
	acknowledged:  "a record acknowledged with acks=all is committed",
	metaISR:       "the committed ISR is part of the assignment, the leader part of the ISR",
	metaEpochs:    "leader epoch and partition epoch only grow",
	metaLog:       "committed metadata never changes",
	oneController: "one active controller per quorum epoch",
	applied:       "brokers apply committed metadata only",
	oneOwner:      "one owner per partition per group",
	groupEpochs:   "generations and epochs of a group only grow",
	oldCommit:     "a commit of an old generation never lands",
	legal:         "targets are disjoint, and a member at the target epoch has its target",
	belowHW:       "no record is handed over at or above the high watermark",
}

// checker holds the state so far, in the form in which the rules ask for it.
type checker struct {
	outs     [rules]Outcome
	n        int // the event being checked
	slots    map[string]slot
	replicas []*replica
	byName   map[string]*replica
	parts    map[string]*partition
	order    []*partition
	nodes    map[string]*node
	known    []*node
	meta     metadata
	acks     map[string]int16 // by record: of the Produce that carried it last

	groups     map[string]*group
	groupOrder []*group
	request    map[int]*wire.OffsetCommitRequest // by message
}

// Names are the names of all invariants.
func Names() []string { return slices.Clone(names[:]) }

// Check runs all invariants over a journal.
func Check(j *journal.Journal) []Outcome {
	c := &checker{slots: map[string]slot{}, byName: map[string]*replica{}, parts: map[string]*partition{}, nodes: map[string]*node{},
		meta: metadata{leaders: map[int64]string{}}, acks: map[string]int16{}, groups: map[string]*group{}, request: map[int]*wire.OffsetCommitRequest{}}
	for r := range c.outs {
		c.outs[r].Name = names[r]
	}
	for i := range j.Events {
		c.event(&j.Events[i])
		if (i+1)%everything == 0 || i+1 == len(j.Events) {
			c.all()
		}
	}
	return c.outs[:]
}

func (c *checker) event(e *journal.Event) {
	c.n = e.N
	c.remember(e)
	c.aboutGroups(e)
	var touched []*replica
	var meta []*partition
	var nodes []*node
	var groups []*group
	for _, ch := range e.Ch {
		s := c.slot(ch.Key)
		if s.set == nil {
			continue
		}
		s.set(ch.Val)
		if s.rep != nil && !s.rep.touched {
			s.rep.touched = true
			touched = append(touched, s.rep)
		}
		if s.part != nil && !s.part.touched {
			s.part.touched = true
			meta = append(meta, s.part)
		}
		if s.node != nil {
			nodes = append(nodes, s.node)
		}
		if s.group != "" && !c.group(s.group).touched {
			c.group(s.group).touched = true
			groups = append(groups, c.group(s.group))
		}
	}
	for _, g := range groups {
		g.touched = false
		c.shared(g)
	}
	for _, n := range nodes {
		c.member(n)
	}
	for _, p := range meta {
		p.touched = false
		c.committed(p)
	}
	for _, r := range touched {
		r.touched = false
		c.replica(r)
	}
	c.after(e)
}

// all looks at everything.
func (c *checker) all() {
	for _, p := range c.order {
		c.committed(p)
	}
	for _, r := range c.replicas {
		c.replica(r)
	}
	for _, n := range c.known {
		c.member(n)
	}
	for _, g := range c.groupOrder {
		c.shared(g)
	}
}

// holds notes that a rule had something to check, and why it does not hold, if
// so.
func (c *checker) holds(r rule, ok bool, why func() string) {
	o := &c.outs[r]
	o.Checked++
	if !ok && o.Broken == nil {
		o.Broken = &Broken{c.n, why()}
	}
}

// slot is where the value of a key goes, and what has to be looked at then.
type slot struct {
	set  func(any)
	rep  *replica
	part *partition
	node *node

	group string
}

// slot finds the place of a key; set is nil for keys that no rule asks for.
func (c *checker) slot(key string) slot {
	s, ok := c.slots[key]
	if ok {
		return s
	}
	p := strings.Split(key, "/")
	switch {
	case len(p) == 3 && p[0] == "meta":
		s = c.partition(p[1]).metaSlot(p[2])
	case len(p) == 3 && isNode(p[0], 'b'):
		s = c.replicaOf(p[0], p[1]).slot(p[2])
	case len(p) == 2 && isNode(p[0], 'c') && p[1] == "commit":
		s = c.commitSlot(p[0])
	case len(p) == 2 && (isNode(p[0], 'b') || isNode(p[0], 'c')):
		s = c.node(p[0]).slot(p[1])
	case len(p) == 2:
		s = c.groupSlot(p[0], p[1])
	case len(p) == 3:
		s = c.memberSlot(p[0], p[1], p[2])
	}
	c.slots[key] = s
	return s
}

// isNode tells a broker or controller from a client.
func isNode(name string, kind byte) bool {
	if len(name) < 2 || name[0] != kind {
		return false
	}
	return strings.Trim(name[1:], "0123456789") == ""
}

func number(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	}
	return -1
}
