package controller_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/controller"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

const sec = journal.Second

// quorum is a lab whose controllers may die and come back.
type quorum struct {
	*lab
	cfg map[string]string
}

// newQuorum makes a resting quorum of n voters with c1 as its leader in epoch 1.
func newQuorum(t *testing.T, n int, seed uint64, settings ...string) *quorum {
	t.Helper()
	q := &quorum{lab: &lab{World: sim.NewWorld(seed, sim.Network{Broker: 2 * ms, Client: 2 * ms, Jitter: 10, Handle: 100}, 500_000), t: t, epoch: map[int32]int64{}}, cfg: map[string]string{}}
	for i := 0; i < len(settings); i += 2 {
		q.cfg[settings[i]] = settings[i+1]
	}
	var voters []int32
	for i := range n {
		voters = append(voters, int32(101+i))
	}
	log, img := controller.FormedLog(voters, []int32{1, 2, 3}, nil, 0, "1", controller.Features())
	for id, b := range img.Brokers {
		q.epoch[id] = b.Epoch
	}
	for _, id := range voters {
		p := q.AddProcess(kafka.NodeName(kafka.BrokerID(id)), false, nil)
		c := controller.New(q.World, p, id, voters, kafka.NewConfig("broker", q.cfg), controller.Features())
		p.SetHandler(c)
		q.nodes = append(q.nodes, c)
	}
	q.AddProcess("b1", false, nil)
	for _, c := range q.nodes {
		c.Formed(log, 1, 101)
	}
	q.Emit(journal.Event{Kind: journal.Boot, Cause: -1})
	for _, c := range q.nodes {
		c.ParkFetches(q.nodes[0], 100*ms)
		c.Start()
	}
	return q
}

// run lets d pass and checks that what two voters have committed is the same, and
// that no epoch had two leaders.
func (q *quorum) run(d journal.Time) {
	q.t.Helper()
	require.NoError(q.t, q.Run(q.Now()+d))
	committed := map[int64]wire.MetaBatch{}
	for _, n := range q.nodes {
		for _, b := range n.LogFrom(0) {
			if other, ok := committed[b.BaseOffset]; ok {
				require.Equal(q.t, other, b, "the batch at offset %d of %s", b.BaseOffset, n.Name())
			}
			committed[b.BaseOffset] = b
		}
	}
	leaders := map[any]string{}
	for i := range q.J.Events {
		if e := &q.J.Events[i]; e.Kind == journal.QuorumLeader {
			epoch := e.F.(journal.Fields).Get("epoch")
			require.Empty(q.t, leaders[epoch], "quorum epoch %v has one leader", epoch)
			leaders[epoch] = e.Node
		}
	}
}

func (q *quorum) crash(i int) {
	p := q.Process(q.nodes[i].Name())
	n := q.Emit(journal.Event{Kind: journal.NodeCrash, Node: p.Name, Cause: -1})
	q.Because(n, func() { p.Kill(sim.Crashed) })
}

// start begins a new process on the disk of the old one, or on another.
func (q *quorum) start(i int, disks ...*controller.Disk) {
	old := q.nodes[i]
	p := q.Process(old.Name())
	disk := old.Disk()
	if len(disks) > 0 {
		disk = disks[0]
	}
	var voters []int32
	for k := range q.nodes {
		voters = append(voters, int32(101+k))
	}
	q.nodes[i] = controller.New(q.World, p, old.ID(), voters, kafka.NewConfig("broker", q.cfg), controller.Features())
	p.Start(q.nodes[i])
	q.nodes[i].Boot(disk)
}

// isolate cuts all links of a controller, both ways, or heals them.
func (q *quorum) isolate(i int, cut bool) {
	a := q.nodes[i].Name()
	for _, n := range q.nodes {
		if b := n.Name(); b != a {
			for _, l := range [][2]string{{a, b}, {b, a}} {
				if cut {
					q.Cut(l[0], l[1], 1)
				} else {
					q.Heal(l[0], l[1])
				}
			}
		}
	}
}

