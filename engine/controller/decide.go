package controller

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// alterPartition decides about ISR proposals
// (ReplicationControlManager.alterPartition).
func (n *Node) alterPartition(r *sim.Request, q *wire.AlterPartitionRequest) {
	if b := n.img.Brokers[q.BrokerID]; b == nil || b.Epoch != q.BrokerEpoch {
		r.Reply(&wire.AlterPartitionResponse{ErrorCode: kafka.StaleBrokerEpoch}, 0, false)
		return
	}
	resp := &wire.AlterPartitionResponse{}
	var recs []wire.MetaRecord
	for _, it := range q.Parts {
		res := wire.AlterPartitionResult{Part: it.Part, ErrorCode: n.validate(q.BrokerID, it)}
		if res.ErrorCode == kafka.None {
			p := n.img.Partition(it.Part)
			c := n.change(it.Part, n.mayLead)
			c.ISR, c.Recovery = nil, it.LeaderRecovery
			for _, b := range it.NewISR {
				c.ISR = append(c.ISR, b.BrokerID)
			}
			slices.Sort(c.ISR)
			res.LeaderID, res.LeaderEpoch, res.ISR, res.LeaderRecovery, res.PartitionEpoch = p.Leader, p.LeaderEpoch, c.ISR, c.Recovery, p.PartitionEpoch
			rec := c.Build()
			switch {
			case rec == nil:
			case rec.Leader != nil && *rec.Leader != q.BrokerID:
				// The change completes a reassignment without the leader that asked for it:
				// an error and a record, which is unusual; metadata tells it the rest.
				recs = append(recs, *rec)
				res = wire.AlterPartitionResult{Part: it.Part, ErrorCode: kafka.NewLeaderElected}
			default:
				recs = append(recs, *rec)
				res.ISR = c.ISR
				res.PartitionEpoch++
				if rec.Leader != nil {
					res.LeaderEpoch++
				}
			}
		}
		resp.Parts = append(resp.Parts, res)
	}
	n.decided(r, recs, resp)
}

// validate is validateAlterPartitionData: the first rule that fails decides.
func (n *Node) validate(sender int32, it wire.AlterPartitionPart) kafka.ErrorCode {
	p := n.img.Partition(it.Part)
	switch {
	case p == nil:
		return kafka.UnknownTopicOrPartition
	case it.LeaderEpoch > p.LeaderEpoch || it.PartitionEpoch > p.PartitionEpoch:
		return kafka.NotController
	case it.LeaderEpoch < p.LeaderEpoch:
		return kafka.FencedLeaderEpoch
	case p.Leader != sender:
		return kafka.InvalidRequest
	case it.PartitionEpoch < p.PartitionEpoch:
		return kafka.InvalidUpdateVersion
	}
	leads := false
	for i, b := range it.NewISR {
		if !slices.Contains(p.Replicas, b.BrokerID) || slices.ContainsFunc(it.NewISR[:i], func(o wire.BrokerEpoch) bool { return o.BrokerID == b.BrokerID }) {
			return kafka.InvalidRequest
		}
		leads = leads || b.BrokerID == p.Leader
	}
	if !leads || it.LeaderRecovery == 1 && len(it.NewISR) > 1 || it.LeaderRecovery == 1 && p.Recovery == 0 {
		return kafka.InvalidRequest
	}
	for _, b := range it.NewISR {
		reg := n.img.Brokers[b.BrokerID]
		if reg == nil || reg.Fenced || reg.Shutdown || b.BrokerEpoch >= 0 && b.BrokerEpoch != reg.Epoch {
			return kafka.IneligibleReplica
		}
	}
	return kafka.None
}

// FormedTopic is a topic of a formed start.
type FormedTopic struct {
	Name   string
	Assign [][]int32
	Config []wire.KeyValue
}

// FormedLog is the metadata log of a resting 4.4 cluster: what its bootstrap,
// registrations and topics have written, and its image. minISR is the controllers'
// min.insync.replicas, which the bootstrap makes the cluster's (KIP-966).
func FormedLog(voters, brokers []int32, topics []FormedTopic, pidBlocks int, minISR string, features []string) ([]wire.MetaBatch, *image.Image) {
	var log []wire.MetaBatch
	im := image.New()
	next := int64(0)
	add := func(recs ...wire.MetaRecord) {
		b := wire.MetaBatch{BaseOffset: next, Epoch: 1, Records: recs}
		for i := range recs {
			im.Apply(&recs[i], next+int64(i))
		}
		next = b.Last() + 1
		log = append(log, b)
	}
	add(leaderChange(voters[0], true)...)
	add(bootstrap(features, minISR)...)
	for range voters {
		add(wire.MetaRecord{Type: "RegisterControllerRecord"})
	}
	for _, id := range brokers {
		add(wire.MetaRecord{Type: "RegisterBrokerRecord", BrokerID: id, Fenced: 1})
		add(wire.MetaRecord{Type: "BrokerRegistrationChangeRecord", BrokerID: id, Fenced: -1})
	}
	for _, t := range topics {
		add(topicRecords(t.Name, t.Assign, t.Config, func(int32) bool { return true })...)
	}
	for i := range pidBlocks {
		add(wire.MetaRecord{Type: "ProducerIdsRecord", BrokerID: brokers[0], Value: fmt.Sprint(1000 * (i + 1))})
	}
	return log, im
}
