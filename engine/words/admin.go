package words

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

func reassign(_ *Phrases, e *journal.Event, f lookup) string {
	q, ok := e.F.(*wire.AlterPartitionReassignmentsRequest)
	if !ok || len(q.Parts) == 0 {
		return fill("{from} asks {to} to move replicas to other brokers.", e, f)
	}
	if p := q.Parts[0]; p.Replicas == nil {
		return fill("{from} asks {to} to cancel the reassignment of "+p.Part+further(len(q.Parts)-1)+".", e, f)
	}
	return fill("{from} asks {to} to move the replicas of "+q.Parts[0].Part+" to brokers "+text(q.Parts[0].Replicas)+further(len(q.Parts)-1)+".", e, f)
}

func electLeaders(_ *Phrases, e *journal.Event, f lookup) string {
	q, ok := e.F.(*wire.ElectLeadersRequest)
	if !ok {
		return fill("{from} asks {to} to elect leaders.", e, f)
	}
	of := strings.Join(q.Parts, ", ")
	if q.Parts == nil {
		of = "all partitions"
	}
	if q.ElectionType == 1 {
		return fill("{from} asks {to} for an unclean election of "+of+": anyone alive may lead where nobody safe can.", e, f)
	}
	return fill("{from} asks {to} to make the preferred leaders lead "+of+".", e, f)
}

func alterConfigs(_ *Phrases, e *journal.Event, f lookup) string {
	q, ok := e.F.(*wire.IncrementalAlterConfigsRequest)
	if !ok || len(q.Resources) == 0 || len(q.Resources[0].Configs) == 0 {
		return fill("{from} asks {to} to change a configuration.", e, f)
	}
	r := q.Resources[0]
	return fill(fmt.Sprintf("{from} asks {to} to set %s=%s for %s.", r.Configs[0].Name, r.Configs[0].Value, resource(r.Type, r.Name)), e, f)
}

func resource(kind int8, name string) string {
	switch {
	case kind == wire.TopicResource:
		return "topic " + name
	case name == "":
		return "all brokers"
	}
	return "broker " + name
}

// reasons say what an error of an admin request means.
var reasons = map[kafka.ErrorCode]string{
	kafka.UnknownTopicOrPartition:     "there is no such topic or partition",
	kafka.TopicAlreadyExists:          "there is such a topic already",
	kafka.InvalidPartitions:           "a topic can only get more partitions, and at least one",
	kafka.InvalidReplicationFactor:    "there are not that many brokers that may hold a replica",
	kafka.InvalidReplicaAssignment:    "the replicas do not fit: brokers that are registered, each once, as many as the other partitions have, and at least one that may lead",
	kafka.InvalidConfig:               "this key or value cannot be set here",
	kafka.InvalidRequest:              "the broker does not take this, such as a key that is read-only while it runs",
	kafka.BrokerIDNotRegistered:       "no broker with this id is registered",
	kafka.ElectionNotNeeded:           "the partition has the leader that it should have",
	kafka.PreferredLeaderNotAvailable: "the preferred leader is not alive or not in the ISR",
	kafka.EligibleLeadersNotAvailable: "no replica is alive",
	kafka.NoReassignmentInProgress:    "no reassignment runs that could be cancelled",
	kafka.RequestTimedOut:             "no answer came in time",
	kafka.Network:                     "the connection broke",
}

func adminFailed(_ *Phrases, e *journal.Event, f lookup) string {
	s := fill("{node} is refused", e, f) + ": " + f("request")
	if what := text(get(e.F, "what")); what != "" && what != unknown {
		s += " of " + Node(what)
	}
	name := f("error")
	s += ": " + name
	if code, ok := kafka.ParseErrorCode(name); ok && reasons[code] != "" {
		s += ", " + reasons[code]
	}
	return s + "."
}

func electAction(who, kind string, parts any) string {
	of := "all partitions"
	if length(parts) > 0 {
		of = text(parts)
	}
	if kind == "unclean" {
		return who + " is asked for an unclean election of " + of + "."
	}
	return who + " is asked to make the preferred leaders lead " + of + "."
}
