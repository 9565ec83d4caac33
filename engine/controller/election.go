package controller

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// Election says who may be chosen (PartitionChangeBuilder.Election).
type Election uint8

// The elections.
const (
	Online    Election = iota // keep the leader if it may lead, else any replica that is safe
	Preferred                 // the first replica if that is safe
	Unclean                   // as Online, and where nobody is safe anyone alive
)

// PartitionChange is what happens to one partition: AlterPartition, fencing,
// unfencing, controlled shutdown and elections all come down to it, so that they
// keep the ISR, the ELR and the leader in the same way (PartitionChangeBuilder,
// KIP-966).
type PartitionChange struct {
	Part       string
	Old        *image.Partition
	Acceptable func(id int32) bool // may lead now: unfenced and not in controlled shutdown
	MinISR     int
	ELR        bool // eligible.leader.replicas.version is 1
	Election   Election
	ISR        []int32 // target
	Replicas   []int32 // target
	Removing   []int32 // target
	Adding     []int32 // target
	Recovery   int8    // target LeaderRecoveryState
	Unclean    []int32 // replicas that may have lost data: they have no place in the ELR
	// LastKnownMembers keeps in LastKnownElr all that left the ELR instead of the
	// last leader only.
	LastKnownMembers bool

	elr, lastKnown []int32
}

// NewPartitionChange begins with a partition as it is.
func NewPartitionChange(part string, old *image.Partition, acceptable func(int32) bool, minISR int, elr bool) *PartitionChange {
	return &PartitionChange{Part: part, Old: old, Acceptable: acceptable, MinISR: minISR, ELR: elr, ISR: old.ISR, Replicas: old.Replicas,
		Removing: old.Removing, Adding: old.Adding, Recovery: old.Recovery, elr: old.ELR, lastKnown: old.LastKnownELR}
}

// Build is the record of what changes, nil if nothing does.
func (c *PartitionChange) Build() *wire.MetaRecord {
	r := &wire.MetaRecord{Type: "PartitionChangeRecord", Part: c.Part}
	c.complete()
	c.maintainELR()
	leader := c.elect()
	if leader != c.Old.Leader {
		r.Leader = &leader
	}
	// Without ELR the last member stays in the ISR, or nobody could ever be
	// elected without loss.
	if (len(c.ISR) > 0 || c.ELR) && !slices.Equal(c.ISR, c.Old.ISR) {
		r.ISR, r.ISRSet = c.ISR, true
	}
	if r.Leader == nil && slices.ContainsFunc(c.Old.Replicas, func(id int32) bool { return !slices.Contains(c.Replicas, id) }) {
		// A replica that was taken away must not be able to fetch on: the same
		// leader in a new epoch.
		r.Leader = &leader
	}
	c.keepLastKnown(leader)
	if !slices.Equal(c.elr, c.Old.ELR) {
		r.ELR, r.ELRSet = c.elr, true
	}
	if !slices.Equal(c.lastKnown, c.Old.LastKnownELR) {
		r.LastKnownELR, r.LastKnownSet = c.lastKnown, true
	}
	if !slices.Equal(c.Replicas, c.Old.Replicas) {
		r.Replicas = c.Replicas
	}
	if !slices.Equal(c.Removing, c.Old.Removing) {
		r.Removing, r.RemovingSet = c.Removing, true
	}
	if !slices.Equal(c.Adding, c.Old.Adding) {
		r.Adding, r.AddingSet = c.Adding, true
	}
	if c.Recovery != c.Old.Recovery {
		r.Recovery = &c.Recovery
	}
	if r.Leader == nil && !r.ISRSet && !r.ELRSet && !r.LastKnownSet && r.Replicas == nil && !r.RemovingSet && !r.AddingSet && r.Recovery == nil {
		return nil
	}
	return r
}

