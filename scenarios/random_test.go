package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/sim"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/stretchr/testify/assert"
)

// mostMain is how many main events a random run may have.
const mostMain = 2000

// schedule draws faults.
type schedule struct {
	*sim.Rand
	text strings.Builder
}

func (s *schedule) pick(xs ...string) string     { return xs[s.Intn(int64(len(xs)))] }
func (s *schedule) chance(percent int64) bool    { return s.Intn(100) < percent }
func (s *schedule) line(format string, a ...any) { fmt.Fprintf(&s.text, format+"\n", a...) }
func (s *schedule) act(ms int64, format string, a ...any) {
	s.line("  - {at: %dms, do: "+format+"}", append([]any{ms}, a...)...)
}

// randomScenario is a small cluster with writes and faults drawn from a seed, as
// a scenario file. Whatever dies or is cut comes back before the end.
func randomScenario(seed uint64) string {
	s := &schedule{Rand: sim.NewRand(seed, "schedule")}
	s.line("id: random-%d\ntitle: Random faults\nseed: %d", seed, seed)
	s.line("cluster: {brokers: 3, controllers: 3, config: {replica.lag.time.max.ms: %s, offsets.topic.num.partitions: 1, broker.session.timeout.ms: %s, leader.imbalance.check.interval.seconds: 7}, features: {eligible.leader.replicas.version: %s}}",
		s.pick("1000", "3000", "30000"), s.pick("3000", "9000"), s.pick("0", "1", "1"))
	s.line("topics:\n  - {name: orders, replicas: [[1, 2, 3], [2, 3, 1]], config: {min.insync.replicas: %s, unclean.leader.election.enable: %s}, preload: {records: %d}}",
		s.pick("1", "2", "2", "3"), s.pick("false", "false", "true"), 1+s.Intn(4))
	s.line("producers:")
	s.line("  - {id: p, config: {request.timeout.ms: %s, linger.ms: %s, batch.size: %s, delivery.timeout.ms: 60000, retry.backoff.ms: 300, reconnect.backoff.ms: 300}}", s.pick("500", "2000"), s.pick("0", "5", "50"), s.pick("100", "16384"))
	s.line("  - {id: q, config: {acks: %s, enable.idempotence: false, max.in.flight.requests.per.connection: %s, reconnect.backoff.ms: 300}}", s.pick("0", "1", "all"), s.pick("1", "5"))
	groups := s.groups()
	s.line("actions:")
	for _, a := range groups {
		s.act(s.Intn(16_000), "%s", a)
	}
	for range 2 + s.Intn(2) {
		s.act(s.Intn(16_000), "produce, by: %s, topic: orders, key: %s, value: v, count: %d, every: %dms", s.pick("p", "p", "q"), s.pick("order-17", "pay-2", "user-2", "x"), 1+s.Intn(4), s.Intn(900))
	}
	for range 1 + s.Intn(3) {
		s.fault()
	}
	s.line("end: 33s")
	return s.text.String()
}

// groups draws who reads: a consumer that assigns itself all partitions, or a group
// of one of the protocols, and what its members do.
func (s *schedule) groups() (actions []string) {
	config := fmt.Sprintf("auto.offset.reset: %s, retry.backoff.ms: 500, reconnect.backoff.ms: 500", s.pick("earliest", "latest"))
	habits := fmt.Sprintf("commit: %s, work: %dms", s.pick("auto", "after", "before", "none"), s.Intn(20))
	protocol := s.pick("", "session.timeout.ms: 6000, partition.assignment.strategy: RangeAssignor", "session.timeout.ms: 6000, partition.assignment.strategy: StickyAssignor",
		"session.timeout.ms: 6000, partition.assignment.strategy: CooperativeStickyAssignor", "group.protocol: consumer")
	if protocol == "" {
		s.line("groups:\n  - {id: g, topics: [orders], config: {%s}, members: [{id: a, assign: [orders-0, orders-1], %s}]}", config, habits)
		return nil
	}
	s.line("groups:\n  - {id: g, topics: [orders], config: {%s, %s}, %s, members: [a, {id: d, at: %dms}]}", config, protocol, habits, s.Intn(12_000))
	for range 1 + s.Intn(2) {
		actions = append(actions, s.pick("leave, member: a", "kill, member: a", "stall, member: a, for: 7s", "join, group: g, member: e", "leave, member: d", "kill, member: d", "join, member: a"))
	}
	return actions
}

