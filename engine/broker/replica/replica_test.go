package replica_test

import (
	"math/rand"
	"slices"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
)

const second = 1_000_000

func records(n int) replica.Batch { return replica.Batch{IDs: make([]int32, n), ProducerID: -1} }

func freshMetadata() fakeMetadata {
	return fakeMetadata{map[int32]bool{}, map[int32]bool{}, map[int32]int64{}}
}

// A deposed leader that wrote nothing has an epoch that nobody else knows. Its
// log ends where the new leader says, so nothing is cut, and yet the entry must
// go: with it every Fetch would diverge again, forever.
func TestTruncateDropsTheEpochOfALeaderThatWroteNothing(t *testing.T) {
	leader, deposed := replica.NewLog(), replica.NewLog()
	leader.AppendAsLeader(records(10), 0)
	deposed.AppendAsFollower(leader.Batches()[0])
	deposed.Epochs().Assign(2, 10)
	leader.Epochs().Assign(3, 10)

	div, ok := replica.Diverging(leader.Epochs(), leader.LEO(), deposed.Epochs().Latest(), deposed.LEO())
	require.True(t, ok)
	require.Equal(t, &replica.EpochEnd{Epoch: 0, EndOffset: 10}, div)
	to, _ := replica.TruncateTo(deposed.Epochs(), deposed.LEO(), *div)
	deposed.Truncate(to)

	assert.Equal(t, int64(10), deposed.LEO())
	div, ok = replica.Diverging(leader.Epochs(), leader.LEO(), deposed.Epochs().Latest(), deposed.LEO())
	assert.True(t, ok)
	assert.Nil(t, div)
}

func TestTruncateCutsWholeBatches(t *testing.T) {
	l := replica.NewLog()
	idempotent := func(seq int32, n int) replica.Batch {
		return replica.Batch{IDs: make([]int32, n), ProducerID: 7, BaseSeq: seq}
	}
	l.AppendAsLeader(idempotent(0, 3), 0)
	l.AppendAsLeader(idempotent(3, 4), 1)
	l.SetHW(7)
	l.Truncate(5) // inside the second batch

	assert.Equal(t, int64(3), l.LEO())
	assert.Equal(t, int64(3), l.HW())
	assert.Equal(t, []replica.EpochEntry{{Epoch: 0, StartOffset: 0}}, l.Epochs().Entries())
	_, errName := l.CheckProducer(idempotent(7, 1), replica.FromClient)
	assert.Equal(t, "OUT_OF_ORDER_SEQUENCE_NUMBER", errName)
	dup, errName := l.CheckProducer(idempotent(3, 4), replica.FromClient)
	assert.Empty(t, errName)
	assert.Nil(t, dup, "the producer's batch is gone and may come again")
}

func TestTruncateBelowTheLogStartBeginsAnew(t *testing.T) {
	l := replica.NewLog()
	l.StartAt(5)
	l.AppendAsLeader(replica.Batch{IDs: make([]int32, 2), ProducerID: 7, BaseSeq: 0}, 4)
	l.SetHW(7)
	l.Truncate(3)

	assert.Equal(t, []int64{3, 3, 3}, []int64{l.LogStart(), l.LEO(), l.HW()})
	assert.Empty(t, l.Batches())
	assert.Empty(t, l.Epochs().Entries())
	_, errName := l.CheckProducer(replica.Batch{IDs: make([]int32, 1), ProducerID: 7, BaseSeq: 9}, replica.FromClient)
	assert.Empty(t, errName, "an unknown producer may begin anywhere")
}

func TestRecordAt(t *testing.T) {
	l := replica.NewLog()
	l.StartAt(10)
	l.AppendAsLeader(replica.Batch{IDs: []int32{100, 101}, ProducerID: -1}, 0)
	l.AppendAsLeader(replica.Batch{IDs: []int32{102}, ProducerID: -1}, 0)
	for offset, want := range []int32{100, 101, 102} {
		id, ok := l.RecordAt(int64(10 + offset))
		assert.True(t, ok)
		assert.Equal(t, want, id)
	}
	for _, offset := range []int64{-1, 9, 13} {
		_, ok := l.RecordAt(offset)
		assert.False(t, ok, "offset %d", offset)
	}
}

