package controller

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

func join(ids []int32) string {
	var s []string
	for _, id := range ids {
		s = append(s, fmt.Sprint(id))
	}
	return strings.Join(s, ",")
}

// partsOf are the partitions whose keys a record changes.
func (n *Node) partsOf(r *wire.MetaRecord) (parts []string) {
	name := r.Name
	switch {
	case r.Type == "PartitionRecord", r.Type == "PartitionChangeRecord":
		return []string{r.Part}
	case r.Type == "ConfigRecord" && r.Name == minISR:
		name = r.Part
	case r.Type != "ClearElrRecord":
		return nil
	}
	for _, part := range n.done.Parts() {
		if topic, _ := image.Split(part); name == "" || name == topic {
			parts = append(parts, part)
		}
	}
	return parts
}

// configured is whose config a record sets, as keys name it.
func configured(r *wire.MetaRecord) string {
	switch {
	case r.Resource == wire.TopicResource:
		return r.Part
	case r.Part == "":
		return "*"
	}
	return "b" + r.Part
}

// list is a list of ids as a key holds it; none is no value.
func list(ids []int32) any {
	if len(ids) == 0 {
		return nil
	}
	return join(ids)
}

// moveChanges are the keys of a reassignment.
func moveChanges(im *image.Image, part string) []journal.Change {
	p := im.Partition(part)
	return []journal.Change{{Key: journal.MetaKey(part, "removing"), Val: list(p.Removing)}, {Key: journal.MetaKey(part, "adding"), Val: list(p.Adding)}}
}

func metaChanges(im *image.Image, part string) []journal.Change {
	p := im.Partition(part)
	k := func(f string) string { return journal.MetaKey(part, f) }
	recovering := any(nil)
	if p.Recovery != 0 {
		recovering = int32(p.Recovery) // readers know int, int32 and int64
	}
	return []journal.Change{{Key: k("leaderRecoveryState"), Val: recovering}, {Key: k("leader"), Val: p.Leader}, {Key: k("leaderEpoch"), Val: p.LeaderEpoch}, {Key: k("partitionEpoch"), Val: p.PartitionEpoch},
		{Key: k("replicas"), Val: join(p.Replicas)}, {Key: k("isr"), Val: join(p.ISR)}, {Key: k("elr"), Val: list(p.ELR)}, {Key: k("lastKnownElr"), Val: list(p.LastKnownELR)},
		{Key: k("minIsr"), Val: im.MinISR(part)}}
}

// RecordText is a metadata record in short: its type, subject and what it sets.
func RecordText(r *wire.MetaRecord) string {
	s := r.Type
	switch r.Type {
	case "TopicRecord":
		return s + " " + r.Name
	case "ConfigRecord":
		who := cmp.Or(r.Part, "cluster")
		if r.Resource == wire.BrokerResource && r.Part != "" {
			who = "broker " + r.Part
		}
		return s + " " + who + " " + r.Name + "=" + r.Value
	case "ClearElrRecord":
		return s + " " + cmp.Or(r.Name, "cluster")
	case "LeaderChange":
		return fmt.Sprintf("%s leader %d", s, r.LeaderID)
	case "PartitionRecord":
		return fmt.Sprintf("%s %s replicas %s leader %d", s, r.Part, join(r.Replicas), *r.Leader)
	case "PartitionChangeRecord":
		s += " " + r.Part
		if r.ISRSet {
			s += " isr " + cmp.Or(join(r.ISR), "none")
		}
		if r.Leader != nil {
			s += fmt.Sprintf(" leader %d", *r.Leader)
		}
		if r.Replicas != nil {
			s += " replicas " + join(r.Replicas)
		}
		if r.RemovingSet {
			s += " removing " + cmp.Or(join(r.Removing), "none")
		}
		if r.AddingSet {
			s += " adding " + cmp.Or(join(r.Adding), "none")
		}
		if r.ELRSet {
			s += " elr " + cmp.Or(join(r.ELR), "none")
		}
		if r.LastKnownSet {
			s += " lastKnownElr " + cmp.Or(join(r.LastKnownELR), "none")
		}
		if r.Recovery != nil {
			s += fmt.Sprintf(" leaderRecoveryState %d", *r.Recovery)
		}
	case "RegisterBrokerRecord", "ProducerIdsRecord":
		return fmt.Sprintf("%s broker %d", s, r.BrokerID)
	case "BrokerRegistrationChangeRecord":
		what := map[int8]string{1: "FENCE", -1: "UNFENCE"}[r.Fenced]
		if r.Shutdown == 1 {
			what = "IN_CONTROLLED_SHUTDOWN"
		}
		return fmt.Sprintf("%s broker %d %s", s, r.BrokerID, what)
	}
	return s
}
