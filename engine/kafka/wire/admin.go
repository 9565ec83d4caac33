package wire

import "github.com/highwater-kafka/highwater/engine/kafka"

// AdminAnswer is the answer to an admin request. Kafka refuses an admin request
// in part: each topic, partition or resource has a code of its own, some answers
// have one for all.
type AdminAnswer interface {
	// Refused lists what was refused, in the order of the request.
	Refused() []Refusal
}

// Refusal is one thing that an admin request asked for in vain. What is a topic, a
// partition or a broker ("b1"), "" for the whole request or all brokers.
type Refusal struct {
	What string
	Code kafka.ErrorCode
}

// CreateTopicsRequest is CreateTopics v7.
type CreateTopicsRequest struct {
	Topics []CreateTopic `json:"topics"`
}

// CreateTopic describes one new topic.
type CreateTopic struct {
	Name              string     `json:"name"`
	NumPartitions     int32      `json:"numPartitions"`
	ReplicationFactor int16      `json:"replicationFactor"`
	Assignments       [][]int32  `json:"assignments,omitempty"`
	Configs           []KeyValue `json:"configs,omitempty"`
}

// KeyValue is one config.
type KeyValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CreateTopicsResponse answers CreateTopics.
type CreateTopicsResponse struct {
	Topics []TopicError `json:"topics"`
}

// TopicError is a topic with an error code.
type TopicError struct {
	Name      string          `json:"name"`
	ErrorCode kafka.ErrorCode `json:"errorCode"`
}

// CreatePartitionsRequest is CreatePartitions v3.
type CreatePartitionsRequest struct {
	Topics []MorePartitions `json:"topics"`
}

// MorePartitions is how many partitions a topic should have in all; Assignments
// are those of the new ones, if given.
type MorePartitions struct {
	Name        string    `json:"name"`
	Count       int32     `json:"count"`
	Assignments [][]int32 `json:"assignments,omitempty"`
}

// CreatePartitionsResponse answers CreatePartitions.
type CreatePartitionsResponse struct {
	Results []TopicError `json:"results"`
}

// AlterPartitionReassignmentsRequest is AlterPartitionReassignments v1.
type AlterPartitionReassignmentsRequest struct {
	Parts []Reassignment `json:"parts"`
}

// Reassignment is the target of one partition; null cancels the one that runs.
type Reassignment struct {
	Part     string  `json:"part"`
	Replicas []int32 `json:"replicas"`
}

// AlterPartitionReassignmentsResponse answers AlterPartitionReassignments.
type AlterPartitionReassignmentsResponse struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
	Parts     []PartError     `json:"parts"`
}

// ElectLeadersRequest is ElectLeaders v2. ElectionType 0 is PREFERRED, 1 UNCLEAN;
// no parts means all.
type ElectLeadersRequest struct {
	ElectionType int8     `json:"electionType"`
	Parts        []string `json:"parts"`
}

// ElectLeadersResponse answers ElectLeaders.
type ElectLeadersResponse struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
	Parts     []PartError     `json:"parts"`
}

// The resource types of a config.
const (
	TopicResource  int8 = 2
	BrokerResource int8 = 4
)

// IncrementalAlterConfigsRequest is IncrementalAlterConfigs v1; all operations are
// SET.
type IncrementalAlterConfigsRequest struct {
	Resources []ConfigResource `json:"resources"`
}

// ConfigResource is whose configs change: a topic by its name, a broker by its id,
// all brokers by "".
type ConfigResource struct {
	Type    int8       `json:"resourceType"`
	Name    string     `json:"resourceName"`
	Configs []KeyValue `json:"configs"`
}

// IncrementalAlterConfigsResponse answers IncrementalAlterConfigs.
type IncrementalAlterConfigsResponse struct {
	Responses []ResourceError `json:"responses"`
}

// ResourceError is a resource with an error code.
type ResourceError struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
	Type      int8            `json:"resourceType"`
	Name      string          `json:"resourceName"`
}

func refusedTopics(ts []TopicError) (out []Refusal) {
	for _, t := range ts {
		if t.ErrorCode != kafka.None {
			out = append(out, Refusal{t.Name, t.ErrorCode})
		}
	}
	return out
}

func refusedParts(all kafka.ErrorCode, ps []PartError) (out []Refusal) {
	if all != kafka.None {
		return []Refusal{{"", all}}
	}
	for _, p := range ps {
		if p.ErrorCode != kafka.None {
			out = append(out, Refusal{p.Part, p.ErrorCode})
		}
	}
	return out
}

// Refused lists the topics that were not created.
func (r *CreateTopicsResponse) Refused() []Refusal { return refusedTopics(r.Topics) }

// Refused lists the topics that have no more partitions than before.
func (r *CreatePartitionsResponse) Refused() []Refusal { return refusedTopics(r.Results) }

// Refused lists the partitions that stay where they are.
func (r *AlterPartitionReassignmentsResponse) Refused() []Refusal {
	return refusedParts(r.ErrorCode, r.Parts)
}

// Refused lists the partitions without an election.
func (r *ElectLeadersResponse) Refused() []Refusal { return refusedParts(r.ErrorCode, r.Parts) }

// Refused lists the resources whose configs stay.
func (r *IncrementalAlterConfigsResponse) Refused() (out []Refusal) {
	for _, x := range r.Responses {
		if x.ErrorCode == kafka.None {
			continue
		}
		what := x.Name
		if x.Type == BrokerResource && what != "" {
			what = "b" + what
		}
		out = append(out, Refusal{what, x.ErrorCode})
	}
	return out
}
