package controller

import (
	"strconv"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

const minISR = "min.insync.replicas"

// alterConfigs answers IncrementalAlterConfigs: a resource changes as a whole or
// not at all. A new min.insync.replicas makes what the ELRs promise void: with it
// their members may not have all that is committed (KIP-966).
// (ConfigurationControlManager.incrementalAlterConfigs)
func (n *Node) alterConfigs(r *sim.Request, q *wire.IncrementalAlterConfigsRequest) {
	resp := &wire.IncrementalAlterConfigsResponse{}
	var recs, clear []wire.MetaRecord
	for _, res := range q.Resources {
		code := n.alterable(&res)
		resp.Responses = append(resp.Responses, wire.ResourceError{ErrorCode: code, Type: res.Type, Name: res.Name})
		if code != kafka.None {
			continue
		}
		for _, c := range res.Configs {
			// A broker reloads on every record, so one is written even where nothing
			// changes (KAFKA-14136).
			if res.Type == wire.TopicResource && n.img.Topics[res.Name].Config[c.Name] == c.Value {
				continue
			}
			recs = append(recs, wire.MetaRecord{Type: "ConfigRecord", Resource: res.Type, Part: res.Name, Name: c.Name, Value: c.Value})
			if c.Name == minISR {
				clear = append(clear, wire.MetaRecord{Type: "ClearElrRecord", Name: res.Name})
			}
		}
	}
	n.decided(r, append(recs, clear...), resp)
}

func (n *Node) alterable(res *wire.ConfigResource) kafka.ErrorCode {
	scope := "topic"
	if res.Type == wire.BrokerResource {
		scope = "broker"
	}
	for _, c := range res.Configs {
		// What one broker thinks of it would not fit the ELR, which all share.
		if !validConfig(scope, c) || scope == "broker" && res.Name != "" && c.Name == minISR {
			return kafka.InvalidConfig
		}
	}
	id, err := strconv.ParseInt(res.Name, 10, 32)
	switch {
	case scope == "topic" && n.img.Topics[res.Name] == nil:
		return kafka.UnknownTopicOrPartition
	case scope == "broker" && res.Name != "" && (err != nil || n.img.Brokers[int32(id)] == nil):
		return kafka.BrokerIDNotRegistered
	}
	return kafka.None
}

func validConfig(scope string, c wire.KeyValue) bool {
	def, ok := kafka.LookupConfig(scope, c.Name)
	return ok && def.Check(c.Value) == nil
}
