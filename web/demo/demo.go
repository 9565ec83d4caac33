// Package demo is one small run written by hand: a record from send to
// acknowledgement on three brokers. The pages are tested on it, so that a change
// of the engine never shows as a change of a page.
package demo

import (
	"context"
	"fmt"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web"
)

// ID is the run's scenario.
const ID = "demo"

// Library holds the demo and nothing else.
type Library struct{}

// Menu has the demo's card.
func (Library) Menu() []web.Card {
	return []web.Card{{ID: ID, Title: "Producer write, acks=all", Summary: "One record from send to committed, and who waits for whom.", Length: "3 chapters, 0:20", Still: 12}}
}

// Open returns the demo.
func (Library) Open(_ context.Context, r web.OpenRequest) (*web.Run, *web.Problem) {
	if r.Text != "" {
		return nil, &web.Problem{Code: web.BadScenario, Message: "The demo reads no text.", Line: 1, Column: 1}
	}
	if r.Scenario != ID {
		return nil, &web.Problem{Code: web.UnknownScenario, Message: "There is no scenario " + r.Scenario + "."}
	}
	return Run(), nil
}

// Changed is nil: the demo never changes.
func (Library) Version() string { return "" }

// Problems is empty: there are no files.
func (Library) Problems() []string { return nil }

type builder struct {
	events []journal.Event
	view   map[int][]journal.Change
}

func (b *builder) add(t journal.Time, e journal.Event, ch ...any) *journal.Event {
	e.N, e.T = len(b.events)+1, t
	e.Ch = append(e.Ch, changes(ch...)...)
	b.events = append(b.events, e)
	return &b.events[len(b.events)-1]
}

func (b *builder) derive(ch ...any) {
	n := len(b.events)
	b.view[n] = append(b.view[n], changes(ch...)...)
}

func changes(kv ...any) []journal.Change {
	var cs []journal.Change
	for i := 0; i+1 < len(kv); i += 2 {
		cs = append(cs, journal.Change{Key: kv[i].(string), Val: kv[i+1]})
	}
	return cs
}

var replicas = [][]int{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}

// Run builds the run.
func Run() *web.Run {
	b := &builder{view: map[int][]journal.Change{}}
	boot(b)
	write(b)
	key := "order-17"
	j := &journal.Journal{Events: b.events}
	for i := range 16 {
		k := fmt.Sprintf("key-%d", i+1)
		j.Records = append(j.Records, journal.Record{ID: journal.RecordID(i + 1), Topic: "orders", Key: &k, Value: "v", Producer: producers[i%3]})
	}
	j.Records = append(j.Records, journal.Record{ID: "r17", Topic: "orders", Key: &key, Value: "created", Producer: producers[0]})
	j.Records = append(j.Records, journal.Record{ID: "r18", Topic: "orders", Value: "v", Producer: producers[2]})
	return &web.Run{
		ID: ID, Title: "Producer write, acks=all", Summary: "One record from send to committed, and who waits for whom.", Seed: 7,
		Journal: j, Index: journal.NewIndex(j), Scenario: scenario(), View: b.view,
		Chapters: []web.Chapter{
			{ID: "key", Title: "Key picks partition", N: 2, Say: "The key's hash picks orders-0, so the record goes to broker 1.", Focus: []string{"orders-0", producers[0]}},
			{ID: "fetch", Title: "Followers fetch", N: 6, Say: "Brokers 2 and 3 fetch r17.", Focus: []string{"orders-0"}},
			{ID: "ack", Title: "HW moves, answer", N: 16, Say: "Both followers asked for 6, so HW moves and the producer gets its answer.", Focus: []string{"orders-0"}},
		},
		Story: []web.Break{{N: 1, T: 0, S: 0}, {N: 2, T: 500000, S: 1}, {N: len(j.Events), T: 511200, S: 20}},
		Folds: []web.Fold{{S0: 0, S1: 1, Label: "idle, 500 ms"}},
		Say:   say, Pill: pill, End: 511200,
		Verdict: web.Verdict{OK: true, Expect: []web.Check{{Say: "r17 is committed.", OK: true, N: 19}}, Invariants: []web.Check{{Name: "HWMonotonicPerEpoch", OK: true, N: 19}}},
	}
}

var producers = []string{"order-service", "payment-service", "user-service"}

