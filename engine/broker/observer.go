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

// unknown is the id of a leader that is not known.
const unknown int32 = -1

// The reconnect backoff of an observer's network client (KafkaRaftManager).
const (
	reconnectMin = 50 * journal.Millisecond
	reconnectMax = 500 * journal.Millisecond
)

// observer copies the metadata log from the active controller and applies what
// is committed (KafkaRaftClient as an observer, BrokerMetadataPublisher). It is
// a Follower where it knows the leader of its epoch, else Unattached; it never
// votes.
type observer struct {
	n      *Node
	leader int32 // the active controller as far as this broker knows
	epoch  int32 // quorum epoch
	links  map[int32]*sim.Link
	busy   bool // a Fetch is on its way, or due
	heard  journal.Time
	wanted *wire.EpochEnd // the snapshot to fetch

	log     []wire.MetaBatch // fetched, not yet applied
	base    int32            // epoch of the last record applied
	leo     int64
	hw      int64
	applied bool // an apply is on its way
}

func newObserver(n *Node) observer {
	o := observer{n: n, leader: unknown, links: map[int32]*sim.Link{}}
	for _, c := range n.opt.Controllers {
		o.links[c] = sim.NewLink(n.proc, kafka.NodeName(kafka.BrokerID(c)), "metadata", reconnectMin, reconnectMax)
	}
	return o
}

func (o *observer) retry() journal.Time {
	return journal.Millis(o.n.cfg.Millis("controller.quorum.retry.backoff.ms"))
}

// late says whether no Fetch has succeeded for controller.quorum.fetch.timeout.ms.
func (o *observer) late() bool {
	return o.heard+journal.Millis(o.n.cfg.Millis("controller.quorum.fetch.timeout.ms")) <= o.n.w.Now()
}

// fetch asks the leader for what follows. Where none is known, and where the known
// one does not answer, it asks any controller who the leader is
// (KafkaRaftClient.maybeSendFetchToBestNode).
func (o *observer) fetch() {
	if o.busy {
		return
	}
	o.busy = true
	l := o.links[o.leader]
	to := o.leader
	if l == nil || !l.Ready() || o.late() {
		if l, to = o.any(); l == nil {
			o.later()
			return
		}
	}
	call := o.poll()
	if to == o.leader && o.wanted != nil {
		call.API, call.Chatter = kafka.FetchSnapshot, false
		call.Body = &wire.FetchSnapshotRequest{ReplicaID: o.n.id, CurrentLeaderEpoch: o.epoch, SnapshotID: *o.wanted}
	}
	call.Done = func(res sim.Result) { o.answered(to, l, res) }
	l.Send(call, call.Timeout)
}

// any is a controller at random that does not back off.
func (o *observer) any() (*sim.Link, int32) {
	cs := o.n.opt.Controllers
	at := int(o.n.w.Stream(o.n.name, "bootstrap").Intn(int64(len(cs))))
	for i := range cs {
		id := cs[(at+i)%len(cs)]
		if l := o.links[id]; l.Ready() {
			return l, id
		}
	}
	return nil, unknown
}

// later fetches again after controller.quorum.retry.backoff.ms.
func (o *observer) later() {
	o.busy = true
	o.n.proc.After(o.retry(), func() {
		o.busy = false
		o.fetch()
	})
}

// lastEpoch is the epoch of the last record it has.
func (o *observer) lastEpoch() int32 {
	if n := len(o.log); n > 0 {
		return o.log[n-1].Epoch
	}
	return o.base
}

func (o *observer) poll() *sim.Call {
	hw := o.hw
	return &sim.Call{API: kafka.Fetch, Part: MetadataPart, Chatter: true, Timeout: journal.Millis(o.n.cfg.Millis("controller.quorum.request.timeout.ms")),
		Timer: "controller.quorum.request.timeout.ms",
		Body: &wire.FetchRequest{ReplicaID: o.n.id, ReplicaEpoch: -1, MaxWaitMs: 500, SessionEpoch: -1, Parts: []wire.FetchPart{{
			Part: MetadataPart, CurrentLeaderEpoch: o.epoch, FetchOffset: o.leo, LastFetchedEpoch: o.lastEpoch(), HighWatermark: &hw}}}}
}

