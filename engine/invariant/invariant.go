// Package invariant checks on a finished journal what must hold at every event
// of every run, whatever is broken around the cluster.
package invariant

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
)

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

type checker struct {
	vals map[string]any
	logs map[string][]journal.Entry // by log key, from the log's start
	base map[string]int64
	// by partition
	leaders map[string]string           // "part@epoch" → who led
	ids     map[string]map[int64]string // what was committed at an offset
	hws     map[string]int64            // "node/part@epoch" → highest
}

// Check runs all invariants over a journal.
func Check(j *journal.Journal) []Outcome {
	c := &checker{vals: map[string]any{}, logs: map[string][]journal.Entry{}, base: map[string]int64{},
		leaders: map[string]string{}, ids: map[string]map[int64]string{}, hws: map[string]int64{}}
	outs := []Outcome{{Name: "one leader per leader epoch"}, {Name: "high watermark not above the log end of any replica in the maximal ISR"},
		{Name: "high watermark monotonic within a leader epoch"}, {Name: "logs match below the high watermark"}}
	rules := []func(*journal.Event, string, string) (bool, string){c.oneLeader, c.hwBound, c.hwMonotonic, c.matching}
	for i := range j.Events {
		e := &j.Events[i]
		touched := c.fold(e)
		for _, t := range touched {
			for k, rule := range rules {
				checked, why := rule(e, t[0], t[1])
				if checked {
					outs[k].Checked++
				}
				if why != "" && outs[k].Broken == nil {
					outs[k].Broken = &Broken{e.N, why}
				}
			}
		}
	}
	return outs
}

// fold applies an event and returns the replicas that it touched.
func (c *checker) fold(e *journal.Event) (touched [][2]string) {
	seen := map[[2]string]bool{}
	for _, ch := range e.Ch {
		if op, ok := ch.Val.(journal.LogOp); ok {
			c.apply(ch.Key, op)
		} else {
			c.vals[ch.Key] = ch.Val
			if ch.Val == nil { // a replica that was taken away has no log
				delete(c.logs, ch.Key)
				delete(c.base, ch.Key)
			}
		}
		p := strings.Split(ch.Key, "/")
		if len(p) >= 3 && strings.HasPrefix(p[0], "b") && p[2] != "remote" {
			if t := [2]string{p[0], p[1]}; !seen[t] {
				seen[t] = true
				touched = append(touched, t)
			}
		}
	}
	return touched
}

func (c *checker) apply(key string, op journal.LogOp) {
	switch op.Op {
	case journal.LogStart:
		c.base[key], c.logs[key] = op.Base, nil
	case journal.LogTruncate:
		c.logs[key] = c.logs[key][:max(op.Base-c.base[key], 0)]
	case journal.LogAppend:
		if len(c.logs[key]) == 0 {
			c.base[key] = op.Base
		}
		for _, id := range op.IDs {
			c.logs[key] = append(c.logs[key], journal.Entry{ID: id, Epoch: op.Epoch})
		}
	}
}

func (c *checker) num(node, part, field string) (int64, bool) {
	switch v := c.vals[journal.ReplicaKey(node, part, field)].(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	}
	return 0, false
}

func (c *checker) leads(node, part string) bool {
	return c.vals[journal.ReplicaKey(node, part, "role")] == "leader"
}

func (c *checker) oneLeader(_ *journal.Event, node, part string) (bool, string) {
	if !c.leads(node, part) {
		return false, ""
	}
	epoch, _ := c.num(node, part, "leaderEpoch")
	key := fmt.Sprintf("%s@%d", part, epoch)
	if other, ok := c.leaders[key]; ok && other != node {
		return true, fmt.Sprintf("%s and %s both lead %s in leader epoch %d", other, node, part, epoch)
	}
	c.leaders[key] = node
	return true, ""
}

func (c *checker) hwBound(_ *journal.Event, node, part string) (bool, string) {
	if !c.leads(node, part) {
		return false, ""
	}
	hw, _ := c.num(node, part, "hw")
	maximal, _ := c.vals[journal.ReplicaKey(node, part, "maximalIsr")].(string)
	for _, id := range strings.Split(maximal, ",") {
		if leo, ok := c.num("b"+id, part, "leo"); ok && leo < hw {
			return true, fmt.Sprintf("%s: high watermark %d of %s is above log end %d of b%s", part, hw, node, leo, id)
		}
	}
	return true, ""
}

func (c *checker) hwMonotonic(_ *journal.Event, node, part string) (bool, string) {
	if !c.leads(node, part) {
		return false, ""
	}
	hw, _ := c.num(node, part, "hw")
	epoch, _ := c.num(node, part, "leaderEpoch")
	key := fmt.Sprintf("%s@%d", part, epoch)
	if old := c.hws[key]; hw < old {
		return true, fmt.Sprintf("%s: high watermark went from %d to %d in leader epoch %d", part, old, hw, epoch)
	}
	c.hws[key] = hw
	return true, ""
}

// matching: what a replica has below its high watermark is what every other has
// there.
func (c *checker) matching(_ *journal.Event, node, part string) (bool, string) {
	hw, ok := c.num(node, part, "hw")
	if !ok {
		return false, ""
	}
	key := journal.ReplicaKey(node, part, "log")
	known := c.ids[part]
	if known == nil {
		known = map[int64]string{}
		c.ids[part] = known
	}
	log, base := c.logs[key], c.base[key]
	// Older offsets were compared when the high watermark passed them.
	for off := max(base, hw-64); off < hw && off-base < int64(len(log)); off++ {
		id := log[off-base].ID
		if other, ok := known[off]; ok && other != id {
			return true, fmt.Sprintf("%s offset %d is %s on %s and was committed as %s", part, off, id, node, other)
		}
		known[off] = id
	}
	return true, ""
}
