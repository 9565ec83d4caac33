package broker

import (
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// alterConfigs looks first at what concerns brokers: only keys that a running
// broker takes, and of single brokers only this one. All else is the controller's
// (ConfigAdminManager.preprocess).
//
// Simplified: what is refused here takes the rest of its request with it.
func (n *Node) alterConfigs(r *sim.Request, q *wire.IncrementalAlterConfigsRequest) {
	if !slices.ContainsFunc(q.Resources, n.refuses) {
		n.forward(r)
		return
	}
	resp := &wire.IncrementalAlterConfigsResponse{}
	for _, res := range q.Resources {
		resp.Responses = append(resp.Responses, wire.ResourceError{ErrorCode: kafka.InvalidRequest, Type: res.Type, Name: res.Name})
	}
	r.Reply(resp, 0, false)
}

func (n *Node) refuses(res wire.ConfigResource) bool {
	if res.Type != wire.BrokerResource {
		return false
	}
	return res.Name != "" && res.Name != strconv.Itoa(int(n.id)) ||
		slices.ContainsFunc(res.Configs, func(c wire.KeyValue) bool { return !kafka.DynamicBrokerConfig(c.Name) })
}

// reconfigure makes dynamic configs take effect: what is set for this broker goes
// before what is set for all, and that before server.properties (KIP-226).
func (n *Node) reconfigure() { n.cfg = n.static.With(n.img.Cluster, n.img.Dynamic[n.id]) }
