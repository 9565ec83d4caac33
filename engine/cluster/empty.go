package cluster

import (
	"fmt"

	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// empty starts controllers and brokers on formatted disks. Once every broker is
// unfenced the admin client creates the topics, __consumer_offsets among them where
// there are groups (Kafka itself would wait for the first FindCoordinator); once
// every broker knows those, the clients start.
func (r *run) empty() error {
	r.img = image.New()
	for _, t := range r.sc.Topics {
		if t.At == nil && t.Preload.Records > 0 {
			return fmt.Errorf("topic %s: an empty start has no records; leave out preload, or start: empty", t.Name)
		}
	}
	for _, id := range r.voters {
		p := r.w.AddProcess(kafka.NodeName(kafka.BrokerID(id)), false, nil)
		c := r.newController(id, p)
		p.Start(c)
		r.ctrls = append(r.ctrls, c)
	}
	for _, id := range r.ids {
		p := r.w.AddProcess(kafka.NodeName(kafka.BrokerID(id)), false, nil)
		b := r.newBroker(id, p)
		p.Start(b)
		r.brokers[id] = b
	}
	r.clients()
	var ch []journal.Change
	for _, c := range r.ctrls {
		ch = append(ch, c.Snapshot()...)
	}
	for _, id := range r.ids {
		ch = append(ch, r.brokers[id].Snapshot()...)
	}
	r.w.Emit(journal.Event{Kind: journal.Boot, Cause: -1, F: journal.F("start", "empty", "parked", []string(nil)), Ch: ch})
	for _, c := range r.ctrls {
		c.Boot(controller.Formatted())
	}
	for _, id := range r.ids {
		b := r.brokers[id]
		b.Boot(broker.Formatted(), b.Name()+"#1")
	}
	r.whenUp(r.createFirstTopics)
	return nil
}

// clients makes the clients; none of them runs yet.
func (r *run) clients() {
	for _, p := range r.sc.Producers {
		r.newProducer(&p)
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if !m.Absent {
				r.newConsumer(&g, &m, r.w.AddProcess(m.ID, true, nil), nil)
			}
		}
	}
}

// whenUp runs fn once when no broker is fenced any more.
func (r *run) whenUp(fn func()) {
	r.once(func(e *journal.Event) bool {
		if e.Kind != journal.BrokerUnfence {
			return false
		}
		img := r.authority().Image()
		for _, id := range r.ids {
			if b := img.Brokers[id]; b == nil || b.Fenced {
				return false
			}
		}
		return true
	}, fn)
}

// once runs fn right after the first event that matches.
func (r *run) once(matches func(*journal.Event) bool, fn func()) {
	done := false
	r.w.Watch(func(e *journal.Event) {
		if !done && matches(e) {
			done = true
			r.w.After(0, fn).Because(-1)
		}
	})
}

func (r *run) createFirstTopics() {
	var first []Topic
	for _, t := range r.allTopics() {
		if t.At == nil && !t.Later {
			first = append(first, t)
		}
	}
	known := func(*journal.Event) bool {
		for _, id := range r.ids {
			for _, t := range first {
				if r.brokers[id].Image().Topics[t.Name] == nil {
					return false
				}
			}
		}
		return true
	}
	if len(first) == 0 {
		r.startClients()
		return
	}
	r.once(func(e *journal.Event) bool { return e.Kind == journal.MetadataApply && known(e) }, r.startClients)
	for i := range first {
		r.w.Because(0, func() { r.createTopic(&first[i]) })
	}
}

// startClients starts those that have no time of their own.
func (r *run) startClients() {
	for _, p := range r.sc.Producers {
		if p.At == nil {
			r.startProducer(p.ID)
		}
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if m.At == nil && !m.Absent {
				r.startMember(m.ID)
			}
		}
	}
}

func (r *run) startProducer(id string) {
	if p := r.process(id); p.State() == sim.Running {
		r.begins("producer", id)
		r.prods[id].Start(r.knows(id))
	}
}

func (r *run) startMember(id string) {
	if p := r.process(id); p.State() == sim.Running {
		r.begins("member", id)
		r.cons[id].Start()
	}
}

// begins tells that a client starts.
func (r *run) begins(what, id string) {
	n := r.action(what, id, journal.F("id", id))
	r.w.Attach(n, []journal.Change{{Key: journal.NodeKey(id, "state"), Val: string(sim.Running)}})
}
