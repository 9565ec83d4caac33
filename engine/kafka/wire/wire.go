// Package wire holds Kafka's requests and responses as Go structs, one pair an
// API, in the newest version that a 4.4 peer uses. Field names are Kafka's own in
// lower camel case.
//
// Simplified: topics with their partitions are one flat list "parts" that names
// each partition "orders-0"; records are named by id; cluster ids, topic ids,
// directory ids, endpoints, racks of answers and throttle times are left out.
// A message is never changed after it was sent.
package wire

import "github.com/highwater-kafka/highwater/engine/kafka"

// Batch is one record batch as it travels.
type Batch struct {
	BaseOffset    int64    `json:"baseOffset"`
	LeaderEpoch   int32    `json:"partitionLeaderEpoch"`
	ProducerID    int64    `json:"producerId"`
	ProducerEpoch int16    `json:"producerEpoch"`
	BaseSequence  int32    `json:"baseSequence"`
	Records       []string `json:"records"`
	Bytes         int      `json:"sizeInBytes"`
	Txn           bool     `json:"isTransactional,omitempty"`
	Control       bool     `json:"isControl,omitempty"`
}

// Last is the offset of the last record.
func (b Batch) Last() int64 { return b.BaseOffset + int64(len(b.Records)) - 1 }

// CurrentLeader is the leader hint of KIP-951; nil where Kafka sends −1.
type CurrentLeader struct {
	LeaderID    int32 `json:"leaderId"`
	LeaderEpoch int32 `json:"leaderEpoch"`
}

// ProduceRequest is Produce v13.
type ProduceRequest struct {
	TransactionalID string        `json:"transactionalId,omitempty"`
	Acks            int16         `json:"acks"`
	TimeoutMs       int64         `json:"timeoutMs"`
	Parts           []ProducePart `json:"parts"`
}

// ProducePart is one partition of a Produce.
type ProducePart struct {
	Part  string `json:"part"`
	Batch Batch  `json:"records"`
}

// ProduceResponse answers a Produce.
type ProduceResponse struct {
	Parts []ProduceResult `json:"parts"`
}

// ProduceResult is one partition of the answer.
type ProduceResult struct {
	Part           string          `json:"part"`
	ErrorCode      kafka.ErrorCode `json:"errorCode"`
	BaseOffset     int64           `json:"baseOffset"`
	LogStartOffset int64           `json:"logStartOffset"`
	CurrentLeader  *CurrentLeader  `json:"currentLeader,omitempty"`
}

// FetchRequest is Fetch v18. ReplicaID is −1 for consumers.
type FetchRequest struct {
	ReplicaID    int32       `json:"replicaId"`
	ReplicaEpoch int64       `json:"replicaEpoch"`
	MaxWaitMs    int64       `json:"maxWaitMs"`
	MinBytes     int         `json:"minBytes"`
	MaxBytes     int         `json:"maxBytes"`
	Isolation    int8        `json:"isolationLevel"`
	SessionID    int32       `json:"sessionId"`
	SessionEpoch int32       `json:"sessionEpoch"`
	Parts        []FetchPart `json:"parts"`               // incremental: only what changed
	Forgotten    []string    `json:"forgotten,omitempty"` // ForgottenTopicsData
	RackID       string      `json:"rackId,omitempty"`
}

// FetchPart asks for one partition.
type FetchPart struct {
	Part               string `json:"part"`
	CurrentLeaderEpoch int32  `json:"currentLeaderEpoch"`
	FetchOffset        int64  `json:"fetchOffset"`
	LastFetchedEpoch   int32  `json:"lastFetchedEpoch"`
	LogStartOffset     int64  `json:"logStartOffset"`
	PartitionMaxBytes  int    `json:"partitionMaxBytes"`
	HighWatermark      *int64 `json:"highWatermark,omitempty"` // metadata log only, KIP-1166
}

// FetchResponse answers a Fetch.
type FetchResponse struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
	SessionID int32           `json:"sessionId"`
	Parts     []FetchResult   `json:"parts"`
}

// FetchResult is one partition of the answer; incremental answers list only
// partitions with records, a new high watermark or an error.
type FetchResult struct {
	Part                 string          `json:"part"`
	ErrorCode            kafka.ErrorCode `json:"errorCode"`
	HighWatermark        int64           `json:"highWatermark"`
	LastStableOffset     int64           `json:"lastStableOffset"`
	LogStartOffset       int64           `json:"logStartOffset"`
	DivergingEpoch       *EpochEnd       `json:"divergingEpoch,omitempty"`
	CurrentLeader        *CurrentLeader  `json:"currentLeader,omitempty"`
	SnapshotID           *EpochEnd       `json:"snapshotId,omitempty"`
	PreferredReadReplica *int32          `json:"preferredReadReplica,omitempty"`
	Records              []Batch         `json:"records,omitempty"`
	Meta                 []MetaBatch     `json:"metadataRecords,omitempty"` // __cluster_metadata only
}

