// Package kafka holds what every part of the simulation shares: names of APIs,
// error codes, configuration keys with Kafka 4.4's defaults, the partitioners
// and the replica placer.
package kafka

import (
	"strconv"
	"strings"
)

// BrokerID is the id of a node: 1 to 99 for brokers, from 101 for controllers; −1
// is no node.
type BrokerID int32

// String is the number, as Kafka's tools print it. NodeName is the name in keys.
func (id BrokerID) String() string { return strconv.Itoa(int(id)) }

// NodeName is the name of a node in keys and links: b1 for broker 1, c1 for
// controller 101.
func NodeName(id BrokerID) string {
	if id > 100 {
		return "c" + (id - 100).String()
	}
	return "b" + id.String()
}

// NodeID is the inverse of NodeName; −1 for a name that is no node's.
func NodeID(name string) BrokerID {
	if len(name) < 2 || name[0] != 'b' && name[0] != 'c' {
		return -1
	}
	n, err := strconv.ParseInt(name[1:], 10, 32)
	if err != nil || n < 1 {
		return -1
	}
	id := BrokerID(n)
	if name[0] == 'c' {
		id += 100
	}
	// b101, b01 and b+1 would be second names of c1 and b1.
	if NodeName(id) != name {
		return -1
	}
	return id
}

// NodePair puts two nodes in order: brokers before controllers, each by number.
func NodePair(a, b string) (string, string) {
	if NodeID(a) > NodeID(b) {
		return b, a
	}
	return a, b
}

// TopicPartition is a partition of a topic (clients: TopicPartition). Partition
// counts from 0.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is Kafka's form: orders-0.
func (tp TopicPartition) String() string { return tp.Topic + "-" + strconv.Itoa(int(tp.Partition)) }

// ParseTopicPartition is the inverse of String. The last dash divides, because
// topic names may have dashes; false for anything that String does not write.
func ParseTopicPartition(s string) (TopicPartition, bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 1 {
		return TopicPartition{}, false
	}
	n, err := strconv.ParseInt(s[i+1:], 10, 32)
	tp := TopicPartition{Topic: s[:i], Partition: int32(n)}
	if err != nil || tp.String() != s {
		return TopicPartition{}, false
	}
	return tp, true
}