func (s *schedule) fault() {
	from := s.Intn(14_000)
	until := from + 500 + s.Intn(11_000)
	broker, other := s.pick("b1", "b2", "b3"), s.pick("c1", "c2", "c3")
	if s.chance(60) {
		other = map[string]string{"b1": "b2", "b2": "b3", "b3": "b1"}[broker]
	}
	anyone := s.pick("b1", "b2", "b3", "c1", "c2", "c3")
	switch s.Intn(12) {
	case 0:
		s.act(from, "crash, node: %s", anyone)
		s.act(until, "start, node: %s", anyone)
	case 1:
		s.act(from, "crash, node: %s, unflushed: lost", broker)
		s.act(until, "start, node: %s", broker)
	case 2:
		s.act(from, "vanish, node: %s", anyone)
		s.act(until, "start, node: %s", anyone)
	case 3:
		s.act(from, "stop, node: %s", anyone)
		s.act(until, "start, node: %s", anyone)
	case 4, 5:
		s.act(from, "pause, node: %s", anyone)
		s.act(until, "resume, node: %s", anyone)
	case 6, 7:
		s.act(from, "cut, from: %s, to: %s, both: %t", broker, other, s.chance(50))
		s.act(until, "connect")
	case 8:
		s.act(from, "elect, type: %s, parts: [orders-0, orders-1]", s.pick("preferred", "unclean"))
	case 9:
		s.act(from, "reassign, to: {orders-%d: [%s]}", s.Intn(2), s.pick("1, 2", "3, 1", "2, 3, 1", "3", "cancel"))
	case 10:
		s.act(from, "config, topic: orders, key: %s", s.pick("min.insync.replicas, value: 1", "min.insync.replicas, value: 2", "unclean.leader.election.enable, value: true"))
	case 11:
		if s.chance(50) {
			s.act(from, "reset, from: %s, to: %s", broker, other)
			return
		}
		s.act(from, "slow, from: %s, to: %s, latency: %dms, jitter: 50%%, loss: 20%%", broker, other, s.Intn(500))
		s.act(min(until, from+5000), "connect")
	}
}

// TestInvariantsOnRandomFaults runs many schedules. A failure names the scenario,
// the event, and how to open it.
func TestInvariantsOnRandomFaults(t *testing.T) {
	runs := uint64(200)
	if os.Getenv("HIGHWATER_REQUIRE") == "all" {
		runs = 10_000
	}
	var mu sync.Mutex
	checked, longest := map[string]int{}, 0
	var order []string
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds {
				outs, mainEvents := randomRun(t, seed)
				mu.Lock()
				longest = max(longest, mainEvents)
				for _, o := range outs {
					if !slices.Contains(order, o.Name) {
						order = append(order, o.Name)
					}
					checked[o.Name] += o.Checked
				}
				mu.Unlock()
			}
		})
	}
	for seed := uint64(1); seed <= runs && !t.Failed(); seed++ {
		seeds <- seed
	}
	close(seeds)
	wg.Wait()
	t.Logf("%d schedules; the longest has %d main events", runs, longest)
	for _, n := range order {
		t.Logf("%9d × %s", checked[n], n)
		assert.Positive(t, checked[n], "never had anything to check: %s", n)
	}
}

// randomRun runs one schedule and counts its main events.
func randomRun(t *testing.T, seed uint64) (outs []invariant.Outcome, mainEvents int) {
	text := randomScenario(seed)
	id := fmt.Sprintf("random-%d", seed)
	fail := func(n int, format string, a ...any) {
		path := filepath.Join(os.TempDir(), "highwater-random", id+".yaml")
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		_ = os.WriteFile(path, []byte(text), 0o644)
		t.Errorf("%s, event %d: %s\nto see it: go run ./cmd/highwater -scenarios %s, then open http://127.0.0.1:8080/s/%s#e%d\n%s",
			id, n, fmt.Sprintf(format, a...), filepath.Dir(path), id, n, text)
	}
	sc, problems := scenarios.Load(id+".yaml", []byte(text))
	if err := problems.Err(); err != nil {
		fail(0, "%v", err)
		return nil, 0
	}
	res, err := cluster.Run(&sc.Cluster)
	if err != nil {
		fail(0, "%v", err)
		return nil, 0
	}
	for i := range res.Journal.Events {
		if !res.Journal.Events[i].Chatter {
			mainEvents++
		}
	}
	if mainEvents > mostMain {
		fail(0, "%d main events, at most %d are meant", mainEvents, mostMain)
	}
	outs = invariant.Check(res.Journal)
	for _, o := range outs {
		if o.Broken != nil {
			fail(o.Broken.N, "%s: %s", o.Name, o.Broken.Why)
		}
	}
	if n, why := onceInOrder(res); why != "" {
		fail(n, "%s", why)
	}
	for _, d := range foldDiffers(res) {
		fail(len(res.Journal.Events), "the folded journal is not the live state: %s", d)
	}
	return outs, mainEvents
}

// onceInOrder: the records of the idempotent producer stand in every log once,
// in the order in which they were sent.
func onceInOrder(res *cluster.Result) (n int, why string) {
	x := journal.NewIndex(res.Journal)
	last := len(res.Journal.Events)
	for _, key := range x.Keys() {
		if !strings.HasSuffix(key, "/log") || !strings.Contains(key, "/orders-") {
			continue
		}
		before := ""
		for _, e := range x.LogAt(key, last).Entries {
			if r := res.Journal.Record(e.ID); r.Producer != "p" || !strings.HasPrefix(r.Value, "v") {
				continue
			}
			if len(e.ID) < len(before) || len(e.ID) == len(before) && e.ID <= before {
				return last, fmt.Sprintf("%s: %s stands behind %s", key, e.ID, before)
			}
			before = e.ID
		}
	}
	return 0, ""
}