func TestReadStopsAtTheEndAndAtTheSize(t *testing.T) {
	l := replica.NewLog()
	for range 3 {
		b := records(2)
		b.Bytes = 100
		l.AppendAsLeader(b, 0)
	}
	bases := func(bs []replica.Batch) []int64 {
		out := []int64{}
		for _, b := range bs {
			out = append(out, b.Base)
		}
		return out
	}
	assert.Equal(t, []int64{0, 2, 4}, bases(l.Read(0, 6, 1000, true)))
	assert.Equal(t, []int64{2, 4}, bases(l.Read(3, 6, 1000, true)), "from the batch that holds the offset")
	assert.Equal(t, []int64{0}, bases(l.Read(0, 3, 1000, true)), "no batch that passes the end")
	assert.Equal(t, []int64{0}, bases(l.Read(0, 6, 1, true)), "the first even if it is larger")
	assert.Equal(t, []int64{0, 2}, bases(l.Read(0, 6, 299, true)))
	assert.Empty(t, l.Read(6, 6, 1000, true))
	assert.Empty(t, l.Read(0, 6, 1, false), "nothing where another partition has filled the answer")
}

// Re-election keeps the follower's fetch offset (Replica.resetReplicaState with
// isNewLeader false), so the high watermark need not wait for a Fetch.
func TestReElectionKeepsWhatFollowersHave(t *testing.T) {
	log := replica.NewLog()
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2, 3}, []int32{1, 2}, 0, 0, 100*second)
	log.AppendAsLeader(records(4), 0)
	_, errName := p.UpdateFollowerFetchState(2, 4, 101*second, 1002)
	require.Empty(t, errName)
	_, errName = p.UpdateFollowerFetchState(3, 1, 101*second, 1003)
	require.Empty(t, errName)

	p.MakeLeader([]int32{1, 2, 3}, []int32{1, 2}, 1, 1, 200*second)
	two, three := p.Remotes()[0], p.Remotes()[1]
	assert.Equal(t, []int64{4, 1002, 200 * second}, []int64{two.LEO, two.BrokerEpoch, two.LastCaughtUpTime})
	assert.Equal(t, []int64{1, 1003, 0}, []int64{three.LEO, three.BrokerEpoch, three.LastCaughtUpTime})
	assert.True(t, p.MaybeIncrementLeaderHW(200*second, 1))
	assert.Equal(t, int64(4), log.HW())

	// A follower outside the ISR counts from its first Fetch of the new epoch.
	_, errName = p.UpdateFollowerFetchState(3, 4, 201*second, 1003)
	require.Empty(t, errName)
	assert.Equal(t, int64(201*second), three.LastCaughtUpTime)

	p.MakeFollower([]int32{1, 2, 3}, []int32{2}, 2, 2)
	p.MakeLeader([]int32{1, 2, 3}, []int32{1, 2}, 3, 3, 300*second)
	assert.Equal(t, int64(-1), p.Remotes()[0].LEO, "a new leader knows nothing of its followers")
}

// Kafka writes 0 for "never caught up", 1970. Here the clock starts at 0: at
// second 5 a follower that never caught up must not look 5 s behind.
func TestNeverCaughtUpIsNotTimeZero(t *testing.T) {
	log := replica.NewLog()
	log.AppendAsLeader(records(10), 0)
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2}, []int32{1}, 1, 1, 5*second)
	_, errName := p.UpdateFollowerFetchState(2, 3, 6*second, 1002)
	require.Empty(t, errName)
	assert.True(t, p.MaybeIncrementLeaderHW(6*second, 1))
	assert.Equal(t, int64(10), log.HW())
}

// The metadata cache has an epoch only of brokers that are not fenced
// (KRaftMetadataCache.getAliveBrokerEpoch), so nothing tells that this is stale.
func TestStaleBrokerEpochIsSeenOnlyOfALivingBroker(t *testing.T) {
	md := freshMetadata()
	p := replica.NewPartition(1, replica.NewLog(), 30*second, md)
	p.MakeLeader([]int32{1, 2}, []int32{1, 2}, 0, 0, 0)
	_, errName := p.UpdateFollowerFetchState(2, 0, 0, 1001)
	assert.Equal(t, "NOT_LEADER_OR_FOLLOWER", errName)
	md.fenced[2] = true
	_, errName = p.UpdateFollowerFetchState(2, 0, 0, 1001)
	assert.Empty(t, errName)
}

