package wire

// MetaBatch is one batch of the metadata log.
type MetaBatch struct {
	BaseOffset int64        `json:"baseOffset"`
	Epoch      int32        `json:"epoch"`
	Records    []MetaRecord `json:"records"`
	Ops        []int        `json:"-"` // where the operations in it begin: one batch may hold several
}

// Operations are the records of each operation of the controller; those of one
// happen together.
func (b MetaBatch) Operations() [][]MetaRecord {
	ends := append(b.Ops[min(1, len(b.Ops)):len(b.Ops):len(b.Ops)], len(b.Records))
	var out [][]MetaRecord
	from := 0
	for _, to := range ends {
		out = append(out, b.Records[from:to])
		from = to
	}
	return out
}

// Last is the offset of the last record.
func (b MetaBatch) Last() int64 { return b.BaseOffset + int64(len(b.Records)) - 1 }

// MetaRecord is one metadata record; only the fields of its type are set.
type MetaRecord struct {
	Type string `json:"type"` // TopicRecord, PartitionRecord, …

	Resource int8 `json:"resourceType,omitempty"` // ConfigRecord: whose Part is

	Name  string `json:"name,omitempty"`  // topic, or config key
	Value string `json:"value,omitempty"` // config value
	Part  string `json:"part,omitempty"`  // or the resource of a config

	Replicas       []int32 `json:"replicas,omitempty"`
	ISR            []int32 `json:"isr,omitempty"` // PartitionChangeRecord: nil is unchanged
	ISRSet         bool    `json:"-"`             // tells an empty ISR from an unchanged one
	Leader         *int32  `json:"leader,omitempty"`
	LeaderEpoch    int32   `json:"leaderEpoch,omitempty"`
	PartitionEpoch int32   `json:"partitionEpoch,omitempty"`
	ELR            []int32 `json:"eligibleLeaderReplicas,omitempty"`
	ELRSet         bool    `json:"-"`
	LastKnownELR   []int32 `json:"lastKnownElr,omitempty"`
	LastKnownSet   bool    `json:"-"`
	Recovery       *int8   `json:"leaderRecoveryState,omitempty"`
	Removing       []int32 `json:"removingReplicas,omitempty"`
	RemovingSet    bool    `json:"-"`
	Adding         []int32 `json:"addingReplicas,omitempty"`
	AddingSet      bool    `json:"-"`

	BrokerID    int32  `json:"brokerId,omitempty"`
	BrokerEpoch int64  `json:"brokerEpoch,omitempty"`
	Incarnation string `json:"incarnationId,omitempty"` // RegisterBrokerRecord
	Fenced      int8   `json:"fenced,omitempty"`        // 1 FENCE, −1 UNFENCE
	Shutdown    int8   `json:"inControlledShutdown,omitempty"`

	LeaderID int32 `json:"leaderId,omitempty"` // LeaderChange
}
