package kafka

import "fmt"

// ErrorCode is an error code of the protocol (clients: Errors).
type ErrorCode int16

// The error codes that the simulation knows. Network is the client's own: a
// broken connection.
const (
	None                         ErrorCode = 0
	OffsetOutOfRange             ErrorCode = 1
	CorruptMessage               ErrorCode = 2
	UnknownTopicOrPartition      ErrorCode = 3
	LeaderNotAvailable           ErrorCode = 5
	NotLeaderOrFollower          ErrorCode = 6
	RequestTimedOut              ErrorCode = 7
	ReplicaNotAvailable          ErrorCode = 9
	MessageTooLarge              ErrorCode = 10
	Network                      ErrorCode = 13
	CoordinatorLoadInProgress    ErrorCode = 14
	CoordinatorNotAvailable      ErrorCode = 15
	NotCoordinator               ErrorCode = 16
	InvalidTopic                 ErrorCode = 17
	NotEnoughReplicas            ErrorCode = 19
	NotEnoughReplicasAfterAppend ErrorCode = 20
	InvalidRequiredAcks          ErrorCode = 21
	IllegalGeneration            ErrorCode = 22
	InconsistentGroupProtocol    ErrorCode = 23
	InvalidGroupID               ErrorCode = 24
	UnknownMemberID              ErrorCode = 25
	InvalidSessionTimeout        ErrorCode = 26
	RebalanceInProgress          ErrorCode = 27
	TopicAlreadyExists           ErrorCode = 36
	InvalidPartitions            ErrorCode = 37
	InvalidReplicationFactor     ErrorCode = 38
	InvalidReplicaAssignment     ErrorCode = 39
	InvalidConfig                ErrorCode = 40
	NotController                ErrorCode = 41
	InvalidRequest               ErrorCode = 42
	OutOfOrderSequenceNumber     ErrorCode = 45
	DuplicateSequenceNumber      ErrorCode = 46
	InvalidProducerEpoch         ErrorCode = 47
	InvalidTxnState              ErrorCode = 48
	ConcurrentTransactions       ErrorCode = 51
	TransactionCoordinatorFenced ErrorCode = 52
	OperationNotAttempted        ErrorCode = 55
	KafkaStorageError            ErrorCode = 56
	UnknownProducerID            ErrorCode = 59
	FetchSessionIDNotFound       ErrorCode = 70
	InvalidFetchSessionEpoch     ErrorCode = 71
	FencedLeaderEpoch            ErrorCode = 74
	UnknownLeaderEpoch           ErrorCode = 75
	StaleBrokerEpoch             ErrorCode = 77
	OffsetNotAvailable           ErrorCode = 78
	MemberIDRequired             ErrorCode = 79
	PreferredLeaderNotAvailable  ErrorCode = 80
	GroupMaxSizeReached          ErrorCode = 81
	FencedInstanceID             ErrorCode = 82
	EligibleLeadersNotAvailable  ErrorCode = 83
	ElectionNotNeeded            ErrorCode = 84
	NoReassignmentInProgress     ErrorCode = 85
	UnstableOffsetCommit         ErrorCode = 88
	ProducerFenced               ErrorCode = 90
	InvalidUpdateVersion         ErrorCode = 95
	SnapshotNotFound             ErrorCode = 98
	UnknownTopicID               ErrorCode = 100
	DuplicateBrokerRegistration  ErrorCode = 101
	BrokerIDNotRegistered        ErrorCode = 102
	IneligibleReplica            ErrorCode = 107
	NewLeaderElected             ErrorCode = 108
	OffsetMovedToTieredStorage   ErrorCode = 109
	FencedMemberEpoch            ErrorCode = 110
	UnreleasedInstanceID         ErrorCode = 111
	UnsupportedAssignor          ErrorCode = 112
	StaleMemberEpoch             ErrorCode = 113
	TransactionAbortable         ErrorCode = 120
	InvalidRecordState           ErrorCode = 121
	InvalidVoterKey              ErrorCode = 125
	InvalidRegularExpression     ErrorCode = 128
	RebootstrapRequired          ErrorCode = 129
)

