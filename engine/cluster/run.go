package cluster

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/client"
	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// MaxEvents is how many events a run may write.
const MaxEvents = 1_000_000

// restingRate is about what a small formed cluster writes a second; room for it
// is made at once, since events are large to move.
const restingRate = 190

// Result is a finished run.
type Result struct {
	Journal *journal.Journal
	End     journal.Time
	Rests   []RestState
	MetaLog []wire.MetaBatch // committed after the formed start
	Idle    []*Action        // actions whose anchor never matched
	Final   []journal.Change // the state at the end, read from the live objects
}

// run is a cluster while it runs.
type run struct {
	sc    *Scenario
	w     *sim.World
	model Model
	end   journal.Time

	ctrls     []*controller.Node
	disks     map[string]journal.Time // what a slow disk adds to an append
	brokers   map[int32]*broker.Node
	ids       []int32 // brokers
	voters    []int32 // controllers
	prods     map[string]*client.Producer
	cons      map[string]*client.Consumer
	rests     []RestState
	starts    map[string]int // how often a node was started again
	coords    *broker.Coordinators
	resting   map[string]*resting // groups at a formed start
	memberIDs map[string]int      // member ids given out, by client
	waiting   map[*Action]bool    // actions whose anchor has not matched yet
	log       []wire.MetaBatch
	img       *image.Image
}

// Run executes a scenario to its end. The same scenario gives the same journal,
// byte for byte. The error says what in the scenario cannot be simulated.
func Run(sc *Scenario) (*Result, error) {
	r := &run{sc: sc, model: sc.Model, brokers: map[int32]*broker.Node{}, starts: map[string]int{}, disks: map[string]journal.Time{}, memberIDs: map[string]int{}, resting: map[string]*resting{}, coords: broker.NewCoordinators(),
		waiting: map[*Action]bool{}, prods: map[string]*client.Producer{}, cons: map[string]*client.Consumer{}}
	r.w = sim.NewWorld(sc.Seed, sim.Network{Broker: r.model.NetBroker, Client: r.model.NetClient, Jitter: r.model.Jitter, Handle: r.model.Handle}, MaxEvents)
	r.end = sc.until()
	r.w.J.Events = make([]journal.Event, 0, min(int64(r.end/journal.Second)*restingRate+1000, MaxEvents))
	if err := r.build(); err != nil {
		return nil, err
	}
	r.schedule()
	for {
		end := r.end
		if err := r.w.Run(end); err != nil {
			return nil, err
		}
		if r.end <= end {
			break
		}
	}
	carry(r.w.J)
	var idle []*Action
	for i := range sc.Actions {
		if r.waiting[&sc.Actions[i]] {
			idle = append(idle, &sc.Actions[i])
		}
	}
	return &Result{Journal: r.w.J, End: r.end, Rests: r.rests, MetaLog: r.authority().LogFrom(r.img.Offset + 1), Idle: idle, Final: r.snapshot()}, nil
}

// until is the end of the run: as given, else the last rest, else 5 s after the
// last that is asked of it.
func (sc *Scenario) until() journal.Time {
	if sc.End > 0 {
		return sc.End
	}
	if n := len(sc.Rest); n > 0 {
		last := journal.Time(0)
		for _, x := range sc.Rest {
			last = max(last, x.At)
		}
		return last
	}
	last := journal.Time(0)
	for _, a := range sc.Actions {
		last = max(last, a.At+journal.Time(max(a.Count-1, 0))*a.Every)
	}
	for _, h := range sc.Horizon {
		last = max(last, h)
	}
	return last + 5*journal.Second
}