// complete ends a reassignment whose target is reached: with every replica that
// stays in the ISR, those that leave go out of the replicas and the ISR
// (PartitionReassignmentReplicas.maybeCompleteReassignment, KIP-455).
func (c *PartitionChange) complete() {
	if len(c.Removing)+len(c.Adding) == 0 {
		return
	}
	isr, replicas := without(c.ISR, c.Removing), without(c.Replicas, c.Removing)
	if len(isr) == 0 || len(replicas) == 0 || len(without(replicas, isr)) > 0 {
		return
	}
	c.ISR, c.Replicas, c.Removing, c.Adding = isr, replicas, nil, nil
}

// maintainELR fills the eligible leader replicas while the ISR is under min ISR:
// the high watermark stands still meanwhile, so whoever was in the ISR has
// everything below it. With enough members they are not needed
// (maybePopulateTargetElr).
func (c *PartitionChange) maintainELR() {
	if !c.ELR || len(c.ISR) >= c.MinISR {
		c.elr, c.lastKnown = nil, nil
		return
	}
	in := func(set []int32) func(int32) bool { return func(id int32) bool { return slices.Contains(set, id) } }
	seen := union(c.Old.ELR, c.Old.ISR)
	c.elr = slices.DeleteFunc(slices.Clone(seen), in(c.ISR))
	c.elr = slices.DeleteFunc(c.elr, in(c.Unclean))
	if c.LastKnownMembers {
		c.lastKnown = slices.DeleteFunc(union(seen, c.Old.LastKnownELR), in(c.ISR))
		c.lastKnown = slices.DeleteFunc(c.lastKnown, in(c.elr))
	}
}

// keepLastKnown remembers who led last when nobody leads any more, and forgets
// it when somebody does (maybeUpdateLastKnownLeader).
func (c *PartitionChange) keepLastKnown(leader int32) {
	switch {
	case !c.ELR || c.LastKnownMembers:
	case leader != image.NoLeader:
		c.lastKnown = nil
	case c.Old.Leader != image.NoLeader && len(c.lastKnown) == 0:
		c.lastKnown = []int32{c.Old.Leader}
	}
}

// elect chooses the leader and makes the ISR fit it (tryElection).
func (c *PartitionChange) elect() int32 {
	if id, ok := c.safe(); ok {
		if !slices.Contains(c.ISR, id) { // from the ELR: it has all that is committed
			c.ISR = []int32{id}
			c.elr = slices.DeleteFunc(slices.Clone(c.elr), func(x int32) bool { return x == id })
		}
		return id
	}
	id, ok := c.unsafe()
	if !ok {
		return image.NoLeader
	}
	// Its log is the truth from now on, whatever the others hold (KIP-704).
	c.ISR, c.elr, c.lastKnown, c.Recovery = []int32{id}, nil, nil, 1
	return id
}

// safe finds a leader that has everything below the high watermark: the
// preferred one if asked for, the present one, then in the order of assignment.
func (c *PartitionChange) safe() (int32, bool) {
	order := append([]int32{c.Old.Leader}, c.Replicas...)
	if c.Election == Preferred && len(c.Replicas) > 0 {
		order = append([]int32{c.Replicas[0]}, order...)
	}
	eligible := c.ISR
	if len(c.ISR) == 0 && c.ELR {
		eligible = c.elr
	}
	for _, id := range order {
		if id != image.NoLeader && slices.Contains(eligible, id) && c.Acceptable(id) {
			return id, true
		}
	}
	return 0, false
}

// unsafe finds a leader that may lack records: the last known one where ISR and
// ELR are empty, else with an unclean election whoever is alive.
func (c *PartitionChange) unsafe() (int32, bool) {
	if c.ELR && !c.LastKnownMembers && len(c.ISR) == 0 && len(c.elr) == 0 && len(c.lastKnown) == 1 && c.Acceptable(c.lastKnown[0]) {
		return c.lastKnown[0], true
	}
	if c.Election == Unclean {
		for _, id := range c.Replicas {
			if c.Acceptable(id) {
				return id, true
			}
		}
	}
	return 0, false
}

// without is a, in its order, less b.
func without(a, b []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(a), func(id int32) bool { return slices.Contains(b, id) })
}

// union is sorted, each id once.
func union(a, b []int32) []int32 {
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}
