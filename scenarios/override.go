package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/query"
)

// Apply returns a scenario with some settings changed; sc itself stays as it is.
// Keys apply in their alphabetical order, in which "*" comes before every name,
// so that a name wins over all.
func Apply(sc *Scenario, set map[string]string) (*Scenario, error) {
	if len(set) == 0 {
		return sc, nil
	}
	out := *sc
	out.Cluster = clone(&sc.Cluster)
	out.Set = maps.Clone(sc.Set)
	if out.Set == nil {
		out.Set = map[string]string{}
	}
	for _, key := range sortedKeys(set) {
		if err := override(&out.Cluster, key, set[key]); err != nil {
			return nil, &ErrOverride{key, err.Error()}
		}
		out.Set[key] = set[key]
	}
	if err := consistent(&out.Cluster); err != nil {
		return nil, err
	}
	return &out, nil
}

// clone copies what overrides change.
func clone(sc *cluster.Scenario) cluster.Scenario {
	c := *sc
	c.Config = maps.Clone(sc.Config)
	c.Features = maps.Clone(sc.Features)
	c.Nodes = maps.Clone(sc.Nodes)
	for k, v := range c.Nodes {
		c.Nodes[k] = maps.Clone(v)
	}
	c.Topics = slices.Clone(sc.Topics)
	for i := range c.Topics {
		c.Topics[i].Config = maps.Clone(c.Topics[i].Config)
	}
	c.Producers = slices.Clone(sc.Producers)
	for i := range c.Producers {
		c.Producers[i].Config = maps.Clone(c.Producers[i].Config)
	}
	c.Groups = slices.Clone(sc.Groups)
	for i := range c.Groups {
		g := &c.Groups[i]
		g.Config = maps.Clone(g.Config)
		g.Members = slices.Clone(g.Members)
		for k := range g.Members {
			g.Members[k].Config = maps.Clone(g.Members[k].Config)
		}
	}
	return c
}

func put(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

func override(sc *cluster.Scenario, key, val string) error {
	if key == "seed" {
		n, err := strconv.ParseUint(val, 10, 53)
		if err != nil {
			return fmt.Errorf("a seed is a whole number, not %q", val)
		}
		sc.Seed = n
		return nil
	}
	kind, rest, ok := strings.Cut(key, ".")
	if !ok || rest == "" {
		return unknownOverride(key)
	}
	switch kind {
	case "cluster":
		return overrideCluster(sc, rest, val)
	case "model":
		return overrideModel(&sc.Model, rest, val)
	case "topic":
		return overrideTopic(sc, rest, val)
	}
	who, name, ok := strings.Cut(rest, ".")
	if !ok || name == "" {
		return unknownOverride(key)
	}
	switch kind {
	case "producer":
		return overrideProducer(sc, who, name, val)
	case "broker":
		return overrideBroker(sc, who, name, val)
	case "member":
		return overrideMember(sc, who, name, val)
	case "group":
		return overrideGroup(sc, who, name, val)
	}
	return unknownOverride(key)
}

func unknownOverride(key string) error {
	return fmt.Errorf("an override is one of producer.<id>.<key>, topic.<name>.<key>, broker.<node>.<key>, member.<id>.<key>, group.<id>.<key>, " +
		"cluster.brokers, cluster.features.<name>, model.<name> or seed; * stands for all ids")
}

func settingError(scope, key, val string) error {
	if why, _ := checkSetting(scope, key, val); why != "" {
		return fmt.Errorf("%s", why)
	}
	return nil
}

func missing(kind, who string, all []string) error {
	return fmt.Errorf("there is no %s %s; known are %s", kind, who, strings.Join(append([]string{"*"}, all...), ", "))
}

func overrideProducer(sc *cluster.Scenario, who, key, val string) error {
	if err := settingError("producer", key, val); err != nil {
		return err
	}
	var ids []string
	hit := who == "*"
	for i := range sc.Producers {
		p := &sc.Producers[i]
		ids = append(ids, p.ID)
		if who == "*" || who == p.ID {
			hit = true
			put(&p.Config, key, val)
		}
	}
	if !hit {
		return missing("producer", who, ids)
	}
	return nil
}

func overrideTopic(sc *cluster.Scenario, rest, val string) error {
	best := -1
	var names []string
	for i, t := range sc.Topics {
		names = append(names, t.Name)
		if strings.HasPrefix(rest, t.Name+".") && (best < 0 || len(t.Name) > len(sc.Topics[best].Name)) {
			best = i
		}
	}
	all := strings.HasPrefix(rest, "*.")
	if best < 0 && !all {
		return missing("topic", rest, names)
	}
	for i := range sc.Topics {
		t := &sc.Topics[i]
		name := t.Name
		if all {
			name = "*"
		} else if i != best {
			continue
		}
		key := rest[len(name)+1:]
		if err := settingError("topic", key, val); err != nil {
			return err
		}
		put(&t.Config, key, val)
	}
	return nil
}

func overrideBroker(sc *cluster.Scenario, who, key, val string) error {
	if err := settingError("broker", key, val); err != nil {
		return err
	}
	if who == "*" {
		put(&sc.Config, key, val)
		for _, m := range sc.Nodes {
			delete(m, key)
		}
		return nil
	}
	if !slices.Contains(nodeNames(sc), who) {
		return missing("node", who, nodeNames(sc))
	}
	if sc.Nodes == nil {
		sc.Nodes = map[string]map[string]string{}
	}
	m := sc.Nodes[who]
	put(&m, key, val)
	sc.Nodes[who] = m
	return nil
}

func overrideMember(sc *cluster.Scenario, who, key, val string) error {
	if err := settingError("consumer", key, val); err != nil {
		return err
	}
	var ids []string
	hit := who == "*"
	for i := range sc.Groups {
		for k := range sc.Groups[i].Members {
			m := &sc.Groups[i].Members[k]
			ids = append(ids, m.ID)
			if who == "*" || who == m.ID {
				hit = true
				put(&m.Config, key, val)
			}
		}
	}
	if !hit {
		return missing("member", who, ids)
	}
	return nil
}

// overrideGroup sets what the coordinator reads for a group (GroupConfig). The
// simulation reads these from the brokers' settings, group.<key>, for all groups.
func overrideGroup(sc *cluster.Scenario, who, key, val string) error {
	var ids []string
	for _, g := range sc.Groups {
		ids = append(ids, g.ID)
	}
	if who != "*" && !slices.Contains(ids, who) {
		return missing("group", who, ids)
	}
	if why, _ := checkSetting("broker", "group."+key, val); why != "" {
		return fmt.Errorf("unknown group setting %s", key)
	}
	if who != "*" && len(ids) > 1 {
		return fmt.Errorf("settings of one group among several cannot be simulated yet; use group.*.%s", key)
	}
	put(&sc.Config, "group."+key, val)
	return nil
}

func overrideCluster(sc *cluster.Scenario, rest, val string) error {
	n, err := strconv.Atoi(val)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a whole number", val)
	}
	limit := func(name string, hi int) error {
		if n < 1 || n > hi {
			return fmt.Errorf("%s is from 1 to %d, not %d", name, hi, n)
		}
		return nil
	}
	switch {
	case rest == "brokers":
		sc.Brokers = n
		return limit(rest, maxBrokers)
	case rest == "controllers":
		sc.Ctrls = n
		return limit(rest, maxCtrls)
	case strings.HasPrefix(rest, "features."):
		name := rest[len("features."):]
		if !slices.Contains(features, name) {
			return fmt.Errorf("unknown feature %s; did you mean %s?", name, kafka.Nearest(name, features))
		}
		if err := featureLevel(name, n); err != nil {
			return err
		}
		if sc.Features == nil {
			sc.Features = map[string]int{}
		}
		sc.Features[name] = n
		return nil
	}
	return fmt.Errorf("unknown setting of the cluster; there are brokers, controllers and features.<name>")
}

