package controller_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
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
	require.NoError(t, json.Unmarshal(b, &f))
	if own {
		require.Len(t, f.Cases, want, "cases in %s", name)
	}
	return f.Cases
}

func TestControlStatesFollowHeartbeats(t *testing.T) {
	type in struct {
		Current                                                                                         controller.ControlState
		WantFence, WantShutDown, BrokerLeadsPartitions                                                  bool
		CurrentMetadataOffset, RegisterBrokerRecordOffset, ControlledShutdownOffset, LowestActiveOffset int64
	}
	type out struct{ Next controller.ControlState }
	for _, c := range vectors[in, out](t, "broker_control_state", 9) {
		t.Run(c.ID, func(t *testing.T) {
			i := c.Input
			q := &wire.BrokerHeartbeatRequest{WantFence: i.WantFence, WantShutDown: i.WantShutDown, CurrentMetadataOffset: i.CurrentMetadataOffset}
			got := controller.NextControlState(i.Current, q, i.RegisterBrokerRecordOffset, i.BrokerLeadsPartitions, i.ControlledShutdownOffset, i.LowestActiveOffset)
			assert.Equal(t, c.Expected.Next, got)
		})
	}
}

type partitionState struct {
	Replicas, ISR, ELR, LastKnownELR, Removing, Adding []int32
	Leader, LeaderEpoch, PartitionEpoch                int32
	Recovering                                         bool
}

func TestPartitionChanges(t *testing.T) {
	type in struct {
		Partition               partitionState
		Recovering, ElrEnabled  bool
		AcceptableLeaders       []int32
		MinISR                  int
		Election                string
		TargetISR               *[]int32
		TargetReplicas          []int32
		TargetRemoving          *[]int32
		TargetAdding            *[]int32
		UncleanShutdownReplicas []int32
		UseLastKnownLeader      *bool
	}
	type out struct {
		Record map[string]any
		After  partitionState
	}
	elections := map[string]controller.Election{"ONLINE": controller.Online, "PREFERRED": controller.Preferred, "UNCLEAN": controller.Unclean}
	for _, c := range vectors[in, out](t, "leader_election", 30) {
		t.Run(c.ID, func(t *testing.T) {
			i := c.Input
			part := "foo-0"
			im := image.New()
			im.Apply(&wire.MetaRecord{Type: "TopicRecord", Name: "foo"}, 0)
			im.Apply(&wire.MetaRecord{Type: "PartitionRecord", Part: part, Replicas: i.Partition.Replicas, ISR: i.Partition.ISR, ELR: i.Partition.ELR,
				LastKnownELR: i.Partition.LastKnownELR, Leader: &i.Partition.Leader, LeaderEpoch: i.Partition.LeaderEpoch, PartitionEpoch: i.Partition.PartitionEpoch}, 1)
			p := im.Partition(part)
			if i.Recovering {
				p.Recovery = 1
			}
			p.Removing, p.Adding = i.Partition.Removing, i.Partition.Adding
			ch := controller.NewPartitionChange(part, p, func(id int32) bool { return slices.Contains(i.AcceptableLeaders, id) }, i.MinISR, i.ElrEnabled)
			ch.Election = elections[i.Election]
			ch.Unclean = i.UncleanShutdownReplicas
			ch.LastKnownMembers = i.UseLastKnownLeader != nil && !*i.UseLastKnownLeader
			if i.TargetISR != nil {
				ch.ISR = *i.TargetISR
			}
			if i.TargetReplicas != nil {
				ch.Replicas = i.TargetReplicas
			}
			if i.TargetRemoving != nil {
				ch.Removing = *i.TargetRemoving
			}
			if i.TargetAdding != nil {
				ch.Adding = *i.TargetAdding
			}
			rec := ch.Build()
			assert.Equal(t, fieldsOf(c.Expected.Record), recordFields(rec), "the record carries only what changes")
			if rec != nil {
				im.Apply(rec, 2)
			}
			assert.Equal(t, clean(c.Expected.After), clean(partitionState{Replicas: p.Replicas, ISR: p.ISR, ELR: p.ELR, LastKnownELR: p.LastKnownELR,
				Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Recovering: p.Recovery == 1}))
		})
	}
}

// clean makes an empty list and none the same.
func clean(p partitionState) partitionState {
	p.ISR, p.ELR, p.LastKnownELR = append([]int32{}, p.ISR...), append([]int32{}, p.ELR...), append([]int32{}, p.LastKnownELR...)
	p.Removing, p.Adding = nil, nil
	return p
}

func fieldsOf(rec map[string]any) []string {
	names := []string{}
	for k := range rec {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func recordFields(r *wire.MetaRecord) []string {
	names := []string{}
	if r == nil {
		return names
	}
	for name, has := range map[string]bool{"leader": r.Leader != nil, "isr": r.ISRSet, "elr": r.ELRSet, "lastKnownElr": r.LastKnownSet,
		"replicas": r.Replicas != nil, "removing": r.RemovingSet, "adding": r.AddingSet, "leaderRecoveryState": r.Recovery != nil} {
		if has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
