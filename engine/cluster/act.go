package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// schedule puts the outside world into the queue. At one instant rest reads
// first, then topics, producers and members start, then actions follow in file
// order.
func (r *run) schedule() {
	root := func(at journal.Time, fn func()) { r.w.At(at, fn).Because(-1) }
	for _, x := range r.sc.Rest {
		root(x.At, func() { r.rests = append(r.rests, r.restState(x.Label)) })
	}
	for _, t := range r.sc.Topics {
		if t.At != nil {
			root(*t.At, func() { r.createTopic(&t) })
		}
	}
	for _, p := range r.sc.Producers {
		if p.At != nil {
			root(*p.At, func() { r.startProducer(p.ID) })
		}
	}
	for _, g := range r.sc.Groups {
		for _, m := range g.Members {
			if m.At != nil {
				root(*m.At, func() { r.startMember(m.ID) })
			}
		}
	}
	for i := range r.sc.Actions {
		a := &r.sc.Actions[i]
		if a.On == nil {
			root(a.At, func() { r.act(a) })
			continue
		}
		r.anchor(a)
	}
}

// anchor waits for the event that an action hangs on.
func (r *run) anchor(a *Action) {
	left := max(a.On.Nth, 1)
	r.waiting[a] = true
	r.w.Watch(func(e *journal.Event) {
		if left == 0 || !a.On.Matches(e) {
			return
		}
		left--
		if left > 0 {
			return
		}
		delete(r.waiting, a)
		r.w.After(a.After, func() {
			if r.sc.End == 0 {
				r.end = max(r.end, r.w.Now()+5*journal.Second)
			}
			r.act(a)
		}).Because(-1)
	})
}

func (r *run) action(do, node string, f journal.Fields) int {
	fs := append(journal.F("do", do), f...)
	return r.w.Emit(journal.Event{Kind: journal.Action, Node: node, Cause: -1, F: fs})
}

func (r *run) act(a *Action) {
	switch a.Do {
	case "produce":
		r.produce(a)
	case "pause", "resume":
		r.pause(a)
	case "cut", "connect", "reset", "slow":
		r.link(a)
	case "kill", "crash", "vanish", "start", "stop":
		r.lifeAndDeath(a)
	case "create-topic", "add-partitions", "reassign", "elect", "config":
		r.adminAction(a)
	case "commit", "seek", "join", "leave", "stall", "pause-partitions", "resume-partitions", "subscribe", "assign":
		r.consumerAct(a)
	}
}

// produce sends the records of a workload, each when the last one allows it.
func (r *run) produce(a *Action) {
	p := r.prods[a.By]
	count := max(a.Count, 1)
	acked := a.Each == "acked"
	var send func(i int)
	later := func(i int) {
		if i < count {
			r.w.After(a.Every, func() { send(i) }).Because(-1)
		}
	}
	send = func(i int) {
		for ; i < count; i++ {
			if !r.running(a.By) {
				r.action("nothing", a.By, journal.F("instead", "produce"))
				return
			}
			key, value := a.record(r.w, i)
			n := r.action("produce", a.By, journal.F("topic", a.Topic, "key", key, "value", value))
			next := i + 1
			r.w.Because(n, func() {
				p.Send(a.Topic, key, value, a.Partition, func(bool) {
					if acked {
						later(next)
					}
				})
			})
			if acked {
				return
			}
			if a.Every > 0 {
				later(next)
				return
			}
		}
	}
	send(0)
}

// running says whether a client's process lives.
func (r *run) running(client string) bool {
	p := r.process(client)
	return p != nil && (p.State() == sim.Running || p.State() == sim.Paused)
}

// record is the key and value of the i-th record of a workload.
func (a *Action) record(w *sim.World, i int) (*string, string) {
	n := strconv.Itoa(i + 1)
	key := a.Key
	switch {
	case a.Zipf != nil:
		k := a.Zipf.Prefix + strconv.Itoa(a.Zipf.draw(w.Stream(a.By, "keys")))
		key = &k
	case len(a.Keys) > 0:
		key = &a.Keys[i%len(a.Keys)]
	}
	if key != nil {
		k := strings.ReplaceAll(*key, "{i}", n)
		key = &k
	}
	value := a.Value
	switch {
	case len(a.Values) > 0:
		value = a.Values[i%len(a.Values)]
	case a.Count > 1 && !strings.Contains(value, "{i}"):
		value = fmt.Sprintf("%s-%d", value, i)
	}
	return key, strings.ReplaceAll(value, "{i}", n)
}

