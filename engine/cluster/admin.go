package cluster

import (
	"github.com/highwater-kafka/highwater/engine/broker"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// createTopic is the admin client: CreateTopics to a broker picked at random,
// which forwards it.
func (r *run) createTopic(t *Topic) {
	admin := r.process("admin")
	if admin == nil {
		admin = r.w.AddProcess("admin", true, nil)
	}
	n := r.action("create-topic", "admin", journal.F("topic", t.Name))
	req := wire.CreateTopic{Name: t.Name, NumPartitions: int32(t.count()), ReplicationFactor: int16(t.Replication), Configs: keyValues(t.Config)}
	if t.Replication == 0 {
		req.ReplicationFactor = int16(min(3, r.sc.Brokers))
	}
	for _, rs := range t.Replicas {
		var ids []int32
		for _, id := range rs {
			ids = append(ids, int32(id))
		}
		req.Assignments = append(req.Assignments, ids)
	}
	if len(req.Assignments) > 0 {
		req.NumPartitions, req.ReplicationFactor = -1, -1
	}
	id := r.ids[r.w.Stream("admin", "bootstrap").Intn(int64(len(r.ids)))]
	r.w.Because(n, func() {
		r.w.Dial(admin, r.process(r.brokers[id].Name()), "admin", 10*journal.Second, func(c *sim.Conn) {
			if c == nil {
				return
			}
			c.Call(&sim.Call{API: kafka.CreateTopics, Body: &wire.CreateTopicsRequest{Topics: []wire.CreateTopic{req}},
				Timeout: 30 * journal.Second, Timer: "request.timeout.ms", Done: func(sim.Result) { c.Close("admin client done") }})
		})
	})
}

// RestState is the cluster as a transcript prints it.
type RestState struct {
	Label    string
	Parts    []RestPart
	Replicas []RestReplica
	Quorum   int32
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
	s := RestState{Label: label, Quorum: r.ctrls[0].Epoch()}
	img := r.ctrls[0].Image()
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
	return s
}
