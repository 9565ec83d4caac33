// Package controller is one KRaft controller: a voter that replicates the
// metadata log, and, where it leads the quorum, the active controller that
// decides about brokers, topics and partitions.
//
// Left out for now: elections of the quorum (the voters keep the leader of a
// formed start) and snapshots. A run that comes to an election of the quorum ends
// with an error that says so (ErrNotYet).
package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// metadataPart is the only partition of the metadata log.
const metadataPart = "__cluster_metadata-0"

// Node is a controller process.
type Node struct {
	w      *sim.World
	proc   *sim.Process
	id     int32
	name   string
	voters []int32
	cfg    *kafka.Config

	epoch  int32
	leader int32
	log    []wire.MetaBatch
	leo    int64
	hw     int64

	// the follower's side
	conn  *sim.Conn
	busy  bool
	heard journal.Time // the last successful Fetch
	quiet bool         // the last answer brought nothing but NoOp records

	// the leader's side
	ends     map[int32]int64 // log end of each voter, from its fetch offset
	parked   []*parkedFetch
	img      *image.Image // with what is not yet committed
	done     *image.Image // committed
	pending  []wire.MetaRecord
	ops      []int // where the operations in pending begin
	linger   *sim.Timer
	waits    []deferred
	sessions map[int32]*session
}

// deferred is an answer that waits for its records to be committed.
type deferred struct {
	offset int64 // answered when the high watermark is above it
	fn     func()
}

type parkedFetch struct {
	r     *sim.Request
	q     *wire.FetchRequest
	timer *sim.Timer
}

// New makes a controller with an empty log.
func New(w *sim.World, proc *sim.Process, id int32, voters []int32, cfg *kafka.Config) *Node {
	return &Node{w: w, proc: proc, id: id, name: kafka.NodeName(kafka.BrokerID(id)), voters: voters, cfg: cfg,
		leader: -1, ends: map[int32]int64{}, img: image.New(), done: image.New(), sessions: map[int32]*session{}}
}

// Name of the controller.
func (n *Node) Name() string { return n.name }

// Epoch is the quorum epoch.
func (n *Node) Epoch() int32 { return n.epoch }

// Image is the committed metadata. Do not change it.
func (n *Node) Image() *image.Image { return n.done }

// LogFrom returns the committed batches from an offset on.
func (n *Node) LogFrom(offset int64) []wire.MetaBatch {
	var out []wire.MetaBatch
	for _, b := range n.log {
		if b.BaseOffset >= offset && b.Last() < n.hw {
			out = append(out, b)
		}
	}
	return out
}

func (n *Node) active() bool { return n.leader == n.id }

// Formed puts the voter into a resting quorum: everybody has the whole log, and
// it is committed.
func (n *Node) Formed(log []wire.MetaBatch, epoch, leader int32) {
	n.log = slices.Clone(log)
	n.leo = log[len(log)-1].Last() + 1
	n.hw, n.epoch, n.leader = n.leo, epoch, leader
	for _, b := range log {
		for i := range b.Records {
			n.img.Apply(&b.Records[i], b.BaseOffset+int64(i))
			n.done.Apply(&b.Records[i], b.BaseOffset+int64(i))
		}
	}
	for _, v := range n.voters {
		n.ends[v] = n.leo
	}
}

// Start begins what the active controller does by itself.
func (n *Node) Start() {
	if n.active() {
		n.freshSessions()
		n.noOp()
		n.checkSessions()
		n.electPeriodically()
		return
	}
	n.heard = n.w.Now()
	n.watchLeader()
}

// noOp writes a NoOpRecord each metadata.max.idle.interval.ms (KIP-835).
func (n *Node) noOp() {
	every := journal.Millis(n.cfg.Millis("metadata.max.idle.interval.ms"))
	if every <= 0 {
		return // never
	}
	n.proc.After(every, func() {
		n.write([]wire.MetaRecord{{Type: "NoOpRecord"}}, nil)
		n.noOp()
	}).Because(-1)
}

// ErrNotYet says that a run has come to something that is not simulated yet.
type ErrNotYet struct {
	At   journal.Time
	What string
}

func (e *ErrNotYet) Error() string {
	return "at " + e.At.String() + " " + e.What + ", which cannot be simulated yet; let the pause or cut before it be shorter"
}

// watchLeader notices that no Fetch succeeded for controller.quorum.fetch.timeout.ms:
// then this voter would ask for votes.
func (n *Node) watchLeader() {
	timeout := journal.Millis(n.cfg.Millis("controller.quorum.fetch.timeout.ms"))
	n.proc.After(max(n.heard+timeout-n.w.Now(), 1)+1, func() {
		if silent := n.w.Now() - n.heard; silent > timeout && n.silenced() {
			n.w.Fail(&ErrNotYet{n.w.Now(), "controller " + strings.ToUpper(n.name) + " has not heard from the active controller for controller.quorum.fetch.timeout.ms and would stand for election"})
			return
		} else if silent > timeout {
			n.heard = n.w.Now() // it was paused itself: one Fetch, and it follows again
		}
		n.watchLeader()
	}).Because(-1)
}