func scenario() *cluster.Scenario {
	s := &cluster.Scenario{ID: ID, Seed: 7, Brokers: 3, Ctrls: 3, Topics: []cluster.Topic{{Name: "orders", Replicas: replicas}}}
	for _, p := range producers {
		s.Producers = append(s.Producers, cluster.Producer{ID: p, Config: map[string]string{"acks": "all"}})
	}
	s.Groups = []cluster.Group{{ID: "group-a", Topics: []string{"orders"}, Members: []cluster.Member{{ID: "a1"}, {ID: "a2"}, {ID: "a3"}}}}
	return s
}

func boot(b *builder) {
	b.add(0, journal.Event{Kind: journal.Boot})
	e := &b.events[0]
	set := func(kv ...any) { e.Ch = append(e.Ch, changes(kv...)...) }
	for i := 1; i <= 3; i++ {
		c, br := fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i)
		role := "follower"
		if i == 1 {
			role = "leader"
		}
		set(c+"/state", "running", c+"/role", role, c+"/epoch", 3, c+"/leo", 83, c+"/commit", 82)
		set(br+"/state", "running", br+"/epoch", 10+i, "session/"+br, "active")
	}
	b.derive("v/b2/note", "coordinator of group-a", "v/group-a/note", "classic · generation 1", "v/group-a/coordinator", "coordinator: broker 2")
	for p, rs := range replicas {
		bootPartition(b, set, p, rs)
	}
	set("group-a/state", "Stable", "group-a/generation", 1)
	for i, m := range []string{"a1", "a2", "a3"} {
		set("group-a/"+m+"/state", "stable", "group-a/"+m+"/assignment", []string{fmt.Sprintf("orders-%d", i)})
		b.derive("v/"+m+"/parts", fmt.Sprintf("P%d", i), "v/"+m+"/lag", fmt.Sprintf("lag %d", 1-i%2), "v/"+m+"/status", fmt.Sprintf("Fetch waits at broker %d", i+1))
	}
}

func bootPartition(b *builder, set func(...any), p int, rs []int) {
	part := fmt.Sprintf("orders-%d", p)
	end := int64(5 + p/2)
	b.derive("v/"+part+"/base", 0, "v/"+part+"/isr", "ISR 3 of 3, min 2", "v/group-a/"+part+"/position", end)
	set("group-a/"+part+"/committed", int64(4))
	set("meta/"+part+"/leader", fmt.Sprintf("b%d", rs[0]), "meta/"+part+"/leaderEpoch", p, "meta/"+part+"/replicas", rs)
	for i, id := range rs {
		k := fmt.Sprintf("b%d/%s/", id, part)
		role := "follower"
		if i == 0 {
			role = "leader"
			set(k+"isr", rs)
		} else {
			b.derive("v/"+k+"status", fmt.Sprintf("fetches from broker %d", rs[0]), "v/"+k+"sync", "in sync")
		}
		set(k+"role", role, k+"leo", end, k+"hw", end, k+"leaderEpoch", p)
		for o := range end {
			epoch := int32(0)
			if p == 2 && o > 2 {
				epoch = int32(min(o-2, 2))
			}
			set(k+"log", journal.LogOp{Op: journal.LogAppend, Base: o, Epoch: epoch, IDs: []string{journal.RecordID(int(o)*3 + p + 1)}})
		}
	}
}

