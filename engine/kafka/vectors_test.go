package kafka_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

type vectorCase[I, E any] struct {
	ID       string
	Input    I
	Expected E
}

// vectors reads a file of inputs and outputs of real Kafka code; want is the
// number of cases in the copy that belongs to this module.
func vectors[I, E any](t *testing.T, name string, want int) []vectorCase[I, E] {
	t.Helper()
	dir, own := os.Getenv("HIGHWATER_VECTORS"), false
	if dir == "" {
		dir, own = filepath.Join("..", "testdata", "vectors"), true
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	require.NoError(t, err)
	var f struct{ Cases []vectorCase[I, E] }
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&f))
	if own {
		require.Len(t, f.Cases, want, "cases in %s", name)
	}
	return f.Cases
}

func TestMurmur2(t *testing.T) {
	type in struct{ Hex string }
	type out struct{ Murmur2, Positive int32 }
	for _, c := range vectors[in, out](t, "murmur2", 22) {
		t.Run(c.ID, func(t *testing.T) {
			b, err := hex.DecodeString(c.Input.Hex)
			require.NoError(t, err)
			assert.Equal(t, c.Expected.Murmur2, kafka.Murmur2(b))
			assert.Equal(t, c.Expected.Positive, kafka.ToPositive(kafka.Murmur2(b)))
		})
	}
}

func TestPartitionForKey(t *testing.T) {
	type in struct {
		KeyHex        string
		NumPartitions int32
	}
	type out struct{ Partition int32 }
	for _, c := range vectors[in, out](t, "partition_for_key", 35) {
		t.Run(c.ID, func(t *testing.T) {
			b, err := hex.DecodeString(c.Input.KeyHex)
			require.NoError(t, err)
			assert.Equal(t, c.Expected.Partition, kafka.PartitionForKey(b, c.Input.NumPartitions))
		})
	}
}

