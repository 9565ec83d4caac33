package broker

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// OffsetsTopic holds the groups and their committed offsets; its partitions are
// replicated like any other.
const OffsetsTopic = "__consumer_offsets"

// loadTime is how long a new leader of a small partition of OffsetsTopic reads it
// before it coordinates.
const loadTime = 20 * journal.Millisecond

// coordinator runs the groups of the partitions of OffsetsTopic that this broker
// leads (GroupCoordinatorService, CoordinatorRuntime). What changes a group is
// written like the batch of an acks=all producer and answered when it is
// committed; with group.coordinator.append.linger.ms −1 and no load each
// operation is a batch of its own.
type coordinator struct {
	n      *Node
	shards map[string]*shard
}

// Coordinators remembers what the journal shows of the groups of each partition,
// and of which leader epoch. A coordinator that does not know yet that it is
// none any more changes its own memory, not what is shown.
type Coordinators struct{ parts map[string]*shown }

type shown struct {
	epoch int32
	keys  map[string]bool
}

// NewCoordinators shows nothing.
func NewCoordinators() *Coordinators { return &Coordinators{map[string]*shown{}} }

// shard is one of the partitions.
type shard struct {
	part   string
	epoch  int32 // leader epoch
	h      *hosted
	groups *group.Shard // nil while it loads
	timer  *sim.Timer
	at     journal.Time // when timer fires
}

func newCoordinator(n *Node) coordinator { return coordinator{n: n, shards: map[string]*shard{}} }

func (n *Node) offsetsPart(group string) string {
	t := n.img.Topics[OffsetsTopic]
	if t == nil {
		return ""
	}
	return image.Name(OffsetsTopic, int(kafka.PartitionFor(group, int32(len(t.Parts)))))
}

func (n *Node) findCoordinator(q *wire.FindCoordinatorRequest) *wire.FindCoordinatorResponse {
	r := &wire.FindCoordinatorResponse{}
	for _, key := range q.Keys {
		c := wire.Coordinator{Key: key, NodeID: -1, ErrorCode: kafka.CoordinatorNotAvailable}
		if p := n.img.Partition(n.offsetsPart(key)); p != nil && p.Leader != image.NoLeader {
			c.NodeID, c.ErrorCode = p.Leader, kafka.None
		}
		r.Coordinators = append(r.Coordinators, c)
	}
	return r
}

// leads makes this broker coordinator of a partition: it reads the log, and what
// it finds are its groups.
func (c *coordinator) leads(part string, h *hosted) {
	if !strings.HasPrefix(part, OffsetsTopic+"-") {
		return
	}
	c.drop(part)
	sh := &shard{part: part, h: h, epoch: h.rep.LeaderEpoch()}
	c.shards[part] = sh
	c.n.proc.After(loadTime, func() {
		if c.shards[part] == sh {
			c.load(sh)
			r := sh.groups.Loaded(c.n.w.Now())
			c.n.w.Emit(journal.Event{Kind: journal.CoordinatorLoad, Node: c.n.name, Part: part, F: journal.F("groups", sh.groups.IDs()), Ch: c.show(sh)})
			r.Changes = nil
			c.take(sh, r)
		}
	})
}

// loaded is leads at a formed start: the groups are there already.
func (c *coordinator) loaded(part string, h *hosted) {
	if !strings.HasPrefix(part, OffsetsTopic+"-") {
		return
	}
	sh := &shard{part: part, h: h, epoch: h.rep.LeaderEpoch()}
	c.shards[part] = sh
	c.load(sh)
	sh.groups.Loaded(c.n.w.Now())
	c.show(sh)
	c.arm(sh)
}

// show makes this coordinator the one whose groups are shown, and returns the
// changes: what it has, and what only the one before had.
func (c *coordinator) show(sh *shard) []journal.Change {
	old := c.n.opt.Coordinators.parts[sh.part]
	if old != nil && old.epoch > sh.epoch {
		return nil
	}
	now := &shown{epoch: sh.epoch, keys: map[string]bool{}}
	c.n.opt.Coordinators.parts[sh.part] = now
	ch := c.seen(sh, append(sh.groups.Snapshot(), c.coordinates(sh.part, c.n.name)...))
	if old != nil {
		for _, k := range sortedKeys(old.keys) {
			if !now.keys[k] {
				ch = append(ch, journal.Change{Key: k})
			}
		}
	}
	return ch
}

// isShown says whether a coordinator is the newest of its partition.
func (c *coordinator) isShown(sh *shard) bool {
	x := c.n.opt.Coordinators.parts[sh.part]
	return x != nil && x.epoch == sh.epoch
}

// seen passes on the changes of the coordinator that is shown.
func (c *coordinator) seen(sh *shard, ch []journal.Change) []journal.Change {
	if !c.isShown(sh) {
		return nil
	}
	keys := c.n.opt.Coordinators.parts[sh.part].keys
	for _, x := range ch {
		if x.Val == nil {
			delete(keys, x.Key)
		} else {
			keys[x.Key] = true
		}
	}
	return ch
}

