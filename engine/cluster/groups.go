package cluster

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/client"
	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// resting are the members that are in a group at a formed start, with what each
// has been assigned.
type resting struct {
	protocol string // "classic" or "consumer"
	members  map[string]group.Formed
}

// subscribed are the members of a group that are there from the start and share
// its topics by a group protocol.
func (g *Group) subscribed() []*Member {
	var ms []*Member
	for i := range g.Members {
		if m := &g.Members[i]; m.At == nil && !m.Absent && len(m.Assign) == 0 {
			ms = append(ms, m)
		}
	}
	return ms
}

// formGroups puts the groups at rest into the preload of __consumer_offsets, as
// their coordinator would have written them.
func (r *run) formGroups(preload map[string][]replica.Batch) error {
	partitions := func(topic string) int {
		if t := r.img.Topics[topic]; t != nil {
			return len(t.Parts)
		}
		return 0
	}
	for i := range r.sc.Groups {
		g := &r.sc.Groups[i]
		ms := g.subscribed()
		if len(ms) == 0 {
			continue
		}
		if partitions(broker.OffsetsTopic) == 0 {
			return fmt.Errorf("group %s cannot have members from the start: there is no %s to keep them in (it comes later, or offsets.topic.replication.factor is larger than the number of brokers). Give each member a time, at", g.ID, broker.OffsetsTopic)
		}
		rest := &resting{protocol: r.config("consumer", g.Config, ms[0].Config).String("group.protocol"), members: map[string]group.Formed{}}
		r.resting[g.ID] = rest
		var members []group.Formed
		for _, m := range ms {
			members = append(members, client.FormedGroupMember(m.ID, r.memberID(m.ID), r.config("consumer", g.Config, m.Config), g.Topics))
		}
		var records []group.Record
		if rest.protocol == "consumer" {
			broker.AssignAtRest(members, r.config("broker", r.sc.Config), partitions)
			records = group.FormedConsumer(g.ID, members, partitions)
		} else {
			protocol := client.AssignAtRest(members, partitions)
			records = group.FormedClassic(g.ID, protocol, members)
		}
		for _, m := range members {
			rest.members[m.Client] = m
		}
		part := image.Name(broker.OffsetsTopic, int(kafka.PartitionFor(g.ID, int32(partitions(broker.OffsetsTopic)))))
		b := broker.RecordBatch(r.w, records)
		for _, old := range preload[part] {
			b.Base = old.Base + int64(len(old.IDs))
		}
		preload[part] = append(preload[part], b)
	}
	return nil
}

// newConsumer makes a member's consumer in its process.
func (r *run) newConsumer(g *Group, m *Member, p *sim.Process, more map[string]string) *client.Consumer {
	c := client.NewConsumer(r.w, p, client.Options{ID: m.ID, Group: g.ID, Config: r.config("consumer", g.Config, m.Config, more), Topics: g.Topics, Assign: m.Assign,
		Poll: m.Poll, Work: m.Work, Commit: m.Commit, Brokers: r.brokerNames(), NewID: r.memberID})
	r.cons[m.ID] = c
	return c
}

// formedMember is a consumer that has read what was preloaded, is a stable
// member of its group and waits with a Fetch at each leader.
func (r *run) formedMember(g *Group, m *Member, c *client.Consumer, in func(journal.Time) journal.Time) (parked []string) {
	assigned := m.Assign
	if f, ok := r.resting[g.ID]; ok && len(m.Assign) == 0 {
		x := f.members[m.ID]
		assigned = x.Assignment
		epoch, beat := int32(1), journal.Millis(r.config("consumer", g.Config, m.Config).Millis("heartbeat.interval.ms"))
		if f.protocol == "consumer" {
			epoch, beat = group.FormedEpoch, in(journal.Millis(r.config("broker", r.sc.Config).Millis("group.consumer.heartbeat.interval.ms")))
		}
		c.FormedMember(epoch, x.ID, assigned, beat)
	}
	positions := map[string]int64{}
	for _, part := range assigned {
		if b := r.brokers[r.img.Partition(part).Leader]; b != nil {
			positions[part], _ = b.ConsumersEnd(part)
		}
	}
	topics := slices.Clone(g.Topics)
	for _, part := range m.Assign {
		if t, _ := image.Split(part); !slices.Contains(topics, t) {
			topics = append(topics, t)
		}
	}
	c.Formed(r.metadataOf(topics), positions, r.coordinator(g.ID))
	if ms := g.subscribed(); len(ms) > 0 && ms[0].ID == m.ID {
		c.FormedLeader(g.Topics)
	}
	for _, f := range c.FormedFetches() {
		b := r.brokers[f.Leader]
		f.Opened(b.ParkConsumer(f.Conn, f.Call, f.Parts, in(500*journal.Millisecond)))
		parked = append(parked, "Fetch "+m.ID+"→"+b.Name())
	}
	return parked
}

// memberOf finds a member of the scenario.
func (r *run) memberOf(id string) (*Group, *Member) {
	for i := range r.sc.Groups {
		g := &r.sc.Groups[i]
		for k := range g.Members {
			if g.Members[k].ID == id {
				return g, &g.Members[k]
			}
		}
	}
	return nil, nil
}

// consumerAct is what an application does with its consumer; what is asked of one
// that is not there happens to nobody.
func (r *run) consumerAct(a *Action) {
	if r.running(a.By) == (a.Do == "join") {
		r.action("nothing", a.By, journal.F("instead", a.Do))
		return
	}
	f := journal.F()
	switch a.Do {
	case "commit":
		f = journal.F("offsets", len(a.Offsets))
	case "seek":
		f = journal.F("part", a.Parts, "offset", a.Offset)
	case "stall":
		f = journal.F("forMs", int64(a.For/journal.Millisecond))
	case "pause-partitions", "resume-partitions", "assign":
		f = journal.F("parts", a.Parts)
	case "subscribe":
		f = journal.F("topics", a.Topics)
	}
	n := r.action(a.Do, a.By, f)
	r.w.Because(n, func() { r.consume(a) })
}

func (r *run) consume(a *Action) {
	c := r.cons[a.By]
	switch a.Do {
	case "commit":
		c.Commit(a.Offsets)
	case "seek":
		for _, p := range a.Parts {
			c.Seek(p, a.Offset)
		}
	case "stall":
		c.Stall(a.For)
	case "pause-partitions":
		c.Pause(a.Parts)
	case "resume-partitions":
		c.Resume(a.Parts)
	case "subscribe":
		c.Subscribe(a.Topics)
	case "assign":
		c.Assign(a.Parts)
	case "leave":
		c.Close(func() { r.finish(a.By, journal.NodeStop, sim.Stopped) })
	case "join":
		r.join(a)
	}
}

// join starts a member's process: for the first time, or again.
func (r *run) join(a *Action) {
	g, m := r.memberOf(a.By)
	p := r.process(a.By)
	if p == nil {
		p = r.w.AddProcess(a.By, true, nil)
	} else {
		p.Start(nil)
	}
	n := r.w.Emit(journal.Event{Kind: journal.NodeStart, Node: a.By, Ch: []journal.Change{{Key: journal.NodeKey(a.By, "state"), Val: string(sim.Running)}}})
	p.Ready()
	c := r.newConsumer(g, m, p, a.Config)
	r.w.Because(n, c.Start)
}
