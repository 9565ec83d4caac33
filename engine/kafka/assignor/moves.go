package assignor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// moves is AbstractStickyAssignor.GeneralAssignmentBuilder: members with
// different subscriptions. Who has least gets what is free; then partitions move
// from a member to another one with at least two fewer, until none can.
type moves struct {
	in      Input
	subs    map[string][]string // members by topic, in hash order
	all     []kafka.TopicPartition
	has     Assignment
	owner   map[kafka.TopicPartition]string
	before  map[kafka.TopicPartition]string // owners by an older generation
	fixed   map[string]bool                 // members that cannot take part
	retract bool                            // someone has lost a topic that it owned partitions of
	moved   movements
}

func newMoves(in Input, owned Assignment, newest int32) *moves {
	m := &moves{in: in, subs: map[string][]string{}, has: in.empty(), owner: map[kafka.TopicPartition]string{}, before: map[kafka.TopicPartition]string{},
		fixed: map[string]bool{}, moved: movements{pair: map[kafka.TopicPartition]pair{}, by: map[string]map[pair][]kafka.TopicPartition{}}}
	since := map[kafka.TopicPartition]int32{}
	for _, x := range in.Members {
		for _, t := range topicSet(x.Topics) {
			if _, ok := in.Topics[t]; ok {
				m.subs[t] = append(m.subs[t], x.ID)
			}
		}
		if x.Generation < newest {
			for _, p := range x.Owned {
				if g, ok := since[p]; !ok || x.Generation > g {
					since[p], m.before[p] = x.Generation, x.ID
				}
			}
		}
	}
	topics := slices.SortedFunc(maps.Keys(in.Topics), func(a, b string) int {
		return cmp.Or(len(m.subs[a])-len(m.subs[b]), cmp.Compare(a, b))
	})
	for _, t := range topics {
		for p := range in.Topics[t] {
			m.all = append(m.all, kafka.TopicPartition{Topic: t, Partition: p})
		}
	}
	for _, x := range in.Members {
		for _, p := range owned[x.ID] {
			if !m.wants(x.ID, p.Topic) {
				m.retract = true
			} else {
				m.give(p, x.ID)
			}
		}
	}
	return m
}

func (m *moves) wants(id, topic string) bool { return slices.Contains(m.subs[topic], id) }

func (m *moves) give(p kafka.TopicPartition, id string) {
	m.has[id] = append(m.has[id], p)
	m.owner[p] = id
}

// smallest are the members that take part, those with the fewest partitions
// first.
func (m *moves) smallest() []string {
	var ids []string
	for _, x := range m.in.Members {
		if !m.fixed[x.ID] {
			ids = append(ids, x.ID)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(len(m.has[a])-len(m.has[b]), cmp.Compare(a, b)) })
	return ids
}

func (m *moves) smallestFor(topic string) string {
	for _, id := range m.smallest() {
		if m.wants(id, topic) {
			return id
		}
	}
	return ""
}

func (m *moves) assign() Assignment {
	fresh := len(m.owner) == 0
	var free []kafka.TopicPartition
	for _, p := range m.all {
		if _, ok := m.owner[p]; ok {
			continue
		}
		if id := m.smallestFor(p.Topic); id != "" {
			m.give(p, id)
		}
		free = append(free, p)
	}
	alone := func(p kafka.TopicPartition) bool { return len(m.subs[p.Topic]) < 2 }
	movable := slices.DeleteFunc(slices.Clone(m.all), alone)
	free = slices.DeleteFunc(free, alone)
	for _, x := range m.in.Members {
		if len(m.has[x.ID]) == m.most(x.ID) && !slices.ContainsFunc(m.has[x.ID], func(p kafka.TopicPartition) bool { return !alone(p) }) {
			m.fixed[x.ID] = true
		}
	}
	has := Assignment{}
	for id, ps := range m.has {
		has[id] = slices.Clone(ps)
	}
	score := m.score()
	if !m.retract {
		m.pass(free)
	}
	if m.pass(movable) && !fresh && m.score() >= score {
		return has // it took moves and brought nothing
	}
	return m.has
}

// most is the number of partitions that a member would have if it had all of its
// topics.
func (m *moves) most(id string) (n int) {
	for t, ids := range m.subs {
		if slices.Contains(ids, id) {
			n += int(m.in.Topics[t])
		}
	}
	return n
}

// score is the sum of the differences between members, two by two: 0 is perfect.
func (m *moves) score() (n int) {
	ids := m.smallest()
	for i, a := range ids {
		for _, b := range ids[i+1:] {
			n += len(m.has[b]) - len(m.has[a])
		}
	}
	return n
}

// balanced says that no partition can go to a member that has at least two fewer
// than its owner.
func (m *moves) balanced() bool {
	ids := m.smallest()
	if len(m.has[ids[0]]) >= len(m.has[ids[len(ids)-1]])-1 {
		return true
	}
	for _, id := range ids {
		for t, subs := range m.subs {
			if !slices.Contains(subs, id) {
				continue
			}
			for p := range m.in.Topics[t] {
				if other := m.owner[kafka.TopicPartition{Topic: t, Partition: p}]; other != id && len(m.has[id])+1 < len(m.has[other]) {
					return false
				}
			}
		}
	}
	return true
}

// pass moves what can go to a smaller member, again and again until nothing
// moves; a partition goes back to its owner of an older generation if that one is
// smaller.
func (m *moves) pass(ps []kafka.TopicPartition) (any bool) {
	for again := true; again; {
		again = false
		for _, p := range ps {
			if m.balanced() {
				break
			}
			from := m.owner[p]
			if to, ok := m.before[p]; ok && len(m.has[from]) > len(m.has[to])+1 {
				m.move(p, to)
				again = true
				continue
			}
			if slices.ContainsFunc(m.subs[p.Topic], func(to string) bool { return len(m.has[from]) > len(m.has[to])+1 }) {
				m.move(p, m.smallestFor(p.Topic))
				again = true
			}
		}
		any = any || again
	}
	return any
}

// move brings a partition to a member; if another partition of the topic has come
// the other way before, that one goes back instead.
func (m *moves) move(p kafka.TopicPartition, to string) {
	p = m.moved.instead(p, m.owner[p], to)
	from := m.owner[p]
	m.moved.add(p, from, to)
	m.has[from] = without(m.has[from], p)
	m.give(p, to)
}

type pair struct{ from, to string }

// movements are those of this assignment (AbstractStickyAssignor.PartitionMovements).
type movements struct {
	pair map[kafka.TopicPartition]pair
	by   map[string]map[pair][]kafka.TopicPartition
}

func (v *movements) add(p kafka.TopicPartition, from, to string) {
	if old, ok := v.pair[p]; ok {
		delete(v.pair, p)
		v.by[p.Topic][old] = without(v.by[p.Topic][old], p)
		if from = old.from; from == to {
			return // it is back where it was
		}
	}
	now := pair{from, to}
	v.pair[p] = now
	if v.by[p.Topic] == nil {
		v.by[p.Topic] = map[pair][]kafka.TopicPartition{}
	}
	v.by[p.Topic][now] = append(v.by[p.Topic][now], p)
}

func (v *movements) instead(p kafka.TopicPartition, from, to string) kafka.TopicPartition {
	if old, ok := v.pair[p]; ok {
		from = old.from
	}
	back := v.by[p.Topic][pair{to, from}]
	if len(back) == 0 {
		return p
	}
	return hashOrder(back, partitionHash)[0]
}