var errorNames = map[ErrorCode]string{
	None:                         "NONE",
	OffsetOutOfRange:             "OFFSET_OUT_OF_RANGE",
	CorruptMessage:               "CORRUPT_MESSAGE",
	UnknownTopicOrPartition:      "UNKNOWN_TOPIC_OR_PARTITION",
	LeaderNotAvailable:           "LEADER_NOT_AVAILABLE",
	NotLeaderOrFollower:          "NOT_LEADER_OR_FOLLOWER",
	RequestTimedOut:              "REQUEST_TIMED_OUT",
	ReplicaNotAvailable:          "REPLICA_NOT_AVAILABLE",
	MessageTooLarge:              "MESSAGE_TOO_LARGE",
	Network:                      "NETWORK_EXCEPTION",
	CoordinatorLoadInProgress:    "COORDINATOR_LOAD_IN_PROGRESS",
	CoordinatorNotAvailable:      "COORDINATOR_NOT_AVAILABLE",
	NotCoordinator:               "NOT_COORDINATOR",
	InvalidTopic:                 "INVALID_TOPIC_EXCEPTION",
	NotEnoughReplicas:            "NOT_ENOUGH_REPLICAS",
	NotEnoughReplicasAfterAppend: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	InvalidRequiredAcks:          "INVALID_REQUIRED_ACKS",
	IllegalGeneration:            "ILLEGAL_GENERATION",
	InconsistentGroupProtocol:    "INCONSISTENT_GROUP_PROTOCOL",
	InvalidGroupID:               "INVALID_GROUP_ID",
	UnknownMemberID:              "UNKNOWN_MEMBER_ID",
	InvalidSessionTimeout:        "INVALID_SESSION_TIMEOUT",
	RebalanceInProgress:          "REBALANCE_IN_PROGRESS",
	TopicAlreadyExists:           "TOPIC_ALREADY_EXISTS",
	InvalidPartitions:            "INVALID_PARTITIONS",
	InvalidReplicationFactor:     "INVALID_REPLICATION_FACTOR",
	InvalidReplicaAssignment:     "INVALID_REPLICA_ASSIGNMENT",
	InvalidConfig:                "INVALID_CONFIG",
	NotController:                "NOT_CONTROLLER",
	InvalidRequest:               "INVALID_REQUEST",
	OutOfOrderSequenceNumber:     "OUT_OF_ORDER_SEQUENCE_NUMBER",
	DuplicateSequenceNumber:      "DUPLICATE_SEQUENCE_NUMBER",
	InvalidProducerEpoch:         "INVALID_PRODUCER_EPOCH",
	InvalidTxnState:              "INVALID_TXN_STATE",
	ConcurrentTransactions:       "CONCURRENT_TRANSACTIONS",
	TransactionCoordinatorFenced: "TRANSACTION_COORDINATOR_FENCED",
	OperationNotAttempted:        "OPERATION_NOT_ATTEMPTED",
	KafkaStorageError:            "KAFKA_STORAGE_ERROR",
	UnknownProducerID:            "UNKNOWN_PRODUCER_ID",
	FetchSessionIDNotFound:       "FETCH_SESSION_ID_NOT_FOUND",
	InvalidFetchSessionEpoch:     "INVALID_FETCH_SESSION_EPOCH",
	FencedLeaderEpoch:            "FENCED_LEADER_EPOCH",
	UnknownLeaderEpoch:           "UNKNOWN_LEADER_EPOCH",
	StaleBrokerEpoch:             "STALE_BROKER_EPOCH",
	OffsetNotAvailable:           "OFFSET_NOT_AVAILABLE",
	MemberIDRequired:             "MEMBER_ID_REQUIRED",
	PreferredLeaderNotAvailable:  "PREFERRED_LEADER_NOT_AVAILABLE",
	GroupMaxSizeReached:          "GROUP_MAX_SIZE_REACHED",
	FencedInstanceID:             "FENCED_INSTANCE_ID",
	EligibleLeadersNotAvailable:  "ELIGIBLE_LEADERS_NOT_AVAILABLE",
	ElectionNotNeeded:            "ELECTION_NOT_NEEDED",
	NoReassignmentInProgress:     "NO_REASSIGNMENT_IN_PROGRESS",
	UnstableOffsetCommit:         "UNSTABLE_OFFSET_COMMIT",
	ProducerFenced:               "PRODUCER_FENCED",
	InvalidUpdateVersion:         "INVALID_UPDATE_VERSION",
	SnapshotNotFound:             "SNAPSHOT_NOT_FOUND",
	UnknownTopicID:               "UNKNOWN_TOPIC_ID",
	DuplicateBrokerRegistration:  "DUPLICATE_BROKER_REGISTRATION",
	BrokerIDNotRegistered:        "BROKER_ID_NOT_REGISTERED",
	IneligibleReplica:            "INELIGIBLE_REPLICA",
	NewLeaderElected:             "NEW_LEADER_ELECTED",
	OffsetMovedToTieredStorage:   "OFFSET_MOVED_TO_TIERED_STORAGE",
	FencedMemberEpoch:            "FENCED_MEMBER_EPOCH",
	UnreleasedInstanceID:         "UNRELEASED_INSTANCE_ID",
	UnsupportedAssignor:          "UNSUPPORTED_ASSIGNOR",
	StaleMemberEpoch:             "STALE_MEMBER_EPOCH",
	TransactionAbortable:         "TRANSACTION_ABORTABLE",
	InvalidRecordState:           "INVALID_RECORD_STATE",
	InvalidVoterKey:              "INVALID_VOTER_KEY",
	InvalidRegularExpression:     "INVALID_REGULAR_EXPRESSION",
	RebootstrapRequired:          "REBOOTSTRAP_REQUIRED",
}

