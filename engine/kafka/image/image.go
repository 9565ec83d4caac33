// Package image is the cluster's metadata as a broker or controller knows it:
// the fold of the metadata log up to some offset (Kafka's MetadataImage).
package image

import (
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// NoLeader is the leader id of a partition without leader.
const NoLeader int32 = -1

// Partition is a PartitionRegistration.
type Partition struct {
	Replicas       []int32
	ISR            []int32
	ELR            []int32
	LastKnownELR   []int32
	Leader         int32
	LeaderEpoch    int32
	PartitionEpoch int32
	Recovery       int8 // LeaderRecoveryState: 0 RECOVERED, 1 RECOVERING
	// Removing and Adding are set while a reassignment runs: Replicas then has the
	// target's replicas and, last, those that leave.
	Removing []int32
	Adding   []int32
}

// Reassigning says whether a reassignment runs.
func (p *Partition) Reassigning() bool { return len(p.Removing)+len(p.Adding) > 0 }

// Broker is a BrokerRegistration.
type Broker struct {
	ID       int32
	Epoch    int64
	Fenced   bool
	Shutdown bool // in controlled shutdown
	Rack     string
	// Incarnation is the process that registered.
	Incarnation string
}

// Topic is a topic with its partitions in order.
type Topic struct {
	Name   string
	Parts  []*Partition
	Config map[string]string
}

// Image is the state after the record at Offset.
type Image struct {
	Offset  int64 // of the last record applied; −1 none
	Topics  map[string]*Topic
	Brokers map[int32]*Broker
	Cluster map[string]string           // cluster-wide dynamic configs
	Dynamic map[int32]map[string]string // dynamic configs of single brokers
	NextPID int64                       // first producer id not yet handed out

	// Features are those whose finalized level is not 0.
	Features []string
}

// ELRFeature is the feature of eligible leader replicas (KIP-966), on by default
// since 4.1.
const ELRFeature = "eligible.leader.replicas.version"

// ELR says whether partitions keep eligible leader replicas.
func (im *Image) ELR() bool { return slices.Contains(im.Features, ELRFeature) }

// New is the image of an empty log.
func New() *Image {
	return &Image{Offset: -1, Topics: map[string]*Topic{}, Brokers: map[int32]*Broker{}, Cluster: map[string]string{}, Dynamic: map[int32]map[string]string{}}
}

// Clone is a deep copy.
func (im *Image) Clone() *Image {
	c := New()
	c.Offset, c.NextPID, c.Features = im.Offset, im.NextPID, slices.Clone(im.Features)
	for n, t := range im.Topics {
		ct := &Topic{Name: n, Config: map[string]string{}}
		for k, v := range t.Config {
			ct.Config[k] = v
		}
		for _, p := range t.Parts {
			cp := *p
			cp.Replicas, cp.ISR = slices.Clone(p.Replicas), slices.Clone(p.ISR)
			cp.ELR, cp.LastKnownELR = slices.Clone(p.ELR), slices.Clone(p.LastKnownELR)
			cp.Removing, cp.Adding = slices.Clone(p.Removing), slices.Clone(p.Adding)
			ct.Parts = append(ct.Parts, &cp)
		}
		c.Topics[n] = ct
	}
	for id, b := range im.Brokers {
		cb := *b
		c.Brokers[id] = &cb
	}
	c.Cluster = maps.Clone(im.Cluster)
	for id, set := range im.Dynamic {
		c.Dynamic[id] = maps.Clone(set)
	}
	return c
}

// TopicNames in sorted order.
func (im *Image) TopicNames() []string {
	ns := make([]string, 0, len(im.Topics))
	for n := range im.Topics {
		ns = append(ns, n)
	}
	sort.Strings(ns)
	return ns
}

// BrokerIDs in ascending order.
func (im *Image) BrokerIDs() []int32 {
	ids := make([]int32, 0, len(im.Brokers))
	for id := range im.Brokers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Split parts "orders-0" into topic and partition; partition −1 if it is none.
func Split(part string) (topic string, partition int) {
	tp, ok := kafka.ParseTopicPartition(part)
	if !ok {
		return part, -1
	}
	return tp.Topic, int(tp.Partition)
}

// Name joins topic and partition.
func Name(topic string, partition int) string { return topic + "-" + strconv.Itoa(partition) }

// Partition finds a partition by name, or nil.
func (im *Image) Partition(part string) *Partition {
	topic, p := Split(part)
	t := im.Topics[topic]
	if t == nil || p < 0 || p >= len(t.Parts) {
		return nil
	}
	return t.Parts[p]
}

// Parts lists all partitions: topics by name, partitions ascending.
func (im *Image) Parts() []string {
	var ps []string
	for _, n := range im.TopicNames() {
		for i := range im.Topics[n].Parts {
			ps = append(ps, Name(n, i))
		}
	}
	return ps
}

// MinISR is the effective min.insync.replicas of a partition: the topic's
// value, else the cluster-wide one, else 1, and never more than the replication
// factor (Partition.effectiveMinIsr, KIP-966).
func (im *Image) MinISR(part string) int {
	topic, _ := Split(part)
	v := 1
	if s, ok := im.Cluster["min.insync.replicas"]; ok {
		v, _ = strconv.Atoi(s)
	}
	if t := im.Topics[topic]; t != nil {
		if s, ok := t.Config["min.insync.replicas"]; ok {
			v, _ = strconv.Atoi(s)
		}
	}
	if p := im.Partition(part); p != nil {
		v = min(v, len(p.Replicas))
	}
	return v
}

// Apply folds one record, at this offset, into the image.
func (im *Image) Apply(r *wire.MetaRecord, offset int64) {
	im.Offset = offset
	switch r.Type {
	case "TopicRecord":
		im.Topics[r.Name] = &Topic{Name: r.Name, Config: map[string]string{}}
	case "RemoveTopicRecord":
		delete(im.Topics, r.Name)
	case "FeatureLevelRecord":
		im.Features = append(im.Features, r.Name)
	case "ConfigRecord":
		im.configure(r)
	case "ClearElrRecord":
		im.clearELR(r.Name)
	case "PartitionRecord":
		im.addPartition(r)
	case "PartitionChangeRecord":
		if p := im.Partition(r.Part); p != nil {
			p.merge(r)
		}
	case "RegisterBrokerRecord":
		b := &Broker{ID: r.BrokerID, Epoch: offset, Fenced: r.Fenced == 1, Shutdown: r.Shutdown == 1, Rack: r.Value, Incarnation: r.Incarnation}
		if r.BrokerEpoch > 0 { // in a snapshot
			b.Epoch = r.BrokerEpoch
		}
		im.Brokers[r.BrokerID] = b
	case "BrokerRegistrationChangeRecord":
		if b := im.Brokers[r.BrokerID]; b != nil {
			b.change(r)
		}
	case "ProducerIdsRecord":
		im.NextPID, _ = strconv.ParseInt(r.Value, 10, 64)
	}
}

func (im *Image) configure(r *wire.MetaRecord) {
	switch {
	case r.Resource == wire.TopicResource:
		if t := im.Topics[r.Part]; t != nil {
			t.Config[r.Name] = r.Value
		}
	case r.Part == "":
		im.Cluster[r.Name] = r.Value
	default:
		id, _ := strconv.ParseInt(r.Part, 10, 32)
		if im.Dynamic[int32(id)] == nil {
			im.Dynamic[int32(id)] = map[string]string{}
		}
		im.Dynamic[int32(id)][r.Name] = r.Value
	}
}

func (im *Image) clearELR(topic string) {
	for name, t := range im.Topics {
		if topic != "" && name != topic {
			continue
		}
		for _, p := range t.Parts {
			p.ELR, p.LastKnownELR = nil, nil
		}
	}
}

func (im *Image) addPartition(r *wire.MetaRecord) {
	topic, i := Split(r.Part)
	t := im.Topics[topic]
	if t == nil || i != len(t.Parts) {
		return
	}
	p := &Partition{Replicas: r.Replicas, ISR: r.ISR, ELR: r.ELR, LastKnownELR: r.LastKnownELR, Leader: NoLeader,
		LeaderEpoch: r.LeaderEpoch, PartitionEpoch: r.PartitionEpoch}
	if r.Leader != nil {
		p.Leader = *r.Leader
	}
	if r.Recovery != nil {
		p.Recovery = *r.Recovery
	}
	p.Removing, p.Adding = r.Removing, r.Adding
	t.Parts = append(t.Parts, p)
}

// merge is PartitionRegistration.merge: the partition epoch grows with every
// change, the leader epoch with every record that names a leader.
func (p *Partition) merge(r *wire.MetaRecord) {
	if r.ISR != nil || r.ISRSet {
		p.ISR = r.ISR
	}
	if r.ELR != nil || r.ELRSet {
		p.ELR = r.ELR
	}
	if r.LastKnownELR != nil || r.LastKnownSet {
		p.LastKnownELR = r.LastKnownELR
	}
	if r.Replicas != nil {
		p.Replicas = r.Replicas
	}
	if r.RemovingSet {
		p.Removing = r.Removing
	}
	if r.AddingSet {
		p.Adding = r.Adding
	}
	if r.Recovery != nil {
		p.Recovery = *r.Recovery
	}
	if r.Leader != nil {
		p.Leader = *r.Leader
		p.LeaderEpoch++
	}
	p.PartitionEpoch++
}

func (b *Broker) change(r *wire.MetaRecord) {
	switch r.Fenced {
	case 1:
		b.Fenced = true
	case -1:
		b.Fenced = false
	}
	if r.Shutdown == 1 {
		b.Shutdown = true
	}
}

// Records are the state as records, from which a snapshot is made: applied to an
// empty image they give this one (MetadataImage.write).
func (im *Image) Records() []wire.MetaRecord {
	var recs []wire.MetaRecord
	add := func(r wire.MetaRecord) { recs = append(recs, r) }
	for _, f := range im.Features {
		add(wire.MetaRecord{Type: "FeatureLevelRecord", Name: f})
	}
	for _, id := range im.BrokerIDs() {
		b := im.Brokers[id]
		r := wire.MetaRecord{Type: "RegisterBrokerRecord", BrokerID: id, BrokerEpoch: b.Epoch, Incarnation: b.Incarnation, Value: b.Rack}
		if b.Fenced {
			r.Fenced = 1
		}
		if b.Shutdown {
			r.Shutdown = 1
		}
		add(r)
	}
	for _, name := range im.TopicNames() {
		t := im.Topics[name]
		add(wire.MetaRecord{Type: "TopicRecord", Name: name})
		for i, p := range t.Parts {
			leader, recovery := p.Leader, p.Recovery
			add(wire.MetaRecord{Type: "PartitionRecord", Part: Name(name, i), Replicas: p.Replicas, ISR: p.ISR, ELR: p.ELR, LastKnownELR: p.LastKnownELR,
				Leader: &leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Recovery: &recovery, Removing: p.Removing, Adding: p.Adding})
		}
		for _, k := range sortedKeys(t.Config) {
			add(wire.MetaRecord{Type: "ConfigRecord", Resource: wire.TopicResource, Part: name, Name: k, Value: t.Config[k]})
		}
	}
	for _, k := range sortedKeys(im.Cluster) {
		add(wire.MetaRecord{Type: "ConfigRecord", Resource: wire.BrokerResource, Name: k, Value: im.Cluster[k]})
	}
	for _, id := range slices.Sorted(maps.Keys(im.Dynamic)) {
		for _, k := range sortedKeys(im.Dynamic[id]) {
			add(wire.MetaRecord{Type: "ConfigRecord", Resource: wire.BrokerResource, Part: strconv.Itoa(int(id)), Name: k, Value: im.Dynamic[id][k]})
		}
	}
	if im.NextPID > 0 {
		add(wire.MetaRecord{Type: "ProducerIdsRecord", Value: strconv.FormatInt(im.NextPID, 10)})
	}
	return recs
}

func sortedKeys(m map[string]string) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}
