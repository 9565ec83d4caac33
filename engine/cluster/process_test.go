package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
)

func send(at journal.Time, value string) cluster.Action {
	return cluster.Action{At: at, Do: "produce", By: "p", Topic: "orders", Key: text("k"), Value: value}
}

func node(at journal.Time, do, name string) cluster.Action {
	return cluster.Action{At: at, Do: do, Node: name}
}

// TestABrokerComesBack: whichever way broker 1 went, broker 2 leads when it is
// back, it is in the ISR again, and it holds what was written without it.
func TestABrokerComesBack(t *testing.T) {
	const s = journal.Second
	for how, fencedAfter := range map[string][2]journal.Time{
		"crash":  {7 * s, 10*s + 200*journal.Millisecond},
		"vanish": {7 * s, 10*s + 200*journal.Millisecond},
		"stop":   {2 * s, 4*s + 200*journal.Millisecond},
	} {
		t.Run(how, func(t *testing.T) {
			sc := oneTopic(send(s, "before"), node(3*s, how, "b1"), send(4*s, "without"), node(20*s, "start", "b1"), send(28*s, "after"))
			sc.End = 40 * s
			res, err := cluster.Run(sc)
			require.NoError(t, err)
			x := journal.NewIndex(res.Journal)
			last := len(res.Journal.Events)
			assert.Equal(t, int64(2), x.Int("meta/orders-0/leader", last, -1))
			assert.Equal(t, "1,2,3", x.Str("meta/orders-0/isr", last))
			assert.Equal(t, "running", x.Str("b1/state", last))
			assert.Equal(t, "follower", x.Str("b1/orders-0/role", last))
			assert.Equal(t, int64(3), x.Int("b1/orders-0/hw", last, -1))
			assert.Nil(t, x.Get("b1/orders-0/isr", last), "only a leader has an ISR to work with")
			fence := first(res.Journal, journal.BrokerFence, "b1")
			assert.GreaterOrEqual(t, fence.T, 3*s+fencedAfter[0])
			assert.LessOrEqual(t, fence.T, 3*s+fencedAfter[1])
			dead := first(res.Journal, map[string]journal.Kind{"crash": journal.NodeCrash, "vanish": journal.NodeVanish, "stop": journal.NodeStop}[how], "b1").N
			assert.Equal(t, "offline", x.Str("b1/orders-0/role", dead))
			assert.Nil(t, x.Get("b1/orders-0/hw", dead), "the high watermark was in memory")
			assert.Equal(t, int64(1), x.Int("b1/orders-0/leo", dead, -1), "the log stays")
			assertFolds(t, res)
		})
	}
}

// TestAPowerCutLosesWhatWasNotWritten: Kafka leaves flushing to the operating
// system, so an acknowledged write with acks=1 can go with its page cache.
func TestAPowerCutLosesWhatWasNotWritten(t *testing.T) {
	const s = journal.Second
	for lost, leo := range map[string]int64{"": 2, "lost": 1} {
		cut := node(35*s, "crash", "b1")
		cut.Unflushed = lost
		sc := oneTopic(send(s, "old"), send(34*s, "young"), cut, node(50*s, "start", "b1"))
		sc.Topics[0].Replicas, sc.Topics[0].Config = [][]int{{1}}, nil
		sc.End = 60 * s
		res, err := cluster.Run(sc)
		require.NoError(t, err)
		x := journal.NewIndex(res.Journal)
		last := len(res.Journal.Events)
		assert.Equal(t, leo, x.Int("b1/orders-0/leo", last, -1), "unflushed %q", lost)
		assert.Equal(t, leo, x.LogAt("b1/orders-0/log", last).End(), "unflushed %q", lost)
		assertFolds(t, res)
	}
}

func TestWhatNobodyIsThereToDoIsSaid(t *testing.T) {
	res, err := cluster.Run(oneTopic(node(journal.Second, "start", "b1"), node(2*journal.Second, "crash", "b1"), node(3*journal.Second, "stop", "b1")))
	require.NoError(t, err)
	var nothing []any
	for i := range res.Journal.Events {
		if e := &res.Journal.Events[i]; e.Kind == journal.Action && e.F.(journal.Fields).Get("do") == "nothing" {
			nothing = append(nothing, e.F.(journal.Fields).Get("instead"))
		}
	}
	assert.Equal(t, []any{"start", "stop"}, nothing)
}

