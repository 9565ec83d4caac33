package broker

import (
	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Formed puts the broker into a resting cluster: it has applied the whole
// metadata log and its replicas hold what was preloaded.
func (n *Node) Formed(img *image.Image, epoch int32, leader int32, lastEpoch int32, preload map[string][]replica.Batch) {
	n.img, n.published, n.life.registered = img.Clone(), true, true
	n.epoch = img.Brokers[n.id].Epoch
	n.observer.leader, n.observer.epoch = leader, epoch
	n.observer.leo, n.observer.hw, n.observer.base = img.Offset+1, img.Offset+1, lastEpoch
	for _, part := range img.Parts() {
		p := img.Partition(part)
		mine := false
		for _, id := range p.Replicas {
			mine = mine || id == n.id
		}
		if !mine {
			continue
		}
		h := n.host(part)
		for i, b := range preload[part] {
			if i == 0 && b.Base > 0 {
				h.log.StartAt(b.Base)
			}
			h.log.AppendAsFollower(b)
		}
		h.log.SetHW(h.log.LEO())
		h.log.SaveHW()
		h.log.Flush()
		if p.Leader != n.id {
			h.rep.MakeFollower(p.Replicas, p.ISR, p.LeaderEpoch, p.PartitionEpoch)
			n.fetcherFor(p.Leader).add(part, p.LeaderEpoch)
			continue
		}
		h.rep.MakeLeader(p.Replicas, p.ISR, p.LeaderEpoch, p.PartitionEpoch, 0)
		n.coord.loaded(part, h)
	}
}

// ParkFetches opens this broker's fetch sessions with its leaders and leaves one
// Fetch waiting at each, as in any resting cluster. Phase spreads the moments at
// which they end.
func (n *Node) ParkFetches(brokers map[int32]*Node, phase func() journal.Time) (parked []string) {
	for _, id := range sortedIDs(n.fetchers) {
		f, leader := n.fetchers[id], brokers[id]
		f.conn = n.w.Connect(n.proc, leader.proc, "replica")
		f.sessionID, f.sessionEpoch = 0, 0
		full, _ := f.request()
		s := leader.sessions.open()
		s.merge(full)
		for _, part := range s.parts {
			h := leader.replicas[part]
			s.at[part].hw, s.at[part].lo = h.log.HW(), h.log.LogStart()
			h.rep.UpdateFollowerFetchState(n.id, h.log.LEO(), 0, n.epoch)
		}
		f.sessionID, f.sessionEpoch = s.id, s.epoch
		q, _ := f.request()
		s.epoch++
		f.busy = true
		leader.parkResting(f.conn.Resting(f.call(q, true)), q, s, phase())
		parked = append(parked, "Fetch "+n.name+"→"+leader.name)
	}
	return parked
}

// parkResting is a Fetch that waits here since before the run.
func (n *Node) parkResting(r *sim.Request, q *wire.FetchRequest, s *session, left journal.Time) {
	d := &delayedFetch{n: n, req: r, q: q, s: s}
	d.timer = n.proc.After(left, d.expire)
	d.timer.Because(1)
	d.watch()
}

// ParkConsumer leaves a consumer's Fetch waiting here.
func (n *Node) ParkConsumer(conn *sim.Conn, call *sim.Call, parts []wire.FetchPart, left journal.Time) (sessionID int32) {
	s := n.sessions.open()
	s.merge(&wire.FetchRequest{Parts: parts})
	for _, part := range s.parts {
		h := n.replicas[part]
		s.at[part].hw, s.at[part].lo = h.log.HW(), h.log.LogStart()
	}
	s.epoch++
	q := call.Body.(*wire.FetchRequest)
	q.SessionID, q.SessionEpoch = s.id, 1
	n.parkResting(conn.Resting(call), q, s, left)
	return s.id
}

// ParkMetadataFetch opens the observer's connections and returns its waiting
// Fetch on the metadata log, for the controller to park.
func (n *Node) ParkMetadataFetch() *sim.Request {
	o := &n.observer
	for _, c := range []*channel{n.channels.heartbeat, n.channels.alterPartition, n.channels.forwarding} {
		c.aim()
		c.link.Connect()
	}
	o.busy, o.heard = true, n.w.Now()
	l, call := o.links[o.leader], o.poll()
	call.Done = func(res sim.Result) { o.answered(o.leader, l, res) }
	return l.Resting(call)
}

// Run starts what happens by itself: heartbeats, the ISR check and the
// checkpoints of the high watermarks.
func (n *Node) Run(firstHeartbeat journal.Time) {
	n.life.start(firstHeartbeat)
	n.background()
}

// BootChanges is the broker's resting state, with its logs, for event 1.
func (n *Node) BootChanges() []journal.Change {
	ch := n.Snapshot()
	for _, part := range n.parts {
		h := n.replicas[part]
		h.diff() // what event 1 says is not said again
		if h.log.LogStart() > 0 {
			ch = append(ch, journal.Change{Key: h.keys.log, Val: journal.LogOp{Op: journal.LogStart, Base: h.log.LogStart()}})
		}
		for _, op := range n.LogSnapshot(part) {
			ch = append(ch, journal.Change{Key: h.keys.log, Val: op})
		}
	}
	return ch
}

// ID of the broker.
func (n *Node) ID() int32 { return n.id }

// Name of the broker.
func (n *Node) Name() string { return n.name }

// Image is the metadata that this broker has applied. Do not change it.
func (n *Node) Image() *image.Image { return n.img }

// ConsumersEnd is the end offset that consumers see, or ok false where this
// broker does not lead.
func (n *Node) ConsumersEnd(part string) (end int64, ok bool) {
	h := n.leads(part)
	if h == nil {
		return 0, false
	}
	return h.log.HW(), true
}

// OffsetsPart is the partition of __consumer_offsets that holds a group.
func (n *Node) OffsetsPart(group string) string { return n.offsetsPart(group) }

// LEO is the log end offset of a replica.
func (n *Node) LEO(part string) int64 { return n.replicas[part].log.LEO() }
