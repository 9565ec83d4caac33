package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/group"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// FormedGroupMember is what the coordinator knows of a member with these
// settings.
func FormedGroupMember(client, id string, cfg *kafka.Config, topics []string) group.Formed {
	f := group.Formed{ID: id, Client: client, Instance: cfg.String("group.instance.id"), Topics: slices.Sorted(slices.Values(topics)),
		SessionTimeout: journal.Millis(cfg.Millis("session.timeout.ms")), RebalanceTimeout: journal.Millis(cfg.Millis("max.poll.interval.ms")),
		Assignor: cfg.String("group.remote.assignor")}
	m := newClassicMember(&Consumer{netClient: netClient{cfg: cfg}, opt: Options{Topics: topics}})
	for _, p := range m.protocols {
		f.Protocols = append(f.Protocols, wire.JoinProtocol{Name: p, Metadata: m.subscription(p)})
	}
	return f
}

// AssignAtRest is what the leader of a classic group computes when all its
// members join at once; it returns the protocol that they agree on.
func AssignAtRest(members []group.Formed, partitions func(topic string) int) (protocol string) {
	protocol = group.Choose(members)
	topics := map[string]int{}
	var all []wire.JoinMember
	for _, m := range members {
		for _, t := range m.Topics {
			topics[t] = partitions(t)
		}
		for _, p := range m.Protocols {
			if p.Name == protocol {
				all = append(all, wire.JoinMember{MemberID: m.ID, Instance: m.Instance, Metadata: p.Metadata})
			}
		}
	}
	given := assign(protocol, all, topics)
	for i := range members {
		members[i].Assignment = listOf(given[members[i].ID])
	}
	return protocol
}
