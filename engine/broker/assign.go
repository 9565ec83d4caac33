package broker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/group"
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
	for _, m := range spec.Members {
		q := n / len(spec.Members)
		keep := m.Target[:min(len(m.Target), q)]
		out[m.ID] = slices.Clone(keep)
		free = slices.DeleteFunc(free, func(p string) bool { return slices.Contains(keep, p) })
	}
	for _, m := range spec.Members {
		for len(out[m.ID]) < n/len(spec.Members) {
			out[m.ID] = append(out[m.ID], free[0])
			free = free[1:]
		}
	}
	return out, true
}
