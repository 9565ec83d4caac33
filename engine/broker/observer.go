package broker

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// MetadataPart is the only partition of the metadata log.
const MetadataPart = "__cluster_metadata-0"

// observer copies the metadata log from the active controller and applies what
// is committed (KafkaRaftClient as an observer, BrokerMetadataPublisher).
type observer struct {
	n      *Node
	leader int32 // id of the active controller as far as this broker knows; −1 unknown
	epoch  int32 // quorum epoch
	conn   *sim.Conn
	to     int32 // where conn leads
	busy   bool

	channel *sim.Conn // NodeToControllerChannel: heartbeats, AlterPartition, forwarded requests
	queue   []*sim.Call
	opening bool

	log     []wire.MetaBatch // fetched, not yet applied
	leo     int64
	last    int32 // epoch of the last batch
	hw      int64
	applied bool // an apply is on its way
}

func (o *observer) fetch() {
	if o.busy {
		return
	}
	if !o.conn.Open() {
		o.connect()
		return
	}
	o.busy = true
	o.conn.Call(o.poll(true))
}

func (o *observer) poll(chatter bool) *sim.Call {
	hw := o.hw
	return &sim.Call{API: kafka.Fetch, Part: MetadataPart, Chatter: chatter, Timeout: journal.Millis(o.n.cfg.Millis("controller.quorum.request.timeout.ms")),
		Timer: "controller.quorum.request.timeout.ms", Done: o.answered,
		Body: &wire.FetchRequest{ReplicaID: o.n.id, ReplicaEpoch: -1, MaxWaitMs: 500, SessionEpoch: -1, Parts: []wire.FetchPart{{
			Part: MetadataPart, CurrentLeaderEpoch: o.epoch, FetchOffset: o.leo, LastFetchedEpoch: o.last, HighWatermark: &hw}}}}
}

// connect goes to the known leader, else to a random bootstrap controller.
func (o *observer) connect() {
	n := o.n
	o.busy = true
	o.to = o.leader
	if o.to < 0 {
		cs := n.opt.Controllers
		o.to = cs[n.w.Stream(n.name, "bootstrap").Intn(int64(len(cs)))]
	}
	to := n.w.Process(kafka.NodeName(kafka.BrokerID(o.to)))
	n.w.Dial(n.proc, to, "metadata", 10*journal.Second, func(c *sim.Conn) {
		o.busy = false
		if c == nil {
			o.lost()
			return
		}
		o.conn = c
		o.fetch()
	})
}

func (o *observer) lost() {
	o.conn, o.leader = nil, -1
	o.n.proc.After(20*journal.Millisecond, o.fetch)
}

func (o *observer) answered(res sim.Result) {
	o.busy = false
	if res.Outcome != sim.Answered {
		o.lost()
		return
	}
	r := res.Body.(*wire.FetchResponse)
	if len(r.Parts) == 0 {
		o.fetch()
		return
	}
	p := r.Parts[0]
	if p.ErrorCode != kafka.None {
		o.redirected(p)
		return
	}
	for _, b := range p.Meta {
		if b.BaseOffset != o.leo {
			continue
		}
		o.log = append(o.log, b)
		o.leo, o.last = b.Last()+1, b.Epoch
	}
	o.hw = max(o.hw, min(p.HighWatermark, o.leo))
	o.schedule()
	o.fetch()
}

// redirected follows the leader id that comes with an error.
func (o *observer) redirected(p wire.FetchResult) {
	next := int32(-1)
	if p.CurrentLeader != nil {
		next = p.CurrentLeader.LeaderID
		o.epoch = max(o.epoch, p.CurrentLeader.LeaderEpoch)
	}
	o.leader = next
	if o.to != next {
		o.conn.Close("another controller leads")
		o.conn = nil
		o.dropChannel()
	}
	o.n.proc.After(20*journal.Millisecond, o.fetch)
}

// schedule applies what is committed, a moment later: every broker in its own time.
func (o *observer) schedule() {
	if o.applied || len(o.log) == 0 || o.log[0].Last() >= o.hw {
		return
	}
	o.applied = true
	o.n.proc.After(o.n.opt.Apply, func() {
		o.applied = false
		o.apply()
		o.schedule()
	})
}

func (o *observer) apply() {
	idle := true
	count := 0
	for count < len(o.log) && o.log[count].Last() < o.hw {
		for _, r := range o.log[count].Records {
			idle = idle && r.Type == "NoOpRecord"
		}
		count++
	}
	var before *image.Image
	if !idle {
		before = o.n.img.Clone()
	}
	var recs []wire.MetaRecord
	for _, b := range o.log[:count] {
		for i := range b.Records {
			o.n.img.Apply(&b.Records[i], b.BaseOffset+int64(i))
		}
		recs = append(recs, b.Records...)
	}
	o.log = o.log[count:]
	n := o.n.w.Emit(journal.Event{Kind: journal.MetadataApply, Node: o.n.name, Chatter: idle,
		F: journal.F("offset", o.n.img.Offset), Ch: []journal.Change{{Key: journal.NodeKey(o.n.name, "metadata"), Val: o.n.img.Offset}}})
	if !idle && o.n.published {
		o.n.w.Because(n, func() { o.n.publish(before, recs) })
	}
}

// send uses the channel to the active controller: one request at a time.
func (o *observer) send(call *sim.Call) {
	done := call.Done
	call.Done = func(r sim.Result) {
		if r.Outcome != sim.Answered {
			o.dropChannel()
		}
		done(r)
		o.pump()
	}
	o.queue = append(o.queue, call)
	o.pump()
}

func (o *observer) dropChannel() {
	if o.channel.Open() {
		o.channel.Close("another controller leads")
	}
	o.channel = nil
}

func (o *observer) pump() {
	if len(o.queue) == 0 || o.opening {
		return
	}
	if !o.channel.Open() {
		o.openChannel()
		return
	}
	if o.channel.InFlight() > 0 {
		return
	}
	c := o.queue[0]
	o.queue = o.queue[1:]
	o.channel.Call(c)
}

func (o *observer) openChannel() {
	if o.leader < 0 {
		o.opening = true
		o.n.proc.After(50*journal.Millisecond, func() { o.opening = false; o.pump() })
		return
	}
	o.opening = true
	to := o.n.w.Process(kafka.NodeName(kafka.BrokerID(o.leader)))
	o.n.w.Dial(o.n.proc, to, "controller", 10*journal.Second, func(c *sim.Conn) {
		o.opening = false
		o.channel = c
		if c == nil {
			o.opening = true
			o.n.proc.After(50*journal.Millisecond, func() { o.opening = false; o.pump() })
			return
		}
		o.pump()
	})
}
