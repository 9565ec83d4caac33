package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

func text(s string) *string { return &s }

func writeScenario() *cluster.Scenario {
	return &cluster.Scenario{
		ID: "write", Seed: 7, Brokers: 3, Ctrls: 3, Model: cluster.DefaultModel(),
		Topics: []cluster.Topic{{Name: "orders", Replicas: [][]int{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}},
			Config: map[string]string{"min.insync.replicas": "2"}, Preload: cluster.Preload{Records: 5}}},
		Producers: []cluster.Producer{{ID: "order-service"}, {ID: "fast-service", Config: map[string]string{"acks": "1"}}, {ID: "blind-service", Config: map[string]string{"acks": "0"}}},
		Groups: []cluster.Group{{ID: "group-a", Topics: []string{"orders"}, Config: map[string]string{"auto.offset.reset": "earliest", "enable.auto.commit": "false"},
			Members: []cluster.Member{{ID: "a1", Assign: []string{"orders-0", "orders-1", "orders-2"}}}}},
		Actions: []cluster.Action{
			{At: 500 * journal.Millisecond, Do: "produce", By: "order-service", Topic: "orders", Key: text("order-17"), Value: "created"},
			{At: 2 * journal.Second, Do: "produce", By: "fast-service", Topic: "orders", Key: text("order-17"), Value: "one"},
			{At: 4 * journal.Second, Do: "produce", By: "blind-service", Topic: "orders", Key: text("order-17"), Value: "zero"},
		},
		End: 6 * journal.Second,
	}
}

func TestAWriteIsReplicatedCommittedAndRead(t *testing.T) {
	res, err := cluster.Run(writeScenario())
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	for _, b := range []string{"b1", "b2", "b3"} {
		assert.Equal(t, int64(8), x.Int(b+"/orders-0/leo", last, -1), "%s has all records", b)
		assert.Equal(t, int64(8), x.Int(b+"/orders-0/hw", last, -1), "%s knows that they are committed", b)
		assert.Equal(t, int64(8), x.LogAt(b+"/orders-0/log", last).End(), "the log folds to its end")
	}
	assert.Equal(t, int64(8), x.Int("a1/orders-0/position", last, -1), "the consumer has read them")
}

func TestHighWatermarksReachTheDiskEveryFiveSeconds(t *testing.T) {
	res, err := cluster.Run(writeScenario())
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	var writes []journal.Time
	for i := range res.Journal.Events {
		if e := res.Journal.Events[i]; e.Kind == journal.HWCheckpoint && e.Node == "b2" {
			writes = append(writes, e.T)
			assert.Equal(t, int64(5), x.Int("b2/orders-0/hwCheckpoint", i, -1), "until then a restart would begin with the old one")
			assert.Equal(t, int64(8), x.Int("b2/orders-0/hwCheckpoint", i+1, -1))
		}
	}
	assert.Equal(t, []journal.Time{5 * journal.Second}, writes)
}

// fetch.max.bytes bounds the whole answer, and a partition that brought records
// is read last the next time.
func TestAnAnswerBringsAtMostItsBytesAndPartitionsTakeTurns(t *testing.T) {
	sc := &cluster.Scenario{Seed: 1, Brokers: 1, Ctrls: 1, Model: cluster.DefaultModel(),
		Topics:    []cluster.Topic{{Name: "orders", Replicas: [][]int{{1}, {1}}}},
		Producers: []cluster.Producer{{ID: "p"}},
		Groups: []cluster.Group{{ID: "g", Topics: []string{"orders"}, Config: map[string]string{"auto.offset.reset": "earliest", "fetch.max.bytes": "1"},
			Members: []cluster.Member{{ID: "a1", Assign: []string{"orders-0", "orders-1"}, At: at(3 * journal.Second)}}}},
		End: 8 * journal.Second}
	for i := range 4 {
		for part := range 2 {
			sc.Actions = append(sc.Actions, cluster.Action{At: journal.Millis(int64(500 + 300*i)), Do: "produce", By: "p", Topic: "orders", Partition: &part, Value: "v"})
		}
	}
	res, err := cluster.Run(sc)
	require.NoError(t, err)
	var brought []string
	for i := range res.Journal.Events {
		e := &res.Journal.Events[i]
		f, ok := e.F.(*wire.FetchResponse)
		if e.Kind != journal.ResponseSend || !ok || e.To != "a1" {
			continue
		}
		records := 0
		for _, p := range f.Parts {
			if len(p.Records) > 0 {
				brought = append(brought, p.Part)
				records += len(p.Records)
			}
		}
		assert.LessOrEqual(t, records, 1, "batches in an answer")
	}
	assert.Equal(t, []string{"orders-0", "orders-0", "orders-1", "orders-0", "orders-1", "orders-0", "orders-1", "orders-1"}, brought)
}

func at(t journal.Time) *journal.Time { return &t }

func TestTheSameScenarioGivesTheSameBytes(t *testing.T) {
	a, err := cluster.Run(writeScenario())
	require.NoError(t, err)
	b, err := cluster.Run(writeScenario())
	require.NoError(t, err)
	require.Equal(t, len(a.Journal.Events), len(b.Journal.Events))
	for i := range a.Journal.Events {
		x, err := journal.Marshal(&a.Journal.Events[i])
		require.NoError(t, err)
		y, err := journal.Marshal(&b.Journal.Events[i])
		require.NoError(t, err)
		require.Equal(t, string(x), string(y))
	}
}
