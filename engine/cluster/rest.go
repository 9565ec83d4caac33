package cluster

import (
	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/client"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// rest puts everything into the resting state and writes it as event 1.
func (r *run) rest() error {
	phase := r.w.Stream("", "phase")
	var parked []string
	in := func(d journal.Time) journal.Time { return 1 + journal.Time(phase.Intn(int64(d))) }
	for _, c := range r.ctrls {
		parked = append(parked, c.ParkFetches(r.ctrls[0], in(500*journal.Millisecond))...)
	}
	for _, id := range r.ids {
		b := r.brokers[id]
		r.ctrls[0].Park(b.ParkMetadataFetch(), in(500*journal.Millisecond))
		parked = append(parked, "Fetch "+b.Name()+"→c1")
		parked = append(parked, b.ParkFetches(r.brokers, func() journal.Time { return in(500 * journal.Millisecond) })...)
	}
	parked = append(parked, r.formedClients(in)...)
	r.boot(parked)
	for _, c := range r.ctrls {
		c.Start()
	}
	for _, id := range r.ids {
		r.brokers[id].Run(in(2 * journal.Second))
	}
	for _, p := range r.sc.Producers {
		if p.At == nil {
			r.prods[p.ID].Resume()
		}
	}
	return nil
}

// metadataOf is what a client that has just asked knows.
func (r *run) metadataOf(topics []string) []wire.MetadataPart {
	var parts []wire.MetadataPart
	for _, topic := range topics {
		t := r.img.Topics[topic]
		if t == nil {
			continue
		}
		for i, p := range t.Parts {
			parts = append(parts, wire.MetadataPart{Part: image.Name(topic, i), LeaderID: p.Leader, LeaderEpoch: p.LeaderEpoch, ReplicaNodes: p.Replicas, IsrNodes: p.ISR})
		}
	}
	return parts
}

func (r *run) brokerNames() []string {
	var ns []string
	for _, id := range r.ids {
		ns = append(ns, r.brokers[id].Name())
	}
	return ns
}

// writes lists the topics that a producer will write, in order of first use.
func (r *run) writes(id string) []string {
	var ts []string
	seen := map[string]bool{}
	for _, a := range r.sc.Actions {
		if a.Do == "produce" && a.By == id && !seen[a.Topic] {
			seen[a.Topic] = true
			ts = append(ts, a.Topic)
		}
	}
	return ts
}

// knows lists the topics that a producer asks for when it starts: those that it
// will write, or all where it has nothing to write yet.
func (r *run) knows(id string) []string {
	ts := r.writes(id)
	for _, t := range r.sc.Topics {
		if len(r.writes(id)) == 0 && t.Name != broker.OffsetsTopic {
			ts = append(ts, t.Name)
		}
	}
	return ts
}

func (r *run) formedClients(in func(journal.Time) journal.Time) (parked []string) {
	pid := int64(0)
	for _, p := range r.sc.Producers {
		prod := r.newProducer(&p)
		if p.At == nil {
			prod.Formed(r.metadataOf(r.writes(p.ID)), pid)
			pid++
		}
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if m.Absent {
				continue
			}
			c := r.newConsumer(&g, &m, r.w.AddProcess(m.ID, true, nil), nil)
			if m.At == nil {
				parked = append(parked, r.formedMember(&g, &m, c, in)...)
			}
		}
	}
	return parked
}

// newProducer makes a producer in its process.
func (r *run) newProducer(p *Producer) *client.Producer {
	proc := r.w.AddProcess(p.ID, true, nil)
	r.prods[p.ID] = client.NewProducer(r.w, proc, p.ID, r.config("producer", p.Config), r.brokerNames())
	return r.prods[p.ID]
}

func (r *run) coordinator(group string) int32 {
	b := r.brokers[r.ids[0]]
	p := r.img.Partition(b.OffsetsPart(group))
	if p == nil {
		return -1
	}
	return p.Leader
}

// boot writes event 1: the whole state, read from the live objects.
func (r *run) boot(parked []string) {
	var ch []journal.Change
	for _, c := range r.ctrls {
		ch = append(ch, c.Snapshot()...)
		if c == r.authority() {
			ch = append(ch, c.CommittedChanges()...)
		}
	}
	for _, id := range r.ids {
		ch = append(ch, r.brokers[id].BootChanges()...)
	}
	for _, p := range r.sc.Producers {
		if p.At == nil {
			ch = append(ch, r.prods[p.ID].Snapshot()...)
		}
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if m.At == nil && !m.Absent {
				ch = append(ch, r.cons[m.ID].Snapshot()...)
			}
		}
	}
	r.w.Emit(journal.Event{Kind: journal.Boot, Cause: -1, F: journal.F("start", "formed", "parked", parked), Ch: ch})
}

// snapshot reads the state of controllers, brokers and consumers from the live
// objects, not from what was written to the journal.
func (r *run) snapshot() []journal.Change {
	var ch []journal.Change
	for _, c := range r.ctrls {
		ch = append(ch, c.Snapshot()...)
		if c == r.authority() {
			ch = append(ch, c.CommittedChanges()...)
		}
	}
	for _, id := range r.ids {
		b := r.brokers[id]
		ch = append(ch, b.Snapshot()...)
		for _, part := range b.Parts() {
			for _, op := range b.LogSnapshot(part) {
				ch = append(ch, journal.Change{Key: journal.ReplicaKey(b.Name(), part, "log"), Val: op})
			}
		}
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if c := r.cons[m.ID]; c != nil {
				ch = append(ch, c.Snapshot()...)
			}
		}
	}
	return ch
}
