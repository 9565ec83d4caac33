// Package kafka holds what every part of the simulation shares: names of APIs,
// error codes, configuration keys with Kafka 4.4's defaults, the partitioners
// and the replica placer.
package kafka

import "strconv"

// BrokerID is the id of a node: 1 to 99 for brokers, from 101 for controllers.
type BrokerID int32

// NodeName is the name of a node in keys and links: b1 for broker 1, c1 for
// controller 101.
func NodeName(id BrokerID) string {
	if id > 100 {
		return "c" + strconv.Itoa(int(id-100))
	}
	return "b" + strconv.Itoa(int(id))
}

// NodeID is the inverse of NodeName; −1 for a name that is no node's.
func NodeID(name string) BrokerID {
	if len(name) < 2 || name[0] != 'b' && name[0] != 'c' {
		return -1
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 1 {
		return -1
	}
	if name[0] == 'c' {
		n += 100
	}
	return BrokerID(n)
}
