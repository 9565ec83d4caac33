package wire

import "github.com/highwater-kafka/highwater/engine/kafka"

// Lists that Kafka may leave out are nil here where they are null there; an empty
// list is one that says "none".

// Subscription is ConsumerProtocolSubscription v3, the metadata of a member in
// each protocol that it offers. UserData is the sticky assignor's: the
// partitions of its last assignment and their generation.
type Subscription struct {
	Topics          []string  `json:"topics"`
	OwnedPartitions []string  `json:"ownedPartitions"`
	GenerationID    int32     `json:"generationId"`
	RackID          string    `json:"rackId,omitempty"`
	UserData        *UserData `json:"userData,omitempty"`
}

// UserData is StickyAssignorUserData v1.
type UserData struct {
	PreviousAssignment []string `json:"previousAssignment"`
	Generation         int32    `json:"generation"`
}

// JoinGroupRequest is JoinGroup v9. An empty MemberID asks for one.
type JoinGroupRequest struct {
	GroupID            string         `json:"groupId"`
	SessionTimeoutMs   int64          `json:"sessionTimeoutMs"`
	RebalanceTimeoutMs int64          `json:"rebalanceTimeoutMs"`
	MemberID           string         `json:"memberId"`
	Instance           string         `json:"groupInstanceId,omitempty"`
	ProtocolType       string         `json:"protocolType"`
	Protocols          []JoinProtocol `json:"protocols"`
	Reason             string         `json:"reason,omitempty"`
}

// JoinProtocol is an assignor that a member offers.
type JoinProtocol struct {
	Name     string       `json:"name"`
	Metadata Subscription `json:"metadata"`
}

// JoinGroupResponse answers JoinGroup; Members go to the group leader only.
type JoinGroupResponse struct {
	ErrorCode      kafka.ErrorCode `json:"errorCode"`
	GenerationID   int32           `json:"generationId"`
	ProtocolName   string          `json:"protocolName,omitempty"`
	Leader         string          `json:"leader"`
	SkipAssignment bool            `json:"skipAssignment,omitempty"`
	MemberID       string          `json:"memberId"`
	Members        []JoinMember    `json:"members"`
}

// JoinMember is a member as the group leader sees it.
type JoinMember struct {
	MemberID string       `json:"memberId"`
	Instance string       `json:"groupInstanceId,omitempty"`
	Metadata Subscription `json:"metadata"`
}

// SyncGroupRequest is SyncGroup v5; Assignments come from the group leader only.
type SyncGroupRequest struct {
	GroupID      string             `json:"groupId"`
	GenerationID int32              `json:"generationId"`
	MemberID     string             `json:"memberId"`
	Instance     string             `json:"groupInstanceId,omitempty"`
	ProtocolType string             `json:"protocolType"`
	ProtocolName string             `json:"protocolName"`
	Assignments  []MemberAssignment `json:"assignments"`
}

// MemberAssignment is what the group leader gives a member.
type MemberAssignment struct {
	MemberID   string   `json:"memberId"`
	Assignment []string `json:"assignment"`
}

// SyncGroupResponse answers SyncGroup.
type SyncGroupResponse struct {
	ErrorCode    kafka.ErrorCode `json:"errorCode"`
	ProtocolName string          `json:"protocolName,omitempty"`
	Assignment   []string        `json:"assignment"`
}

// HeartbeatRequest is Heartbeat v4.
type HeartbeatRequest struct {
	GroupID      string `json:"groupId"`
	GenerationID int32  `json:"generationId"`
	MemberID     string `json:"memberId"`
	Instance     string `json:"groupInstanceId,omitempty"`
}

// HeartbeatResponse answers Heartbeat.
type HeartbeatResponse struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
}

// LeaveGroupRequest is LeaveGroup v5.
type LeaveGroupRequest struct {
	GroupID string        `json:"groupId"`
	Members []LeaveMember `json:"members"`
}

// LeaveMember is a member that leaves.
type LeaveMember struct {
	MemberID string `json:"memberId"`
	Instance string `json:"groupInstanceId,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// LeaveGroupResponse answers LeaveGroup.
type LeaveGroupResponse struct {
	ErrorCode kafka.ErrorCode `json:"errorCode"`
	Members   []LeftMember    `json:"members"`
}

// LeftMember is the result for one member.
type LeftMember struct {
	MemberID  string          `json:"memberId"`
	Instance  string          `json:"groupInstanceId,omitempty"`
	ErrorCode kafka.ErrorCode `json:"errorCode"`
}

// ConsumerGroupHeartbeatRequest is ConsumerGroupHeartbeat v1 (KIP-848). What has
// not changed since the last one is nil, empty, or −1.
type ConsumerGroupHeartbeatRequest struct {
	GroupID              string   `json:"groupId"`
	MemberID             string   `json:"memberId"`
	MemberEpoch          int32    `json:"memberEpoch"` // 0 joins, −1 leaves, −2 leaves for a while
	InstanceID           string   `json:"instanceId,omitempty"`
	RackID               string   `json:"rackId,omitempty"`
	RebalanceTimeoutMs   int64    `json:"rebalanceTimeoutMs"`
	SubscribedTopicNames []string `json:"subscribedTopicNames"`
	ServerAssignor       string   `json:"serverAssignor,omitempty"`
	TopicPartitions      []string `json:"topicPartitions"` // owned
}

// ConsumerGroupHeartbeatResponse answers it; a nil Assignment is unchanged.
type ConsumerGroupHeartbeatResponse struct {
	ErrorCode           kafka.ErrorCode `json:"errorCode"`
	MemberID            string          `json:"memberId"`
	MemberEpoch         int32           `json:"memberEpoch"`
	HeartbeatIntervalMs int64           `json:"heartbeatIntervalMs"`
	Assignment          []string        `json:"assignment"`
}

// OffsetForLeaderEpochRequest is OffsetForLeaderEpoch v4.
type OffsetForLeaderEpochRequest struct {
	ReplicaID int32             `json:"replicaId"`
	Parts     []LeaderEpochPart `json:"parts"`
}

// LeaderEpochPart asks where an epoch ends.
type LeaderEpochPart struct {
	Part               string `json:"part"`
	CurrentLeaderEpoch int32  `json:"currentLeaderEpoch"`
	LeaderEpoch        int32  `json:"leaderEpoch"`
}

// OffsetForLeaderEpochResponse answers it; −1 is unknown.
type OffsetForLeaderEpochResponse struct {
	Parts []LeaderEpochResult `json:"parts"`
}

// LeaderEpochResult is one partition of the answer.
type LeaderEpochResult struct {
	Part        string          `json:"part"`
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	LeaderEpoch int32           `json:"leaderEpoch"`
	EndOffset   int64           `json:"endOffset"`
}
