package web

import (
	"maps"
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// setting is a key that is not as Kafka has it by default: key, value, default, meaning.
type setting [4]string

// settingsOf are the settings of a run that are not Kafka's defaults, by the node,
// topic, producer, group or member that has them; "*" has those of all nodes.
func settingsOf(r *Run) map[string][]setting {
	all := map[string][]setting{}
	add := func(who, scope string, sets map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(sets)) {
			d, known := kafka.LookupConfig(scope, key)
			if known && sets[key] != d.Default {
				all[who] = append(all[who], setting{key, sets[key], d.Default, d.Doc})
			}
		}
	}
	sc := r.Scenario
	if sc == nil {
		return all
	}
	add("*", "broker", sc.Config)
	for _, name := range slices.Sorted(maps.Keys(sc.Features)) {
		all["*"] = append(all["*"], setting{name, strconv.Itoa(sc.Features[name]), "1", "The level of a feature of the cluster; 0 is without it."})
	}
	for _, node := range slices.Sorted(maps.Keys(sc.Nodes)) {
		add(node, "broker", sc.Nodes[node])
	}
	for _, t := range sc.Topics {
		add(t.Name, "topic", t.Config)
	}
	for _, p := range sc.Producers {
		add(p.ID, "producer", p.Config)
	}
	for _, g := range sc.Groups {
		add(g.ID, "consumer", g.Config)
		for _, m := range g.Members {
			sets := maps.Clone(g.Config)
			if sets == nil {
				sets = map[string]string{}
			}
			maps.Copy(sets, m.Config)
			add(m.ID, "consumer", sets)
		}
	}
	return all
}
