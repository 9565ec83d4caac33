package broker

import (
	"slices"
	"sort"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// publish is ReplicaManager.applyDelta: partitions that this broker now leads,
// then those it follows, then everybody whose ISR or liveness changed.
func (n *Node) publish(before *image.Image, recs []wire.MetaRecord) {
	cause := n.w.Cause()
	var changed []string
	live, settings := false, false
	for _, r := range recs {
		switch r.Type {
		case "PartitionRecord", "PartitionChangeRecord":
			changed = append(changed, r.Part)
		case "RegisterBrokerRecord", "BrokerRegistrationChangeRecord":
			live = true
		case "ConfigRecord":
			settings = settings || r.Resource == wire.BrokerResource
		}
	}
	if settings {
		n.reconfigure()
	}
	sort.Strings(changed)
	n.takeRoles(before, slices.Compact(changed))
	if live {
		// Who is fenced decides which remote replicas hold the high watermark.
		for _, part := range n.parts {
			if h := n.replicas[part]; h.rep.IsLeader() {
				n.w.Because(cause, h.advanceHW)
			}
		}
	}
	n.fetchAll()
}

// takeRoles makes this broker leader or follower of the partitions that it has a
// replica of and that changed, what it leads first.
func (n *Node) takeRoles(before *image.Image, changed []string) {
	cause := n.w.Cause()
	var follow []string
	for _, part := range changed {
		p := n.img.Partition(part)
		if p == nil || !slices.Contains(p.Replicas, n.id) {
			if n.replicas[part] != nil {
				n.w.Because(cause, func() { n.stopReplica(part) })
			}
			continue
		}
		if p.Leader != n.id {
			follow = append(follow, part)
			continue
		}
		n.w.Because(cause, func() { n.makeLeader(part, p, before.Partition(part)) })
	}
	for _, part := range follow {
		n.w.Because(cause, func() { n.makeFollower(part, n.img.Partition(part), before.Partition(part)) })
	}
	// Only now: a waiting request learns of all its partitions at once
	// (completeDelayedOperationsWhenNotPartitionLeader).
	for _, part := range follow {
		h := n.replicas[part]
		n.w.Because(cause, h.completeProduces)
		n.w.Because(cause, h.completeFetches)
	}
	n.w.Because(cause, n.fetchAll)
}

func (n *Node) fetchAll() {
	cause := n.w.Cause()
	for _, id := range sortedIDs(n.fetchers) {
		n.w.Because(cause, n.fetchers[id].next)
	}
}

func sortedIDs(m map[int32]*fetcher) []int32 {
	ids := make([]int32, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// makeLeader is Partition.makeLeader.
func (n *Node) makeLeader(part string, p, old *image.Partition) {
	h := n.host(part)
	for _, f := range n.fetchers {
		f.remove(part)
	}
	isr := h.rep.ISR()
	wasLeader := h.rep.IsLeader()
	newEpoch := old == nil || old.LeaderEpoch != p.LeaderEpoch || !wasLeader
	h.rep.MakeLeader(p.Replicas, p.ISR, p.LeaderEpoch, p.PartitionEpoch, int64(n.w.Now()))
	if newEpoch {
		h.emit(journal.ReplicaLeader, false, journal.F("leaderEpoch", p.LeaderEpoch, "startOffset", h.rep.LeaderEpochStartOffset()))
	}
	if wasLeader && !slices.Equal(isr, h.rep.ISR()) {
		h.emit(journal.ISRCommit, false, journal.F("isr", h.rep.ISR(), "partitionEpoch", p.PartitionEpoch))
	}
	h.advanceHW()
	h.completeFetches()
	if newEpoch {
		n.coord.leads(part, h)
	}
}

// makeFollower is Partition.makeFollower; the fetcher of the new leader takes over.
func (n *Node) makeFollower(part string, p, old *image.Partition) {
	h := n.host(part)
	// A broker in controlled shutdown lets go of what it is no longer in sync with
	// (ReplicaManager.applyLocalFollowersDelta).
	follows := p.Leader != image.NoLeader && (n.life.state < pendingControlledShutdown || slices.Contains(p.ISR, n.id))
	for id, f := range n.fetchers {
		if id != p.Leader || !follows {
			f.remove(part)
		}
	}
	newEpoch := old == nil || old.LeaderEpoch != p.LeaderEpoch || h.rep.IsLeader()
	h.rep.MakeFollower(p.Replicas, p.ISR, p.LeaderEpoch, p.PartitionEpoch)
	if newEpoch {
		h.emit(journal.ReplicaFollower, false, journal.F("leader", p.Leader, "leaderEpoch", p.LeaderEpoch))
		n.coord.follows(part)
	}
	if follows {
		n.fetcherFor(p.Leader).add(part, p.LeaderEpoch)
	}
}