// leader is the only active controller alive.
func (q *quorum) leader() int {
	q.t.Helper()
	at := -1
	for i, n := range q.nodes {
		if q.Process(n.Name()).Alive() && n.Leads() {
			require.Equal(q.t, -1, at, "one leader")
			at = i
		}
	}
	require.NotEqual(q.t, -1, at, "somebody leads")
	return at
}

// events of the quorum from an event on, as short texts.
func (q *quorum) events(from int, kinds ...journal.Kind) (out []string) {
	for _, e := range q.J.Events[from:] {
		for _, k := range kinds {
			if e.Kind == k {
				f, _ := e.F.(journal.Fields)
				out = append(out, fmt.Sprintf("%s %s %v", e.Node, k[len("quorum."):], f.Get("epoch")))
			}
		}
	}
	return out
}

// sent are the requests of an API, as sender, receiver and fields.
func sent[B any](q *quorum, api kafka.API) (out []B) {
	for i := range q.J.Events {
		if e := &q.J.Events[i]; e.Kind == journal.RequestSend && e.API == string(api) {
			out = append(out, e.F.(B))
		}
	}
	return out
}

var elections = []journal.Kind{journal.QuorumProspect, journal.QuorumCandidate, journal.QuorumLeader}

// TestAfterASplitVoteTheElectionIsHeldAgain: both followers lose the leader at the
// same moment, both stand, and each refuses the other.
func TestAfterASplitVoteTheElectionIsHeldAgain(t *testing.T) {
	q := newQuorum(t, 3, 7)
	q.run(sec)
	from := len(q.J.Events)
	q.crash(0)
	q.run(8 * sec)
	ev := q.events(from, elections...)
	require.Len(t, ev, 7)
	assert.ElementsMatch(t, []string{"c2 prospective 1", "c3 prospective 1"}, ev[:2])
	assert.ElementsMatch(t, []string{"c2 candidate 2", "c3 candidate 2"}, ev[2:4])
	w := q.nodes[q.leader()].Name()
	assert.Equal(t, []string{w + " prospective 2", w + " candidate 3", w + " leader 3"}, ev[4:])
	var lost, won journal.Time
	for _, e := range q.J.Events[from:] {
		switch {
		case e.Kind == journal.QuorumCandidate && lost == 0:
			lost = e.T
		case e.Kind == journal.QuorumLeader:
			won = e.T
		}
	}
	assert.GreaterOrEqual(t, won-lost, sec, "a candidate that lost waits for its election time-out")
	assert.LessOrEqual(t, won-lost, 2*sec)
	var changes []int32
	for _, b := range q.nodes[q.leader()].LogFrom(0) {
		for _, r := range b.Records {
			if r.Type == "LeaderChange" {
				changes = append(changes, r.LeaderID)
			}
		}
	}
	assert.Equal(t, []int32{101, q.nodes[q.leader()].ID()}, changes, "each leader opens its epoch with a record")
}

// TestALonelyLeaderResigns: no majority has fetched for 1.5 times the fetch
// time-out. What it wrote meanwhile was never committed and is cut off.
func TestALonelyLeaderResigns(t *testing.T) {
	q := newQuorum(t, 3, 7)
	q.run(sec)
	committed := q.nodes[0].Committed()
	from, cut := len(q.J.Events), q.Now()
	q.isolate(0, true)
	q.conn = q.Connect(q.Process("b1"), q.Process("c1"), "controller")
	code, answered := kafka.None, journal.Time(0)
	q.After(600*ms, func() {
		q.conn.Call(&sim.Call{API: kafka.BrokerHeartbeat, Body: &wire.BrokerHeartbeatRequest{BrokerID: 1, BrokerEpoch: q.epoch[1], CurrentMetadataOffset: 50}, Done: func(r sim.Result) {
			code, answered = r.Body.(*wire.BrokerHeartbeatResponse).ErrorCode, q.Now()
		}})
	})
	q.run(6 * sec)
	assert.Equal(t, kafka.NotController, code, "a heartbeat is answered only when what came before it is committed")
	assert.InDelta(t, 3, float64(answered-cut)/float64(sec), 0.6)
	assert.Contains(t, q.events(from, journal.QuorumResign), "c1 resign 1")
	other := q.nodes[q.leader()]
	assert.NotEqual(t, "c1", other.Name())
	assert.LessOrEqual(t, q.nodes[0].Committed(), committed+2, "alone it commits nothing")

	q.isolate(0, false)
	q.run(6 * sec)
	assert.Equal(t, other, q.nodes[q.leader()], "who comes back disturbs nobody")
	var cuts []journal.Fields
	for i := range q.J.Events {
		if e := &q.J.Events[i]; e.Kind == journal.MetadataTruncate {
			assert.Equal(t, "c1", e.Node)
			cuts = append(cuts, e.F.(journal.Fields))
		}
	}
	require.Len(t, cuts, 1)
	assert.Greater(t, cuts[0].Get("from").(int64), cuts[0].Get("to").(int64)+3, "a NoOpRecord each half second")
	assert.Equal(t, other.Committed(), q.nodes[0].Committed())
}

