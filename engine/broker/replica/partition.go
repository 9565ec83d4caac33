package replica

import "slices"

// Metadata is what the leader's broker knows of the others. A broker that it does
// not know is fenced.
type Metadata interface {
	Fenced(id int32) bool
	ShuttingDown(id int32) bool
	BrokerEpoch(id int32) int64
}

// Remote is what a leader knows of a follower (Replica, ReplicaState).
// Times are in microseconds.
//
// Kafka writes 0 where a follower was never caught up or never fetched, which is
// long ago by its clock. The clock here begins at 0, so two flags say it.
type Remote struct {
	ID                 int32
	LEO                int64 // from its last fetch offset; −1 unknown
	LastCaughtUpTime   int64
	BrokerEpoch        int64 // of its last fetch; −1 no fetch in this leadership
	lastFetchTime      int64
	lastFetchLeaderLEO int64
	fetched            bool // in this leadership: BrokerEpoch is known
	timed              bool // lastFetchTime is not "never"
	everCaughtUp       bool // LastCaughtUpTime is not "never"
}

// reset is Replica.resetReplicaState, for a new leader epoch that begins at the
// offset leo. A new leader knows nothing of its followers, a re-elected one keeps
// what they have fetched. A follower in the ISR counts as caught up now; another
// does not, lest it hold the high watermark back.
func (r *Remote) reset(now, leo int64, newLeader, inISR bool) {
	if newLeader {
		*r = Remote{ID: r.ID, LEO: -1, BrokerEpoch: -1, lastFetchLeaderLEO: -1}
	} else {
		r.lastFetchLeaderLEO, r.lastFetchTime, r.timed = leo, 0, inISR
		if inISR {
			r.lastFetchTime = now
		}
	}
	r.LastCaughtUpTime, r.everCaughtUp = 0, inISR
	if inISR {
		r.LastCaughtUpTime = now
	}
}

// catchUp notes a moment at which the follower had all there was.
func (r *Remote) catchUp(at int64) {
	if r.everCaughtUp {
		at = max(at, r.LastCaughtUpTime)
	}
	r.LastCaughtUpTime, r.everCaughtUp = at, true
}

// pending is the state of a partition while an AlterPartition is in flight.
type pending uint8

const (
	committed pending = iota
	expanding
	shrinking
)

// AlterPartitionItem is a proposal of a new ISR.
type AlterPartitionItem struct {
	NewISR         []int32
	LeaderEpoch    int32
	PartitionEpoch int32
}

// Partition is kafka.cluster.Partition: one replica's view of its partition.
type Partition struct {
	self    int32
	log     *Log
	lagTime int64 // replica.lag.time.max.ms in microseconds
	md      Metadata

	leader         bool
	leaderEpoch    int32
	partitionEpoch int32
	epochStart     int64
	replicas       []int32
	isr            []int32 // committed
	proposed       []int32 // maximal while expanding
	pending        pending
	item           *AlterPartitionItem
	outstanding    bool      // a proposal is on its way, even one that metadata has overtaken
	remotes        []*Remote // in assignment order
}

// NewPartition makes the partition of a replica that has no role yet.
func NewPartition(self int32, log *Log, lagTime int64, md Metadata) *Partition {
	return &Partition{self: self, log: log, lagTime: lagTime, md: md, leaderEpoch: -1}
}

// IsLeader says whether this replica leads.
func (p *Partition) IsLeader() bool { return p.leader }

// LeaderEpoch of the current leader.
func (p *Partition) LeaderEpoch() int32 { return p.leaderEpoch }

// PartitionEpoch of the last change that this replica knows.
func (p *Partition) PartitionEpoch() int32 { return p.partitionEpoch }

// LeaderEpochStartOffset is the log end when this leadership began.
func (p *Partition) LeaderEpochStartOffset() int64 { return p.epochStart }

// ISR is the committed ISR.
func (p *Partition) ISR() []int32 { return p.isr }

// MaximalISR is the committed ISR and a replica that is being added.
func (p *Partition) MaximalISR() []int32 {
	if p.pending == expanding {
		return p.proposed
	}
	return p.isr
}

// Pending names a change in flight: "expand", "shrink" or "".
func (p *Partition) Pending() string { return [...]string{"", "expand", "shrink"}[p.pending] }

// Remotes are the other replicas in assignment order.
func (p *Partition) Remotes() []*Remote { return p.remotes }

// Assigned says whether a broker holds a replica.
func (p *Partition) Assigned(id int32) bool { return slices.Contains(p.replicas, id) }

