package kafka_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

func TestEveryKeyIsDescribedAndItsDefaultIsValid(t *testing.T) {
	keys := 0
	for _, scope := range []string{"producer", "consumer", "broker", "topic"} { // broker lists controller keys too
		for _, key := range kafka.ConfigKeys(scope) {
			keys++
			d, ok := kafka.LookupConfig(scope, key)
			require.True(t, ok)
			assert.NotEmpty(t, d.Doc, "%s %s", scope, key)
			assert.NotEmpty(t, d.Kind(), "%s %s", scope, key)
			if d.Null {
				assert.Empty(t, d.Default, "%s %s", scope, key)
				continue
			}
			assert.NoError(t, d.Check(d.Default), "%s %s", scope, key)
		}
	}
	assert.Equal(t, 146, keys)
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ scope, key, value, want string }{
		{"producer", "linger.ms", "soon", `"soon" is not a whole number`},
		{"producer", "linger.ms", "-1", "-1 is too small; Kafka takes 0 or more"},
		{"producer", "linger.ms", "4294967296", ""},
		{"producer", "linger.ms", "99999999999999999999", "99999999999999999999 does not fit into 64 bits"},
		{"producer", "batch.size", "4294967296", "4294967296 is too large; Kafka takes 2147483647 or less"},
		{"producer", "acks", "2", `"2" is not one of all, -1, 0 or 1`},
		{"producer", "acks", "-1", ""},
		{"producer", "enable.idempotence", "yes", `"yes" is neither true nor false`},
		{"producer", "transactional.id", "", "the value must not be empty"},
		{"producer", "partitioner.class", "org.example.Mine", ""},
		{"consumer", "auto.offset.reset", "by_duration:PT1H", ""},
		{"consumer", "max.poll.records", "0", "0 is too small; Kafka takes 1 or more"},
		{"topic", "cleanup.policy", "compact, delete", ""},
		{"topic", "cleanup.policy", "compact,keep", `"keep" is not one of compact or delete`},
		{"topic", "segment.bytes", "1000", "1000 is too small; Kafka takes 1048576 or more"},
		{"topic", "retention.ms", "-1", ""},
		{"topic", "min.cleanable.dirty.ratio", "0.25", ""},
		{"topic", "min.cleanable.dirty.ratio", "1.0", ""},
		{"topic", "min.cleanable.dirty.ratio", "1.01", `"1.01" is not a decimal number between 0 and 1`},
		{"topic", "min.cleanable.dirty.ratio", ".", `"." is not a decimal number between 0 and 1`},
		{"topic", "min.cleanable.dirty.ratio", "0.2.5", `"0.2.5" is not a decimal number between 0 and 1`},
		{"broker", "offsets.topic.replication.factor", "40000", "40000 is too large; Kafka takes 32767 or less"},
		{"broker", "replica.lag.time.max.ms", "4000", ""},
	} {
		t.Run(c.key+"="+c.value, func(t *testing.T) {
			d, ok := kafka.LookupConfig(c.scope, c.key)
			require.True(t, ok)
			err := d.Check(c.value)
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestConfigReadsOverridesAndDefaults(t *testing.T) {
	c := kafka.NewConfig("producer", map[string]string{"linger.ms": "20", "mistyped": "1"})
	assert.Equal(t, int64(20), c.Millis("linger.ms"))
	assert.Equal(t, int64(16384), c.Int("batch.size"))
	assert.True(t, c.Bool("enable.idempotence"))
	assert.Equal(t, "", c.String("transactional.id"))
	assert.True(t, c.Overridden("linger.ms"))
	assert.False(t, c.Overridden("batch.size"))
	assert.Panics(t, func() { c.Int("linger") })
	assert.Panics(t, func() { c.Int("mistyped") }, "a key that was set but does not exist")
}

func TestBrokersAndControllersShareTheirKeys(t *testing.T) {
	_, ok := kafka.LookupConfig("broker", "controller.quorum.fetch.timeout.ms")
	assert.True(t, ok)
	_, ok = kafka.LookupConfig("controller", "broker.session.timeout.ms")
	assert.True(t, ok)
	_, ok = kafka.LookupConfig("topic", "broker.session.timeout.ms")
	assert.False(t, ok)
}

func TestNearestKey(t *testing.T) {
	assert.Equal(t, "linger.ms", kafka.NearestKey("producer", "lingerms"))
	assert.Equal(t, "min.insync.replicas", kafka.NearestKey("topic", "min.insync.replica"))
	assert.Equal(t, "", kafka.NearestKey("producer", "zzz"))
}

func TestProducerSettingsTogether(t *testing.T) {
	for name, c := range map[string]struct {
		set        map[string]string
		idempotent bool
		refused    string // part of the sentence; "" for settings that go together
	}{
		"defaults":                                  {nil, true, ""},
		"acks=1 switches idempotence off":           {map[string]string{"acks": "1"}, false, ""},
		"acks=-1 is all":                            {map[string]string{"acks": "-1", "enable.idempotence": "true"}, true, ""},
		"retries=0 switches idempotence off":        {map[string]string{"retries": "0"}, false, ""},
		"idempotence wanted, acks=1":                {map[string]string{"enable.idempotence": "true", "acks": "1"}, true, "needs acks=all"},
		"idempotence wanted, no retries":            {map[string]string{"enable.idempotence": "true", "retries": "0"}, true, "needs retries above 0"},
		"six in flight":                             {map[string]string{"max.in.flight.requests.per.connection": "6"}, true, "at most 5"},
		"six in flight, idempotence silently off":   {map[string]string{"max.in.flight.requests.per.connection": "6", "acks": "1"}, false, "at most 5"},
		"six in flight, idempotence switched off":   {map[string]string{"max.in.flight.requests.per.connection": "6", "enable.idempotence": "false"}, false, ""},
		"transactions":                              {map[string]string{"transactional.id": "t"}, true, ""},
		"transactions without idempotence":          {map[string]string{"transactional.id": "t", "enable.idempotence": "false"}, false, "transactional.id needs"},
		"transactions with acks=1":                  {map[string]string{"transactional.id": "t", "acks": "1"}, false, "transactional.id needs"},
		"delivery time-out below linger + request":  {map[string]string{"delivery.timeout.ms": "30004"}, true, "at least linger.ms + request.timeout.ms"},
		"delivery time-out of linger + request":     {map[string]string{"delivery.timeout.ms": "30005"}, true, ""},
		"delivery time-out not set, long request":   {map[string]string{"request.timeout.ms": "200000"}, true, ""},
		"linger beyond 32 bits, longest time-out":   {map[string]string{"linger.ms": "9223372036854775807", "delivery.timeout.ms": "2147483647"}, true, ""},
		"acks that do not exist":                    {map[string]string{"acks": "2"}, true, `not "2"`},
		"acks in capitals, which Kafka refuses too": {map[string]string{"acks": "ALL"}, true, `not "ALL"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := kafka.NewConfig("producer", c.set)
			assert.Equal(t, c.idempotent, kafka.IdempotenceEnabled(cfg))
			err := kafka.CheckProducer(cfg)
			if c.refused == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.refused)
		})
	}
}
