package cluster_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// TestEmptyAndFormedStartsComeToTheSameState: who leads the quorum and the epochs
// of brokers and quorum aside, nothing tells at the end how a run began.
func TestEmptyAndFormedStartsComeToTheSameState(t *testing.T) {
	const s = journal.Second
	state := func(start cluster.Start) map[string]any {
		sc := oneTopic(send(10*s, "one"), send(11*s, "two"))
		sc.Start, sc.End = start, 20*s
		sc.Groups = []cluster.Group{{ID: "g", Topics: []string{"orders"}, Members: []cluster.Member{{ID: "a"}}}}
		sc.Config = map[string]string{"offsets.topic.num.partitions": "1"}
		sc.Topics[0].Replicas = [][]int{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}
		res, err := cluster.Run(sc)
		require.NoError(t, err)
		assertFolds(t, res)
		free := map[string]bool{"g/coordinator": true, "g/a/session": true} // where the placer puts __consumer_offsets, and since when
		out := map[string]any{}
		for _, c := range res.Final {
			of := strings.Split(c.Key, "/")
			replica := of[0][0] == 'b' && len(of) > 2 && strings.HasPrefix(of[1], "orders") || of[0] == "meta" && strings.HasPrefix(of[1], "orders")
			if _, log := c.Val.(journal.LogOp); !log && !free[c.Key] && (replica || of[0] == "session" || of[len(of)-1] == "state" || of[0] == "a" && of[len(of)-1] == "position" || of[0] == "g") {
				out[c.Key] = c.Val
			}
		}
		return out
	}
	formed, empty := state(cluster.Formed), state(cluster.Empty)
	assert.Greater(t, len(formed), 60)
	assert.Equal(t, formed, empty)
}

func TestAnEmptyStartHasNoRecords(t *testing.T) {
	sc := oneTopic()
	sc.Start = cluster.Empty
	sc.Topics[0].Preload.Records = 3
	_, err := cluster.Run(sc)
	assert.EqualError(t, err, "topic orders: an empty start has no records; leave out preload, or start: empty")
}