// MakeLeader takes over or renews leadership (Partition.makeLeader). It ends a
// proposal in flight, even where the answer to an earlier one was faster and
// this metadata has nothing new; metadata will also bring what came of it.
func (p *Partition) MakeLeader(replicas, isr []int32, leaderEpoch, partitionEpoch int32, now int64) {
	if p.leader && partitionEpoch < p.partitionEpoch {
		return // AlterPartition's answer was faster
	}
	newLeader := !p.leader
	newEpoch := newLeader || leaderEpoch != p.leaderEpoch
	p.leader, p.replicas = true, replicas
	p.leaderEpoch, p.partitionEpoch = leaderEpoch, partitionEpoch
	p.isr, p.pending, p.proposed, p.item = isr, committed, nil, nil
	old := p.remotes
	p.remotes = nil
	for _, id := range replicas {
		if id == p.self {
			continue
		}
		r := &Remote{ID: id, LEO: -1, BrokerEpoch: -1, lastFetchLeaderLEO: -1}
		if i := slices.IndexFunc(old, func(r *Remote) bool { return r.ID == id }); i >= 0 {
			r = old[i]
		}
		if newEpoch {
			r.reset(now, p.log.LEO(), newLeader, slices.Contains(isr, id))
		}
		p.remotes = append(p.remotes, r)
	}
	if newEpoch {
		// At once, not with the first record: followers may hold records of epochs
		// that this log never saw, and must find an end for them (KIP-279).
		p.epochStart = p.log.LEO()
		p.log.Epochs().Assign(leaderEpoch, p.epochStart)
	}
}

// MakeFollower gives leadership up or follows another leader
// (Partition.makeFollower).
func (p *Partition) MakeFollower(replicas, isr []int32, leaderEpoch, partitionEpoch int32) {
	p.leader, p.replicas, p.isr = false, replicas, isr
	p.leaderEpoch, p.partitionEpoch = leaderEpoch, partitionEpoch
	p.pending, p.proposed, p.item, p.remotes = committed, nil, nil, nil
}

// Stop ends the replica's role: the partition has none on this broker any more
// (Partition.delete).
func (p *Partition) Stop() {
	p.leader, p.replicas, p.isr = false, nil, nil
	p.pending, p.proposed, p.item, p.remotes = committed, nil, nil, nil
}