// Metadata with the partition epoch that an answer brought already ends a newer
// proposal here; its answer is then out of date (Partition.makeLeader,
// submitAlterPartition).
func TestMetadataOvertakesAProposal(t *testing.T) {
	log := replica.NewLog()
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2, 3}, []int32{1}, 0, 4, 0)
	fetch := func(id int32) *replica.AlterPartitionItem {
		_, errName := p.UpdateFollowerFetchState(id, 0, second, 1000+int64(id))
		require.Empty(t, errName)
		return p.MaybeExpandISR(id)
	}
	require.NotNil(t, fetch(2))
	assert.Nil(t, fetch(3), "one proposal at a time")
	require.True(t, p.AlterCommitted([]int32{1, 2}, 0, 5))
	require.NotNil(t, fetch(3))

	p.MakeLeader([]int32{1, 2, 3}, []int32{1}, 0, 4, second)
	assert.Equal(t, "expand", p.Pending(), "older metadata changes nothing")
	assert.Equal(t, []int32{1, 2}, p.ISR())

	p.MakeLeader([]int32{1, 2, 3}, []int32{1, 2}, 0, 5, second)
	assert.Empty(t, p.Pending())
	assert.Nil(t, fetch(3), "the request is still on its way")
	assert.False(t, p.AlterCommitted([]int32{1, 2, 3}, 0, 6))
	assert.Equal(t, []int32{1, 2}, p.ISR(), "metadata will bring it")
	assert.NotNil(t, fetch(3))
}

func TestAFollowerDecidesNothing(t *testing.T) {
	log := replica.NewLog()
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2}, []int32{1, 2}, 0, 0, 0)
	log.AppendAsLeader(records(1), 0)
	p.MakeFollower([]int32{1, 2}, []int32{1, 2}, 1, 1)

	_, errName := p.UpdateFollowerFetchState(2, 1, second, 1002)
	assert.Equal(t, "NOT_LEADER_OR_FOLLOWER", errName)
	assert.Nil(t, p.MaybeExpandISR(2))
	assert.Nil(t, p.MaybeShrinkISR(100*second))
	assert.False(t, p.MaybeIncrementLeaderHW(second, 1))
	assert.Equal(t, "NOT_LEADER_OR_FOLLOWER", p.CheckEnoughReplicas(0, 1))
}

// slowHW says the rule by sets: the replicas that count are the maximal ISR and
// those about to rejoin; the high watermark is the least log end among them and
// never falls.
func slowHW(hw, leo int64, committed, maximal []int32, ends map[int32]int64, joining map[int32]bool, minISR int) int64 {
	if len(committed) < minISR {
		return hw
	}
	least := leo
	for id, end := range ends {
		if slices.Contains(maximal, id) || joining[id] {
			least = min(least, end)
		}
	}
	return max(hw, least)
}

func TestHighWatermarkEqualsTheSlowRule(t *testing.T) {
	// One byte is one step, so that quick explores histories and not just states.
	moved, held, frozen, expanding := 0, 0, 0, 0
	history := func(steps []byte, minByte uint8) bool {
		md := freshMetadata()
		log := replica.NewLog()
		p := replica.NewPartition(1, log, 30*second, md)
		replicas := []int32{3, 1, 4, 2}
		now, partitionEpoch := int64(second), int32(0)
		p.MakeLeader(replicas, []int32{3, 1, 2}, 0, 0, now)
		minISR := 1 + int(minByte%3)
		caughtUp := map[int32]int64{3: now, 2: now} // absent: never
		lastLeader, lastTime := map[int32]int64{}, map[int32]int64{}
		ends := map[int32]int64{2: -1, 3: -1, 4: -1}
		for _, s := range steps {
			id := []int32{2, 3, 4}[int(s>>3)%3]
			arg := int64(s>>5) + 1
			switch s % 8 {
			case 0, 1:
				log.AppendAsLeader(records(int(arg)), 0)
			case 2, 3: // a Fetch that goes on, at most to the end
				to := min(ends[id]+arg, log.LEO())
				_, errName := p.UpdateFollowerFetchState(id, to, now, 1000+int64(id))
				if errName != "" {
					return false
				}
				if to >= log.LEO() {
					caughtUp[id] = now
				} else if l, ok := lastLeader[id]; ok && to >= l {
					caughtUp[id] = max(caughtUp[id], lastTime[id])
				}
				ends[id], lastTime[id] = to, now
				lastLeader[id] = log.LEO()
				p.MaybeExpandISR(id)
			case 4:
				now += arg * 6 * second
			case 5:
				p.MaybeShrinkISR(now)
			case 6:
				if isr := p.Proposed(); isr != nil && s>>7 == 0 {
					partitionEpoch++
					p.AlterCommitted(isr, 0, partitionEpoch)
				} else {
					p.AlterFailed("INELIGIBLE_REPLICA")
				}
			case 7:
				md.fenced[id] = !md.fenced[id]
			}
			joining := map[int32]bool{}
			for id, end := range ends {
				at, ever := caughtUp[id]
				_, fetched := lastTime[id]
				joining[id] = fetched && !md.fenced[id] && (end == log.LEO() || ever && now-at <= 30*second)
			}
			before := log.HW()
			want := slowHW(before, log.LEO(), p.ISR(), p.MaximalISR(), ends, joining, minISR)
			if p.MaybeIncrementLeaderHW(now, minISR) != (want > before) || log.HW() != want {
				t.Logf("steps %v: high watermark %d, want %d", steps, log.HW(), want)
				return false
			}
			switch {
			case want > before:
				moved++
			case len(p.ISR()) < minISR:
				frozen++
			case before < log.LEO():
				held++
			}
			if p.Pending() == "expand" {
				expanding++
			}
		}
		return true
	}
	require.NoError(t, quick.Check(history, &quick.Config{MaxCount: 5000, Rand: rand.New(rand.NewSource(1))}))
	for name, n := range map[string]int{"moved": moved, "held back": held, "under min ISR": frozen, "while expanding": expanding} {
		assert.Positive(t, n, "the histories never reached: %s", name)
	}
}

