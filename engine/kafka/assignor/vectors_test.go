package assignor_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/assignor"
)

// partition is one as the vectors write it: topic/0.
type partition kafka.TopicPartition

func (p *partition) UnmarshalText(b []byte) error {
	topic, n, _ := strings.Cut(string(b), "/")
	i, err := strconv.Atoi(n)
	*p = partition{Topic: topic, Partition: int32(i)}
	return err
}

func plain(ps []partition) (out []kafka.TopicPartition) {
	for _, p := range ps {
		out = append(out, kafka.TopicPartition(p))
	}
	return out
}

type vector struct {
	ID    string
	Input struct {
		Topics  map[string]int32
		Members []struct {
			MemberID, InstanceID, Rack string
			Topics                     []string
			Owned, CurrentTarget       []partition
			Generation                 *int32
		}
		PartitionRacks       map[string][][]string
		TopicIterationOrder  []string
		MemberIterationOrder []string
	}
	Expected struct {
		Assignment   map[string][]partition
		Transferring map[string]string
	}
}

// vectors reads what Kafka's own assignors did; want is the number of cases in
// this module's copy.
func vectors(t *testing.T, name string, want int) []vector {
	t.Helper()
	dir, own := os.Getenv("HIGHWATER_VECTORS"), false
	if dir == "" {
		dir, own = filepath.Join("..", "..", "testdata", "vectors"), true
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	require.NoError(t, err)
	var f struct{ Cases []vector }
	require.NoError(t, json.Unmarshal(b, &f))
	if own {
		require.Len(t, f.Cases, want, "cases in %s", name)
	}
	return f.Cases
}

func (v *vector) input() assignor.Input {
	in := assignor.Input{Topics: v.Input.Topics, Order: v.Input.TopicIterationOrder}
	for _, m := range v.Input.Members {
		x := assignor.Member{ID: m.MemberID, Instance: m.InstanceID, Rack: m.Rack, Topics: m.Topics, Owned: append(plain(m.Owned), plain(m.CurrentTarget)...), Generation: -1}
		if m.Generation != nil {
			x.Generation = *m.Generation
		}
		in.Members = append(in.Members, x)
	}
	if v.Input.PartitionRacks != nil {
		in.Racks = map[kafka.TopicPartition][]string{}
		for topic, of := range v.Input.PartitionRacks {
			for i, racks := range of {
				in.Racks[kafka.TopicPartition{Topic: topic, Partition: int32(i)}] = racks
			}
		}
	}
	return in
}

func sorted(ps []kafka.TopicPartition) []kafka.TopicPartition {
	return slices.SortedFunc(slices.Values(ps), assignor.ByTopic)
}

func TestVectors(t *testing.T) {
	for _, c := range []struct {
		file    string
		cases   int
		assign  assignor.Func
		ordered bool // the order of a member's partitions is Kafka's too
	}{
		{"assignor_range", 19, assignor.Range, false},
		{"assignor_roundrobin", 14, assignor.RoundRobin, true},
		{"assignor_sticky", 21, assignor.Sticky, true},
		{"assignor_cooperative_sticky", 24, assignor.CooperativeSticky, true},
		{"server_assignor_uniform", 13, assignor.Uniform, false},
		{"server_assignor_range", 8, assignor.ServerRange, false},
	} {
		for _, v := range vectors(t, c.file, c.cases) {
			t.Run(v.ID, func(t *testing.T) {
				got := c.assign(v.input())
				for id, want := range v.Expected.Assignment {
					if c.ordered && v.Expected.Transferring != nil {
						assert.Equal(t, plain(want), append([]kafka.TopicPartition(nil), got[id]...), id)
					} else {
						assert.Equal(t, sorted(plain(want)), sorted(got[id]), id)
					}
				}
				assert.Len(t, got, len(v.Expected.Assignment))
			})
		}
	}
}

// Kafka iterates its members in the order of a java.util.HashMap.
func TestHashOrder(t *testing.T) {
	seen := 0
	for _, file := range []string{"assignor_sticky", "assignor_cooperative_sticky"} {
		for _, v := range vectors(t, file, map[string]int{"assignor_sticky": 21, "assignor_cooperative_sticky": 24}[file]) {
			var ids []string
			for _, m := range v.Input.Members {
				ids = append(ids, m.MemberID)
			}
			assert.Equal(t, v.Input.MemberIterationOrder, assignor.HashOrder(ids), v.ID)
			seen++
		}
	}
	assert.Positive(t, seen)
}