func (r *run) build() error {
	var voters []int32
	for i := range r.sc.Ctrls {
		voters = append(voters, int32(101+i))
	}
	r.voters = voters
	for i := range r.sc.Brokers {
		r.ids = append(r.ids, int32(1+i))
	}
	if r.sc.Start == Empty {
		return r.empty()
	}
	topics, err := r.formedTopics()
	if err != nil {
		return err
	}
	r.log, r.img = controller.FormedLog(voters, r.ids, topics, r.pidBlocks(), r.config("broker", r.sc.Config, r.sc.Nodes["c1"]).String("min.insync.replicas"), r.features())
	for _, id := range voters {
		name := kafka.NodeName(kafka.BrokerID(id))
		p := r.w.AddProcess(name, false, nil)
		c := r.newController(id, p)
		p.SetHandler(c)
		r.ctrls = append(r.ctrls, c)
	}
	preload := r.preload()
	if err := r.formGroups(preload); err != nil {
		return err
	}
	for _, id := range r.ids {
		name := kafka.NodeName(kafka.BrokerID(id))
		p := r.w.AddProcess(name, false, nil)
		b := r.newBroker(id, p)
		p.SetHandler(b)
		r.brokers[id] = b
	}
	for _, c := range r.ctrls {
		c.Formed(r.log, 1, voters[0])
	}
	last := r.log[len(r.log)-1]
	for _, id := range r.ids {
		r.brokers[id].Formed(r.img, 1, voters[0], last.Epoch, preload)
	}
	return r.rest()
}

func (r *run) newController(id int32, p *sim.Process) *controller.Node {
	return controller.New(r.w, p, id, r.voters, r.config("broker", r.sc.Config, r.sc.Nodes[p.Name]), r.features())
}

// features are those of a new cluster, less those that the scenario sets to 0.
func (r *run) features() []string {
	return slices.DeleteFunc(controller.Features(), func(f string) bool {
		level, set := r.sc.Features[f]
		return set && level == 0
	})
}

// authority is the controller whose committed metadata is the newest: the active
// one, or where there is none, living or dead, the one that has the most.
func (r *run) authority() *controller.Node {
	best := r.ctrls[0]
	for _, c := range r.ctrls[1:] {
		if c.Committed() > best.Committed() || c.Committed() == best.Committed() && c.Leads() && !best.Leads() {
			best = c
		}
	}
	return best
}

func (r *run) newBroker(id int32, p *sim.Process) *broker.Node {
	return broker.New(r.w, p, r.config("broker", r.sc.Config, r.sc.Nodes[p.Name]),
		broker.Options{ID: id, Controllers: r.voters, Append: r.model.Append + r.disks[p.Name], Apply: r.model.Apply, Boot: r.model.Boot, Coordinators: r.coords, Groups: r.groupIDs(), NewID: r.memberID})
}

// config merges the settings of a node or client, the later over the earlier.
func (r *run) config(scope string, sets ...map[string]string) *kafka.Config {
	all := map[string]string{}
	for _, set := range sets {
		for k, v := range set {
			all[k] = v
		}
	}
	return kafka.NewConfig(scope, all)
}

// allTopics are the scenario's, and __consumer_offsets if a group needs it and the
// scenario does not pin it.
func (r *run) allTopics() []Topic {
	topics := slices.Clone(r.sc.Topics)
	has := slices.ContainsFunc(topics, func(t Topic) bool { return t.Name == broker.OffsetsTopic })
	if !has && len(r.sc.Groups) > 0 {
		n := 50
		if v, err := strconv.Atoi(r.sc.Config["offsets.topic.num.partitions"]); err == nil {
			n = v
		}
		copies := min(3, r.sc.Brokers)
		if v, err := strconv.Atoi(r.sc.Config["offsets.topic.replication.factor"]); err == nil {
			if v > r.sc.Brokers {
				return topics // it cannot be created (INVALID_REPLICATION_FACTOR), and no group finds a coordinator
			}
			copies = v
		}
		topics = append(topics, Topic{Name: broker.OffsetsTopic, Partitions: n, Replication: copies,
			Config: map[string]string{"cleanup.policy": "compact"}})
	}
	return topics
}

// formedTopics are the topics that exist before the start.
func (r *run) formedTopics() ([]controller.FormedTopic, error) {
	topics := r.allTopics()
	var out []controller.FormedTopic
	for _, t := range topics {
		if t.At != nil || t.Later {
			continue
		}
		assign, err := r.assignment(&t)
		if err != nil {
			return nil, err
		}
		out = append(out, controller.FormedTopic{Name: t.Name, Assign: assign, Config: keyValues(t.Config)})
	}
	return out, nil
}