func (p *Partition) remote(id int32) *Remote {
	for _, r := range p.remotes {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// UpdateFollowerFetchState takes a fetch offset as the receipt for everything
// below it (Replica.updateFetchStateOrThrow). moved: the follower's log end
// changed, so the high watermark may move.
func (p *Partition) UpdateFollowerFetchState(id int32, offset, now, brokerEpoch int64) (moved bool, errName string) {
	if !p.leader {
		return false, "NOT_LEADER_OR_FOLLOWER"
	}
	r := p.remote(id)
	if r == nil {
		return false, "UNKNOWN_LEADER_EPOCH" // this leader may not know of the reassignment yet
	}
	// A Fetch from before the follower's restart (KIP-903). The metadata cache has
	// an epoch only of brokers that are not fenced (getAliveBrokerEpoch).
	if brokerEpoch >= 0 && !p.md.Fenced(id) && p.md.BrokerEpoch(id) > brokerEpoch {
		return false, "NOT_LEADER_OR_FOLLOWER"
	}
	leo := p.log.LEO()
	switch {
	case offset >= leo:
		r.catchUp(now)
	case r.timed && offset >= r.lastFetchLeaderLEO:
		// It has all that was there at its last Fetch: steady, if never at the end.
		r.catchUp(r.lastFetchTime)
	}
	moved = offset != r.LEO
	r.LEO, r.BrokerEpoch, r.fetched = offset, brokerEpoch, true
	r.lastFetchLeaderLEO, r.lastFetchTime, r.timed = max(leo, r.lastFetchLeaderLEO), now, true
	return moved, ""
}

// eligible is Partition.isReplicaIsrEligible (KIP-841, KIP-903).
func (p *Partition) eligible(r *Remote) bool {
	known := p.md.BrokerEpoch(r.ID)
	return !p.md.Fenced(r.ID) && !p.md.ShuttingDown(r.ID) && r.fetched && (r.BrokerEpoch == -1 || r.BrokerEpoch == known)
}

// caughtUp is ReplicaState.isCaughtUp: a matter of time, not of records (KIP-16).
func (p *Partition) caughtUp(r *Remote, now int64) bool {
	return r.LEO == p.log.LEO() || r.everCaughtUp && now-r.LastCaughtUpTime <= p.lagTime
}

// MaybeExpandISR proposes a follower that has reached the high watermark and
// the start of this leadership (Partition.maybeExpandIsr, KIP-841). Called at each
// of its fetches.
func (p *Partition) MaybeExpandISR(id int32) *AlterPartitionItem {
	r := p.remote(id)
	if !p.leader || p.pending != committed || p.outstanding || r == nil || slices.Contains(p.isr, id) {
		return nil
	}
	if r.LEO < p.log.HW() || r.LEO < p.epochStart || !p.eligible(r) {
		return nil
	}
	isr := append(slices.Clone(p.isr), id)
	slices.Sort(isr)
	p.pending, p.proposed = expanding, isr
	return p.propose(isr)
}

// MaybeShrinkISR proposes the ISR without the followers that were not caught up
// for longer than replica.lag.time.max.ms (Partition.maybeShrinkIsr, KIP-16).
func (p *Partition) MaybeShrinkISR(now int64) *AlterPartitionItem {
	if !p.leader || p.pending != committed || p.outstanding {
		return nil
	}
	isr := slices.DeleteFunc(slices.Clone(p.isr), func(id int32) bool {
		r := p.remote(id)
		return id != p.self && (r == nil || !p.caughtUp(r, now))
	})
	if len(isr) == len(p.isr) {
		return nil
	}
	slices.Sort(isr)
	p.pending = shrinking
	return p.propose(isr)
}

func (p *Partition) propose(isr []int32) *AlterPartitionItem {
	p.outstanding = true
	p.item = &AlterPartitionItem{isr, p.leaderEpoch, p.partitionEpoch}
	return p.item
}

// MaybeIncrementLeaderHW moves the high watermark to the lowest log end of the
// replicas that count: the maximal ISR, and who is about to rejoin it
// (Partition.maybeIncrementLeaderHW, KIP-497). Not below min ISR (KIP-966).
func (p *Partition) MaybeIncrementLeaderHW(now int64, minISR int) bool {
	if !p.leader || len(p.isr) < minISR {
		return false
	}
	candidate := p.log.LEO()
	maximal := p.MaximalISR()
	for _, r := range p.remotes {
		if r.LEO < candidate && (slices.Contains(maximal, r.ID) || p.caughtUp(r, now) && p.eligible(r)) {
			candidate = r.LEO
		}
	}
	if candidate <= p.log.HW() {
		return false
	}
	p.log.SetHW(candidate)
	return true
}

// AlterCommitted applies the controller's answer to a proposal
// (Partition.handleAlterPartitionUpdate); false where metadata was faster.
func (p *Partition) AlterCommitted(isr []int32, leaderEpoch, partitionEpoch int32) bool {
	p.outstanding = false
	if !p.leader || p.item == nil || leaderEpoch != p.leaderEpoch || partitionEpoch < p.partitionEpoch {
		return false
	}
	p.isr, p.partitionEpoch = isr, partitionEpoch
	p.pending, p.proposed, p.item = committed, nil, nil
	return true
}

// AlterFailed reacts to a refused proposal (Partition.handleAlterPartitionError)
// and returns the proposal to send again, if any.
func (p *Partition) AlterFailed(errName string) *AlterPartitionItem {
	p.outstanding = false
	switch errName {
	case "OPERATION_NOT_ATTEMPTED", "INELIGIBLE_REPLICA":
		p.pending, p.proposed, p.item = committed, nil, nil
	case "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "INVALID_REQUEST", "NEW_LEADER_ELECTED":
		// Stays pending: metadata will tell.
	default:
		p.outstanding = p.item != nil
		return p.item
	}
	return nil
}

// CheckEnoughReplicas is the decision on an acks=all write that needs the high
// watermark at required (Partition.checkEnoughReplicasReachOffset): "WAIT",
// "NONE", "NOT_ENOUGH_REPLICAS_AFTER_APPEND" or "NOT_LEADER_OR_FOLLOWER".
func (p *Partition) CheckEnoughReplicas(required int64, minISR int) string {
	switch {
	case !p.leader:
		return "NOT_LEADER_OR_FOLLOWER"
	case p.log.HW() < required:
		return "WAIT"
	case minISR > len(p.MaximalISR()):
		return "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
	}
	return "NONE"
}

// Proposed is the ISR of the AlterPartition in flight, nil if there is none.
func (p *Partition) Proposed() []int32 {
	if p.item == nil {
		return nil
	}
	return p.item.NewISR
}
