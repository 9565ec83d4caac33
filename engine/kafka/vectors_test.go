package kafka_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
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
