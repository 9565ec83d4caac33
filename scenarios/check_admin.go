package scenarios

import (
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/cluster"
)

// comingTopics declares what actions bring: topics that are created later, and
// partitions that are added.
func (c *checker) comingTopics() {
	for i := range c.f.Actions {
		f := &c.f.Actions[i]
		switch {
		case f.Do.s == "create-topic" && f.Topic.set && !slices.Contains(c.topics, f.Topic.s):
			c.topic(c.newTopic(f))
			c.sc.Topics[len(c.sc.Topics)-1].Later = true
		case f.Do.s == "add-partitions" && slices.Contains(c.topics, f.Topic.s):
			c.addParts(f.Topic.s, c.howMany(f))
		}
	}
}

func (c *checker) newTopic(f *actionFile) *topicFile {
	return &topicFile{Name: f.Topic, Partitions: f.Partitions, Replication: f.Replication, Replicas: f.Replicas, Config: f.Config}
}

// howMany is the number of partitions that a topic should have in all.
func (c *checker) howMany(f *actionFile) int {
	if len(f.To.list) == 1 {
		if n, err := strconv.Atoi(f.To.list[0].s); err == nil && n > 0 && n <= maxPartitions {
			return n
		}
	}
	return 0
}

// admin fills the actions that are requests of the admin client. What cannot be
// named at all is told here; what Kafka refuses is a matter of the run.
func (c *checker) admin(f *actionFile, a *cluster.Action, has map[string]pos) {
	switch f.Do.s {
	case "create-topic":
		c.need(f, has, "topic")
		t := cluster.Topic{}
		if slices.ContainsFunc(c.f.Topics, func(o topicFile) bool { return o.Name.s == f.Topic.s }) {
			c.replicas(c.newTopic(f), &t) // Kafka will refuse it, but it has to be one
			c.config("topic", f.Config)
		} else {
			for _, rs := range f.Replicas {
				t.Replicas = append(t.Replicas, brokerIDs(rs))
			}
		}
		a.Topic, a.Partitions, a.Replication, a.Replicas, a.Config = f.Topic.s, int(f.Partitions.n), int(f.Replication.n), t.Replicas, f.Config.strings()
	case "add-partitions":
		c.need(f, has, "topic", "to")
		c.known(f.Topic, "topic", c.topics)
		if f.To.set && c.howMany(f) == 0 {
			c.at(f.To.at, "to is how many partitions there should be in all, from 1 to %d", maxPartitions)
		}
		t := cluster.Topic{}
		c.replicas(&topicFile{Name: f.Topic, Replicas: f.Replicas}, &t)
		a.Topic, a.Partitions, a.Replicas = f.Topic.s, c.howMany(f), t.Replicas
	case "reassign":
		c.need(f, has, "to")
		if f.To.set && len(f.To.moves) == 0 {
			c.at(f.To.at, "to gives each partition its brokers, such as {orders-0: [3, 2]}, or cancel")
		}
		for _, m := range f.To.moves {
			c.part(m.part)
			a.Moves = append(a.Moves, cluster.Move{Part: m.part.s, To: c.brokers(m.to)})
		}
	case "elect":
		c.known(f.Type, "type of election", []string{"preferred", "unclean"})
		for _, p := range f.Parts.list {
			c.part(p)
		}
		a.Type, a.Parts = firstText(f.Type, text{s: "preferred"}), f.Parts.strings()
	case "config":
		c.settings(f, a, has)
	}
}

func brokerIDs(rs []number) (ids []int) {
	for _, r := range rs {
		ids = append(ids, int(r.n))
	}
	return ids
}

// brokers reads the target of a reassignment; nil cancels the one that runs.
func (c *checker) brokers(t texts) (ids []int) {
	if len(t.list) == 1 && t.list[0].s == "cancel" {
		return nil
	}
	if len(t.list) == 0 {
		c.at(t.at, "a partition moves to at least one broker; to stop a reassignment, write cancel")
	}
	for _, x := range t.list {
		n, err := strconv.Atoi(x.s)
		switch {
		case err != nil:
			c.at(x.at, "a broker is its number, not %q; to stop a reassignment, write cancel", x.s)
		case n < 1 || n > c.sc.Brokers:
			c.at(x.at, "there is no broker %d; brokers are 1 to %d", n, c.sc.Brokers)
		case slices.Contains(ids, n):
			c.at(x.at, "broker %d is listed twice for one partition", n)
		}
		ids = append(ids, n)
	}
	return ids
}

// settings is the action config. Clients read their configuration once, when they
// are made, so no running one takes another value.
func (c *checker) settings(f *actionFile, a *cluster.Action, has map[string]pos) {
	c.need(f, has, "key", "value")
	for _, x := range []struct {
		who  text
		kind string
	}{{f.Producer, "producer"}, {f.Member, "consumer"}} {
		if x.who.set {
			c.at(x.who.at, "a running %s keeps the settings that it was made with; kill it and let another come with the new ones", x.kind)
			return
		}
	}
	if f.Topic.set == f.Broker.set {
		c.at(f.Do.at, "config needs topic or broker, one of them")
		return
	}
	scope := "topic"
	if f.Broker.set {
		scope = "broker"
		if f.Broker.s != "*" {
			c.known(f.Broker, "broker", c.nodes[:c.sc.Brokers])
		}
	}
	c.known(f.Topic, "topic", c.topics)
	a.Topic, a.Node = f.Topic.s, f.Broker.s
	a.Config = c.config(scope, settings{list: []setting{{f.Key, f.Value}}})
}
