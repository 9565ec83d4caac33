// Package controller is one KRaft controller: a voter that replicates the
// metadata log and takes part in the elections of the quorum, and, where it leads
// the quorum, the active controller that decides about brokers, topics and
// partitions.
//
// The quorum follows KIP-595 with pre-vote (KIP-996), check-quorum (KIP-835),
// resignation and snapshots (KIP-630). The voters are given by the configuration
// and never change (KIP-853 is left out), and so is the registration of
// controllers. A snapshot is made by each controller for itself, every
// metadata.log.max.snapshot.interval.ms and not by size; it travels in one
// response, and the log before it is kept, except by who fetched a snapshot. A
// voter that looks for the leader does not ask itself, and pauses 20 ms between
// two questions.
package controller

import (
	"slices"

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
	w        *sim.World
	proc     *sim.Process
	id       int32
	name     string
	cfg      *kafka.Config
	features []string // of a new cluster

	q        Quorum
	turn     int // counts role changes: what an earlier role asked for is void
	timer    *sim.Timer
	deadline journal.Time // of the role: election, fetch or check-quorum time-out
	told     quorumKeys   // what the journal knows of the quorum state
	stopped  func()       // set: the process is asked to end

	log  metaLog
	hw   int64
	done *image.Image // committed

	peers   map[int32]*peer
	polling bool           // a Fetch or FetchSnapshot is on its way, or due
	quiet   bool           // the last answer brought nothing but NoOp records
	wanted  *wire.EpochEnd // the snapshot to fetch

	successors []int32 // of a resigned leader, as EndQuorumEpoch names them

	// the leader's side
	lead     *LeaderState
	parked   []*parkedFetch
	active   bool // it has taken over from the last active controller
	img      *image.Image
	pending  []wire.MetaRecord
	ops      []int // where the operations in pending begin
	linger   *sim.Timer
	serving  *sim.Request // what is being decided
	waits    []deferred
	sessions map[int32]*session
}

// New makes a controller that has not started; features are those that it gives an
// empty metadata log.
func New(w *sim.World, proc *sim.Process, id int32, voters []int32, cfg *kafka.Config, features []string) *Node {
	n := &Node{w: w, features: features, proc: proc, id: id, name: kafka.NodeName(kafka.BrokerID(id)), cfg: cfg,
		q:    Quorum{ID: id, Voters: voters, Role: Unattached, Leader: nobody, Voted: nobody},
		told: quorumKeys{votedFor: nobody}, done: image.New(), peers: map[int32]*peer{}}
	for _, v := range voters {
		if v != id {
			n.peers[v] = newPeer(n, v)
		}
	}
	return n
}

// ID of the controller.
func (n *Node) ID() int32 { return n.id }

// Name of the controller.
func (n *Node) Name() string { return n.name }

// Epoch is the quorum epoch.
func (n *Node) Epoch() int32 { return n.q.Epoch }

// Leads says whether it leads the quorum in its epoch.
func (n *Node) Leads() bool { return n.q.Role == Leader }

// Committed is the high watermark of the metadata log as it knows it.
func (n *Node) Committed() int64 { return n.hw }

// Image is the committed metadata. Do not change it.
func (n *Node) Image() *image.Image { return n.done }

// LogFrom returns the committed batches from an offset on.
func (n *Node) LogFrom(offset int64) []wire.MetaBatch {
	var out []wire.MetaBatch
	for _, b := range n.log.batches {
		if b.BaseOffset >= offset && b.Last() < n.hw {
			out = append(out, b)
		}
	}
	return out
}

func (n *Node) leo() int64 { return n.log.end().Offset }

func (n *Node) millis(key string) journal.Time { return journal.Millis(n.cfg.Millis(key)) }

// Formed puts the voter into a resting quorum: everybody has the whole log, and
// it is committed.
func (n *Node) Formed(log []wire.MetaBatch, epoch, leader int32) {
	n.log.batches = slices.Clone(log)
	n.hw = n.leo()
	for _, b := range log {
		for i := range b.Records {
			n.done.Apply(&b.Records[i], b.BaseOffset+int64(i))
		}
	}
	n.q.Epoch, n.q.Leader, n.q.Role, n.q.Fetched = epoch, leader, Follower, true
	if leader == n.id {
		n.q.Role = Leader
		n.lead = NewLeaderState(n.id, n.q.Voters, 0)
		for _, v := range n.q.Voters {
			n.lead.Update(v, n.hw)
			n.lead.acknowledged[v] = true
		}
	}
	n.told = n.quorumKeys()
}

// Start begins what a voter of a resting quorum does by itself.
func (n *Node) Start() {
	n.snapshots()
	if n.Leads() {
		n.activate()
		n.expect(n.checkQuorumTimeout())
		return
	}
	n.expect(n.fetchTimeout())
}

// Disk is what outlives a controller's process: its copy of the metadata log with
// snapshots, and the quorum-state file.
type Disk struct {
	log    metaLog
	epoch  int32
	leader int32
	voted  int32
}

// Formatted is a disk on which no process has run yet.
func Formatted() *Disk { return &Disk{leader: nobody, voted: nobody} }

// Disk of a process that has ended. A voter flushes what it appends before it
// asks for more, so all of its log is there.
func (n *Node) Disk() *Disk {
	return &Disk{log: n.log, epoch: n.q.Epoch, leader: n.q.Leader, voted: n.q.Voted}
}

