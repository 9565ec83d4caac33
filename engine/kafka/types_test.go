package kafka_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

func TestNodeNamesAndIDsAreInverse(t *testing.T) {
	for id := kafka.BrokerID(1); id < 200; id++ {
		assert.Equal(t, id, kafka.NodeID(kafka.NodeName(id)))
	}
	assert.Equal(t, "b1", kafka.NodeName(1))
	assert.Equal(t, "b99", kafka.NodeName(99))
	assert.Equal(t, "c1", kafka.NodeName(101))
	assert.Equal(t, kafka.BrokerID(2), kafka.NodeID("b2"))
	assert.Equal(t, kafka.BrokerID(101), kafka.NodeID("c1"))
}

func TestNodeIDRefusesSecondNames(t *testing.T) {
	for _, name := range []string{"", "b", "1", "x1", "b0", "b-1", "b01", "b+1", "b101", "c0", "b1 ", "c2147483647", "c99999999999"} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, kafka.BrokerID(-1), kafka.NodeID(name)) })
	}
}

func TestParseTopicPartition(t *testing.T) {
	for s, want := range map[string]kafka.TopicPartition{
		"orders-0":              {Topic: "orders", Partition: 0},
		"orders-eu-12":          {Topic: "orders-eu", Partition: 12},
		"a--1":                  {Topic: "a-", Partition: 1},
		"__consumer_offsets-49": {Topic: "__consumer_offsets", Partition: 49},
	} {
		t.Run(s, func(t *testing.T) {
			tp, ok := kafka.ParseTopicPartition(s)
			assert.True(t, ok)
			assert.Equal(t, want, tp)
			assert.Equal(t, s, tp.String())
		})
	}
	for _, s := range []string{"", "orders", "orders-", "-0", "orders-x", "orders-01", "orders-+1", "orders-4294967296"} {
		t.Run("not "+s, func(t *testing.T) {
			_, ok := kafka.ParseTopicPartition(s)
			assert.False(t, ok)
		})
	}
}

func TestQuantitiesPrintAsNumbers(t *testing.T) {
	assert.Equal(t, "101", kafka.BrokerID(101).String())
}
