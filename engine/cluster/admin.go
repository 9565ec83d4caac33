package cluster

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// The admin client's own settings (AdminClientConfig): default.api.timeout.ms,
// request.timeout.ms, retry.backoff.ms.
const (
	adminTimeout = 60 * journal.Second
	adminRequest = 30 * journal.Second
	adminBackoff = 100 * journal.Millisecond
)

// admin is one request of an admin client and what comes of it.
type admin struct {
	r     *run
	api   kafka.API
	body  any
	to    string // the broker to ask; "" for any
	until journal.Time
}

// ask sends an admin request to a broker, which forwards it to the active
// controller. The client tries again until its time is over (KafkaAdminClient).
func (r *run) ask(api kafka.API, body any, to string) {
	if r.process("admin") == nil {
		r.w.AddProcess("admin", true, nil)
	}
	a := &admin{r: r, api: api, body: body, to: to, until: r.w.Now() + adminTimeout}
	a.try()
}

func (a *admin) try() {
	r, to := a.r, a.to
	if to == "" {
		to = r.brokers[r.ids[r.w.Stream("admin", "bootstrap").Intn(int64(len(r.ids)))]].Name()
	}
	r.w.Dial(r.process("admin"), r.process(to), "admin", 10*journal.Second, func(c *sim.Conn) {
		if c == nil {
			a.again(kafka.RequestTimedOut)
			return
		}
		c.Call(&sim.Call{API: a.api, Body: a.body, Timeout: adminRequest, Timer: "request.timeout.ms", Done: func(res sim.Result) {
			if res.Outcome != sim.Answered {
				a.again(kafka.Network)
				return
			}
			for _, x := range res.Body.(wire.AdminAnswer).Refused() {
				a.failed(x)
			}
			c.Close("admin client done")
		}})
	})
}

func (a *admin) again(why kafka.ErrorCode) {
	if a.r.w.Now()+adminBackoff > a.until {
		a.failed(wire.Refusal{Code: why})
		return
	}
	a.r.process("admin").After(adminBackoff, a.try)
}

func (a *admin) failed(x wire.Refusal) {
	a.r.w.Emit(journal.Event{Kind: journal.AdminFailed, Node: "admin", F: journal.F("request", string(a.api), "what", x.What, "error", x.Code.String())})
}

// adminAction is an action of the admin client.
func (r *run) adminAction(a *Action) {
	switch a.Do {
	case "create-topic":
		r.createTopic(&Topic{Name: a.Topic, Partitions: a.Partitions, Replication: a.Replication, Replicas: a.Replicas, Config: a.Config})
	case "add-partitions":
		n := r.action(a.Do, "admin", journal.F("topic", a.Topic, "to", a.Partitions))
		r.w.Because(n, func() {
			r.ask(kafka.CreatePartitions, &wire.CreatePartitionsRequest{Topics: []wire.MorePartitions{{Name: a.Topic, Count: int32(a.Partitions), Assignments: assignments(a.Replicas)}}}, "")
		})
	case "reassign":
		r.reassign(a)
	case "elect":
		n := r.action(a.Do, "admin", journal.F("type", a.Type, "parts", a.Parts))
		q := &wire.ElectLeadersRequest{Parts: a.Parts}
		if a.Type == "unclean" {
			q.ElectionType = 1
		}
		r.w.Because(n, func() { r.ask(kafka.ElectLeaders, q, "") })
	case "config":
		r.configure(a)
	}
}

func (r *run) createTopic(t *Topic) {
	n := r.action("create-topic", "admin", journal.F("topic", t.Name))
	req := wire.CreateTopic{Name: t.Name, NumPartitions: int32(t.count()), ReplicationFactor: int16(t.Replication), Configs: keyValues(t.Config), Assignments: assignments(t.Replicas)}
	if t.Replication == 0 {
		req.ReplicationFactor = int16(min(3, r.sc.Brokers))
	}
	if len(req.Assignments) > 0 {
		req.NumPartitions, req.ReplicationFactor = -1, -1
	}
	r.w.Because(n, func() {
		r.ask(kafka.CreateTopics, &wire.CreateTopicsRequest{Topics: []wire.CreateTopic{req}}, "")
	})
}

func (r *run) reassign(a *Action) {
	q := &wire.AlterPartitionReassignmentsRequest{}
	var to []string
	for _, m := range a.Moves {
		if m.To == nil {
			to = append(to, m.Part+" cancelled")
		} else {
			to = append(to, m.Part+" to "+strings.Trim(strings.ReplaceAll(fmt.Sprint(m.To), " ", ","), "[]"))
		}
		q.Parts = append(q.Parts, wire.Reassignment{Part: m.Part, Replicas: brokerIDs(m.To)})
	}
	n := r.action(a.Do, "admin", journal.F("to", to))
	r.w.Because(n, func() { r.ask(kafka.AlterPartitionReassignments, q, "") })
}

// configure changes a topic, a broker or all brokers. What is for one broker goes
// to that broker.
func (r *run) configure(a *Action) {
	res, who, to := wire.ConfigResource{Type: wire.TopicResource, Name: a.Topic, Configs: keyValues(a.Config)}, "topic "+a.Topic, ""
	if a.Topic == "" {
		res.Type, who, to = wire.BrokerResource, "all brokers", ""
		if id := kafka.NodeID(a.Node); id > 0 {
			res.Name, who, to = id.String(), "broker "+id.String(), a.Node
		}
	}
	n := r.action(a.Do, "admin", journal.F("who", who, "key", res.Configs[0].Name, "value", res.Configs[0].Value))
	r.w.Because(n, func() {
		r.ask(kafka.IncrementalAlterConfigs, &wire.IncrementalAlterConfigsRequest{Resources: []wire.ConfigResource{res}}, to)
	})
}

func assignments(replicas [][]int) (out [][]int32) {
	for _, rs := range replicas {
		out = append(out, brokerIDs(rs))
	}
	return out
}

func brokerIDs(ids []int) (out []int32) {
	for _, id := range ids {
		out = append(out, int32(id))
	}
	return out
}