// silenced says whether the active controller or the way to it is at fault.
func (n *Node) silenced() bool {
	leader := kafka.NodeName(kafka.BrokerID(n.leader))
	return n.w.FaultBetween(leader, n.name) > 0 || n.w.FaultBetween(n.name, leader) > 0
}

// Handle serves a request.
func (n *Node) Handle(r *sim.Request) {
	if q, ok := r.Body.(*wire.FetchRequest); ok {
		n.handleFetch(r, q)
		return
	}
	if !n.active() {
		n.refuse(r)
		return
	}
	switch q := r.Body.(type) {
	case *wire.BrokerRegistrationRequest:
		n.register(r, q)
	case *wire.BrokerHeartbeatRequest:
		n.heartbeat(r, q)
	case *wire.AlterPartitionRequest:
		n.alterPartition(r, q)
	case *wire.CreateTopicsRequest:
		n.createTopics(r, q)
	case *wire.CreatePartitionsRequest:
		n.createPartitions(r, q)
	case *wire.AlterPartitionReassignmentsRequest:
		n.alterPartitionReassignments(r, q)
	case *wire.ElectLeadersRequest:
		n.electLeaders(r, q)
	case *wire.IncrementalAlterConfigsRequest:
		n.alterConfigs(r, q)
	case *wire.AllocateProducerIDsRequest:
		if b := n.img.Brokers[q.BrokerID]; b == nil || b.Epoch != q.BrokerEpoch {
			r.Reply(&wire.AllocateProducerIDsResponse{ErrorCode: kafka.StaleBrokerEpoch}, 0, false)
			return
		}
		start := n.img.NextPID
		n.write([]wire.MetaRecord{{Type: "ProducerIdsRecord", BrokerID: q.BrokerID, Value: fmt.Sprint(start + 1000)}}, func() {
			r.Reply(&wire.AllocateProducerIDsResponse{ProducerIDStart: start, ProducerIDLen: 1000}, 0, false)
		})
	}
}