func keyValues(m map[string]string) []wire.KeyValue {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	var kv []wire.KeyValue
	for _, k := range ks {
		kv = append(kv, wire.KeyValue{Name: k, Value: m[k]})
	}
	return kv
}

func (t *Topic) count() int {
	if len(t.Replicas) > 0 {
		return len(t.Replicas)
	}
	return max(t.Partitions, 1)
}

// assignment is the explicit one, or one that the striped placer could have made.
func (r *run) assignment(t *Topic) ([][]int32, error) {
	var out [][]int32
	for _, rs := range t.Replicas {
		var ids []int32
		for _, id := range rs {
			ids = append(ids, int32(id))
		}
		out = append(out, ids)
	}
	if len(out) > 0 {
		return out, nil
	}
	rf := t.Replication
	if rf == 0 {
		rf = min(3, r.sc.Brokers)
	}
	if rf > r.sc.Brokers {
		return nil, fmt.Errorf("topic %s: replication %d with %d brokers; use at most %d", t.Name, rf, r.sc.Brokers, r.sc.Brokers)
	}
	for p := range t.count() {
		var ids []int32
		for i := range rf {
			ids = append(ids, int32((p+i)%r.sc.Brokers+1))
		}
		out = append(out, ids)
	}
	return out, nil
}

// preload makes the records that are replicated before the start, one batch each.
func (r *run) preload() map[string][]replica.Batch {
	out := map[string][]replica.Batch{}
	for _, t := range r.sc.Topics {
		if t.At != nil || t.Later || t.Preload.Records == 0 {
			continue
		}
		for i := range t.Preload.Records {
			for p := range t.count() {
				part := image.Name(t.Name, p)
				var key *string
				if n := len(t.Preload.Keys); n > 0 {
					key = &t.Preload.Keys[i%n]
				}
				off := t.Preload.From + int64(i)
				who := ""
				if n := len(r.sc.Producers); n > 0 {
					who = r.sc.Producers[(i+p)%n].ID
				}
				r.w.NewRecord(journal.Record{Topic: t.Name, Key: key, Value: fmt.Sprintf("%s@%d", part, off), Producer: who})
				out[part] = append(out[part], replica.Batch{Base: off, Epoch: 0, IDs: []int32{int32(len(r.w.J.Records))},
					ProducerID: -1, ProducerEpoch: -1, BaseSeq: -1, Bytes: 80})
			}
		}
	}
	return out
}

// pidBlocks counts the blocks of producer ids that formed producers came from.
func (r *run) pidBlocks() int {
	for _, p := range r.sc.Producers {
		if p.At == nil {
			return 1
		}
	}
	return 0
}

func (r *run) groupIDs() []string {
	var ids []string
	for _, g := range r.sc.Groups {
		ids = append(ids, g.ID)
	}
	return ids
}

// memberID makes the next member id of a client. Kafka's are random; here the
// first is the client's own id, the second a1#2.
func (r *run) memberID(client string) string {
	r.memberIDs[client]++
	if n := r.memberIDs[client]; n > 1 {
		return fmt.Sprintf("%s#%d", client, n)
	}
	return client
}

func (r *run) process(name string) *sim.Process { return r.w.Process(name) }

// carry makes folding the main track exact: what chatter changed is said again
// by the next main event.
func carry(j *journal.Journal) {
	pending := map[string]int{} // key → index in list
	var list []journal.Change
	for i := range j.Events {
		e := &j.Events[i]
		if e.Chatter {
			for _, c := range e.Ch {
				if at, ok := pending[c.Key]; ok {
					list[at] = c
					continue
				}
				pending[c.Key] = len(list)
				list = append(list, c)
			}
			continue
		}
		if len(list) > 0 {
			e.Ch = append(list[:len(list):len(list)], e.Ch...)
			list, pending = nil, map[string]int{}
		}
	}
}