func (o *observer) answered(from int32, l *sim.Link, res sim.Result) {
	o.busy = false
	took := false
	switch r := res.Body.(type) {
	case *wire.FetchResponse:
		took = o.take(&r.Parts[0])
	case *wire.FetchSnapshotResponse:
		took = o.takeSnapshot(r)
	default:
		l.Backoff(o.retry())
		o.fetch()
		return
	}
	if took {
		o.leader = from
		o.heard = o.n.w.Now()
		o.fetch()
		return
	}
	o.later()
}

// refused follows what an error says about the epoch and its leader.
func (o *observer) refused(c *wire.CurrentLeader) {
	if c == nil || c.LeaderEpoch < o.epoch {
		return
	}
	if c.LeaderEpoch > o.epoch || o.leader == unknown && c.LeaderID != unknown {
		o.epoch, o.leader, o.wanted = c.LeaderEpoch, c.LeaderID, nil
	}
	if c.LeaderID != unknown {
		o.heard = o.n.w.Now()
	}
}

// take follows one answer of a Fetch; false where it did not come from the leader.
func (o *observer) take(p *wire.FetchResult) bool {
	if p.ErrorCode != kafka.None {
		o.refused(p.CurrentLeader)
		return false
	}
	switch {
	case p.SnapshotID != nil:
		o.wanted = p.SnapshotID
		return true
	case p.DivergingEpoch != nil:
		o.truncate(*p.DivergingEpoch)
		return true
	}
	for _, b := range p.Meta {
		if b.BaseOffset != o.leo {
			continue
		}
		o.log = append(o.log, b)
		o.leo = b.Last() + 1
	}
	o.hw = max(o.hw, min(p.HighWatermark, o.leo))
	o.schedule()
	return true
}

// truncate cuts off what the leader does not have; nothing of it was applied.
func (o *observer) truncate(to wire.EpochEnd) {
	n := len(o.log)
	for n > 0 && (o.log[n-1].Epoch > to.Epoch || o.log[n-1].Last() >= to.EndOffset) {
		n--
	}
	o.log = o.log[:n:n]
	o.leo = o.n.img.Offset + 1
	if n > 0 {
		o.leo = o.log[n-1].Last() + 1
	}
}

// takeSnapshot begins anew with the committed state of a snapshot.
func (o *observer) takeSnapshot(r *wire.FetchSnapshotResponse) bool {
	o.wanted = nil
	if r.ErrorCode != kafka.None {
		o.refused(r.CurrentLeader)
		return false
	}
	before := o.n.img
	o.n.img = image.New()
	for i := range r.Records {
		o.n.img.Apply(&r.Records[i], r.SnapshotID.EndOffset-1)
	}
	o.n.img.Offset = r.SnapshotID.EndOffset - 1
	o.log, o.base, o.leo = nil, r.SnapshotID.Epoch, r.SnapshotID.EndOffset
	o.hw = max(o.hw, o.leo)
	o.publish(before, r.Records, false)
	return true
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
	o.base = o.log[count-1].Epoch
	o.log = o.log[count:]
	o.publish(before, recs, idle)
}

// publish tells the broker what its metadata says now.
func (o *observer) publish(before *image.Image, recs []wire.MetaRecord, idle bool) {
	n := o.n.w.Emit(journal.Event{Kind: journal.MetadataApply, Node: o.n.name, Chatter: idle,
		F: journal.F("offset", o.n.img.Offset), Ch: []journal.Change{{Key: journal.NodeKey(o.n.name, "metadata"), Val: o.n.img.Offset}}})
	if !idle && o.n.published {
		o.n.w.Because(n, func() { o.n.publish(before, recs) })
	}
}
