package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// group is what coordinators say of a group.
type group struct {
	id       string
	protocol string
	epochs   map[string]int64 // generation, groupEpoch, targetEpoch
	members  map[string]*member
	order    []*member
	commits  map[int]bool // OffsetCommits on their way, by message: whether they may land
	touched  bool
}

// member is one member, by the name of its client.
type member struct {
	name       string
	state      string
	epoch      int64 // −1: it is no member
	assignment []string
	target     []string
	pending    []string // it has to give them back, and may still have them
}

func (c *checker) group(id string) *group {
	g := c.groups[id]
	if g == nil {
		g = &group{id: id, epochs: map[string]int64{}, members: map[string]*member{}, commits: map[int]bool{}}
		c.groups[id] = g
		c.groupOrder = append(c.groupOrder, g)
	}
	return g
}

func (g *group) member(name string) *member {
	m := g.members[name]
	if m == nil {
		m = &member{name: name, epoch: -1}
		g.members[name] = m
		g.order = append(g.order, m)
	}
	return m
}

// groupSlot is the place of a key of a group, and memberSlot that of one of its
// members.
func (c *checker) groupSlot(id, field string) slot {
	switch field {
	case "protocol":
		return slot{group: id, set: func(v any) { c.group(id).protocol, _ = v.(string) }}
	case "generation", "groupEpoch", "targetEpoch":
		return slot{group: id, set: func(v any) {
			g := c.group(id)
			if v == nil { // the group is gone, or its coordinator
				delete(g.epochs, field)
				return
			}
			old, known := g.epochs[field]
			now := number(v)
			c.holds(groupEpochs, !known || now >= old, func() string {
				return fmt.Sprintf("%s of group %s went from %d to %d", field, id, old, now)
			})
			g.epochs[field] = now
		}}
	}
	return slot{}
}

func (c *checker) memberSlot(id, name, field string) slot {
	at := func() *member { return c.group(id).member(name) }
	switch field {
	case "state":
		return slot{group: id, set: func(v any) { at().state, _ = v.(string) }}
	case "epoch":
		return slot{group: id, set: func(v any) {
			m := at()
			if v == nil {
				*m = member{name: name, epoch: -1}
				return
			}
			m.epoch = number(v)
		}}
	case "assignment":
		return slot{group: id, set: func(v any) { at().assignment, _ = v.([]string) }}
	case "target":
		return slot{group: id, set: func(v any) { at().target, _ = v.([]string) }}
	}
	return slot{}
}

// aboutGroups notes what an event says about groups beside their keys.
func (c *checker) aboutGroups(e *journal.Event) {
	switch e.Kind {
	case journal.CoordinatorLoad:
		// A new coordinator knows what was committed: a classic generation that was
		// opened and not stored is forgotten.
		if f, ok := e.F.(journal.Fields); ok {
			ids, _ := f.Get("groups").([]string)
			for _, id := range ids {
				c.group(id).epochs = map[string]int64{}
			}
		}
	case journal.GroupAssign:
		if f, ok := e.F.(journal.Fields); ok {
			name, _ := f.Get("member").(string)
			c.group(e.Group).member(name).pending, _ = f.Get("pendingRevocation").([]string)
		}
	case journal.RequestReceive:
		if q := c.request[e.Msg]; q != nil && e.API == string(kafka.OffsetCommit) {
			g := c.group(e.Group)
			g.commits[e.Msg] = g.mayCommit(q, e.From)
		}
	case journal.RequestSend:
		if q, ok := e.F.(*wire.OffsetCommitRequest); ok {
			c.request[e.Msg] = q
		}
	case journal.ResponseSend:
		if e.API == string(kafka.OffsetCommit) {
			c.commitAnswered(e)
		}
	case journal.ConsumerDeliver:
		c.delivered(e)
	}
}

// mayCommit says whether a commit that arrives now may land: it is of the present
// generation; or of no generation, in a group without members; or its member epoch
// is not ahead of the member's (KIP-1251 spares what is behind and harmless).
func (g *group) mayCommit(q *wire.OffsetCommitRequest, from string) bool {
	members := slices.ContainsFunc(g.order, func(m *member) bool { return m.epoch >= 0 })
	switch {
	case q.Epoch < 0:
		return !members
	case g.protocol == "classic":
		generation, known := g.epochs["generation"]
		return known && int64(q.Epoch) == generation
	case g.protocol == "consumer":
		m := g.members[from]
		return m != nil && int64(q.Epoch) <= m.epoch
	}
	return true // its coordinator has not loaded it
}

func (c *checker) commitAnswered(e *journal.Event) {
	g := c.group(e.Group)
	may, known := g.commits[e.Msg]
	delete(g.commits, e.Msg)
	r, ok := e.F.(*wire.OffsetCommitResponse)
	if !known || !ok {
		return
	}
	landed := slices.ContainsFunc(r.Parts, func(p wire.PartError) bool { return p.ErrorCode == kafka.None })
	c.holds(oldCommit, may || !landed, func() string {
		return fmt.Sprintf("a commit of %s for group %s is accepted, and its generation was not the group's", e.To, e.Group)
	})
}

// delivered: what a consumer is handed is below a high watermark that some replica
// has had.
func (c *checker) delivered(e *journal.Event) {
	p := c.parts[e.Part]
	f, ok := e.F.(journal.Fields)
	if p == nil || !ok {
		return
	}
	first, _ := f.Get("offset").(int64)
	ids, _ := f.Get("records").([]string)
	c.holds(belowHW, first+int64(len(ids)) <= p.top, func() string {
		return fmt.Sprintf("%s is handed offset %d of %s, and no high watermark was above %d", e.Node, first+int64(len(ids))-1, e.Part, p.top)
	})
}

// shared looks at who has what in a group.
func (c *checker) shared(g *group) {
	owner, target := map[string]string{}, map[string]string{}
	for _, m := range g.order {
		if m.epoch < 0 {
			continue
		}
		for _, p := range slices.Concat(m.assignment, m.pending) {
			other, taken := owner[p]
			c.holds(oneOwner, !taken || other == m.name, func() string {
				return fmt.Sprintf("%s and %s both have %s in group %s", other, m.name, p, g.id)
			})
			owner[p] = m.name
		}
		for _, p := range m.target {
			other, taken := target[p]
			c.holds(legal, !taken, func() string {
				return fmt.Sprintf("%s and %s both have %s as their target in group %s", other, m.name, p, g.id)
			})
			target[p] = m.name
		}
		if g.protocol == "consumer" && strings.EqualFold(m.state, "stable") && m.epoch == g.epochs["targetEpoch"] {
			c.holds(legal, sameSet(m.assignment, m.target), func() string {
				return fmt.Sprintf("%s of group %s is stable at the target epoch with %v, and its target is %v", m.name, g.id, m.assignment, m.target)
			})
		}
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