var errorCodes = func() map[string]ErrorCode {
	m := map[string]ErrorCode{}
	for c, n := range errorNames {
		m[n] = c
	}
	return m
}()

// String is Kafka's name of the code.
func (c ErrorCode) String() string {
	if n, ok := errorNames[c]; ok {
		return n
	}
	return fmt.Sprintf("UNKNOWN_SERVER_ERROR(%d)", int16(c))
}

// MarshalText writes the name; encoding/json uses it for values and map keys.
func (c ErrorCode) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseErrorCode finds the code of a name.
func ParseErrorCode(name string) (ErrorCode, bool) {
	c, ok := errorCodes[name]
	return c, ok
}

// InvalidMetadata says whether a client refreshes its metadata on this error
// (subclasses of InvalidMetadataException).
func (c ErrorCode) InvalidMetadata() bool {
	switch c {
	case UnknownTopicOrPartition, LeaderNotAvailable, NotLeaderOrFollower, ReplicaNotAvailable, Network, KafkaStorageError,
		FencedLeaderEpoch, PreferredLeaderNotAvailable, EligibleLeadersNotAvailable, ElectionNotNeeded, UnknownTopicID:
		return true
	}
	return false
}

// Retriable says whether a client tries again on this error (subclasses of
// RetriableException).
func (c ErrorCode) Retriable() bool {
	switch c {
	case CorruptMessage, RequestTimedOut, CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator, NotEnoughReplicas,
		NotEnoughReplicasAfterAppend, NotController, ConcurrentTransactions, FetchSessionIDNotFound, InvalidFetchSessionEpoch,
		UnknownLeaderEpoch, OffsetNotAvailable, UnstableOffsetCommit:
		return true
	}
	return c.InvalidMetadata()
}
