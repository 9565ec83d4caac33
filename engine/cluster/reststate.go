package cluster

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
)

// RestState is the cluster as a transcript prints it.
type RestState struct {
	Label    string
	Parts    []RestPart
	Replicas []RestReplica
	Quorum   int32
	Groups   []RestGroup
}

// RestGroup is a group as its coordinator describes it.
type RestGroup struct {
	ID string
	group.View
}

// RestPart is a partition in committed metadata, with the end that consumers see.
type RestPart struct {
	Part                   string
	Leader                 int32
	ISR, ELR, LastKnownELR []int32
	ConsumersEnd           int64
}

// RestReplica is the log of one replica.
type RestReplica struct {
	Node, Part, Epochs string
	LEO                int64
	Batches            []journal.LogOp
}

func (r *run) restState(label string) RestState {
	s := RestState{Label: label}
	for _, c := range r.ctrls {
		s.Quorum = max(s.Quorum, c.Epoch())
	}
	img := r.authority().Image()
	for _, part := range img.Parts() {
		if topic, _ := image.Split(part); topic == broker.OffsetsTopic {
			continue
		}
		p := img.Partition(part)
		x := RestPart{Part: part, Leader: p.Leader, ISR: p.ISR, ELR: p.ELR, LastKnownELR: p.LastKnownELR, ConsumersEnd: -1}
		if b := r.brokers[p.Leader]; b != nil {
			x.ConsumersEnd, _ = b.ConsumersEnd(part)
		}
		s.Parts = append(s.Parts, x)
		for _, id := range r.ids {
			b := r.brokers[id]
			for _, has := range b.Parts() {
				if has == part {
					ops := b.LogSnapshot(part)
					s.Replicas = append(s.Replicas, RestReplica{Node: b.Name(), Part: part, Epochs: b.Epochs(part), LEO: b.LEO(part), Batches: ops})
				}
			}
		}
	}
	for _, id := range slices.Sorted(slices.Values(r.groupIDs())) {
		for _, b := range r.ids {
			if v, ok := r.brokers[b].DescribeGroup(id); ok {
				s.Groups = append(s.Groups, RestGroup{id, v})
			}
		}
	}
	return s
}
