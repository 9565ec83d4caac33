package kafka

// API is the name of a request type.
type API string

// The APIs.
const (
	Produce                     API = "Produce"
	Fetch                       API = "Fetch"
	ListOffsets                 API = "ListOffsets"
	Metadata                    API = "Metadata"
	OffsetCommit                API = "OffsetCommit"
	OffsetFetch                 API = "OffsetFetch"
	FindCoordinator             API = "FindCoordinator"
	JoinGroup                   API = "JoinGroup"
	Heartbeat                   API = "Heartbeat"
	LeaveGroup                  API = "LeaveGroup"
	SyncGroup                   API = "SyncGroup"
	ApiVersions                 API = "ApiVersions"
	CreateTopics                API = "CreateTopics"
	InitProducerID              API = "InitProducerId"
	OffsetForLeaderEpoch        API = "OffsetForLeaderEpoch"
	AddPartitionsToTxn          API = "AddPartitionsToTxn"
	EndTxn                      API = "EndTxn"
	WriteTxnMarkers             API = "WriteTxnMarkers"
	TxnOffsetCommit             API = "TxnOffsetCommit"
	CreatePartitions            API = "CreatePartitions"
	ElectLeaders                API = "ElectLeaders"
	IncrementalAlterConfigs     API = "IncrementalAlterConfigs"
	AlterPartitionReassignments API = "AlterPartitionReassignments"
	Vote                        API = "Vote"
	BeginQuorumEpoch            API = "BeginQuorumEpoch"
	EndQuorumEpoch              API = "EndQuorumEpoch"
	AlterPartition              API = "AlterPartition"
	Envelope                    API = "Envelope"
	FetchSnapshot               API = "FetchSnapshot"
	BrokerRegistration          API = "BrokerRegistration"
	BrokerHeartbeat             API = "BrokerHeartbeat"
	AllocateProducerIDs         API = "AllocateProducerIds"
	ConsumerGroupHeartbeat      API = "ConsumerGroupHeartbeat"
	ShareGroupHeartbeat         API = "ShareGroupHeartbeat"
	ShareFetch                  API = "ShareFetch"
	ShareAcknowledge            API = "ShareAcknowledge"
)

// apiInfo holds the numeric key and the newest version that a 4.4 peer uses.
var apiInfo = map[API][2]int16{
	Produce:                     {0, 13},
	Fetch:                       {1, 18},
	ListOffsets:                 {2, 11},
	Metadata:                    {3, 13},
	OffsetCommit:                {8, 10},
	OffsetFetch:                 {9, 10},
	FindCoordinator:             {10, 6},
	JoinGroup:                   {11, 9},
	Heartbeat:                   {12, 4},
	LeaveGroup:                  {13, 5},
	SyncGroup:                   {14, 5},
	ApiVersions:                 {18, 4},
	CreateTopics:                {19, 7},
	InitProducerID:              {22, 5},
	OffsetForLeaderEpoch:        {23, 4},
	AddPartitionsToTxn:          {24, 5},
	EndTxn:                      {26, 5},
	WriteTxnMarkers:             {27, 2},
	TxnOffsetCommit:             {28, 6},
	CreatePartitions:            {37, 3},
	ElectLeaders:                {43, 2},
	IncrementalAlterConfigs:     {44, 1},
	AlterPartitionReassignments: {45, 1},
	Vote:                        {52, 2},
	BeginQuorumEpoch:            {53, 1},
	EndQuorumEpoch:              {54, 1},
	AlterPartition:              {56, 3},
	Envelope:                    {58, 0},
	FetchSnapshot:               {59, 1},
	BrokerRegistration:          {62, 4},
	BrokerHeartbeat:             {63, 2},
	AllocateProducerIDs:         {67, 0},
	ConsumerGroupHeartbeat:      {68, 1},
	ShareGroupHeartbeat:         {76, 1},
	ShareFetch:                  {78, 2},
	ShareAcknowledge:            {79, 2},
}

// Key is the numeric API key, -1 for an unknown API.
func (a API) Key() int16 {
	if i, ok := apiInfo[a]; ok {
		return i[0]
	}
	return -1
}

// Version is the newest version that a 4.4 peer uses, -1 for an unknown API.
func (a API) Version() int16 {
	if i, ok := apiInfo[a]; ok {
		return i[1]
	}
	return -1
}
