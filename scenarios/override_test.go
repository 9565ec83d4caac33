package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

const overridable = `
id: o
title: O
cluster: {brokers: 3, controllers: 1, config: {num.partitions: 1}, nodes: {b1: {replica.lag.time.max.ms: 9000}}}
topics:
  - {name: orders, partitions: 1}
  - {name: orders.min, partitions: 1}
producers: [{id: p}, {id: q, config: {acks: 1}}]
groups: [{id: g, topics: [orders], members: [{id: m1, assign: [orders-0]}, {id: m2, assign: [orders-0]}]}]
actions: [{at: 1s, do: pause, node: b3}]
`

func TestApply(t *testing.T) {
	sc, ps := Load("o.yaml", []byte(overridable))
	require.NoError(t, ps.Err())
	before := clone(&sc.Cluster)
	for _, c := range []struct {
		key, val string
		got      func(*cluster.Scenario) any
		want     any
	}{
		{"producer.*.linger.ms", "0", func(s *cluster.Scenario) any { return s.Producers[1].Config["linger.ms"] }, "0"},
		{"producer.p.acks", "0", func(s *cluster.Scenario) any {
			return []string{s.Producers[0].Config["acks"], s.Producers[1].Config["acks"]}
		}, []string{"0", "1"}},
		{"topic.orders.min.min.insync.replicas", "2", func(s *cluster.Scenario) any { return s.Topics[1].Config["min.insync.replicas"] }, "2"},
		{"topic.orders.min.insync.replicas", "2", func(s *cluster.Scenario) any { return s.Topics[0].Config["min.insync.replicas"] }, nil},
		{"broker.*.replica.lag.time.max.ms", "1000", func(s *cluster.Scenario) any {
			return s.Config["replica.lag.time.max.ms"] + s.Nodes["b1"]["replica.lag.time.max.ms"]
		}, "1000"},
		{"broker.b2.replica.lag.time.max.ms", "1000", func(s *cluster.Scenario) any { return s.Nodes["b2"]["replica.lag.time.max.ms"] }, "1000"},
		{"member.m2.max.poll.records", "1", func(s *cluster.Scenario) any { return s.Groups[0].Members[1].Config["max.poll.records"] }, "1"},
		{"group.g.consumer.session.timeout.ms", "45000", func(s *cluster.Scenario) any { return s.Config["group.consumer.session.timeout.ms"] }, "45000"},
		{"cluster.brokers", "5", func(s *cluster.Scenario) any { return s.Brokers }, 5},
		{"cluster.features.eligible.leader.replicas.version", "0", func(s *cluster.Scenario) any { return s.Features["eligible.leader.replicas.version"] }, 0},
		{"model.net.broker", "20ms", func(s *cluster.Scenario) any { return s.Model.NetBroker }, 20 * journal.Millisecond},
		{"model.net.jitter", "0%", func(s *cluster.Scenario) any { return s.Model.Jitter }, 0},
		{"seed", "9", func(s *cluster.Scenario) any { return s.Seed }, uint64(9)},
	} {
		t.Run(c.key, func(t *testing.T) {
			out, err := Apply(sc, map[string]string{c.key: c.val})
			if c.want == nil {
				require.Error(t, err, "the longest name wins: orders.min has no insync.replicas")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, c.got(&out.Cluster))
			assert.True(t, out.Overridden())
			assert.Equal(t, before, sc.Cluster, "the original stays")
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	sc, ps := Load("o.yaml", []byte(overridable))
	require.NoError(t, ps.Err())
	for key, val := range map[string]string{
		"producer.x.acks": "1", "producer.p.akcs": "1", "producer.p.acks": "2", "producer.p": "1", "topic.no.x": "1", "broker.b9.num.partitions": "1",
		"broker.*.num.partitions": "x", "member.x.max.poll.records": "1", "group.x.consumer.session.timeout.ms": "1", "cluster.brokers": "2",
		"cluster.size": "2", "cluster.features.x": "1", "cluster.features.group.version": "0", "cluster.features.eligible.leader.replicas.version": "2", "model.net.broker": "fast", "model.x": "1s", "seed": "-1", "": "", "seed.x": "1", "group.g.": "1",
	} {
		_, err := Apply(sc, map[string]string{key: val})
		if assert.Error(t, err, key) {
			assert.NotContains(t, err.Error(), "%!")
		}
	}
}
