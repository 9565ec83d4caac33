// Package assignor computes which member of a consumer group reads which
// partition: the client-side assignors of the classic protocol (range,
// roundrobin, sticky, cooperative-sticky) and the server-side ones of KIP-848
// (uniform, range), step by step as Kafka does it, down to the order in which
// Java iterates its hash maps where that decides.
//
// Left out: rack-aware choices of the sticky assignors (KIP-881); range has
// them. The server-side assignors work on topic names where Kafka works on topic
// ids, whose order is that of random numbers.
package assignor

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Member is what an assignor knows of a member.
type Member struct {
	ID       string
	Instance string // group.instance.id, "" for a dynamic member
	Rack     string // client.rack, "" for none
	Topics   []string
	// Owned is what a client-side assignor is told that the member has, and what
	// a server-side one gave it last.
	Owned      []kafka.TopicPartition
	Generation int32 // in which Owned was given; −1 if the member does not know
}

// Input is what an assignor starts from. Topics maps each known topic to its
// number of partitions; a topic that is not in it is passed over.
type Input struct {
	Topics  map[string]int32
	Members []Member
	// Order is the order of topics in which uniform deals partitions; topics that
	// it lacks follow by name.
	Order []string
	// Racks are those of a partition's replicas; nil if brokers have none.
	Racks map[kafka.TopicPartition][]string
}

// Assignment maps each member to its partitions, in the order they were given.
type Assignment map[string][]kafka.TopicPartition

// Func is an assignor.
type Func func(Input) Assignment

// Client is the client-side assignor of this name (ConsumerPartitionAssignor.name).
func Client(name string) (Func, bool) {
	f, ok := map[string]Func{"range": Range, "roundrobin": RoundRobin, "sticky": Sticky, "cooperative-sticky": CooperativeSticky}[name]
	return f, ok
}

// Server is the server-side assignor of this name (group.consumer.assignors).
func Server(name string) (Func, bool) {
	f, ok := map[string]Func{"uniform": Uniform, "range": ServerRange}[name]
	return f, ok
}

// RoundRobin goes through all partitions, sorted, with one circle of members: a
// partition goes to the next of them that subscribes to its topic
// (RoundRobinAssignor).
func RoundRobin(in Input) Assignment {
	out := in.empty()
	members := inOrder(in.Members)
	at := 0
	for _, topic := range slices.Sorted(maps.Keys(in.Topics)) {
		subscribed := func(m Member) bool { return slices.Contains(m.Topics, topic) }
		if !slices.ContainsFunc(members, subscribed) {
			continue
		}
		for p := range in.Topics[topic] {
			for !subscribed(members[at%len(members)]) {
				at++
			}
			id := members[at%len(members)].ID
			out[id] = append(out[id], kafka.TopicPartition{Topic: topic, Partition: p})
			at++
		}
	}
	return out
}

func (in Input) empty() Assignment {
	out := Assignment{}
	for _, m := range in.Members {
		out[m.ID] = nil
	}
	return out
}

// inOrder sorts members as assignors do: static ones by group.instance.id, then
// the others by member id (AbstractPartitionAssignor.MemberInfo).
func inOrder(members []Member) []Member {
	return slices.SortedStableFunc(slices.Values(members), func(a, b Member) int {
		switch {
		case a.Instance != "" && b.Instance != "":
			return cmp.Compare(a.Instance, b.Instance)
		case a.Instance != "":
			return -1
		case b.Instance != "":
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
}

// hashOrder is the order in which a java.util.HashMap with these keys, put in
// this order, iterates them.
func hashOrder[K any](keys []K, hash func(K) int32) []K {
	size := 16
	for len(keys)*4 > size*3 {
		size *= 2
	}
	bucket := func(k K) int {
		h := uint32(hash(k))
		return int((h ^ h>>16) & uint32(size-1))
	}
	return slices.SortedStableFunc(slices.Values(keys), func(a, b K) int { return bucket(a) - bucket(b) })
}

// stringHash is String.hashCode.
func stringHash(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// partitionHash is TopicPartition.hashCode.
func partitionHash(p kafka.TopicPartition) int32 {
	return 31*(31+p.Partition) + stringHash(p.Topic)
}

func byTopic(a, b kafka.TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// Names is the assignment with partitions in Kafka's form: orders-0.
func (a Assignment) Names() map[string][]string {
	out := map[string][]string{}
	for id, ps := range a {
		for _, p := range ps {
			out[id] = append(out[id], p.String())
		}
	}
	return out
}
