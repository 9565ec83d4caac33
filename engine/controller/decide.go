package controller

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// heartbeat keeps a broker's session (BrokerHeartbeatManager).
func (n *Node) heartbeat(r *sim.Request, q *wire.BrokerHeartbeatRequest) {
	b := n.img.Brokers[q.BrokerID]
	if b == nil || b.Epoch != q.BrokerEpoch {
		r.Reply(&wire.BrokerHeartbeatResponse{ErrorCode: kafka.StaleBrokerEpoch}, 0, false)
		return
	}
	n.contact[q.BrokerID] = n.w.Now()
	r.Reply(&wire.BrokerHeartbeatResponse{IsCaughtUp: q.CurrentMetadataOffset >= b.Epoch, IsFenced: b.Fenced}, 0, true)
}

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
			var isr []int32
			for _, b := range it.NewISR {
				isr = append(isr, b.BrokerID)
			}
			rec := wire.MetaRecord{Type: "PartitionChangeRecord", Part: it.Part, ISR: isr, ISRSet: true}
			n.maintainELR(&rec, p, isr)
			recs = append(recs, rec)
			res.LeaderID, res.LeaderEpoch, res.ISR, res.PartitionEpoch = p.Leader, p.LeaderEpoch, isr, p.PartitionEpoch+1
		}
		resp.Parts = append(resp.Parts, res)
	}
	if len(recs) == 0 {
		r.Reply(resp, 0, false)
		return
	}
	n.write(recs, func() { r.Reply(resp, 0, false) })
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
	for _, b := range it.NewISR {
		if !slices.Contains(p.Replicas, b.BrokerID) {
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

// maintainELR fills the eligible leader replicas while the ISR is under min ISR
// and empties them when it is not (PartitionChangeBuilder.maybePopulateTargetElr,
// KIP-966).
func (n *Node) maintainELR(rec *wire.MetaRecord, p *image.Partition, isr []int32) {
	var elr []int32
	if len(isr) < n.img.MinISR(rec.Part) {
		for _, set := range [][]int32{p.ELR, p.ISR} {
			for _, id := range set {
				if !slices.Contains(isr, id) && !slices.Contains(elr, id) {
					elr = append(elr, id)
				}
			}
		}
		slices.Sort(elr)
	}
	if !slices.Equal(elr, p.ELR) {
		rec.ELR, rec.ELRSet = elr, true
	}
}

// createTopics makes topics with explicit or striped assignments, one batch of
// records a topic.
func (n *Node) createTopics(r *sim.Request, q *wire.CreateTopicsRequest) {
	resp := &wire.CreateTopicsResponse{}
	var recs []wire.MetaRecord
	for _, t := range q.Topics {
		code, rs := n.topicRecords(&t)
		resp.Topics = append(resp.Topics, wire.TopicError{Name: t.Name, ErrorCode: code})
		recs = append(recs, rs...)
	}
	if len(recs) == 0 {
		r.Reply(resp, 0, false)
		return
	}
	n.write(recs, func() { r.Reply(resp, 0, false) })
}

func (n *Node) topicRecords(t *wire.CreateTopic) (kafka.ErrorCode, []wire.MetaRecord) {
	if n.img.Topics[t.Name] != nil {
		return kafka.TopicAlreadyExists, nil
	}
	assign := t.Assignments
	if len(assign) == 0 {
		if t.NumPartitions < 1 {
			return kafka.InvalidPartitions, nil
		}
		placed, err := kafka.Place(n.usable(), int(t.NumPartitions), int(t.ReplicationFactor), placerRandom{n.w.Stream(n.name, "placer")})
		if err != nil {
			return kafka.InvalidReplicationFactor, nil
		}
		assign = placed
	}
	for _, rs := range assign {
		for _, id := range rs {
			if n.img.Brokers[id] == nil {
				return kafka.InvalidReplicaAssignment, nil
			}
		}
	}
	return kafka.None, TopicRecords(t.Name, assign, t.Configs)
}

// placerRandom draws for the placer from a seeded stream.
type placerRandom struct{ r *sim.Rand }

func (p placerRandom) NextInt(bound int) int { return int(p.r.Intn(int64(bound))) }

// usable are the brokers that may hold new replicas: registered and not in
// controlled shutdown.
func (n *Node) usable() []kafka.UsableBroker {
	var out []kafka.UsableBroker
	for _, id := range n.img.BrokerIDs() {
		if b := n.img.Brokers[id]; !b.Shutdown {
			out = append(out, kafka.UsableBroker{ID: id, Rack: b.Rack, Fenced: b.Fenced})
		}
	}
	return out
}

// TopicRecords are the records of a new topic, in Kafka's order.
func TopicRecords(name string, assign [][]int32, config []wire.KeyValue) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "TopicRecord", Name: name}}
	clear := false
	for _, c := range config {
		recs = append(recs, wire.MetaRecord{Type: "ConfigRecord", Part: name, Name: c.Name, Value: c.Value})
		clear = clear || c.Name == "min.insync.replicas"
	}
	if clear {
		recs = append(recs, wire.MetaRecord{Type: "ClearElrRecord", Name: name})
	}
	for p, rs := range assign {
		leader := rs[0]
		recs = append(recs, wire.MetaRecord{Type: "PartitionRecord", Part: image.Name(name, p), Replicas: rs, ISR: rs, Leader: &leader})
	}
	return recs
}

// FormedTopic is a topic of a formed start.
type FormedTopic struct {
	Name   string
	Assign [][]int32
	Config []wire.KeyValue
}

// FormedLog is the metadata log of a resting 4.4 cluster: what its bootstrap,
// registrations and topics have written, and its image.
func FormedLog(voters, brokers []int32, topics []FormedTopic, pidBlocks int) ([]wire.MetaBatch, *image.Image) {
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
	add(wire.MetaRecord{Type: "LeaderChange", LeaderID: voters[0]}, wire.MetaRecord{Type: "KRaftVersion"}, wire.MetaRecord{Type: "KRaftVoters"})
	boot := []wire.MetaRecord{{Type: "BeginTransactionRecord"}}
	for _, f := range []string{"metadata.version", "eligible.leader.replicas.version", "group.version", "share.version", "streams.version", "transaction.version"} {
		boot = append(boot, wire.MetaRecord{Type: "FeatureLevelRecord", Name: f})
	}
	boot = append(boot, wire.MetaRecord{Type: "ConfigRecord", Name: "min.insync.replicas", Value: "1"}, wire.MetaRecord{Type: "EndTransactionRecord"})
	add(boot...)
	for range voters {
		add(wire.MetaRecord{Type: "RegisterControllerRecord"})
	}
	for _, id := range brokers {
		add(wire.MetaRecord{Type: "RegisterBrokerRecord", BrokerID: id, Fenced: 1})
		add(wire.MetaRecord{Type: "BrokerRegistrationChangeRecord", BrokerID: id, Fenced: -1})
	}
	for _, t := range topics {
		add(TopicRecords(t.Name, t.Assign, t.Config)...)
	}
	for i := range pidBlocks {
		add(wire.MetaRecord{Type: "ProducerIdsRecord", BrokerID: brokers[0], Value: fmt.Sprint(1000 * (i + 1))})
	}
	return log, im
}