func (n *Node) refuse(r *sim.Request) {
	switch r.Body.(type) {
	case *wire.BrokerRegistrationRequest:
		r.Reply(&wire.BrokerRegistrationResponse{ErrorCode: kafka.NotController, BrokerEpoch: -1}, 0, false)
	case *wire.BrokerHeartbeatRequest:
		r.Reply(&wire.BrokerHeartbeatResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.AlterPartitionRequest:
		r.Reply(&wire.AlterPartitionResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.AllocateProducerIDsRequest:
		r.Reply(&wire.AllocateProducerIDsResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.CreateTopicsRequest:
		r.Reply(&wire.CreateTopicsResponse{Topics: []wire.TopicError{{ErrorCode: kafka.NotController}}}, 0, false)
	case *wire.CreatePartitionsRequest:
		r.Reply(&wire.CreatePartitionsResponse{Results: []wire.TopicError{{ErrorCode: kafka.NotController}}}, 0, false)
	case *wire.AlterPartitionReassignmentsRequest:
		r.Reply(&wire.AlterPartitionReassignmentsResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.ElectLeadersRequest:
		r.Reply(&wire.ElectLeadersResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.IncrementalAlterConfigsRequest:
		r.Reply(&wire.IncrementalAlterConfigsResponse{Responses: []wire.ResourceError{{ErrorCode: kafka.NotController}}}, 0, false)
	}
}

// write appends the records of one operation: they count in memory at once, go
// to the log after controller.quorum.append.linger.ms, and fn runs when they are
// committed (QuorumController's deferred events). last is the offset of the last
// record.
func (n *Node) write(recs []wire.MetaRecord, fn func()) (last int64) {
	base := n.leo + int64(len(n.pending))
	for i := range recs {
		n.img.Apply(&recs[i], base+int64(i))
	}
	n.ops = append(n.ops, len(n.pending))
	n.pending = append(n.pending, recs...)
	last = base + int64(len(recs)) - 1
	if fn != nil {
		n.waits = append(n.waits, deferred{last, fn})
	}
	if n.linger == nil {
		n.linger = n.proc.After(journal.Millis(n.cfg.Millis("controller.quorum.append.linger.ms")), n.flush)
	} else if fn != nil {
		n.linger.Because(n.w.Cause())
	}
	return last
}

func (n *Node) flush() {
	n.linger = nil
	b := wire.MetaBatch{BaseOffset: n.leo, Epoch: n.epoch, Records: n.pending, Ops: n.ops}
	n.pending, n.ops = nil, nil
	n.log = append(n.log, b)
	n.leo = b.Last() + 1
	n.ends[n.id] = n.leo
	var texts []string
	for i := range b.Records {
		texts = append(texts, RecordText(&b.Records[i]))
	}
	n.w.Emit(journal.Event{Kind: journal.MetadataAppend, Node: n.name, Chatter: idle(b.Records), F: journal.F("baseOffset", b.BaseOffset, "records", texts),
		Ch: []journal.Change{{Key: journal.NodeKey(n.name, "leo"), Val: n.leo}}})
	n.advance()
	n.answerParked()
}

func idle(recs []wire.MetaRecord) bool {
	for i := range recs {
		if recs[i].Type != "NoOpRecord" {
			return false
		}
	}
	return true
}

// advance is the commit rule: the log end that a majority of voters has
// (LeaderState.maybeUpdateHighWatermark).
func (n *Node) advance() {
	var ends []int64
	for _, v := range n.voters {
		ends = append(ends, n.ends[v])
	}
	slices.Sort(ends)
	slices.Reverse(ends)
	hw := ends[len(ends)/2]
	if hw <= n.hw {
		return
	}
	from := n.hw
	n.hw = hw
	n.commit(from)
	n.answerParked()
}

// commit makes records below the high watermark visible.
func (n *Node) commit(from int64) {
	var recs []wire.MetaRecord
	var parts []string
	moved := map[string]bool{} // partitions whose reassignment began, changed or ended
	type turn struct {
		id    int32
		state string
	}
	turns := map[int]turn{} // by record: a broker's state changes
	for _, b := range n.since(from) {
		for i := range b.Records {
			off := b.BaseOffset + int64(i)
			if off < from || off >= n.hw {
				continue
			}
			before := ""
			br := n.done.Brokers[b.Records[i].BrokerID]
			if br != nil {
				before = sessionState(br)
			}
			n.done.Apply(&b.Records[i], off)
			recs = append(recs, b.Records[i])
			if br = n.done.Brokers[b.Records[i].BrokerID]; br != nil && sessionState(br) != before {
				turns[len(recs)-1] = turn{br.ID, sessionState(br)}
			}
			for _, p := range n.partsOf(&b.Records[i]) {
				if !slices.Contains(parts, p) {
					parts = append(parts, p)
				}
			}
			moved[b.Records[i].Part] = moved[b.Records[i].Part] || b.Records[i].RemovingSet || b.Records[i].AddingSet
		}
	}
	ch := []journal.Change{{Key: journal.NodeKey(n.name, "commit"), Val: n.hw}}
	for _, part := range parts {
		ch = append(ch, metaChanges(n.done, part)...)
		if moved[part] {
			ch = append(ch, moveChanges(n.done, part)...)
		}
	}
	for i := range recs {
		if t, ok := turns[i]; ok {
			ch = append(ch, journal.Change{Key: journal.SessionKey(kafka.NodeName(kafka.BrokerID(t.id))), Val: t.state})
		}
	}
	c := n.w.Emit(journal.Event{Kind: journal.MetadataCommit, Node: n.name, Chatter: idle(recs), F: journal.F("highWatermark", n.hw), Ch: ch})
	for i := range recs {
		if r := &recs[i]; r.Leader != nil && r.Type == "PartitionChangeRecord" {
			p := n.done.Partition(r.Part)
			n.w.Because(c, func() {
				n.w.Emit(journal.Event{Kind: journal.LeaderElect, Node: n.name, Part: r.Part, F: journal.F("leader", p.Leader, "leaderEpoch", p.LeaderEpoch, "isr", join(p.ISR))})
			})
		}
		// A registration begins fenced; that is no fencing.
		if t, ok := turns[i]; ok && recs[i].Type == "BrokerRegistrationChangeRecord" {
			n.w.Because(c, func() { n.sessionEvent(t.id, t.state) })
		}
	}
	waits := n.waits
	n.waits = nil
	for _, d := range waits {
		if d.offset >= n.hw {
			n.waits = append(n.waits, d)
			continue
		}
		n.w.Because(c, d.fn)
	}
}

func join(ids []int32) string {
	var s []string
	for _, id := range ids {
		s = append(s, fmt.Sprint(id))
	}
	return strings.Join(s, ",")
}

// partsOf are the partitions whose keys a record changes.
func (n *Node) partsOf(r *wire.MetaRecord) (parts []string) {
	name := r.Name
	switch {
	case r.Type == "PartitionRecord", r.Type == "PartitionChangeRecord":
		return []string{r.Part}
	case r.Type == "ConfigRecord" && r.Name == minISR:
		name = r.Part
	case r.Type != "ClearElrRecord":
		return nil
	}
	for _, part := range n.done.Parts() {
		if topic, _ := image.Split(part); name == "" || name == topic {
			parts = append(parts, part)
		}
	}
	return parts
}

// list is a list of ids as a key holds it; none is no value.
func list(ids []int32) any {
	if len(ids) == 0 {
		return nil
	}
	return join(ids)
}

// moveChanges are the keys of a reassignment.
func moveChanges(im *image.Image, part string) []journal.Change {
	p := im.Partition(part)
	return []journal.Change{{Key: journal.MetaKey(part, "removing"), Val: list(p.Removing)}, {Key: journal.MetaKey(part, "adding"), Val: list(p.Adding)}}
}

func metaChanges(im *image.Image, part string) []journal.Change {
	p := im.Partition(part)
	k := func(f string) string { return journal.MetaKey(part, f) }
	recovering := any(nil)
	if p.Recovery != 0 {
		recovering = p.Recovery
	}
	return []journal.Change{{Key: k("leaderRecoveryState"), Val: recovering}, {Key: k("leader"), Val: p.Leader}, {Key: k("leaderEpoch"), Val: p.LeaderEpoch}, {Key: k("partitionEpoch"), Val: p.PartitionEpoch},
		{Key: k("replicas"), Val: join(p.Replicas)}, {Key: k("isr"), Val: join(p.ISR)}, {Key: k("elr"), Val: list(p.ELR)}, {Key: k("lastKnownElr"), Val: list(p.LastKnownELR)},
		{Key: k("minIsr"), Val: im.MinISR(part)}}
}

// RecordText is a metadata record in short: its type, subject and what it sets.
func RecordText(r *wire.MetaRecord) string {
	s := r.Type
	switch r.Type {
	case "TopicRecord":
		return s + " " + r.Name
	case "ConfigRecord":
		who := cmp.Or(r.Part, "cluster")
		if r.Resource == wire.BrokerResource && r.Part != "" {
			who = "broker " + r.Part
		}
		return s + " " + who + " " + r.Name + "=" + r.Value
	case "ClearElrRecord":
		return s + " " + cmp.Or(r.Name, "cluster")
	case "PartitionRecord":
		return fmt.Sprintf("%s %s replicas %s leader %d", s, r.Part, join(r.Replicas), *r.Leader)
	case "PartitionChangeRecord":
		s += " " + r.Part
		if r.ISRSet {
			s += " isr " + cmp.Or(join(r.ISR), "none")
		}
		if r.Leader != nil {
			s += fmt.Sprintf(" leader %d", *r.Leader)
		}
		if r.Replicas != nil {
			s += " replicas " + join(r.Replicas)
		}
		if r.RemovingSet {
			s += " removing " + cmp.Or(join(r.Removing), "none")
		}
		if r.AddingSet {
			s += " adding " + cmp.Or(join(r.Adding), "none")
		}
		if r.ELRSet {
			s += " elr " + cmp.Or(join(r.ELR), "none")
		}
		if r.LastKnownSet {
			s += " lastKnownElr " + cmp.Or(join(r.LastKnownELR), "none")
		}
		if r.Recovery != nil {
			s += fmt.Sprintf(" leaderRecoveryState %d", *r.Recovery)
		}
	case "RegisterBrokerRecord", "ProducerIdsRecord":
		return fmt.Sprintf("%s broker %d", s, r.BrokerID)
	case "BrokerRegistrationChangeRecord":
		what := map[int8]string{1: "FENCE", -1: "UNFENCE"}[r.Fenced]
		if r.Shutdown == 1 {
			what = "IN_CONTROLLED_SHUTDOWN"
		}
		return fmt.Sprintf("%s broker %d %s", s, r.BrokerID, what)
	}
	return s
}

// Snapshot reads the controller's own keys from the live object.
func (n *Node) Snapshot() []journal.Change {
	role := "follower"
	if n.active() {
		role = "leader"
	}
	k := func(f string) string { return journal.NodeKey(n.name, f) }
	return []journal.Change{{Key: k("state"), Val: string(n.proc.State())}, {Key: k("role"), Val: role}, {Key: k("epoch"), Val: n.epoch},
		{Key: k("leo"), Val: n.leo}, {Key: k("commit"), Val: n.hw}}
}

// FormedChanges is the resting state for event 1; the active controller adds
// the committed metadata and the brokers' sessions.
func (n *Node) FormedChanges() []journal.Change {
	ch := n.Snapshot()
	if !n.active() {
		return ch
	}
	for _, part := range n.done.Parts() {
		for _, c := range append(metaChanges(n.done, part), moveChanges(n.done, part)...) {
			if c.Val != nil {
				ch = append(ch, c)
			}
		}
	}
	for _, id := range n.done.BrokerIDs() {
		ch = append(ch, journal.Change{Key: journal.SessionKey(kafka.NodeName(kafka.BrokerID(id))), Val: sessionState(n.done.Brokers[id])})
	}
	return ch
}