// TestAFollowerThatWasCutOffDisturbsNobody: without pre-vote it would come back
// with a higher epoch and end the leadership.
func TestAFollowerThatWasCutOffDisturbsNobody(t *testing.T) {
	q := newQuorum(t, 3, 7)
	q.isolate(2, true)
	q.run(10 * sec)
	q.isolate(2, false)
	q.run(5 * sec)
	assert.Equal(t, 0, q.leader())
	assert.Equal(t, int32(1), q.nodes[2].Epoch())
	assert.Equal(t, q.nodes[0].Committed(), q.nodes[2].Committed())
	assert.NotContains(t, fmt.Sprint(q.events(0, journal.QuorumCandidate)), "c3")
}

// TestAnExLeaderComesBack either to a newer leader, or to a quorum that nobody
// leads because it was lost.
func TestAnExLeaderComesBack(t *testing.T) {
	t.Run("another leads", func(t *testing.T) {
		q := newQuorum(t, 3, 7)
		q.crash(0)
		q.run(8 * sec)
		leader, from := q.leader(), len(q.J.Events)
		q.start(0)
		q.run(4 * sec)
		assert.Equal(t, leader, q.leader())
		assert.Equal(t, []string{"c1 resign 1", fmt.Sprintf("c1 follower %d", q.nodes[leader].Epoch())}, q.events(from, journal.QuorumResign, journal.QuorumFollower))
		ends := sent[*wire.EndQuorumEpochRequest](q, kafka.EndQuorumEpoch)
		require.NotEmpty(t, ends)
		assert.Empty(t, ends[0].PreferredCandidates)
		assert.Equal(t, q.nodes[leader].Committed(), q.nodes[0].Committed())
	})
	t.Run("nobody leads", func(t *testing.T) {
		q := newQuorum(t, 3, 7)
		q.crash(1)
		q.crash(0)
		q.run(10 * sec)
		assert.Equal(t, int32(1), q.nodes[2].Epoch(), "without a majority the epoch stays as it is")
		from := len(q.J.Events)
		q.start(0)
		q.run(8 * sec)
		assert.Contains(t, q.events(from, journal.QuorumResign), "c1 resign 1")
		assert.GreaterOrEqual(t, q.nodes[q.leader()].Epoch(), int32(2))
		assert.Equal(t, q.nodes[0].Committed(), q.nodes[2].Committed())
	})
}

// TestOneVoterElectsItself: it needs nobody else, also after a restart.
func TestOneVoterElectsItself(t *testing.T) {
	q := newQuorum(t, 1, 7)
	q.run(10 * sec)
	assert.Equal(t, 0, q.leader(), "and it never resigns")
	before := q.nodes[0].Committed()
	assert.Greater(t, before, int64(15))
	q.crash(0)
	q.start(0)
	q.run(3 * sec)
	assert.Equal(t, 0, q.leader())
	assert.Equal(t, int32(2), q.nodes[0].Epoch())
	assert.Greater(t, q.nodes[0].Committed(), before)
}