// EpochEnd is an epoch and the offset where it ends.
type EpochEnd struct {
	Epoch     int32 `json:"epoch"`
	EndOffset int64 `json:"endOffset"`
}

// ListOffsetsRequest is ListOffsets v11. Timestamp −1 is latest, −2 earliest.
type ListOffsetsRequest struct {
	ReplicaID int32             `json:"replicaId"`
	Isolation int8              `json:"isolationLevel"`
	Parts     []ListOffsetsPart `json:"parts"`
}

// ListOffsetsPart asks for one partition.
type ListOffsetsPart struct {
	Part               string `json:"part"`
	CurrentLeaderEpoch int32  `json:"currentLeaderEpoch"`
	Timestamp          int64  `json:"timestamp"`
}

// ListOffsetsResponse answers ListOffsets.
type ListOffsetsResponse struct {
	Parts []ListOffsetsResult `json:"parts"`
}

// ListOffsetsResult is one partition of the answer.
type ListOffsetsResult struct {
	Part        string          `json:"part"`
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	Offset      int64           `json:"offset"`
	LeaderEpoch int32           `json:"leaderEpoch"`
}

// MetadataRequest is Metadata v13.
type MetadataRequest struct {
	Topics []string `json:"topics"`
}

// MetadataResponse is what one broker believes at that moment.
type MetadataResponse struct {
	Brokers      []int32        `json:"brokers"`
	ControllerID int32          `json:"controllerId"`
	Parts        []MetadataPart `json:"parts"`
}

// MetadataPart is one partition of it.
type MetadataPart struct {
	Part            string          `json:"part"`
	ErrorCode       kafka.ErrorCode `json:"errorCode"`
	LeaderID        int32           `json:"leaderId"`
	LeaderEpoch     int32           `json:"leaderEpoch"`
	ReplicaNodes    []int32         `json:"replicaNodes"`
	IsrNodes        []int32         `json:"isrNodes"`
	OfflineReplicas []int32         `json:"offlineReplicas"`
}

// InitProducerIDRequest is InitProducerId v5.
type InitProducerIDRequest struct {
	TransactionalID string `json:"transactionalId,omitempty"`
	ProducerID      int64  `json:"producerId"`
	ProducerEpoch   int16  `json:"producerEpoch"`
}

// InitProducerIDResponse answers InitProducerId.
type InitProducerIDResponse struct {
	ErrorCode     kafka.ErrorCode `json:"errorCode"`
	ProducerID    int64           `json:"producerId"`
	ProducerEpoch int16           `json:"producerEpoch"`
}