func TestCoordinatorPartition(t *testing.T) {
	type in struct {
		GroupID       *string
		NumPartitions int32
		Int32         *int32
	}
	type out struct{ JavaHashCode, Partition, Abs int32 }
	for _, c := range vectors[in, out](t, "coordinator_partition", 24) {
		t.Run(c.ID, func(t *testing.T) {
			if c.Input.Int32 != nil {
				assert.Equal(t, c.Expected.Abs, kafka.Abs(*c.Input.Int32))
				return
			}
			require.NotNil(t, c.Input.GroupID)
			assert.Equal(t, c.Expected.JavaHashCode, kafka.JavaHash(*c.Input.GroupID))
			assert.Equal(t, c.Expected.Partition, kafka.PartitionFor(*c.Input.GroupID, c.Input.NumPartitions))
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	type in struct{ Scope, Config string }
	type out struct{ Default any }
	for _, c := range vectors[in, out](t, "config_defaults", 89) {
		t.Run(c.ID, func(t *testing.T) {
			d, ok := kafka.LookupConfig(c.Input.Scope, c.Input.Config)
			require.True(t, ok, "the engine knows the key")
			assert.Equal(t, c.Expected.Default == nil, d.Null)
			assert.Equal(t, defaultText(c.Expected.Default), d.Default)
		})
	}
}

func defaultText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		s := ""
		for i, x := range v {
			if i > 0 {
				s += ","
			}
			s += x.(string)
		}
		return s
	case string:
		return v
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestKeylessPartitioner(t *testing.T) {
	type record struct {
		Bytes         int64
		LastBatchFull bool
	}
	type in struct {
		Kind                     string
		NumPartitions            int32
		AvailablePartitions      []int32
		BatchSize                int64
		RandomDraws              []int32
		Records                  []record
		QueueSizes, PartitionIDs []int32
		TotalPartitions          int
	}
	type out struct{ Partitions, Cumulative, Picks []int32 }
	for _, c := range vectors[in, out](t, "partitioner_keyless", 10) {
		t.Run(c.ID, func(t *testing.T) {
			if c.Input.Kind == "adaptive" {
				table := kafka.NewLoadTable(c.Input.QueueSizes, c.Input.PartitionIDs, c.Input.TotalPartitions)
				if c.Expected.Cumulative == nil {
					assert.Nil(t, table)
					return
				}
				require.NotNil(t, table)
				assert.Equal(t, c.Expected.Cumulative, table.Cumulative)
				for i, r := range c.Input.RandomDraws {
					assert.Equal(t, c.Expected.Picks[i], table.Pick(r), "draw %d", r)
				}
				return
			}
			draws := c.Input.RandomDraws
			s := kafka.Sticky{BatchSize: c.Input.BatchSize, Draw: func() int32 {
				r := draws[0]
				draws = draws[1:]
				return r
			}}
			for i, r := range c.Input.Records {
				assert.Equal(t, c.Expected.Partitions[i], s.Partition(c.Input.NumPartitions, c.Input.AvailablePartitions, nil), "record %d", i)
				s.Appended(r.Bytes, r.LastBatchFull)
			}
		})
	}
}

// mockRandom is the random source of Kafka's own placer tests.
type mockRandom struct{ state uint64 }

func (m *mockRandom) bits(n uint) int64 {
	m.state = m.state*2862933555777941757 + 3037000493
	return int64(m.state >> (64 - n))
}

func (m *mockRandom) NextInt(bound int) int {
	if bound&(bound-1) == 0 {
		return int(int64(bound) * m.bits(31) >> 31)
	}
	for {
		b := m.bits(31)
		v := b % int64(bound)
		if b-v+int64(bound)-1 < 1<<31 {
			return int(v)
		}
	}
}

func TestReplicaPlacement(t *testing.T) {
	type broker struct {
		ID     int32
		Rack   string
		Fenced bool
	}
	type in struct {
		Brokers                          []broker
		ReplicationFactor, NumPartitions int
	}
	type out struct {
		Placements            [][]int32
		Counts                map[string]int
		PreferredLeaderCounts map[string]int
		PreferredLeaders      map[string]int
		Error, Reason         string
	}
	for _, c := range vectors[in, out](t, "replica_placement", 16) {
		t.Run(c.ID, func(t *testing.T) {
			var bs []kafka.UsableBroker
			for _, b := range c.Input.Brokers {
				bs = append(bs, kafka.UsableBroker(b))
			}
			got, err := kafka.Place(bs, c.Input.NumPartitions, c.Input.ReplicationFactor, &mockRandom{17})
			if c.Expected.Error != "" {
				var pe *kafka.PlaceError
				require.ErrorAs(t, err, &pe)
				assert.Equal(t, c.Expected.Reason, pe.Reason)
				return
			}
			require.NoError(t, err)
			if c.Expected.Placements != nil {
				assert.Equal(t, c.Expected.Placements, got)
			}
			counts, leaders := map[string]int{}, map[string]int{}
			for _, rs := range got {
				key := ""
				for i, id := range rs {
					if i > 0 {
						key += ","
					}
					key += strconv.Itoa(int(id))
				}
				counts[key]++
				leaders[strconv.Itoa(int(rs[0]))]++
			}
			if c.Expected.Counts != nil {
				assert.Equal(t, c.Expected.Counts, counts)
			}
			if c.Expected.PreferredLeaderCounts != nil {
				assert.Equal(t, c.Expected.PreferredLeaderCounts, leaders)
			}
			if c.Expected.PreferredLeaders != nil {
				assert.Equal(t, c.Expected.PreferredLeaders, leaders)
			}
			checked := c.Expected.Placements != nil || c.Expected.Counts != nil || c.Expected.PreferredLeaderCounts != nil || c.Expected.PreferredLeaders != nil
			assert.True(t, checked, "the case expects something that this test does not read")
		})
	}
}

// StripedReplicaPlacer.place asks for an unfenced broker before it counts brokers.
func TestPlacementErrorsComeInKafkasOrder(t *testing.T) {
	fenced := []kafka.UsableBroker{{ID: 1, Fenced: true}}
	for reason, c := range map[string]struct {
		brokers     []kafka.UsableBroker
		replication int
	}{
		"nonPositiveReplicationFactor": {fenced, 0},
		"allFenced":                    {fenced, 2},
		"tooFewBrokers":                {append([]kafka.UsableBroker{{ID: 2}}, fenced...), 3},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := kafka.Place(c.brokers, 1, c.replication, &mockRandom{17})
			var pe *kafka.PlaceError
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, reason, pe.Reason)
			assert.Equal(t, kafka.InvalidReplicationFactor, pe.Code())
		})
	}
}