// Boot starts the controller from its disk (QuorumState.initialize). Who led when
// it ended may not go on: it begins resigned, so that it neither votes nor writes
// again in that epoch.
func (n *Node) Boot(d *Disk) {
	n.log = d.log
	n.q.Epoch, n.q.Voted = d.epoch, d.voted
	if s := n.log.snap; s != nil {
		n.load(s)
	}
	n.proc.After(boot, func() {
		n.proc.Ready()
		n.w.Emit(journal.Event{Kind: journal.NodeReady, Node: n.name, Ch: []journal.Change{{Key: journal.NodeKey(n.name, "state"), Val: string(n.proc.State())},
			{Key: journal.NodeKey(n.name, "leo"), Val: n.leo()}, {Key: journal.NodeKey(n.name, "commit"), Val: n.hw}}})
		n.snapshots()
		switch {
		case len(n.q.Voters) == 1:
			n.becomeProspective()
		case d.leader == n.id:
			n.becomeResigned(nil)
		case d.leader != nobody:
			n.becomeFollower(d.epoch, d.leader)
		case d.voted == n.id:
			n.q.Epoch-- // it stands again in the epoch in which it stood
			n.becomeCandidate()
		default:
			n.becomeUnattached(d.epoch, n.electionTimeout())
		}
	})
}

// boot is the time from the start of the process until it takes part in the
// quorum.
const boot = 1500 * journal.Millisecond

// Stop ends the process in order. A leader resigns first and waits until another
// leads, for five seconds at most (KafkaRaftClient.shutdown).
func (n *Node) Stop(done func()) {
	n.stopped = done
	if n.Leads() && len(n.q.Voters) > 1 {
		n.becomeResigned(n.lead.successors())
	}
	n.proc.After(shutdownTimeout, n.leave)
	n.maybeLeave()
}

const shutdownTimeout = 5 * journal.Second

// maybeLeave ends a process that is asked to end once somebody else leads.
func (n *Node) maybeLeave() {
	if n.stopped != nil && (len(n.q.Voters) == 1 || n.told.role == "" || n.q.Leader != nobody && n.q.Leader != n.id) {
		n.leave()
	}
}

func (n *Node) leave() {
	if done := n.stopped; done != nil {
		n.stopped = nil
		n.proc.After(0, done)
	}
}

// Forget is what the end of the process changes: only what is on the disk stays.
func (n *Node) Forget() []journal.Change {
	return []journal.Change{{Key: journal.NodeKey(n.name, "role")}, {Key: journal.NodeKey(n.name, "commit")}}
}

// Handle serves a request.
func (n *Node) Handle(r *sim.Request) {
	switch q := r.Body.(type) {
	case *wire.FetchRequest:
		n.handleFetch(r, q)
	case *wire.FetchSnapshotRequest:
		n.handleFetchSnapshot(r, q)
	case *wire.VoteRequest:
		n.handleVote(r, q)
	case *wire.BeginQuorumEpochRequest:
		n.handleBegin(r, q)
	case *wire.EndQuorumEpochRequest:
		n.handleEnd(r, q)
	default:
		n.decide(r)
	}
}

// quorumKeys are the parts of the quorum state that the journal shows.
type quorumKeys struct {
	role     Role
	epoch    int32
	votedFor int32
}

func (n *Node) quorumKeys() quorumKeys { return quorumKeys{n.q.Role, n.q.Epoch, n.q.Voted} }

// diff are the changed keys of the quorum state.
func (n *Node) diff() (ch []journal.Change) {
	k := n.quorumKeys()
	if k.role != n.told.role {
		ch = append(ch, journal.Change{Key: journal.NodeKey(n.name, "role"), Val: string(k.role)})
	}
	if k.epoch != n.told.epoch {
		ch = append(ch, journal.Change{Key: journal.NodeKey(n.name, "epoch"), Val: k.epoch})
	}
	if k.votedFor != n.told.votedFor {
		ch = append(ch, journal.Change{Key: journal.NodeKey(n.name, "votedFor"), Val: k.votedForName()})
	}
	n.told = k
	return ch
}

func (k quorumKeys) votedForName() any {
	if k.votedFor == nobody {
		return nil
	}
	return kafka.NodeName(kafka.BrokerID(k.votedFor))
}

// Snapshot reads the controller's own keys from the live object.
func (n *Node) Snapshot() []journal.Change {
	k := func(f string) string { return journal.NodeKey(n.name, f) }
	ch := []journal.Change{{Key: k("state"), Val: string(n.proc.State())}}
	if n.proc.Alive() && n.told.role != "" {
		ch = append(ch, journal.Change{Key: k("role"), Val: string(n.q.Role)})
	}
	ch = append(ch, journal.Change{Key: k("epoch"), Val: n.q.Epoch}, journal.Change{Key: k("leo"), Val: n.leo()})
	if n.proc.Alive() && n.told.role != "" {
		ch = append(ch, journal.Change{Key: k("commit"), Val: n.hw})
	}
	if v := n.quorumKeys().votedForName(); v != nil {
		ch = append(ch, journal.Change{Key: k("votedFor"), Val: v})
	}
	return ch
}

// CommittedChanges are the committed metadata and the brokers' sessions.
func (n *Node) CommittedChanges() (ch []journal.Change) {
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