func (c *coordinator) load(sh *shard) {
	n := c.n
	sh.groups = group.NewShard(group.Options{Config: n.cfg, NewID: n.opt.NewID, Cause: n.w.Cause, Assign: assign,
		Partitions: func(topic string) int {
			if t := n.img.Topics[topic]; t != nil {
				return len(t.Parts)
			}
			return 0
		}})
	for _, b := range sh.h.log.Batches() {
		for _, id := range b.IDs {
			if r := n.w.J.Record(journal.RecordID(int(id))); r != nil && r.Key != nil {
				sh.groups.Replay(*r.Key, r.Value)
			}
		}
	}
	if len(sh.groups.IDs()) > 0 {
		c.expireLater(sh)
	}
}

// expireLater looks for offsets to forget every
// offsets.retention.check.interval.ms.
func (c *coordinator) expireLater(sh *shard) {
	c.n.proc.After(journal.Millis(c.n.cfg.Millis("offsets.retention.check.interval.ms")), func() {
		if c.shards[sh.part] == sh {
			c.take(sh, sh.groups.ExpireOffsets(c.n.w.Now()))
			c.expireLater(sh)
		}
	}).Because(-1)
}

// coordinates are the keys that say who coordinates the groups of a partition.
func (c *coordinator) coordinates(part string, who any) []journal.Change {
	var ch []journal.Change
	for _, g := range c.n.opt.Groups {
		if c.n.offsetsPart(g) == part {
			ch = append(ch, journal.Change{Key: journal.NodeKey(g, "coordinator"), Val: who})
		}
	}
	return ch
}

// follows ends the coordination of a partition: who waits is sent away.
func (c *coordinator) follows(part string) {
	sh := c.shards[part]
	if sh == nil {
		return
	}
	c.drop(part)
	c.n.w.Emit(journal.Event{Kind: journal.CoordinatorUnload, Node: c.n.name, Part: part, Ch: c.seen(sh, c.coordinates(part, nil))})
	if sh.groups != nil {
		c.take(sh, sh.groups.Unload(c.n.w.Now()))
	}
}

func (c *coordinator) drop(part string) {
	if sh := c.shards[part]; sh != nil {
		sh.timer.Stop()
		delete(c.shards, part)
	}
}

// forget is what the end of the process takes away.
func (c *coordinator) forget() []journal.Change {
	var ch []journal.Change
	for _, part := range sortedKeys(c.shards) {
		ch = append(ch, c.seen(c.shards[part], c.coordinates(part, nil))...)
	}
	return ch
}

// handle serves a request to a group's coordinator.
func (c *coordinator) handle(r *sim.Request) {
	now, from := c.n.w.Now(), r.From
	var id string
	var serve func(*group.Shard) group.Result
	var refuse func(kafka.ErrorCode) any
	switch q := r.Body.(type) {
	case *wire.JoinGroupRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.JoinGroup(now, q, from, r) }
		refuse = func(e kafka.ErrorCode) any {
			return &wire.JoinGroupResponse{ErrorCode: e, GenerationID: -1, MemberID: q.MemberID}
		}
	case *wire.SyncGroupRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.SyncGroup(now, q, r) }
		refuse = func(e kafka.ErrorCode) any { return &wire.SyncGroupResponse{ErrorCode: e} }
	case *wire.HeartbeatRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.Heartbeat(now, q, r) }
		refuse = func(e kafka.ErrorCode) any {
			if e == kafka.CoordinatorLoadInProgress {
				e = kafka.None // nobody is declared dead meanwhile
			}
			return &wire.HeartbeatResponse{ErrorCode: e}
		}
	case *wire.LeaveGroupRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.LeaveGroup(now, q, r) }
		refuse = func(e kafka.ErrorCode) any { return &wire.LeaveGroupResponse{ErrorCode: e} }
	case *wire.ConsumerGroupHeartbeatRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.ConsumerGroupHeartbeat(now, q, from, r) }
		refuse = func(e kafka.ErrorCode) any {
			return &wire.ConsumerGroupHeartbeatResponse{ErrorCode: e, MemberID: q.MemberID}
		}
	case *wire.OffsetCommitRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result { return s.CommitOffsets(now, q, r) }
		refuse = func(e kafka.ErrorCode) any {
			resp := &wire.OffsetCommitResponse{}
			for _, p := range q.Parts {
				resp.Parts = append(resp.Parts, wire.PartError{Part: p.Part, ErrorCode: e})
			}
			return resp
		}
	case *wire.OffsetFetchRequest:
		id, serve = q.GroupID, func(s *group.Shard) group.Result {
			return group.Result{Answers: []group.Answer{{To: r, Body: s.FetchOffsets(q)}}}
		}
		refuse = func(e kafka.ErrorCode) any {
			resp := &wire.OffsetFetchResponse{GroupID: q.GroupID, ErrorCode: e}
			for _, p := range q.Parts {
				resp.Parts = append(resp.Parts, wire.OffsetFetchPart{Part: p, CommittedOffset: -1, CommittedLeaderEpoch: -1})
			}
			return resp
		}
	default:
		return
	}
	switch sh := c.shards[c.n.offsetsPart(id)]; {
	case sh == nil:
		r.Reply(refuse(kafka.NotCoordinator), 0, false)
	case sh.groups == nil:
		r.Reply(refuse(kafka.CoordinatorLoadInProgress), 0, false)
	default:
		c.take(sh, serve(sh.groups))
	}
}

