package controller

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// createTopics makes topics with explicit or striped assignments, one batch of
// records a topic.
func (n *Node) createTopics(r *sim.Request, q *wire.CreateTopicsRequest) {
	resp := &wire.CreateTopicsResponse{}
	var recs []wire.MetaRecord
	for i, t := range q.Topics {
		code, rs := kafka.InvalidRequest, []wire.MetaRecord(nil)
		if !slices.ContainsFunc(q.Topics[:i], func(o wire.CreateTopic) bool { return o.Name == t.Name }) {
			code, rs = n.topicRecords(&t)
		}
		resp.Topics = append(resp.Topics, wire.TopicError{Name: t.Name, ErrorCode: code})
		recs = append(recs, rs...)
	}
	n.decided(r, recs, resp)
}

// decided answers an operation when its records are committed, and what was
// decided before it where it has none.
func (n *Node) decided(r *sim.Request, recs []wire.MetaRecord, resp any) {
	if len(recs) == 0 {
		n.answer(r, resp, false)
		return
	}
	n.write(recs, func() { r.Reply(resp, 0, false) })
}

func (n *Node) topicRecords(t *wire.CreateTopic) (kafka.ErrorCode, []wire.MetaRecord) {
	if n.img.Topics[t.Name] != nil {
		return kafka.TopicAlreadyExists, nil
	}
	for _, c := range t.Configs {
		if !validConfig("topic", c) {
			return kafka.InvalidConfig, nil
		}
	}
	assign := t.Assignments
	if len(assign) == 0 {
		parts, factor := int64(t.NumPartitions), int64(t.ReplicationFactor)
		if parts == -1 {
			parts = n.cfg.Int("num.partitions")
		}
		if factor == -1 {
			factor = n.cfg.Int("default.replication.factor")
		}
		if parts < 1 {
			return kafka.InvalidPartitions, nil
		}
		placed, err := kafka.Place(n.usable(), int(parts), int(factor), placerRandom{n.w.Stream(n.name, "placer")})
		if err != nil {
			return kafka.InvalidReplicationFactor, nil
		}
		assign = placed
	}
	for _, rs := range assign {
		if !n.assignable(rs, len(assign[0])) {
			return kafka.InvalidReplicaAssignment, nil
		}
	}
	return kafka.None, topicRecords(t.Name, assign, t.Configs, n.mayLead)
}

// assignable is validateManualPartitionAssignment: registered brokers, each once,
// as many as for the other partitions, and one of them able to lead.
func (n *Node) assignable(replicas []int32, factor int) bool {
	for i, id := range replicas {
		if n.img.Brokers[id] == nil || slices.Contains(replicas[:i], id) {
			return false
		}
	}
	return len(replicas) == factor && slices.ContainsFunc(replicas, n.mayLead)
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

// topicRecords are the records of a new topic, in Kafka's order. Its ISR are the
// replicas that may lead, its leader the first of them.
func topicRecords(name string, assign [][]int32, config []wire.KeyValue, mayLead func(int32) bool) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "TopicRecord", Name: name}}
	clear := false
	for _, c := range config {
		recs = append(recs, wire.MetaRecord{Type: "ConfigRecord", Resource: wire.TopicResource, Part: name, Name: c.Name, Value: c.Value})
		clear = clear || c.Name == "min.insync.replicas"
	}
	if clear {
		recs = append(recs, wire.MetaRecord{Type: "ClearElrRecord", Name: name})
	}
	for p, rs := range assign {
		recs = append(recs, partitionRecord(image.Name(name, p), rs, mayLead))
	}
	return recs
}

// partitionRecord is a new partition (buildPartitionRegistration).
func partitionRecord(part string, replicas []int32, mayLead func(int32) bool) wire.MetaRecord {
	var isr []int32
	for _, id := range replicas {
		if mayLead(id) {
			isr = append(isr, id)
		}
	}
	return wire.MetaRecord{Type: "PartitionRecord", Part: part, Replicas: replicas, ISR: isr, Leader: &isr[0]}
}

// createPartitions adds partitions to topics
// (ReplicationControlManager.createPartitions). Nothing that is written moves;
// producers take the new ones into their count with their next metadata.
func (n *Node) createPartitions(r *sim.Request, q *wire.CreatePartitionsRequest) {
	resp := &wire.CreatePartitionsResponse{}
	var recs []wire.MetaRecord
	for i, t := range q.Topics {
		code, rs := kafka.InvalidRequest, []wire.MetaRecord(nil)
		if !slices.ContainsFunc(q.Topics[:i], func(o wire.MorePartitions) bool { return o.Name == t.Name }) {
			code, rs = n.morePartitions(&t)
		}
		resp.Results = append(resp.Results, wire.TopicError{Name: t.Name, ErrorCode: code})
		recs = append(recs, rs...)
	}
	n.decided(r, recs, resp)
}

func (n *Node) morePartitions(t *wire.MorePartitions) (kafka.ErrorCode, []wire.MetaRecord) {
	topic := n.img.Topics[t.Name]
	if topic == nil {
		return kafka.UnknownTopicOrPartition, nil
	}
	from, factor := len(topic.Parts), len(topic.Parts[0].Replicas)
	more := int(t.Count) - from
	if more < 1 {
		return kafka.InvalidPartitions, nil
	}
	assign := t.Assignments
	if len(assign) == 0 {
		placed, err := kafka.Place(n.usable(), more, factor, placerRandom{n.w.Stream(n.name, "placer")})
		if err != nil {
			return kafka.InvalidReplicationFactor, nil
		}
		assign = placed
	}
	if len(assign) != more {
		return kafka.InvalidReplicaAssignment, nil
	}
	var recs []wire.MetaRecord
	for i, rs := range assign {
		if !n.assignable(rs, factor) {
			return kafka.InvalidReplicaAssignment, nil
		}
		recs = append(recs, partitionRecord(image.Name(t.Name, from+i), rs, n.mayLead))
	}
	return kafka.None, recs
}
