package assignor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Uniform is the default assignor of the group coordinator (UniformAssignor). It
// keeps what members have as far as their quota goes and deals the rest in runs,
// in the order of Members; Member.Owned is the last target.
func Uniform(in Input) Assignment {
	if len(in.Members) == 0 {
		return Assignment{}
	}
	first := topicSet(in.Members[0].Topics)
	for _, m := range in.Members[1:] {
		if !slices.Equal(first, topicSet(m.Topics)) {
			return newUneven(in).assign()
		}
	}
	return even(in, first)
}

func topicSet(topics []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(topics)))
}

// inTopicOrder returns the known ones of these topics in the order of in.Order.
func (in Input) inTopicOrder(topics []string) []string {
	place := func(t string) int {
		if i := slices.Index(in.Order, t); i >= 0 {
			return i
		}
		return len(in.Order)
	}
	known := slices.DeleteFunc(slices.Clone(topics), func(t string) bool { return in.Topics[t] == 0 })
	slices.SortFunc(known, func(a, b string) int { return cmp.Or(place(a)-place(b), cmp.Compare(a, b)) })
	return known
}

// even serves members with the same subscription
// (UniformHomogeneousAssignmentBuilder): each may have its share, and one more
// while partitions are left over; a member that has no use for the one more
// leaves it to a later one if there are enough of them.
func even(in Input, topics []string) Assignment {
	out := in.empty()
	order := in.inTopicOrder(topics)
	owned := map[kafka.TopicPartition]bool{}
	for _, m := range in.Members {
		for _, p := range m.Owned {
			owned[p] = true
		}
	}
	var free, revoked []kafka.TopicPartition
	total := 0
	for _, t := range order {
		for p := range in.Topics[t] {
			if tp := (kafka.TopicPartition{Topic: t, Partition: p}); !owned[tp] {
				free = append(free, tp)
			}
		}
		total += int(in.Topics[t])
	}
	each, extra := total/len(in.Members), total%len(in.Members)
	room := make([]int, len(in.Members))
	for i, m := range in.Members {
		quota, more := each, extra > 0
		if more {
			quota++
			extra--
		}
		for _, p := range m.Owned {
			switch {
			case p.Partition >= in.Topics[p.Topic] || !slices.Contains(order, p.Topic):
			case quota > 0:
				quota--
				out[m.ID] = append(out[m.ID], p)
			default:
				revoked = append(revoked, p)
			}
		}
		if more && quota > 0 && extra+1 < len(in.Members)-i {
			quota--
			extra++
		}
		room[i] = quota
	}
	free = append(free, revoked...)
	for i, m := range in.Members {
		n := min(room[i], len(free))
		out[m.ID] = append(out[m.ID], free[:n]...)
		free = free[n:]
	}
	return out
}

// uneven serves members with different subscriptions
// (UniformHeterogeneousAssignmentBuilder).
type uneven struct {
	in     Input
	topics []string         // the hardest to balance first
	subs   map[string][]int // members by topic
	owner  map[kafka.TopicPartition]int
	size   []int
}

func newUneven(in Input) *uneven {
	u := &uneven{in: in, subs: map[string][]int{}, owner: map[kafka.TopicPartition]int{}, size: make([]int, len(in.Members))}
	for i, m := range in.Members {
		for _, t := range topicSet(m.Topics) {
			if in.Topics[t] > 0 {
				u.subs[t] = append(u.subs[t], i)
			}
		}
	}
	u.topics = in.inTopicOrder(slices.Collect(maps.Keys(u.subs)))
	// Many partitions for few members come first.
	slices.SortStableFunc(u.topics, func(a, b string) int {
		na, nb := len(u.subs[a]), len(u.subs[b])
		return cmp.Or(int(in.Topics[b])*na-int(in.Topics[a])*nb, na-nb)
	})
	for i, m := range in.Members {
		for _, p := range m.Owned {
			if slices.Contains(u.subs[p.Topic], i) && p.Partition < in.Topics[p.Topic] {
				u.give(p, i)
			}
		}
	}
	return u
}

func (u *uneven) give(p kafka.TopicPartition, member int) {
	if old, ok := u.owner[p]; ok {
		u.size[old]--
	}
	u.owner[p] = member
	u.size[member]++
}

