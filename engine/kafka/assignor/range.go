package assignor

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Range gives each member, topic by topic, a run of consecutive partitions; the
// first members get one more where the division leaves a rest (RangeAssignor).
// Where members and replicas have racks, partitions with a replica in a member's
// rack come first, the same partitions of co-partitioned topics together
// (KIP-881).
func Range(in Input) Assignment {
	out := in.empty()
	var topics []*rangeTopic
	aware := false
	for _, topic := range slices.Sorted(maps.Keys(in.Topics)) {
		t := newRangeTopic(in, topic)
		topics = append(topics, t)
		aware = aware || t.aware
	}
	if aware {
		matchRacks(topics, out)
	}
	for _, t := range topics {
		t.deal(out, func(Member, kafka.TopicPartition) bool { return true })
	}
	if aware {
		for _, ps := range out {
			slices.SortFunc(ps, byTopic)
		}
	}
	return out
}

// ServerRange is the range assignor of the group coordinator: as Range, without
// racks, and not sticky (org.apache.kafka.coordinator.group.assignor.RangeAssignor).
func ServerRange(in Input) Assignment {
	in.Racks = nil
	return Range(in)
}

type rangeTopic struct {
	name    string
	members []Member // that subscribe, in order
	left    []kafka.TopicPartition
	given   map[string]int
	each    int // partitions a member
	extra   int // members that may still get one more
	racks   map[kafka.TopicPartition][]string
	aware   bool
}

func newRangeTopic(in Input, topic string) *rangeTopic {
	t := &rangeTopic{name: topic, given: map[string]int{}}
	for _, m := range inOrder(in.Members) {
		if slices.Contains(m.Topics, topic) {
			t.members = append(t.members, m)
		}
	}
	n := in.Topics[topic]
	for p := range n {
		t.left = append(t.left, kafka.TopicPartition{Topic: topic, Partition: p})
	}
	if len(t.members) > 0 {
		t.each, t.extra = int(n)/len(t.members), int(n)%len(t.members)
	}
	t.useRacks(in)
	return t
}

// useRacks says whether racks can make a difference: some member's rack holds a
// replica, and not every partition has replicas in the same racks.
func (t *rangeTopic) useRacks(in Input) {
	var members, all []string
	for _, m := range t.members {
		if m.Rack != "" {
			members = append(members, m.Rack)
		}
	}
	if len(members) == 0 {
		return
	}
	t.racks = map[kafka.TopicPartition][]string{}
	for _, p := range t.left {
		racks := slices.Compact(slices.Sorted(slices.Values(in.Racks[p])))
		t.racks[p] = racks
		all = append(all, racks...)
	}
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if !slices.ContainsFunc(members, func(r string) bool { return slices.Contains(all, r) }) {
		return
	}
	t.aware = slices.ContainsFunc(t.left, func(p kafka.TopicPartition) bool { return !slices.Equal(t.racks[p], all) })
}

// local says whether the member may take the partition as one of its rack; a
// member without rack may take any.
func (t *rangeTopic) local(m Member, p kafka.TopicPartition) bool {
	return m.Rack == "" || slices.Contains(t.racks[p], m.Rack)
}

func (t *rangeTopic) room(m Member) int {
	n := t.each - t.given[m.ID]
	if t.extra > 0 {
		n++
	}
	return max(n, 0)
}

func (t *rangeTopic) deal(out Assignment, may func(Member, kafka.TopicPartition) bool) {
	for _, m := range t.members {
		var take []kafka.TopicPartition
		for _, p := range t.left {
			if len(take) < t.room(m) && may(m, p) {
				take = append(take, p)
			}
		}
		t.give(out, m, take...)
	}
}

func (t *rangeTopic) give(out Assignment, m Member, ps ...kafka.TopicPartition) {
	if len(ps) == 0 {
		return
	}
	out[m.ID] = append(out[m.ID], ps...)
	t.given[m.ID] += len(ps)
	if t.given[m.ID] > t.each {
		t.extra--
	}
	t.left = slices.DeleteFunc(t.left, func(p kafka.TopicPartition) bool { return slices.Contains(ps, p) })
}

// matchRacks gives what is in the racks of members. Topics with the same
// subscribers and the same number of partitions are co-partitioned: a member
// takes partition p of all of them or of none.
func matchRacks(topics []*rangeTopic, out Assignment) {
	for i, t := range topics {
		together := func(o *rangeTopic) bool {
			return len(o.left)+sum(o.given) == len(t.left)+sum(t.given) &&
				slices.EqualFunc(o.members, t.members, func(a, b Member) bool { return a.ID == b.ID })
		}
		if slices.ContainsFunc(topics[:i], together) {
			continue
		}
		group := slices.DeleteFunc(slices.Clone(topics[i:]), func(o *rangeTopic) bool { return !together(o) })
		if len(group) > 1 {
			matchCoPartitioned(group, out)
		} else if t.aware {
			t.deal(out, t.local)
		}
	}
}

func sum(of map[string]int) (n int) {
	for _, x := range of {
		n += x
	}
	return n
}

func matchCoPartitioned(group []*rangeTopic, out Assignment) {
	for p := range int32(len(group[0].left)) {
		for _, m := range group[0].members {
			fits := true
			for _, t := range group {
				fits = fits && t.room(m) > 0 && t.local(m, kafka.TopicPartition{Topic: t.name, Partition: p})
			}
			if fits {
				for _, t := range group {
					t.give(out, m, kafka.TopicPartition{Topic: t.name, Partition: p})
				}
				break
			}
		}
	}
}