// AllocateProducerIDsRequest is AllocateProducerIds v0.
type AllocateProducerIDsRequest struct {
	BrokerID    int32 `json:"brokerId"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// AllocateProducerIDsResponse grants a block of producer ids.
type AllocateProducerIDsResponse struct {
	ErrorCode       kafka.ErrorCode `json:"errorCode"`
	ProducerIDStart int64           `json:"producerIdStart"`
	ProducerIDLen   int32           `json:"producerIdLen"`
}

// FindCoordinatorRequest is FindCoordinator v6. KeyType 0 is a group.
type FindCoordinatorRequest struct {
	KeyType int8     `json:"keyType"`
	Keys    []string `json:"coordinatorKeys"`
}

// FindCoordinatorResponse names the coordinators.
type FindCoordinatorResponse struct {
	Coordinators []Coordinator `json:"coordinators"`
}

// Coordinator is one of them.
type Coordinator struct {
	Key       string          `json:"key"`
	NodeID    int32           `json:"nodeId"`
	ErrorCode kafka.ErrorCode `json:"errorCode"`
}

// OffsetCommitRequest is OffsetCommit v9, v10 from the consumer protocol.
type OffsetCommitRequest struct {
	GroupID  string             `json:"groupId"`
	Epoch    int32              `json:"generationIdOrMemberEpoch"`
	MemberID string             `json:"memberId"`
	Instance string             `json:"groupInstanceId,omitempty"`
	Parts    []OffsetCommitPart `json:"parts"`
}

// OffsetCommitPart commits one partition.
type OffsetCommitPart struct {
	Part                 string `json:"part"`
	CommittedOffset      int64  `json:"committedOffset"`
	CommittedLeaderEpoch int32  `json:"committedLeaderEpoch"`
}

// OffsetCommitResponse answers OffsetCommit.
type OffsetCommitResponse struct {
	Parts []PartError `json:"parts"`
}

// PartError is a partition with an error code.
type PartError struct {
	Part      string          `json:"part"`
	ErrorCode kafka.ErrorCode `json:"errorCode"`
}

// OffsetFetchRequest is OffsetFetch v9 for one group; v10 from the consumer
// protocol, which names the member.
type OffsetFetchRequest struct {
	GroupID     string   `json:"groupId"`
	MemberID    string   `json:"memberId,omitempty"`
	MemberEpoch int32    `json:"memberEpoch"`
	Parts       []string `json:"parts"`
}

// OffsetFetchResponse answers OffsetFetch; an offset of −1 is none.
type OffsetFetchResponse struct {
	GroupID   string            `json:"groupId"`
	ErrorCode kafka.ErrorCode   `json:"errorCode"`
	Parts     []OffsetFetchPart `json:"parts"`
}

// OffsetFetchPart is one partition of the answer.
type OffsetFetchPart struct {
	Part                 string          `json:"part"`
	CommittedOffset      int64           `json:"committedOffset"`
	CommittedLeaderEpoch int32           `json:"committedLeaderEpoch"`
	ErrorCode            kafka.ErrorCode `json:"errorCode"`
}

// BrokerEpoch is a broker with its epoch, in a proposed ISR.
type BrokerEpoch struct {
	BrokerID    int32 `json:"brokerId"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// AlterPartitionRequest is AlterPartition v3.
type AlterPartitionRequest struct {
	BrokerID    int32                `json:"brokerId"`
	BrokerEpoch int64                `json:"brokerEpoch"`
	Parts       []AlterPartitionPart `json:"parts"`
}

// AlterPartitionPart proposes the ISR of one partition.
type AlterPartitionPart struct {
	Part           string        `json:"part"`
	LeaderEpoch    int32         `json:"leaderEpoch"`
	NewISR         []BrokerEpoch `json:"newIsrWithEpochs"`
	LeaderRecovery int8          `json:"leaderRecoveryState"`
	PartitionEpoch int32         `json:"partitionEpoch"`
}

// AlterPartitionResponse answers AlterPartition.
type AlterPartitionResponse struct {
	ErrorCode kafka.ErrorCode        `json:"errorCode"`
	Parts     []AlterPartitionResult `json:"parts"`
}

// AlterPartitionResult is one partition of the answer.
type AlterPartitionResult struct {
	Part           string          `json:"part"`
	ErrorCode      kafka.ErrorCode `json:"errorCode"`
	LeaderID       int32           `json:"leaderId"`
	LeaderEpoch    int32           `json:"leaderEpoch"`
	ISR            []int32         `json:"isr"`
	LeaderRecovery int8            `json:"leaderRecoveryState"`
	PartitionEpoch int32           `json:"partitionEpoch"`
}

// BrokerRegistrationRequest is BrokerRegistration v4.
type BrokerRegistrationRequest struct {
	BrokerID            int32  `json:"brokerId"`
	IncarnationID       string `json:"incarnationId"`
	Rack                string `json:"rack,omitempty"`
	PreviousBrokerEpoch int64  `json:"previousBrokerEpoch"`
}

// BrokerRegistrationResponse answers BrokerRegistration.
type BrokerRegistrationResponse struct {
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	BrokerEpoch int64           `json:"brokerEpoch"`
}

// BrokerHeartbeatRequest is BrokerHeartbeat v2.
type BrokerHeartbeatRequest struct {
	BrokerID              int32 `json:"brokerId"`
	BrokerEpoch           int64 `json:"brokerEpoch"`
	CurrentMetadataOffset int64 `json:"currentMetadataOffset"`
	WantFence             bool  `json:"wantFence"`
	WantShutDown          bool  `json:"wantShutDown"`
}

// BrokerHeartbeatResponse answers BrokerHeartbeat.
type BrokerHeartbeatResponse struct {
	ErrorCode      kafka.ErrorCode `json:"errorCode"`
	IsCaughtUp     bool            `json:"isCaughtUp"`
	IsFenced       bool            `json:"isFenced"`
	ShouldShutDown bool            `json:"shouldShutDown"`
}