// take does what a shard asks for.
func (c *coordinator) take(sh *shard, r group.Result) {
	w := c.n.w
	cause := w.Cause()
	for _, e := range r.Events {
		e.Node, e.Ch = c.n.name, c.seen(sh, e.Ch)
		if f, ok := e.F.(journal.Fields); ok {
			if m, ok := f.Get("member").(string); ok {
				e.Node = m
				if e.Kind == journal.MemberFence {
					e.Missing = w.FaultBetween(m, c.n.name)
				}
			}
		}
		w.Emit(e)
	}
	if ch := c.seen(sh, r.Changes); len(ch) > 0 && w.Cause() > 0 {
		w.Attach(w.Cause(), ch)
	}
	told := w.Cause()
	for _, x := range r.Writes {
		w.Because(told, func() { c.write(sh, x) })
	}
	for _, a := range r.Answers {
		if len(r.Events) == 0 {
			told = cause
		}
		w.Because(told, func() { a.To.(*sim.Request).Reply(a.Body, 0, quiet(a.Body)) })
	}
	c.arm(sh)
}

// quiet says whether an answer brings nothing new.
func quiet(body any) bool {
	switch b := body.(type) {
	case *wire.HeartbeatResponse:
		return b.ErrorCode == kafka.None
	case *wire.ConsumerGroupHeartbeatResponse:
		return b.ErrorCode == kafka.None && b.Assignment == nil
	}
	return false
}

// arm sets the sim's timer for the shard's next one. A timer that moved away is
// found out when it fires.
func (c *coordinator) arm(sh *shard) {
	at, ok := sh.groups.Deadline()
	if !ok || c.shards[sh.part] != sh || sh.timer != nil && sh.at <= at {
		return
	}
	sh.timer.Stop()
	sh.at = at
	sh.timer = c.n.proc.After(at-c.n.w.Now(), func() {
		sh.timer = nil
		for {
			r, cause, ok := sh.groups.Tick(c.n.w.Now())
			if !ok {
				break
			}
			c.n.w.Because(cause, func() {
				if len(r.Events) == 0 && len(r.Changes) > 0 {
					c.n.w.Emit(journal.Event{Kind: journal.TimerFire, Node: c.n.name, Part: sh.part, F: journal.F("timer", "coordinator")})
				}
				c.take(sh, r)
			})
		}
		c.arm(sh)
	})
}

// write appends a batch of the coordinator and tells the shard when it is
// committed, or why it is not.
func (c *coordinator) write(sh *shard, x *group.Write) {
	n := c.n
	done := func(code kafka.ErrorCode) { c.take(sh, sh.groups.Written(n.w.Now(), x, code)) }
	if !sh.h.rep.IsLeader() || c.shards[sh.part] != sh {
		done(kafka.NotLeaderOrFollower)
		return
	}
	if len(sh.h.rep.ISR()) < n.img.MinISR(sh.part) {
		done(kafka.NotEnoughReplicas)
		return
	}
	base := sh.h.append(RecordBatch(n.w, x.Records))
	resp := &wire.ProduceResponse{Parts: []wire.ProduceResult{{Part: sh.part, BaseOffset: base}}}
	n.park(&delayedProduce{resp: resp, waits: []produceWait{{h: sh.h, required: sh.h.log.LEO()}},
		from: c.n.name, onReply: func(p *wire.ProduceResponse) { done(p.Parts[0].ErrorCode) }}, journal.Millis(n.cfg.Millis("offsets.commit.timeout.ms")))
}

// RecordBatch makes a coordinator's batch.
func RecordBatch(w *sim.World, records []group.Record) replica.Batch {
	b := replica.Batch{ProducerID: -1, ProducerEpoch: -1, BaseSeq: -1, Bytes: 61}
	for _, rec := range records {
		key, value := rec.Key(), rec.Text()
		bytes := len(key) + len(value) + 8
		id := w.NewRecord(journal.Record{Topic: OffsetsTopic, Key: &key, Value: value, Bytes: bytes})
		b.IDs = append(b.IDs, fromWire(wire.Batch{Records: []string{id}}).IDs[0])
		b.Bytes += bytes
	}
	return b
}

// DescribeGroup looks at a group that this broker coordinates.
func (n *Node) DescribeGroup(id string) (group.View, bool) {
	if sh := n.coord.shards[n.offsetsPart(id)]; sh != nil && sh.groups != nil && n.proc.Alive() {
		return sh.groups.Describe(id)
	}
	return group.View{}, false
}

func (c *coordinator) snapshot() []journal.Change {
	var ch []journal.Change
	for _, part := range sortedKeys(c.shards) {
		if sh := c.shards[part]; sh.groups != nil && c.isShown(sh) {
			ch = append(ch, slices.Concat(sh.groups.Snapshot(), c.coordinates(part, c.n.name))...)
		}
	}
	return ch
}
