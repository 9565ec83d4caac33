// Package broker is one broker: its replicas as leader and follower, the
// purgatories of waiting requests, the fetchers, the ISR proposals, the metadata
// that it has applied, and the coordinator of offsets.
//
// Simplified: one log directory, one network thread and one fetcher a leader
// (num.replica.fetchers 1); logs have one segment and are never cleaned;
// transactions, quotas and authorization are left out. All checkpoints of high
// watermarks happen at the same moments; in a real cluster each broker counts
// from its own start.
//
// Where Kafka walks a hash map the order here is fixed: partitions by their name
// as text (orders-10 before orders-2), brokers by id, waiting requests in the order
// in which they came.
package broker

import (
	"slices"
	"sort"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Options are what a broker needs beside its configuration.
type Options struct {
	ID           int32
	Controllers  []int32
	Append       journal.Time // a batch written to a log
	Apply        journal.Time // a metadata delta published
	Boot         journal.Time // process start to BrokerRegistration
	Coordinators *Coordinators
	Groups       []string                   // that the scenario names, to show who coordinates them
	NewID        func(client string) string // the next member id of a client
}

// Node is a broker process.
type Node struct {
	w      *sim.World
	proc   *sim.Process
	static *kafka.Config // server.properties
	cfg    *kafka.Config // with what was set while it runs
	opt    Options
	id     int32
	name   string

	img       *image.Image
	published bool // replicas have their roles; before, a start reads metadata only
	epoch     int64
	replicas  map[string]*hosted
	parts     []string // hosted, sorted

	fetchers map[int32]*fetcher
	sessions sessions
	results  []wire.FetchResult // a buffer of reads
	observer observer
	channels channels
	life     lifecycle
	alter    alterManager
	pids     pidBlock
	coord    coordinator
}

// hosted is a replica on this broker.
type hosted struct {
	n    *Node
	part string
	rep  *replica.Partition
	log  *replica.Log

	produces []*delayedProduce
	fetches  []*delayedFetch
	keys     replicaKeys
	sent     map[string]any    // last values of the small keys, to emit changes only
	remotes  []*replica.Remote // whose keys have been sent
	gone     bool              // stopped: its keys have ended
}

type replicaKeys struct{ role, leo, hw, saved, lso, logStart, leaderEpoch, epochs, log, waiting, isr, maximal string }

func newKeys(node, part string) replicaKeys {
	k := func(f string) string { return journal.ReplicaKey(node, part, f) }
	return replicaKeys{k("role"), k("leo"), k("hw"), k("hwCheckpoint"), k("lso"), k("logStart"), k("leaderEpoch"), k("epochs"), k("log"), k("waiting"), k("isr"), k("maximalIsr")}
}

// New makes a broker that has applied nothing.
func New(w *sim.World, proc *sim.Process, cfg *kafka.Config, opt Options) *Node {
	n := &Node{w: w, proc: proc, static: cfg, cfg: cfg, opt: opt, id: opt.ID, name: kafka.NodeName(kafka.BrokerID(opt.ID)),
		img: image.New(), replicas: map[string]*hosted{}, fetchers: map[int32]*fetcher{}}
	n.sessions = newSessions()
	n.observer = newObserver(n)
	n.channels = newChannels(n)
	n.life = lifecycle{n: n}
	n.alter = alterManager{n: n}
	n.pids = pidBlock{n: n}
	n.coord = newCoordinator(n)
	return n
}

// SetAppend changes what an append to a log takes.
func (n *Node) SetAppend(d journal.Time) { n.opt.Append = d }

// Handle serves a request.
func (n *Node) Handle(r *sim.Request) {
	switch body := r.Body.(type) {
	case *wire.ProduceRequest:
		n.proc.After(n.opt.Append, func() { n.handleProduce(r, body) })
	case *wire.FetchRequest:
		n.handleFetch(r, body)
	case *wire.ListOffsetsRequest:
		r.Reply(n.listOffsets(body), 0, false)
	case *wire.MetadataRequest:
		r.Reply(n.metadata(body), 0, false)
	case *wire.InitProducerIDRequest:
		n.pids.handle(r)
	case *wire.OffsetForLeaderEpochRequest:
		r.Reply(n.offsetForLeaderEpoch(body), 0, false)
	case *wire.FindCoordinatorRequest:
		r.Reply(n.findCoordinator(body), 0, false)
	case *wire.CreateTopicsRequest, *wire.CreatePartitionsRequest, *wire.AlterPartitionReassignmentsRequest, *wire.ElectLeadersRequest:
		n.forward(r)
	case *wire.IncrementalAlterConfigsRequest:
		n.alterConfigs(r, body)
	default:
		n.coord.handle(r)
	}
}

// host makes the replica of a partition that this broker is assigned.
func (n *Node) host(part string) *hosted {
	if h := n.replicas[part]; h != nil {
		return h
	}
	return n.hostLog(part, replica.NewLog())
}

func (n *Node) hostLog(part string, log *replica.Log) *hosted {
	h := &hosted{n: n, part: part, log: log, keys: newKeys(n.name, part), sent: map[string]any{}}
	h.rep = replica.NewPartition(n.id, h.log, n.lagTime(), liveness{n})
	n.replicas[part] = h
	i, _ := slices.BinarySearch(n.parts, part)
	n.parts = slices.Insert(n.parts, i, part)
	return h
}

func (n *Node) lagTime() int64 { return n.cfg.Millis("replica.lag.time.max.ms") * 1000 }

// liveness is what this broker's metadata says of other brokers.
type liveness struct{ n *Node }

func (l liveness) Fenced(id int32) bool {
	b := l.n.img.Brokers[id]
	return b == nil || b.Fenced
}

func (l liveness) ShuttingDown(id int32) bool {
	b := l.n.img.Brokers[id]
	return b != nil && b.Shutdown
}

func (l liveness) BrokerEpoch(id int32) int64 {
	if b := l.n.img.Brokers[id]; b != nil {
		return b.Epoch
	}
	return -1
}

// leads says whether this broker is the leader of a partition.
func (n *Node) leads(part string) *hosted {
	if h := n.replicas[part]; h != nil && h.rep.IsLeader() {
		return h
	}
	return nil
}

// leaderError is the error for a request to a partition that this broker does
// not lead, with the hint of KIP-951.
func (n *Node) leaderError(part string) (kafka.ErrorCode, *wire.CurrentLeader) {
	p := n.img.Partition(part)
	if p == nil {
		return kafka.UnknownTopicOrPartition, nil
	}
	return kafka.NotLeaderOrFollower, &wire.CurrentLeader{LeaderID: p.Leader, LeaderEpoch: p.LeaderEpoch}
}

// metadata answers what this broker believes, which may be old.
func (n *Node) metadata(q *wire.MetadataRequest) *wire.MetadataResponse {
	r := &wire.MetadataResponse{ControllerID: n.observer.leader}
	for _, id := range n.img.BrokerIDs() {
		if !n.img.Brokers[id].Fenced {
			r.Brokers = append(r.Brokers, id)
		}
	}
	for _, topic := range q.Topics {
		t := n.img.Topics[topic]
		if t == nil {
			r.Parts = append(r.Parts, wire.MetadataPart{Part: topic, ErrorCode: kafka.UnknownTopicOrPartition, LeaderID: -1, LeaderEpoch: -1})
			continue
		}
		for i, p := range t.Parts {
			m := wire.MetadataPart{Part: image.Name(topic, i), LeaderID: p.Leader, LeaderEpoch: p.LeaderEpoch, ReplicaNodes: p.Replicas, IsrNodes: p.ISR}
			for _, id := range p.Replicas {
				if b := n.img.Brokers[id]; b == nil || b.Fenced {
					m.OfflineReplicas = append(m.OfflineReplicas, id)
				}
			}
			if p.Leader == image.NoLeader {
				m.ErrorCode = kafka.LeaderNotAvailable
			} else if b := n.img.Brokers[p.Leader]; b == nil || b.Fenced {
				m.ErrorCode, m.LeaderID = kafka.LeaderNotAvailable, -1
			}
			r.Parts = append(r.Parts, m)
		}
	}
	return r
}

// listOffsets answers the visible end, or the log start. A new leader whose high
// watermark has not reached its epoch's start yet does not know the end (KIP-207).
func (n *Node) listOffsets(q *wire.ListOffsetsRequest) *wire.ListOffsetsResponse {
	r := &wire.ListOffsetsResponse{}
	for _, p := range q.Parts {
		out := wire.ListOffsetsResult{Part: p.Part, Offset: -1, LeaderEpoch: -1}
		h := n.leads(p.Part)
		switch {
		case h == nil:
			out.ErrorCode, _ = n.leaderError(p.Part)
		case p.CurrentLeaderEpoch >= 0 && p.CurrentLeaderEpoch < h.rep.LeaderEpoch():
			out.ErrorCode = kafka.FencedLeaderEpoch
		case p.CurrentLeaderEpoch > h.rep.LeaderEpoch():
			out.ErrorCode = kafka.UnknownLeaderEpoch
		case p.Timestamp == -2:
			out.Offset, out.LeaderEpoch = h.log.LogStart(), h.rep.LeaderEpoch()
		case p.Timestamp >= 0:
			out.Offset, out.LeaderEpoch = n.since(h, p.Timestamp), h.rep.LeaderEpoch()
		case h.log.HW() < h.rep.LeaderEpochStartOffset():
			out.ErrorCode = kafka.OffsetNotAvailable
		default:
			out.Offset, out.LeaderEpoch = h.log.HW(), h.rep.LeaderEpoch()
			if q.ReplicaID >= 0 {
				out.Offset = h.log.LEO()
			}
		}
		r.Parts = append(r.Parts, out)
	}
	return r
}

// since is the offset of the first record that consumers can read and that was made
// at this time, in milliseconds, or later; where there is none, of the next to come.
// (Kafka answers −1 then, and its consumer asks on until there is one.)
func (n *Node) since(h *hosted, ms int64) int64 {
	for at := h.log.LogStart(); at < h.log.HW(); at++ {
		if id, ok := h.log.RecordAt(at); ok && n.w.J.Records[id-1].At >= journal.Millis(ms) {
			return at
		}
	}
	return h.log.HW()
}

// offsetForLeaderEpoch answers where an epoch ends (Partition.
// lastOffsetForLeaderEpoch): a client checks its position with it after a change
// of the leader.
func (n *Node) offsetForLeaderEpoch(q *wire.OffsetForLeaderEpochRequest) *wire.OffsetForLeaderEpochResponse {
	r := &wire.OffsetForLeaderEpochResponse{}
	for _, p := range q.Parts {
		out := wire.LeaderEpochResult{Part: p.Part, LeaderEpoch: -1, EndOffset: -1}
		h := n.leads(p.Part)
		switch {
		case h == nil:
			out.ErrorCode, _ = n.leaderError(p.Part)
		case p.CurrentLeaderEpoch >= 0 && p.CurrentLeaderEpoch < h.rep.LeaderEpoch():
			out.ErrorCode = kafka.FencedLeaderEpoch
		case p.CurrentLeaderEpoch > h.rep.LeaderEpoch():
			out.ErrorCode = kafka.UnknownLeaderEpoch
		default:
			end := h.log.Epochs().EndOffsetFor(p.LeaderEpoch, h.log.LEO())
			out.LeaderEpoch, out.EndOffset = end.Epoch, end.EndOffset
		}
		r.Parts = append(r.Parts, out)
	}
	return r
}

// forward sends an admin request on to the active controller (Envelope, KIP-590).
func (n *Node) forward(r *sim.Request) {
	n.channels.forwarding.send(&sim.Call{API: r.API, Body: r.Body, Part: r.Part, Timeout: forwardTimeout,
		Done: func(res sim.Result) {
			if res.Outcome == sim.Answered {
				r.Reply(res.Body, 0, false)
			}
		}})
}

func sortedKeys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}