func first(j *journal.Journal, kind journal.Kind, node string) *journal.Event {
	for i := range j.Events {
		if e := &j.Events[i]; e.Kind == kind && e.Node == node {
			return e
		}
	}
	return &journal.Event{}
}

// assertFolds compares the folded journal with what the live objects say at the
// end, logs included. A waiting Fetch may be on its way just then.
func assertFolds(t *testing.T, res *cluster.Result) {
	t.Helper()
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	ends := map[string]int64{}
	for _, c := range res.Final {
		if op, ok := c.Val.(journal.LogOp); ok {
			ends[c.Key] = op.Base + int64(len(op.IDs))
			continue
		}
		if len(c.Key) < 8 || c.Key[len(c.Key)-8:] != "/waiting" {
			assert.Equal(t, c.Val, x.Get(c.Key, last), c.Key)
		}
	}
	for key, end := range ends {
		assert.Equal(t, end, x.LogAt(key, last).End(), key)
	}
}

// TestControllersOnRandomFaults lets controllers crash, stop, pause and lose their
// links: the invariants hold, the folded journal is what the objects say, and once
// a majority is alive the cluster has one active controller and all its brokers.
func TestControllersOnRandomFaults(t *testing.T) {
	const s = journal.Second
	elections := 0
	for seed := uint64(1); seed <= 100; seed++ {
		sc := oneTopic()
		sc.ID, sc.Seed = fmt.Sprintf("controllers-%d", seed), seed
		r := sim.NewRand(seed, "controllers")
		sc.End = 60 * s
		for range 2 + r.Intn(4) {
			c := []string{"c1", "c2", "c3"}[r.Intn(3)]
			from := journal.Time(r.Intn(int64(30 * s)))
			until := from + journal.Time(r.Intn(int64(12*s)))
			switch r.Intn(5) {
			case 0:
				sc.Actions = append(sc.Actions, node(from, "pause", c), node(until, "resume", c))
			case 1:
				sc.Actions = append(sc.Actions, cluster.Action{At: from, Do: "cut", From: []string{c}, To: []string{"c1", "c2", "c3", "b1", "b2", "b3"}, Both: true}, cluster.Action{At: until, Do: "connect"})
			default:
				sc.Actions = append(sc.Actions, node(from, []string{"crash", "stop", "vanish"}[r.Intn(3)], c), node(until, "start", c))
			}
		}
		sc.Actions = append(sc.Actions, cluster.Action{At: 44 * s, Do: "connect"})
		for _, c := range []string{"c1", "c2", "c3"} {
			sc.Actions = append(sc.Actions, node(44*s, "resume", c), node(44*s, "start", c))
		}
		res, err := cluster.Run(sc)
		require.NoError(t, err, sc.ID)
		for _, o := range invariant.Check(res.Journal) {
			require.Nil(t, o.Broken, "%s: %s: %+v", sc.ID, o.Name, o.Broken)
		}
		x, last := journal.NewIndex(res.Journal), len(res.Journal.Events)
		leaders := 0
		for _, c := range []string{"c1", "c2", "c3"} {
			if x.Str(c+"/role", last) == "leader" {
				leaders++
			}
		}
		assert.Equal(t, 1, leaders, "%s: active controllers at the end", sc.ID)
		for _, b := range []string{"b1", "b2", "b3"} {
			assert.Equal(t, "active", x.Str("session/"+b, last), "%s: session of %s", sc.ID, b)
		}
		for i := range res.Journal.Events {
			if res.Journal.Events[i].Kind == journal.QuorumLeader {
				elections++
			}
		}
		for _, c := range res.Final {
			if c.Key[0] == 'c' || strings.HasPrefix(c.Key, "meta/") || strings.HasPrefix(c.Key, "session/") {
				require.Equal(t, c.Val, x.Get(c.Key, last), "%s: %s", sc.ID, c.Key)
			}
		}
	}
	assert.Greater(t, elections, 100)
}
