package controller

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// snapshots writes the committed state to disk every
// metadata.log.max.snapshot.interval.ms (SnapshotGenerator, KIP-630).
func (n *Node) snapshots() {
	every := n.millis("metadata.log.max.snapshot.interval.ms")
	if every <= 0 {
		return // not for this reason
	}
	n.proc.After(every, func() {
		n.takeOwnSnapshot()
		n.snapshots()
	}).Because(-1)
}

func (n *Node) takeOwnSnapshot() {
	bs := n.log.batches
	i := len(bs)
	for i > 0 && bs[i-1].Last() >= n.hw {
		i--
	}
	if i == 0 || n.log.snap != nil && n.log.snap.id.EndOffset == n.hw {
		return // nothing new is committed
	}
	s := &snapshot{wire.EpochEnd{Epoch: bs[i-1].Epoch, EndOffset: n.hw}, n.done.Records()}
	n.log.snap = s
	n.w.Emit(journal.Event{Kind: journal.MetadataSnapshot, Node: n.name, F: journal.F("endOffset", s.id.EndOffset, "epoch", s.id.Epoch)})
}

// load begins with a snapshot: it is the committed state.
func (n *Node) load(s *snapshot) {
	n.done = image.New()
	for i := range s.records {
		n.done.Apply(&s.records[i], s.id.EndOffset-1)
	}
	n.hw = max(n.hw, s.id.EndOffset)
}

// handleFetchSnapshot sends a snapshot to who has none of the log that it covers.
func (n *Node) handleFetchSnapshot(r *sim.Request, q *wire.FetchSnapshotRequest) {
	res := &wire.FetchSnapshotResponse{ErrorCode: n.leaderError(q.CurrentLeaderEpoch), SnapshotID: q.SnapshotID}
	switch {
	case res.ErrorCode != kafka.None:
		res.CurrentLeader = n.currentLeader()
	case n.log.snap == nil || n.log.snap.id != q.SnapshotID:
		res.ErrorCode = kafka.SnapshotNotFound
	default:
		res.Records = n.log.snap.records
		if n.lead.heard(q.ReplicaID) {
			n.extend(n.checkQuorumTimeout())
		}
	}
	r.Reply(res, 0, false)
}

// takeSnapshot begins the log anew with a snapshot of the leader. False: there was
// none.
func (n *Node) takeSnapshot(r *wire.FetchSnapshotResponse) bool {
	if c := r.CurrentLeader; c != nil && n.hear(r.ErrorCode, c.LeaderEpoch, c.LeaderID) {
		return false
	}
	n.wanted = nil
	if r.ErrorCode != kafka.None || n.q.Role != Follower {
		return false // the leader has a newer one: the next Fetch names it
	}
	n.extend(n.fetchTimeout())
	s := &snapshot{r.SnapshotID, r.Records}
	n.log.load(s)
	n.load(s)
	n.w.Emit(journal.Event{Kind: journal.MetadataApply, Node: n.name, F: journal.F("offset", n.leo()-1), Ch: n.logKeys()})
	return true
}
