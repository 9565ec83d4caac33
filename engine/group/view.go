package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// View is a group as an admin client describes it. Epochs are 0 where the
// protocol has none.
type View struct {
	Type                    string // "Classic" or "Consumer"
	State                   State
	Assignor                string
	GroupEpoch, TargetEpoch int32
	Offsets                 map[string]int64
	Members                 []MemberView // by client id
}

// MemberView is one of its members.
type MemberView struct {
	Client             string
	Assignment, Target []string
	Epoch              int32
}

// Describe looks at a group; false where there is none.
func (s *Shard) Describe(id string) (View, bool) {
	g := s.group(id)
	if g == nil {
		return View{}, false
	}
	v := View{Type: "Classic", State: Empty, Offsets: map[string]int64{}}
	for p, o := range g.offsets {
		v.Offsets[p] = o.Offset
	}
	switch {
	case g.classic != nil:
		v.State, v.Assignor = g.classic.state, g.classic.protocol
		for _, m := range g.classic.members {
			v.Members = append(v.Members, MemberView{Client: m.client, Assignment: sortParts(m.assignment)})
		}
	case g.consumer != nil:
		c := g.consumer
		v.Type, v.State, v.Assignor, v.GroupEpoch, v.TargetEpoch = "Consumer", c.state(), c.assignor, c.epoch, c.targetEpoch
		for _, m := range c.members {
			v.Members = append(v.Members, MemberView{m.client, sortParts(slices.Collect(maps.Keys(m.assigned))), sortParts(c.target[m.id]), m.epoch})
		}
	}
	slices.SortFunc(v.Members, func(a, b MemberView) int {
		if a.Client < b.Client {
			return -1
		}
		return 1
	})
	return v, true
}

// Formed is a member of a group that is at rest before the run.
type Formed struct {
	ID, Client, Instance             string
	SessionTimeout, RebalanceTimeout journal.Time
	Protocols                        []wire.JoinProtocol // classic
	Topics                           []string            // consumer
	Assignor                         string
	Assignment                       []string
}

// Choose is the protocol that members agree on.
func Choose(members []Formed) string {
	c := newClassic()
	for _, m := range members {
		c.add(&classicMember{id: m.ID, protocols: m.Protocols})
	}
	return c.choose()
}

// FormedClassic are the records of a stable classic group in its first
// generation; the first member leads it.
func FormedClassic(id, protocol string, members []Formed) []Record {
	c := newClassic()
	c.protocolType, c.protocol, c.generation = "consumer", protocol, 1
	given := map[string][]string{}
	for _, m := range members {
		c.add(&classicMember{id: m.ID, client: m.Client, instance: m.Instance, sessionTimeout: m.SessionTimeout, rebalanceTimeout: m.RebalanceTimeout, protocols: m.Protocols})
		given[m.ID] = m.Assignment
	}
	g := &group{id: id, classic: c}
	return []Record{g.metadataRecordWith(given)}
}

// FormedConsumer are the records of a stable group of the consumer protocol, at
// FormedEpoch.
func FormedConsumer(id string, members []Formed, partitions func(topic string) int) []Record {
	c := newConsumer()
	c.epoch = FormedEpoch
	for _, m := range members {
		x := &consumerMember{id: m.ID, client: m.Client, instance: m.Instance, topics: m.Topics, assignor: m.Assignor, rebalanceTimeout: m.RebalanceTimeout,
			epoch: c.epoch, previous: c.epoch, state: MemberStable, assigned: map[string]int32{}, pending: map[string]int32{}}
		for _, p := range m.Assignment {
			x.assigned[p] = c.epoch
		}
		c.members[m.ID], c.target[m.ID] = x, sortParts(m.Assignment)
	}
	s := &Shard{opt: Options{Partitions: partitions}}
	h := heartbeat{s: s, g: &group{id: id, consumer: c}}
	for _, m := range members {
		h.record(memberMetadata, m.ID, c.members[m.ID].metadata())
	}
	h.record(consumerMetadata, "", consumerMetadataValue{c.epoch, s.metadataHash(c.topics())})
	for _, m := range members {
		h.record(targetMember, m.ID, targetMemberValue{list(c.target[m.ID])})
	}
	h.record(targetMetadata, "", targetMetadataValue{c.epoch, 0})
	for _, m := range members {
		h.record(currentAssignment, m.ID, c.members[m.ID].current())
	}
	return h.records
}

// FormedEpoch is the epoch of a formed group of the consumer protocol: that of a
// group whose first member has just joined.
const FormedEpoch = 2
