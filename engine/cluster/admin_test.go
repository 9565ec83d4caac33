package cluster_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// TestAPreferredLeaderComesBackByItself: leader.imbalance.check.interval.seconds
// after the controller became active, and each time again.
func TestAPreferredLeaderComesBackByItself(t *testing.T) {
	sc := oneTopic(cluster.Action{At: journal.Second, Do: "crash", Node: "b1"}, cluster.Action{At: 12 * journal.Second, Do: "start", Node: "b1"})
	sc.Config = map[string]string{"leader.imbalance.check.interval.seconds": "16"}
	sc.End = 20 * journal.Second
	res, err := cluster.Run(sc)
	require.NoError(t, err)
	var led []string
	for i := range res.Journal.Events {
		if e := res.Journal.Events[i]; e.Kind == journal.LeaderElect {
			f := e.F.(journal.Fields)
			led = append(led, fmt.Sprintf("%ds: broker %v, epoch %v", e.T/journal.Second, f.Get("leader"), f.Get("leaderEpoch")))
		}
	}
	assert.Equal(t, []string{"10s: broker 2, epoch 1", "16s: broker 1, epoch 2"}, led)

	sc.Config["auto.leader.rebalance.enable"] = "false"
	res, err = cluster.Run(sc)
	require.NoError(t, err)
	assert.Equal(t, int32(2), journal.NewIndex(res.Journal).Get("meta/orders-0/leader", len(res.Journal.Events)))
}

// TestUncleanElectionsWaitForTheCheck: switching unclean.leader.election.enable on
// elects nobody at once; the next check does.
func TestUncleanElectionsWaitForTheCheck(t *testing.T) {
	sc := oneTopic(
		cluster.Action{At: journal.Second, Do: "crash", Node: "b2"},
		cluster.Action{At: 14 * journal.Second, Do: "crash", Node: "b1"},
		cluster.Action{At: 27 * journal.Second, Do: "start", Node: "b2"},
		cluster.Action{At: 31 * journal.Second, Do: "config", Topic: "orders", Config: map[string]string{"unclean.leader.election.enable": "true"}})
	sc.Topics[0].Replicas, sc.Topics[0].Config = [][]int{{1, 2}}, map[string]string{"min.insync.replicas": "1"}
	sc.Config = map[string]string{"unclean.leader.election.interval.ms": "35000"}
	sc.End = 36 * journal.Second
	res, err := cluster.Run(sc)
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	at := func(s journal.Time) any {
		n := 0
		for i := range res.Journal.Events {
			if res.Journal.Events[i].T <= s*journal.Second {
				n = res.Journal.Events[i].N
			}
		}
		return x.Get("meta/orders-0/leader", n)
	}
	assert.Equal(t, int32(-1), at(34))
	assert.Equal(t, int32(2), at(36))
}

// TestAnAdminClientGivesUpAfterItsTime: no broker answers, so the request fails
// when default.api.timeout.ms is over.
func TestAnAdminClientGivesUpAfterItsTime(t *testing.T) {
	sc := oneTopic(cluster.Action{At: journal.Second, Do: "elect", Type: "preferred"})
	for _, b := range []string{"b1", "b2", "b3"} {
		sc.Actions = append(sc.Actions, cluster.Action{At: 500 * journal.Millisecond, Do: "crash", Node: b})
	}
	sc.End = 70 * journal.Second
	res, err := cluster.Run(sc)
	require.NoError(t, err)
	var failed []journal.Event
	for i := range res.Journal.Events {
		if res.Journal.Events[i].Kind == journal.AdminFailed {
			failed = append(failed, res.Journal.Events[i])
		}
	}
	require.Len(t, failed, 1)
	assert.Equal(t, "REQUEST_TIMED_OUT", failed[0].F.(journal.Fields).Get("error"))
	assert.InDelta(t, 61, int64(failed[0].T/journal.Second), 1)
}

// TestMinISRComesFromTheControllersAndMayChange: the bootstrap makes the
// controllers' own min.insync.replicas the cluster's; a topic's goes before it.
func TestMinISRComesFromTheControllersAndMayChange(t *testing.T) {
	sc := oneTopic(cluster.Action{At: journal.Second, Do: "config", Topic: "orders", Config: map[string]string{"min.insync.replicas": "2"}})
	sc.Topics[0].Config = nil
	sc.Config = map[string]string{"min.insync.replicas": "3"}
	sc.End = 2 * journal.Second
	res, err := cluster.Run(sc)
	require.NoError(t, err)
	x := journal.NewIndex(res.Journal)
	assert.Equal(t, int64(3), x.Int("meta/orders-0/minIsr", 1, 0))
	assert.Equal(t, int64(2), x.Int("meta/orders-0/minIsr", len(res.Journal.Events), 0))
}
