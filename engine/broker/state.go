package broker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// values are the replica's small keys as they are now, read from the live objects.
func (h *hosted) values() []journal.Change {
	k := &h.keys
	alive := h.n.proc.Alive()
	leader := alive && h.rep.IsLeader()
	role := "follower"
	switch {
	case leader:
		role = "leader"
	case !alive || h.rep.LeaderEpoch() < 0:
		role = "offline"
	}
	vs := []journal.Change{
		{Key: k.role, Val: role},
		{Key: k.leo, Val: h.log.LEO()},
		{Key: k.saved, Val: h.log.SavedHW()},
		{Key: k.logStart, Val: h.log.LogStart()},
		{Key: k.epochs, Val: epochsText(h.log.Epochs().Entries())},
	}
	if !alive || !h.n.published {
		// The rest is in memory only: a Partition exists from the first publish of the
		// metadata on (Partition.createLog).
		return append(vs, journal.Change{Key: k.hw}, journal.Change{Key: k.lso}, journal.Change{Key: k.leaderEpoch}, journal.Change{Key: k.waiting},
			journal.Change{Key: k.isr}, journal.Change{Key: k.maximal})
	}
	vs = append(vs,
		journal.Change{Key: k.hw, Val: h.log.HW()},
		journal.Change{Key: k.lso, Val: h.log.HW()},
		journal.Change{Key: k.leaderEpoch, Val: h.rep.LeaderEpoch()},
		journal.Change{Key: k.waiting, Val: h.waiting()})
	isr, maximal := any(nil), any(nil)
	if leader {
		isr, maximal = idsText(h.rep.ISR()), idsText(h.rep.MaximalISR())
	}
	vs = append(vs, journal.Change{Key: k.isr, Val: isr}, journal.Change{Key: k.maximal, Val: maximal})
	if leader {
		for _, r := range h.rep.Remotes() {
			leo, at := h.remoteKeys(r.ID)
			// A follower at the end is caught up; the time matters once it is behind.
			caughtUp := any(nil)
			if r.LEO < h.log.LEO() {
				caughtUp = r.LastCaughtUpTime
			}
			vs = append(vs, journal.Change{Key: leo, Val: r.LEO}, journal.Change{Key: at, Val: caughtUp})
		}
	}
	return vs
}

// remoteKeys are where a leader says what it knows of a follower.
func (h *hosted) remoteKeys(id int32) (leo, caughtUp string) {
	b := kafka.NodeName(kafka.BrokerID(id))
	return journal.RemoteKey(h.n.name, h.part, b, "leo"), journal.RemoteKey(h.n.name, h.part, b, "caughtUp")
}

// waiting names the operations in purgatory, or nil.
func (h *hosted) waiting() any {
	var ws []string
	for _, d := range h.produces {
		ws = append(ws, "DelayedProduce "+d.from)
	}
	for _, d := range h.fetches {
		ws = append(ws, "DelayedFetch "+d.req.From)
	}
	if len(ws) == 0 {
		return nil
	}
	slices.Sort(ws)
	return strings.Join(ws, ", ")
}

// diff is what changed since the last event of this replica.
func (h *hosted) diff(extra ...journal.Change) []journal.Change {
	if h.gone {
		return extra
	}
	for _, c := range h.values() {
		if old, ok := h.sent[c.Key]; ok && old == c.Val || !ok && c.Val == nil {
			continue
		}
		h.sent[c.Key] = c.Val
		extra = append(extra, c)
	}
	return h.forgetRemotes(extra)
}

// forgetRemotes ends the keys of followers that this broker no longer leads.
func (h *hosted) forgetRemotes(extra []journal.Change) []journal.Change {
	var remotes []*replica.Remote
	if h.n.proc.Alive() && h.rep.IsLeader() {
		remotes = h.rep.Remotes()
	}
	if len(h.remotes) == len(remotes) && (len(remotes) == 0 || h.remotes[0] == remotes[0]) {
		return extra
	}
	for _, old := range h.remotes {
		if slices.ContainsFunc(remotes, func(r *replica.Remote) bool { return r.ID == old.ID }) {
			continue
		}
		leo, at := h.remoteKeys(old.ID)
		for _, k := range []string{leo, at} {
			if h.sent[k] != nil {
				extra = append(extra, journal.Change{Key: k})
			}
			delete(h.sent, k)
		}
	}
	h.remotes = slices.Clone(remotes)
	return extra
}

