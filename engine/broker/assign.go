package broker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

func assign(name string, spec group.Spec) (map[string][]string, bool) {
	var free []string
	for _, t := range slices.Sorted(maps.Keys(spec.Topics)) {
		for p := range spec.Topics[t] {
			free = append(free, fmt.Sprint(t, "-", p))
		}
	}
	out := map[string][]string{}
	n := len(free)
	minQ, extra := n/len(spec.Members), n%len(spec.Members)
	quota := map[string]int{}
	for i, m := range spec.Members {
		q := minQ
		if extra > 0 && (len(m.Target) > minQ || extra >= len(spec.Members)-i) {
			q++
			extra--
		}
		quota[m.ID] = q
		keep := m.Target[:min(len(m.Target), q)]
		out[m.ID] = slices.Clone(keep)
		free = slices.DeleteFunc(free, func(p string) bool { return slices.Contains(keep, p) })
	}
	for _, m := range spec.Members {
		for len(out[m.ID]) < quota[m.ID] {
			out[m.ID] = append(out[m.ID], free[0])
			free = free[1:]
		}
	}
	return out, true
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
