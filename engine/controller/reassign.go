package controller

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// alterPartitionReassignments moves replicas to other brokers (KIP-455): the new
// ones come to the replica list beside the old ones, and when all that should stay
// are in the ISR the old ones leave; see PartitionChange.
// (ReplicationControlManager.alterPartitionReassignments)
func (n *Node) alterPartitionReassignments(r *sim.Request, q *wire.AlterPartitionReassignmentsRequest) {
	resp := &wire.AlterPartitionReassignmentsResponse{}
	var recs []wire.MetaRecord
	for _, p := range q.Parts {
		code, rec := n.reassign(p)
		if rec != nil {
			recs = append(recs, *rec)
		}
		resp.Parts = append(resp.Parts, wire.PartError{Part: p.Part, ErrorCode: code})
	}
	n.decided(r, recs, resp)
}

func (n *Node) reassign(q wire.Reassignment) (kafka.ErrorCode, *wire.MetaRecord) {
	p := n.img.Partition(q.Part)
	switch {
	case p == nil:
		return kafka.UnknownTopicOrPartition, nil
	case q.Replicas == nil:
		return n.cancelReassignment(q.Part)
	case !n.registered(q.Replicas):
		return kafka.InvalidReplicaAssignment, nil
	}
	c := NewPartitionChange(q.Part, p, n.mayLead, n.img.MinISR(q.Part), n.img.ELR())
	// Kafka goes over them in ascending order (PartitionReassignmentReplicas).
	leaving, coming := without(union(p.Replicas, nil), q.Replicas), without(union(q.Replicas, nil), p.Replicas)
	c.Replicas = slices.Concat(q.Replicas, leaving)
	// A target without change leaves what runs as it is.
	if len(leaving) > 0 {
		c.Removing = leaving
	}
	if len(coming) > 0 {
		c.Adding = coming
	}
	return kafka.None, c.Build()
}

// cancelReassignment takes the replicas out again that were being added
// (PartitionReassignmentRevert). Where only they are in the ISR the first of the
// others would have to lead, whatever it lacks: an unclean election, which must
// be allowed.
func (n *Node) cancelReassignment(part string) (kafka.ErrorCode, *wire.MetaRecord) {
	p := n.img.Partition(part)
	if !p.Reassigning() {
		return kafka.NoReassignmentInProgress, nil
	}
	c := n.change(part, n.mayLead)
	c.Replicas, c.ISR = without(p.Replicas, p.Adding), without(p.ISR, p.Adding)
	c.Removing, c.Adding = nil, nil
	if len(c.ISR) == 0 {
		if len(c.Replicas) == 0 || !n.uncleanAllowed(part) {
			return kafka.InvalidReplicaAssignment, nil
		}
		c.ISR = c.Replicas[:1]
	}
	return kafka.None, c.Build()
}

// registered is validateManualPartitionAssignment for a target: brokers that are
// registered, fenced or not, each once.
func (n *Node) registered(replicas []int32) bool {
	for i, id := range replicas {
		if n.img.Brokers[id] == nil || slices.Contains(replicas[:i], id) {
			return false
		}
	}
	return len(replicas) > 0
}