func (h *hosted) emit(kind journal.Kind, chatter bool, f journal.Fields, extra ...journal.Change) int {
	return h.n.w.Emit(journal.Event{Kind: kind, Node: h.n.name, Part: h.part, Chatter: chatter, F: f, Ch: h.diff(extra...)})
}

// Snapshot reads the whole state of the broker from its live objects.
func (n *Node) Snapshot() []journal.Change {
	ch := []journal.Change{{Key: journal.NodeKey(n.name, "state"), Val: string(n.proc.State())}}
	if n.proc.Alive() {
		if n.life.registered {
			ch = append(ch, journal.Change{Key: journal.NodeKey(n.name, "epoch"), Val: n.epoch})
		}
		ch = append(ch, journal.Change{Key: journal.NodeKey(n.name, "metadata"), Val: n.img.Offset})
	}
	for _, part := range n.parts {
		h := n.replicas[part]
		for _, c := range h.values() {
			if c.Val != nil {
				ch = append(ch, c)
			}
		}
	}
	if !n.proc.Alive() {
		return ch
	}
	return append(ch, n.coord.snapshot()...)
}

// LogSnapshot reads a replica's log from the live object, batch by batch.
func (n *Node) LogSnapshot(part string) []journal.LogOp {
	h := n.replicas[part]
	if h == nil {
		return nil
	}
	var ops []journal.LogOp
	for _, b := range h.log.Batches() {
		ops = append(ops, logOp(b))
	}
	return ops
}

// Parts lists the replicas on this broker, sorted.
func (n *Node) Parts() []string { return n.parts }

// Epochs is the leader-epoch cache of a replica, "0@0 1@5".
func (n *Node) Epochs(part string) string { return epochsText(n.replicas[part].log.Epochs().Entries()) }

func logOp(b replica.Batch) journal.LogOp {
	ids := make([]string, len(b.IDs))
	for i, id := range b.IDs {
		ids[i] = journal.RecordID(int(id))
	}
	flags := ""
	if b.Txn {
		flags += "t"
	}
	if b.Control {
		flags += "c"
	}
	return journal.LogOp{Op: journal.LogAppend, Base: b.Base, Epoch: b.Epoch, IDs: ids, Flags: flags}
}

func toWire(b replica.Batch) wire.Batch {
	ids := make([]string, len(b.IDs))
	for i, id := range b.IDs {
		ids[i] = journal.RecordID(int(id))
	}
	return wire.Batch{BaseOffset: b.Base, LeaderEpoch: b.Epoch, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		BaseSequence: b.BaseSeq, Records: ids, Bytes: b.Bytes, Txn: b.Txn, Control: b.Control}
}

func fromWire(b wire.Batch) replica.Batch {
	ids := make([]int32, len(b.Records))
	for i, id := range b.Records {
		n := int32(0)
		for _, c := range id[1:] {
			n = n*10 + int32(c-'0')
		}
		ids[i] = n
	}
	return replica.Batch{Base: b.BaseOffset, Epoch: b.LeaderEpoch, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		BaseSeq: b.BaseSequence, IDs: ids, Bytes: b.Bytes, Txn: b.Txn, Control: b.Control}
}

func epochsText(es []replica.EpochEntry) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = fmt.Sprintf("%d@%d", e.Epoch, e.StartOffset)
	}
	return strings.Join(parts, " ")
}

func idsText(ids []int32) string {
	s := slices.Clone(ids)
	parts := make([]string, len(s))
	for i, id := range s {
		parts[i] = fmt.Sprint(id)
	}
	return strings.Join(parts, ",")
}
