package group

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// Record is one record of __consumer_offsets. A nil Value is a tombstone.
type Record struct {
	Type   string // Kafka's name of the key's schema
	Group  string
	Member string // or partition of an offset commit
	Value  any
}

// The record types, with the type id of Kafka's keys (CoordinatorRecordType).
const (
	offsetCommit      = "OffsetCommit"                          // 1
	groupMetadata     = "GroupMetadata"                         // 2
	consumerMetadata  = "ConsumerGroupMetadata"                 // 3
	memberMetadata    = "ConsumerGroupMemberMetadata"           // 5
	targetMetadata    = "ConsumerGroupTargetAssignmentMetadata" // 6
	targetMember      = "ConsumerGroupTargetAssignmentMember"   // 7
	currentAssignment = "ConsumerGroupCurrentMemberAssignment"  // 8
)

// Key names the record: its type, group and member or partition.
func (r Record) Key() string {
	return strings.TrimSuffix(r.Type+" "+r.Group+" "+r.Member, " ")
}

// Text is the value with Kafka's field names, "" for a tombstone.
func (r Record) Text() string {
	if r.Value == nil {
		return ""
	}
	return text(r.Value)
}

// text is a value in a form that two equal values share.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("a record that cannot be written: " + err.Error())
	}
	return string(b)
}

// Offset is a committed offset (OffsetAndMetadata).
type Offset struct {
	Offset int64        `json:"offset"`
	Epoch  int32        `json:"leaderEpoch"`
	At     journal.Time `json:"commitTimestamp"` // microseconds since the start
}

type groupMetadataValue struct {
	ProtocolType string             `json:"protocolType"`
	Generation   int32              `json:"generation"`
	Protocol     string             `json:"protocol"`
	Leader       string             `json:"leader"`
	Members      []groupMemberValue `json:"members"`
}

type groupMemberValue struct {
	MemberID         string            `json:"memberId"`
	Instance         string            `json:"groupInstanceId,omitempty"`
	Client           string            `json:"clientId"`
	RebalanceTimeout int64             `json:"rebalanceTimeout"`
	SessionTimeout   int64             `json:"sessionTimeout"`
	Subscription     wire.Subscription `json:"subscription"`
	Assignment       []string          `json:"assignment"`
}

// metadataRecord is the GroupMetadata record of a classic group as it is.
func (g *group) metadataRecord() Record {
	given := map[string][]string{}
	for id, m := range g.classic.members {
		given[id] = m.assignment
	}
	return g.metadataRecordWith(given)
}

func (g *group) metadataRecordWith(given map[string][]string) Record {
	c := g.classic
	v := groupMetadataValue{ProtocolType: c.protocolType, Generation: c.generation, Protocol: c.protocol, Leader: c.leader, Members: []groupMemberValue{}}
	for _, id := range slices.SortedFunc(maps.Keys(c.members), func(a, b string) int { return c.members[a].order - c.members[b].order }) {
		m := c.members[id]
		v.Members = append(v.Members, groupMemberValue{MemberID: id, Instance: m.instance, Client: m.client, RebalanceTimeout: millis(m.rebalanceTimeout),
			SessionTimeout: millis(m.sessionTimeout), Subscription: m.metadata(c.protocol), Assignment: list(given[id])})
	}
	return Record{Type: groupMetadata, Group: g.id, Value: v}
}

func millis(t journal.Time) int64 { return int64(t / journal.Millisecond) }

type consumerMetadataValue struct {
	Epoch        int32  `json:"epoch"`
	MetadataHash string `json:"metadataHash"`
}

type memberMetadataValue struct {
	Instance         string        `json:"instanceId,omitempty"`
	Client           string        `json:"clientId"`
	Topics           []string      `json:"subscribedTopicNames"`
	RebalanceTimeout int64         `json:"rebalanceTimeoutMs"`
	Assignor         string        `json:"serverAssignor,omitempty"`
	Classic          *classicValue `json:"classicMemberMetadata,omitempty"`
}

// classicValue is what the coordinator keeps of a classic member in a group of
// the consumer protocol.
type classicValue struct {
	SessionTimeout int64               `json:"sessionTimeoutMs"`
	Protocols      []wire.JoinProtocol `json:"supportedProtocols"`
}

type targetMetadataValue struct {
	Epoch int32        `json:"assignmentEpoch"`
	At    journal.Time `json:"assignmentTimestamp"` // microseconds since the start
}

type targetMemberValue struct {
	Parts []string `json:"topicPartitions"`
}

type currentValue struct {
	Epoch    int32            `json:"memberEpoch"`
	Previous int32            `json:"previousMemberEpoch"`
	State    MemberState      `json:"state"`
	Assigned map[string]int32 `json:"assignedPartitions"` // to the epoch since which the member has it
	Pending  map[string]int32 `json:"partitionsPendingRevocation"`
}

// Replay applies a record that was read from the log.
func (s *Shard) Replay(key, value string) {
	f := strings.Fields(key)
	if len(f) < 2 {
		return
	}
	name := ""
	if len(f) > 2 {
		name = f[2]
	}
	g := s.groups[f[1]]
	if g == nil {
		if value == "" {
			return
		}
		g = s.newGroup(f[1])
	}
	read := func(v any) bool { return value != "" && json.Unmarshal([]byte(value), v) == nil }
	switch f[0] {
	case offsetCommit:
		var v Offset
		if read(&v) {
			g.offsets[name] = v
		} else {
			delete(g.offsets, name)
		}
	case groupMetadata:
		var v groupMetadataValue
		if g.classic = nil; read(&v) {
			g.classic = replayClassic(v)
		}
	default:
		g.replayConsumer(f[0], name, read)
	}
	if g.classic == nil && g.consumer == nil && len(g.offsets) == 0 {
		delete(s.groups, g.id)
	}
}

func replayClassic(v groupMetadataValue) *classic {
	c := newClassic()
	c.protocolType, c.generation, c.protocol = v.ProtocolType, v.Generation, v.Protocol
	for _, m := range v.Members {
		c.add(&classicMember{id: m.MemberID, client: m.Client, instance: m.Instance, sessionTimeout: journal.Millis(m.SessionTimeout),
			rebalanceTimeout: journal.Millis(m.RebalanceTimeout), protocols: []wire.JoinProtocol{{Name: v.Protocol, Metadata: m.Subscription}}, assignment: m.Assignment})
	}
	c.leader = v.Leader
	if len(v.Members) > 0 {
		c.state, c.before = Stable, CompletingRebalance
	}
	return c
}

// Loaded begins to coordinate what was replayed: sessions start now
// (GroupMetadataManager.onLoaded).
func (s *Shard) Loaded(now journal.Time) Result {
	s.begin(now)
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[id]
		g.emptied = now
		if c := g.classic; c != nil {
			for _, id := range c.ids() {
				s.keepAlive(g, c.members[id])
			}
		}
		if g.consumer != nil {
			s.loadedConsumer(g)
		}
	}
	return s.end()
}

// Unload ends the coordination: what waits is answered.
func (s *Shard) Unload(now journal.Time) Result {
	s.begin(now)
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		if c := s.groups[id].classic; c != nil {
			for _, id := range c.ids() {
				s.fail(c.members[id], kafka.NotCoordinator)
			}
		}
	}
	return s.out
}