func overrideModel(m *cluster.Model, name, val string) error {
	slots := map[string]*journal.Time{"net.broker": &m.NetBroker, "net.client": &m.NetClient, "append": &m.Append, "handle": &m.Handle, "apply": &m.Apply, "boot": &m.Boot}
	if name == "net.jitter" {
		n, err := parsePercent(val)
		if err != nil {
			return err
		}
		m.Jitter = n
		return nil
	}
	slot := slots[name]
	if slot == nil {
		return fmt.Errorf("unknown setting of the model; there are %s", strings.Join(append(sortedKeys(slots), "net.jitter"), ", "))
	}
	t, err := parseDuration(val)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	*slot = t
	return nil
}

// consistent finds what overrides broke between the parts of a scenario.
func consistent(sc *cluster.Scenario) error {
	for _, t := range sc.Topics {
		for _, rs := range t.Replicas {
			for _, id := range rs {
				if id > sc.Brokers {
					return &ErrOverride{"cluster.brokers", fmt.Sprintf("%s has a replica on broker %d, and there are %d brokers", t.Name, id, sc.Brokers)}
				}
			}
		}
		if t.Replication > sc.Brokers {
			return &ErrOverride{"cluster.brokers", fmt.Sprintf("%s has replication %d, and there are %d brokers", t.Name, t.Replication, sc.Brokers)}
		}
	}
	nodes := nodeNames(sc)
	for i, a := range sc.Actions {
		lists := slices.Clone(a.Replicas)
		for _, m := range a.Moves {
			lists = append(lists, m.To)
		}
		for _, id := range slices.Concat(lists...) {
			if id > sc.Brokers {
				return &ErrOverride{"cluster.brokers", fmt.Sprintf("action %d needs broker %d, and there are %d brokers", i+1, id, sc.Brokers)}
			}
		}
	}
	for i, a := range sc.Actions {
		for _, n := range slices.Concat([]string{a.Node}, a.From, a.To) {
			if nodePattern.MatchString(n) && !slices.Contains(nodes, n) {
				return &ErrOverride{"cluster", fmt.Sprintf("action %d needs node %s, which is not there any more", i+1, n)}
			}
		}
	}
	for _, p := range sc.Producers {
		if err := kafka.CheckProducer(kafka.NewConfig("producer", p.Config)); err != nil {
			return &ErrOverride{"producer." + p.ID, fmt.Sprintf("KafkaProducer refuses these settings: %v", err)}
		}
	}
	for _, g := range sc.Groups {
		for _, m := range g.Members {
			for _, part := range m.Assign {
				if t := query.TopicOf(part); query.Partitions(sc, t) == 0 {
					return &ErrOverride{"topic", fmt.Sprintf("%s reads %s, which is not there", m.ID, part)}
				}
			}
		}
	}
	return nil
}

// featureLevel says why a known feature cannot have this level.
func featureLevel(name string, level int) error {
	if slices.Contains(features, name) && name != image.ELRFeature {
		return fmt.Errorf("the level of %s is always that of Kafka 4.4; only %s can be set", name, image.ELRFeature)
	}
	if level > 1 {
		return fmt.Errorf("the level of %s is 0 (off) or 1, not %d", name, level)
	}
	return nil
}
