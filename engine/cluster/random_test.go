package cluster_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// randomScenario is a small cluster with writes and faults drawn from a seed:
// pauses, cuts and slow links that all end before the run does.
func randomScenario(seed uint64) *cluster.Scenario {
	r := sim.NewRand(seed, "schedule")
	pick := func(xs ...string) string { return xs[r.Intn(int64(len(xs)))] }
	at := func(to journal.Time) journal.Time { return journal.Time(r.Intn(int64(to))) }
	sc := &cluster.Scenario{
		ID: fmt.Sprintf("random-%d", seed), Seed: seed, Brokers: 3, Ctrls: 3, Model: cluster.DefaultModel(),
		Config: map[string]string{"replica.lag.time.max.ms": pick("1000", "3000"), "offsets.topic.num.partitions": "1"},
		Topics: []cluster.Topic{{Name: "orders", Replicas: [][]int{{1, 2, 3}, {2, 3, 1}}, Config: map[string]string{"min.insync.replicas": pick("1", "2", "3")},
			Preload: cluster.Preload{Records: int(r.Intn(4))}}},
		Producers: []cluster.Producer{
			{ID: "p", Config: map[string]string{"request.timeout.ms": pick("500", "2000"), "linger.ms": pick("0", "5", "50"), "batch.size": pick("100", "16384"), "delivery.timeout.ms": "60000"}},
			{ID: "q", Config: map[string]string{"acks": pick("0", "1", "all"), "enable.idempotence": "false", "max.in.flight.requests.per.connection": pick("1", "5")}},
		},
		Groups: []cluster.Group{{ID: "g", Topics: []string{"orders"}, Config: map[string]string{"auto.offset.reset": pick("earliest", "latest")},
			Members: []cluster.Member{{ID: "a", Assign: []string{"orders-0", "orders-1"}, Commit: pick("auto", "after", "before", "none"), Work: at(20 * journal.Millisecond)}}}},
		End: 40 * journal.Second,
	}
	for range 3 + r.Intn(4) {
		key := pick("order-17", "pay-2", "user-2", "x")
		sc.Actions = append(sc.Actions, cluster.Action{At: at(15 * journal.Second), Do: "produce", By: pick("p", "q"), Topic: "orders", Key: &key, Value: "v",
			Count: int(1 + r.Intn(6)), Every: at(300 * journal.Millisecond)})
	}
	for range r.Intn(6) {
		from, start := at(12*journal.Second), pick("b1", "b2", "b3", "c2", "c3")
		other := pick("b1", "b2", "b3", "c1")
		until := from + at(8*journal.Second)
		switch pick("pause", "cut", "slow", "reset") {
		case "pause":
			sc.Actions = append(sc.Actions, cluster.Action{At: from, Do: "pause", Node: start}, cluster.Action{At: until, Do: "resume", Node: start})
		case "cut":
			sc.Actions = append(sc.Actions, cluster.Action{At: from, Do: "cut", From: []string{start}, To: []string{other}, Both: r.Intn(2) == 0},
				cluster.Action{At: until, Do: "connect"})
		case "slow":
			sc.Actions = append(sc.Actions, cluster.Action{At: from, Do: "slow", From: []string{start}, To: []string{other}, Slow: cluster.Slow{Latency: at(journal.Second), Jitter: 50, Loss: 20}})
		case "reset":
			sc.Actions = append(sc.Actions, cluster.Action{At: from, Do: "reset", From: []string{start}, To: []string{other}})
		}
	}
	return sc
}

// TestInvariantsOnRandomFaults runs many schedules; a failure names the seed.
func TestInvariantsOnRandomFaults(t *testing.T) {
	runs := uint64(200)
	if os.Getenv("HIGHWATER_REQUIRE") == "all" {
		runs = 1000
	}
	checked := map[string]int{}
	var names []string
	for seed := uint64(1); seed <= runs; seed++ {
		sc := randomScenario(seed)
		res, err := cluster.Run(sc)
		require.NoError(t, err, sc.ID)
		for _, o := range invariant.Check(res.Journal) {
			if o.Broken != nil {
				for n := max(o.Broken.N-20, 1); n <= o.Broken.N; n++ {
					b, _ := journal.Marshal(res.Journal.At(n))
					t.Logf("%.300s", b)
				}
				t.Fatalf("%s, event %d: %s: %s", sc.ID, o.Broken.N, o.Name, o.Broken.Why)
			}
			if checked[o.Name] == 0 {
				names = append(names, o.Name)
			}
			checked[o.Name] += o.Checked
		}
		nothingLost(t, sc, res)
	}
	for _, n := range names {
		t.Logf("%d × %s", checked[n], n)
	}
}

// nothingLost: without elections every acknowledged record is in its leader's
// log, and an idempotent producer's records are there once and in order.
func nothingLost(t *testing.T, sc *cluster.Scenario, res *cluster.Result) {
	t.Helper()
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	copies := map[string]int{}
	for p, leader := range []string{"b1", "b2"} {
		before := ""
		for _, e := range x.LogAt(fmt.Sprintf("%s/orders-%d/log", leader, p), last).Entries {
			if r := res.Journal.Record(e.ID); r.Producer == "p" && strings.HasPrefix(r.Value, "v") {
				require.True(t, len(e.ID) > len(before) || len(e.ID) == len(before) && e.ID > before, "%s: %s stands behind %s", sc.ID, e.ID, before)
				before = e.ID
			}
		}
	}
	for p, leader := range []string{"b1", "b2"} {
		for _, e := range x.LogAt(fmt.Sprintf("%s/orders-%d/log", leader, p), last).Entries {
			copies[e.ID]++
		}
	}
	for i := range res.Journal.Events {
		e := &res.Journal.Events[i]
		f, ok := e.F.(journal.Fields)
		if !ok || e.Kind != journal.ProducerAcked {
			continue
		}
		for _, id := range f.Get("records").([]string) {
			if f.Get("baseOffset").(int64) >= 0 {
				require.Positive(t, copies[id], "%s: record %s was acknowledged at event %d and is gone", sc.ID, id, e.N)
			}
			if e.Node == "p" {
				require.LessOrEqual(t, copies[id], 1, "%s: record %s of the idempotent producer is there more than once", sc.ID, id)
			}
		}
	}
}