// Both bounds are needed to join: the start of the leadership alone would let in
// a follower without committed records, the high watermark alone one that has
// not shown that its log agrees with this leader's (KIP-497).
func TestExpansionNeedsTheHighWatermarkAndTheEpochStart(t *testing.T) {
	log := replica.NewLog()
	log.AppendAsLeader(records(5), 0)
	log.SetHW(2)
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2, 3}, []int32{1, 3}, 1, 1, 100*second)
	log.AppendAsLeader(records(5), 1)
	fetch := func(id int32, offset int64) *replica.AlterPartitionItem {
		_, errName := p.UpdateFollowerFetchState(id, offset, 101*second, 1000+int64(id))
		require.Empty(t, errName)
		return p.MaybeExpandISR(id)
	}
	assert.Nil(t, fetch(2, 4), "above the high watermark 2, below the epoch's start 5")
	fetch(3, 10)
	require.True(t, p.MaybeIncrementLeaderHW(101*second, 1))
	require.Equal(t, int64(10), log.HW())
	assert.Nil(t, fetch(2, 7), "above the epoch's start 5, below the high watermark 10")
	item := fetch(2, 10)
	require.NotNil(t, item)
	assert.Equal(t, []int32{1, 2, 3}, item.NewISR)
}

// After a re-election the first Fetch of a follower outside the ISR proves
// nothing about a time before it (Replica.resetReplicaState).
func TestReElectionForgetsWhenAFollowerOutsideTheISRFetched(t *testing.T) {
	log := replica.NewLog()
	p := replica.NewPartition(1, log, 30*second, freshMetadata())
	p.MakeLeader([]int32{1, 2}, []int32{1}, 0, 0, 0)
	log.AppendAsLeader(records(4), 0)
	_, _ = p.UpdateFollowerFetchState(2, 1, second, 1002)
	p.MakeLeader([]int32{1, 2}, []int32{1}, 1, 1, 2*second)
	log.AppendAsLeader(records(4), 1)
	_, _ = p.UpdateFollowerFetchState(2, 4, 3*second, 1002) // what there was at the election

	assert.True(t, p.MaybeIncrementLeaderHW(3*second, 1))
	assert.Equal(t, int64(8), log.HW(), "it does not hold the high watermark back")
	_, _ = p.UpdateFollowerFetchState(2, 8, 4*second, 1002)
	assert.Equal(t, int64(4*second), p.Remotes()[0].LastCaughtUpTime)
}

// While a replica is being added it holds the high watermark like a member: the
// controller may have added it already (KIP-497). Here it was never caught up.
func TestAJoiningReplicaHoldsTheHighWatermark(t *testing.T) {
	log := replica.NewLog()
	log.AppendAsLeader(records(5), 0)
	md := freshMetadata()
	p := replica.NewPartition(1, log, 30*second, md)
	p.MakeLeader([]int32{1, 2}, []int32{1}, 1, 1, 0)
	log.AppendAsLeader(records(5), 1)
	_, errName := p.UpdateFollowerFetchState(2, 5, second, 1002)
	require.Empty(t, errName)
	require.NotNil(t, p.MaybeExpandISR(2))
	assert.True(t, p.MaybeIncrementLeaderHW(second, 1))
	assert.Equal(t, int64(5), log.HW())
	assert.Equal(t, []int32{1}, p.ISR())
}