// TestFiveVotersSurviveTwoDeaths and stand still after the third.
func TestFiveVotersSurviveTwoDeaths(t *testing.T) {
	q := newQuorum(t, 5, 7)
	q.run(sec)
	q.crash(0)
	q.run(12 * sec)
	second := q.leader()
	q.crash(second)
	q.run(12 * sec)
	third := q.leader()
	at := q.nodes[third].Committed()
	q.run(2 * sec)
	assert.Greater(t, q.nodes[third].Committed(), at)
	for i := range q.nodes {
		if i != third && q.Process(q.nodes[i].Name()).Alive() {
			q.crash(i)
			break
		}
	}
	q.run(500 * ms)
	at, epoch := q.nodes[third].Committed(), q.nodes[third].Epoch()
	q.run(10 * sec)
	assert.Equal(t, at, q.nodes[third].Committed())
	assert.False(t, q.nodes[third].Leads())
	assert.LessOrEqual(t, q.nodes[third].Epoch(), epoch+1)
}

// TestALeaderThatStopsNamesItsSuccessor: there is hardly any time without an
// active controller.
func TestALeaderThatStopsNamesItsSuccessor(t *testing.T) {
	q := newQuorum(t, 3, 7)
	q.run(sec)
	at, gone := q.Now(), journal.Time(0)
	q.nodes[0].Stop(func() {
		gone = q.Now()
		q.Process("c1").Kill(sim.Stopped)
	})
	q.run(sec)
	require.Positive(t, gone, "it waits until another leads")
	assert.Less(t, gone-at, 100*ms)
	assert.NotEqual(t, 0, q.leader())
	ends := sent[*wire.EndQuorumEpochRequest](q, kafka.EndQuorumEpoch)
	require.NotEmpty(t, ends)
	assert.Equal(t, []int32{102, 103}, ends[0].PreferredCandidates)
	assert.Equal(t, 1, q.leader(), "the first of them does not wait")

	follower := q.nodes[2]
	stopped := false
	follower.Stop(func() { stopped = true })
	q.run(ms)
	assert.True(t, stopped, "a follower just ends")
}

// TestAnEmptyDiskIsFilledFromASnapshot: the log alone would do, but a snapshot is
// shorter.
func TestAnEmptyDiskIsFilledFromASnapshot(t *testing.T) {
	q := newQuorum(t, 3, 7, "metadata.log.max.snapshot.interval.ms", "3000")
	q.run(4 * sec)
	q.crash(2)
	q.start(2, controller.Formatted())
	q.run(4 * sec)
	assert.Len(t, sent[*wire.FetchSnapshotRequest](q, kafka.FetchSnapshot), 1)
	a, b := q.nodes[0].Image(), q.nodes[2].Image()
	assert.Equal(t, a, b, "the same state, by another way")
	assert.Positive(t, q.nodes[2].LogFrom(0)[0].BaseOffset, "what the snapshot covers is not in its log")
	q.crash(2)
	q.start(2)
	q.run(4 * sec)
	assert.Equal(t, q.nodes[0].Image(), q.nodes[2].Image(), "and after a restart")
}

// TestFormattedDisksElectTheFirstLeader and its log begins with what a new cluster
// needs.
func TestFormattedDisksElectTheFirstLeader(t *testing.T) {
	q := newQuorum(t, 3, 7)
	for i := range q.nodes {
		q.crash(i)
		q.start(i, controller.Formatted())
	}
	q.run(8 * sec)
	log := q.nodes[q.leader()].LogFrom(0)
	require.NotEmpty(t, log)
	var types []string
	for _, b := range log[:2] {
		for _, r := range b.Records {
			types = append(types, r.Type)
		}
	}
	assert.Equal(t, []string{"LeaderChange", "KRaftVersion", "KRaftVoters", "BeginTransactionRecord", "FeatureLevelRecord", "FeatureLevelRecord",
		"FeatureLevelRecord", "FeatureLevelRecord", "FeatureLevelRecord", "FeatureLevelRecord", "ConfigRecord", "EndTransactionRecord"}, types)
	assert.Equal(t, int32(1), q.nodes[q.leader()].Epoch())
}