// write is the record's way: produce, two fetches by each follower, answer. The
// followers go in step, a tenth of a millisecond apart.
func write(b *builder) {
	const part = "orders-0"
	ps := producers[0]
	msg := 0
	send := func(t journal.Time, kind journal.Kind, api, from, to string, f journal.Fields, ch ...any) {
		node := from
		if kind == journal.RequestReceive || kind == journal.ResponseReceive {
			node = to
		}
		e := journal.Event{Kind: kind, Node: node, Part: part, Msg: msg, API: api, From: from, To: to, F: f, Cause: len(b.events)}
		if kind == journal.RequestSend || kind == journal.ResponseSend {
			e.Arrive = t + 2000
			if api == "Produce" {
				e.Arrive = t + 3000
			}
		}
		b.add(t, e, ch...)
	}
	log := func() journal.LogOp {
		return journal.LogOp{Op: journal.LogAppend, Base: 5, Epoch: 0, IDs: []string{"r17"}}
	}
	b.add(500000, journal.Event{Kind: journal.ProducerPartition, Node: ps, Part: part, F: journal.F("record", "r17", "key", "order-17", "hash", 1568318961, "partition", 0)})
	b.derive("v/"+ps+"/key", "key order-17 → P0", "v/"+ps+"/hash", "murmur2 1568318961", "v/"+ps+"/result", "mod 3 = 0")
	msg = 1
	send(500100, journal.RequestSend, "Produce", ps, "b1", journal.F("acks", -1), ps+"/status", "r17 sent, no answer")
	send(503100, journal.RequestReceive, "Produce", ps, "b1", journal.F("acks", -1))
	b.add(503150, journal.Event{Kind: journal.ReplicaAppend, Node: "b1", Part: part, F: journal.F("baseOffset", 5, "count", 1, "epoch", 0)},
		"b1/orders-0/leo", int64(6), "b1/orders-0/log", log(), "b1/orders-0/waiting", []string{"DelayedProduce order-service"})
	b.derive("v/b1/orders-0/waiting", "DelayedProduce: waits for 2, 3", "v/b1/orders-0/note", "2, 3 seen at 5",
		"v/b2/orders-0/sync", "1 behind, in sync", "v/b3/orders-0/sync", "1 behind, in sync")
	followers := []string{"b2", "b3"}
	step := func(t journal.Time, first int, do func(t journal.Time, f string)) {
		for i, f := range followers {
			msg = first + i
			do(t+journal.Time(100*i), f)
		}
	}
	step(503200, 2, func(t journal.Time, f string) {
		send(t, journal.ResponseSend, "Fetch", "b1", f, journal.F("records", 1, "highWatermark", 5))
	})
	step(505200, 2, func(t journal.Time, f string) {
		send(t, journal.ResponseReceive, "Fetch", "b1", f, journal.F("records", 1, "highWatermark", 5))
		b.add(t+50, journal.Event{Kind: journal.ReplicaAppend, Node: f, Part: part, F: journal.F("baseOffset", 5, "count", 1, "epoch", 0)},
			f+"/orders-0/leo", int64(6), f+"/orders-0/log", log())
		b.derive("v/"+f+"/orders-0/sync", "in sync")
	})
	b.add(505500, journal.Event{Kind: journal.RequestSend, API: "BrokerHeartbeat", Node: "b3", From: "b3", To: "c1", Msg: 9, Arrive: 507500, Chatter: true, F: journal.F()})
	step(506000, 4, func(t journal.Time, f string) {
		send(t, journal.RequestSend, "Fetch", f, "b1", journal.F("fetchOffset", 6))
	})
	step(508000, 4, func(t journal.Time, f string) {
		send(t, journal.RequestReceive, "Fetch", f, "b1", journal.F("fetchOffset", 6), "b1/orders-0/remote/"+f+"/leo", int64(6))
	})
	b.add(508150, journal.Event{Kind: journal.HWAdvance, Node: "b1", Part: part, F: journal.F("from", 5, "to", 6)}, "b1/orders-0/hw", int64(6), "b1/orders-0/waiting", nil)
	b.derive("v/b1/orders-0/waiting", nil, "v/b1/orders-0/note", "2, 3 seen at 6")
	msg = 1
	send(508200, journal.ResponseSend, "Produce", "b1", ps, journal.F("baseOffset", 5))
	send(511200, journal.ResponseReceive, "Produce", "b1", ps, journal.F("baseOffset", 5), ps+"/status", "r17 acknowledged at 5")
}

func say(e *journal.Event) string {
	switch e.Kind {
	case journal.Boot:
		return "The cluster rests."
	case journal.HWAdvance:
		return "Broker 1 moves the high watermark of orders-0 from 5 to 6."
	case journal.ReplicaAppend:
		return "Broker " + e.Node[1:] + " appends r17 at offset 5."
	case journal.ProducerPartition:
		return "The key order-17 picks orders-0."
	}
	return fmt.Sprintf("%s, %s: %s to %s.", e.API, e.Kind, e.From, e.To)
}

func pill(e *journal.Event) *web.Pill {
	lane := e.Part
	if lane == "" {
		lane = "controller"
	}
	p := &web.Pill{Text: fmt.Sprintf("%s %s→%s", e.API, e.From, e.To), Lane: lane}
	if e.API == "Fetch" && e.Kind == journal.ResponseSend || e.API == "Produce" && e.Kind == journal.RequestSend {
		p.Tags = []string{"r17"}
	}
	return p
}
