package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
)

func oneTopic(actions ...cluster.Action) *cluster.Scenario {
	return &cluster.Scenario{ID: "one", Seed: 7, Brokers: 3, Ctrls: 3, Model: cluster.DefaultModel(),
		Topics:    []cluster.Topic{{Name: "orders", Replicas: [][]int{{1, 2, 3}}, Config: map[string]string{"min.insync.replicas": "2"}}},
		Producers: []cluster.Producer{{ID: "p"}}, Actions: actions, End: 20 * journal.Second}
}

func TestAPausedVoterFollowsAgain(t *testing.T) {
	_, err := cluster.Run(oneTopic(cluster.Action{At: journal.Second, Do: "pause", Node: "c2"}, cluster.Action{At: 8 * journal.Second, Do: "resume", Node: "c2"}))
	assert.NoError(t, err)
}

func TestALargeWorkloadCostsWhatItWrites(t *testing.T) {
	key := "k{i}"
	res, err := cluster.Run(oneTopic(cluster.Action{At: journal.Second, Do: "produce", By: "p", Topic: "orders", Key: &key, Value: "v{i}", Count: 20_000, Each: "at once"}))
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	assert.Equal(t, int64(20_000), x.Int("b3/orders-0/hw", len(res.Journal.Events), 0))
	longest := 0
	for i := range res.Journal.Events {
		for _, c := range res.Journal.Events[i].Ch {
			if s, ok := c.Val.(string); ok {
				longest = max(longest, len(s))
			}
		}
	}
	assert.Less(t, longest, 200, "no event carries the whole of a queue")
}

func TestADeadProducerSendsNothing(t *testing.T) {
	key := "k"
	send := cluster.Action{Do: "produce", By: "p", Topic: "orders", Key: &key, Value: "v"}
	before, after := send, send
	before.At, after.At = journal.Second, 3*journal.Second
	res, err := cluster.Run(oneTopic(before, cluster.Action{At: 1002 * journal.Millisecond, Do: "kill", Node: "p"}, after))
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	assert.Len(t, res.Journal.Records, 1, "the second was never made")
	assert.Nil(t, x.Get("p/orders-0/batch", last), "its memory is gone")
	assert.Equal(t, string(sim.Crashed), x.Str("p/state", last))
	assert.Equal(t, int64(0), x.Int("b1/orders-0/leo", last, -1), "the batch that lingered died with it")
}

func TestAnAnchorThatNeverMatchesIsTold(t *testing.T) {
	res, err := cluster.Run(oneTopic(cluster.Action{On: &cluster.Anchor{Kind: journal.BrokerFence}, Do: "connect"}))
	require.NoError(t, err)
	assert.Len(t, res.Idle, 1)
}
