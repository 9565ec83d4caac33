package wire

import "github.com/highwater-kafka/highwater/engine/kafka"

// VoteRequest is Vote v2. A pre-vote asks whether a vote would be granted
// (KIP-996).
type VoteRequest struct {
	VoterID         int32 `json:"voterId"`
	ReplicaEpoch    int32 `json:"replicaEpoch"`
	ReplicaID       int32 `json:"replicaId"`
	LastOffsetEpoch int32 `json:"lastOffsetEpoch"`
	LastOffset      int64 `json:"lastOffset"` // its log end
	PreVote         bool  `json:"preVote"`
}

// VoteResponse answers Vote. LeaderID is −1 where the responder knows no leader.
type VoteResponse struct {
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	LeaderID    int32           `json:"leaderId"`
	LeaderEpoch int32           `json:"leaderEpoch"`
	VoteGranted bool            `json:"voteGranted"`
}

// BeginQuorumEpochRequest is BeginQuorumEpoch v1: the leader tells a voter that it
// leads.
type BeginQuorumEpochRequest struct {
	VoterID     int32 `json:"voterId"`
	LeaderID    int32 `json:"leaderId"`
	LeaderEpoch int32 `json:"leaderEpoch"`
}

// BeginQuorumEpochResponse answers BeginQuorumEpoch.
type BeginQuorumEpochResponse struct {
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	LeaderID    int32           `json:"leaderId"`
	LeaderEpoch int32           `json:"leaderEpoch"`
}

// EndQuorumEpochRequest is EndQuorumEpoch v1: a leader resigns and says who should
// stand first.
type EndQuorumEpochRequest struct {
	LeaderID            int32   `json:"leaderId"`
	LeaderEpoch         int32   `json:"leaderEpoch"`
	PreferredCandidates []int32 `json:"preferredCandidates"`
}

// EndQuorumEpochResponse answers EndQuorumEpoch.
type EndQuorumEpochResponse struct {
	ErrorCode   kafka.ErrorCode `json:"errorCode"`
	LeaderID    int32           `json:"leaderId"`
	LeaderEpoch int32           `json:"leaderEpoch"`
}

// FetchSnapshotRequest is FetchSnapshot v1.
type FetchSnapshotRequest struct {
	ReplicaID          int32    `json:"replicaId"`
	CurrentLeaderEpoch int32    `json:"currentLeaderEpoch"`
	SnapshotID         EpochEnd `json:"snapshotId"`
	Position           int64    `json:"position"`
}

// FetchSnapshotResponse answers FetchSnapshot. The records are the committed
// state at the snapshot's end, not a stretch of the log.
type FetchSnapshotResponse struct {
	ErrorCode     kafka.ErrorCode `json:"errorCode"`
	SnapshotID    EpochEnd        `json:"snapshotId"`
	CurrentLeader *CurrentLeader  `json:"currentLeader,omitempty"`
	Records       []MetaRecord    `json:"unalignedRecords,omitempty"`
}
