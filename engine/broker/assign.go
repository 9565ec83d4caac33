package broker

import (
	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/assignor"
)

// assign runs a server-side assignor; false if there is none of this name.
func assign(name string, spec group.Spec) (map[string][]string, bool) {
	f, ok := assignor.Server(name)
	if !ok {
		return nil, false
	}
	in := assignor.Input{Topics: map[string]int32{}}
	for t, n := range spec.Topics {
		in.Topics[t] = int32(n)
	}
	for _, m := range spec.Members {
		x := assignor.Member{ID: m.ID, Instance: m.Instance, Topics: m.Topics, Generation: -1}
		for _, s := range m.Target {
			if p, ok := kafka.ParseTopicPartition(s); ok {
				x.Owned = append(x.Owned, p)
			}
		}
		in.Members = append(in.Members, x)
	}
	return f(in).Names(), true
}

// AssignAtRest computes the target of a group of the consumer protocol whose
// members have all joined.
func AssignAtRest(members []group.Formed, cfg *kafka.Config, partitions func(topic string) int) {
	spec := group.Spec{Topics: map[string]int{}}
	name := ""
	for _, m := range members {
		name = m.Assignor
		spec.Members = append(spec.Members, group.SpecMember{ID: m.ID, Instance: m.Instance, Topics: m.Topics})
		for _, t := range m.Topics {
			spec.Topics[t] = partitions(t)
		}
	}
	if name == "" {
		name = "uniform"
	}
	given, _ := assign(name, spec)
	for i := range members {
		members[i].Assignment = given[members[i].ID]
	}
}