func (u *uneven) assign() Assignment {
	for _, t := range u.topics {
		least := u.newLeast(u.subs[t])
		for p := range u.in.Topics[t] {
			tp := kafka.TopicPartition{Topic: t, Partition: p}
			if _, ok := u.owner[tp]; !ok {
				u.give(tp, least.next())
			}
		}
	}
	u.balance()
	out := u.in.empty()
	for _, t := range u.in.inTopicOrder(u.topics) {
		for p := range u.in.Topics[t] {
			tp := kafka.TopicPartition{Topic: t, Partition: p}
			id := u.in.Members[u.owner[tp]].ID
			out[id] = append(out[id], tp)
		}
	}
	return out
}

// balance moves partitions topic by topic until a whole round moves none, at
// most 16 rounds (MAX_ITERATION_COUNT).
func (u *uneven) balance() {
	topics := slices.DeleteFunc(slices.Clone(u.topics), func(t string) bool { return len(u.subs[t]) < 2 })
	last := -1
	for range 16 {
		for i, t := range topics {
			if i == last {
				return
			}
			if u.balanceTopic(t) > 0 || last < 0 {
				last = i
			}
		}
	}
}

// balanceTopic takes partitions of the topic from its most loaded subscribers,
// the highest first, and gives each to the least loaded one, until they differ by
// one at most or those that have more own nothing of this topic.
func (u *uneven) balanceTopic(topic string) (moved int) {
	least, most := u.newLeast(u.subs[topic]), u.newMost(u.subs[topic])
	if least.spread() <= 1 {
		return 0
	}
	mine := map[int][]int32{}
	for p := range u.in.Topics[topic] {
		o := u.owner[kafka.TopicPartition{Topic: topic, Partition: p}]
		mine[o] = append(mine[o], p)
	}
	for most.level-least.level > 1 {
		from, ok := most.next(func(m int) bool { return len(mine[m]) > 0 })
		if !ok {
			break
		}
		p := mine[from][len(mine[from])-1]
		mine[from] = mine[from][:len(mine[from])-1]
		to := least.next()
		if most.level-least.level <= 1 {
			break
		}
		u.give(kafka.TopicPartition{Topic: topic, Partition: p}, to)
		moved++
	}
	return moved
}

func (u *uneven) sorted(members []int) []int {
	return slices.SortedStableFunc(slices.Values(members), func(a, b int) int { return cmp.Or(u.size[a]-u.size[b], a-b) })
}

// least goes through members as if each that it names got a partition: round
// after round over all that are level with the smallest.
type least struct {
	u       *uneven
	members []int
	from    []int // their sizes at the start
	level   int
	end, at int
}

func (u *uneven) newLeast(members []int) *least {
	l := &least{u: u, members: u.sorted(members)}
	for _, m := range l.members {
		l.from = append(l.from, u.size[m])
	}
	l.level = l.from[0] - 1
	return l
}

func (l *least) spread() int { return l.from[len(l.from)-1] - l.from[0] }

func (l *least) next() int {
	if l.at >= l.end {
		l.level++
		for l.end < len(l.members) && l.u.size[l.members[l.end]] == l.level {
			l.end++
		}
		l.at = 0
	}
	l.at++
	return l.members[l.at-1]
}

// most goes through members as if each that it names lost a partition: round
// after round over all that are level with the largest. Members that have nothing
// to give are put behind end.
type most struct {
	u              *uneven
	members        []int
	level          int
	start, end, at int
}

func (u *uneven) newMost(members []int) *most {
	m := &most{u: u, members: u.sorted(members)}
	n := len(m.members)
	m.start, m.end, m.at = n, n, n-1
	m.level = u.size[m.members[n-1]] + 1
	return m
}

func (m *most) next(may func(int) bool) (int, bool) {
	for {
		if m.at < m.start {
			if m.end <= m.start && m.start > 0 {
				m.level = m.u.size[m.members[m.start-1]]
			} else {
				m.level--
			}
			for m.start > 0 && m.u.size[m.members[m.start-1]] == m.level {
				m.start--
			}
			m.at = m.end - 1
		}
		if m.at < 0 {
			return 0, false
		}
		member := m.members[m.at]
		if may(member) {
			m.at--
			return member, true
		}
		m.end--
		m.members[m.at], m.members[m.end] = m.members[m.end], m.members[m.at]
		m.at--
	}
}