// draw picks a rank from 1 to Of with weight 1/rank^S in integer arithmetic:
// powers of whole exponents exactly, the rest by interpolation between them.
func (z *Zipf) draw(r *sim.Rand) int {
	const scale = 1 << 40
	whole, frac := z.S/100, int64(z.S%100)
	pow := func(rank int64, e int) int64 {
		v := int64(scale)
		for range e {
			v /= rank
		}
		return v
	}
	var weights []int64
	total := int64(0)
	for rank := int64(1); rank <= int64(max(z.Of, 1)); rank++ {
		wt := (pow(rank, whole)*(100-frac) + pow(rank, whole+1)*frac) / 100
		weights = append(weights, wt)
		total += wt
	}
	x := r.Intn(total)
	for i, wt := range weights {
		if x -= wt; x < 0 {
			return i + 1
		}
	}
	return len(weights)
}

// slowDisk makes each append to a broker's logs take longer, also after a restart;
// 0 makes it as fast as before.
func (r *run) slowDisk(a *Action) {
	n := r.action(a.Do, a.Node, journal.F("disk", a.Slow.Disk))
	r.disks[a.Node] = a.Slow.Disk
	state := any("slow")
	if a.Slow.Disk == 0 {
		state = nil
	}
	r.brokers[int32(kafka.NodeID(a.Node))].SetAppend(r.model.Append + a.Slow.Disk)
	r.w.Emit(journal.Event{Kind: journal.NodeDisk, Node: a.Node, Cause: n, F: journal.F("disk", a.Slow.Disk), Ch: []journal.Change{{Key: journal.NodeKey(a.Node, "disk"), Val: state}}})
}

func (r *run) link(a *Action) {
	if a.Node != "" {
		r.slowDisk(a)
		return
	}
	n := r.action(a.Do, "", journal.F("from", a.From, "to", a.To))
	if a.Do == "connect" && len(a.From) == 0 && len(a.To) == 0 {
		for _, x := range r.w.Cuts() {
			r.w.Because(n, func() { r.heal(x[0], x[1]) })
		}
		return
	}
	for _, from := range a.From {
		for _, to := range a.To {
			r.w.Because(n, func() { r.linkOne(a, from, to) })
			if a.Both {
				r.w.Because(n, func() { r.linkOne(a, to, from) })
			}
		}
	}
}

func (r *run) linkOne(a *Action, from, to string) {
	if p := r.process(to); p == nil || p.Client() {
		return // nobody opens a connection to a client
	}
	key := journal.LinkKey(from, to)
	switch a.Do {
	case "cut":
		n := r.w.Emit(journal.Event{Kind: journal.NetCut, From: from, To: to, F: journal.F("from", from, "to", to), Ch: []journal.Change{{Key: key, Val: "cut"}}})
		r.w.Cut(from, to, n)
	case "connect":
		r.heal(from, to)
	case "reset":
		r.w.Reset(from, to)
	case "slow":
		r.w.Emit(journal.Event{Kind: journal.NetSlow, From: from, To: to, F: journal.F("from", from, "to", to, "latency", a.Slow.Latency), Ch: []journal.Change{{Key: key, Val: "slow"}}})
		r.w.SetSlow(from, to, sim.Slow{Latency: a.Slow.Latency, Jitter: a.Slow.Jitter, Loss: a.Slow.Loss, Bandwidth: a.Slow.Bandwidth})
	}
}

func (r *run) heal(from, to string) {
	r.w.Heal(from, to)
	r.w.SetSlow(from, to, sim.Slow{})
	r.w.Emit(journal.Event{Kind: journal.NetHeal, From: from, To: to, F: journal.F("from", from, "to", to), Ch: []journal.Change{{Key: journal.LinkKey(from, to), Val: nil}}})
}
