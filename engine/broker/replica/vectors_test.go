package replica_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
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
		dir, own = filepath.Join("..", "..", "testdata", "vectors"), true
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	require.NoError(t, err)
	var f struct{ Cases []vectorCase[I, E] }
	require.NoError(t, json.NewDecoder(bytes.NewReader(b)).Decode(&f))
	if own {
		require.Len(t, f.Cases, want, "cases in %s", name)
	}
	return f.Cases
}

func entries(es []replica.EpochEntry) [][2]int64 {
	out := [][2]int64{}
	for _, e := range es {
		out = append(out, [2]int64{int64(e.Epoch), e.StartOffset})
	}
	return out
}

func TestLeaderEpochCache(t *testing.T) {
	type op struct {
		Op                     string
		Epoch                  int32
		StartOffset, EndOffset int64
	}
	type query struct {
		Query                string
		Epoch                int32
		LogEndOffset, Offset int64
	}
	type in struct {
		Ops     []op
		Queries []query
	}
	type out struct {
		Entries [][2]int64
		Results []json.RawMessage
	}
	for _, c := range vectors[in, out](t, "leader_epoch_cache", 21) {
		t.Run(c.ID, func(t *testing.T) {
			var cache replica.EpochCache
			for _, o := range c.Input.Ops {
				switch o.Op {
				case "assign":
					cache.Assign(o.Epoch, o.StartOffset)
				case "truncateFromEnd":
					cache.TruncateFromEnd(o.EndOffset)
				case "truncateFromStart":
					cache.TruncateFromStart(o.StartOffset)
				case "clear":
					cache.Clear()
				default:
					t.Fatal("unknown op ", o.Op)
				}
			}
			assert.Equal(t, c.Expected.Entries, entries(cache.Entries()))
			require.Len(t, c.Expected.Results, len(c.Input.Queries))
			for i, q := range c.Input.Queries {
				assert.JSONEq(t, string(c.Expected.Results[i]), answer(t, &cache, q.Query, q.Epoch, q.LogEndOffset, q.Offset), "%+v", q)
			}
		})
	}
}

func answer(t *testing.T, c *replica.EpochCache, query string, epoch int32, leo, offset int64) string {
	t.Helper()
	maybe := func(e int32, ok bool) string {
		if !ok {
			return "null"
		}
		return strconv.Itoa(int(e))
	}
	switch query {
	case "endOffsetFor":
		e := c.EndOffsetFor(epoch, leo)
		b, err := json.Marshal(map[string]int64{"epoch": int64(e.Epoch), "endOffset": e.EndOffset})
		require.NoError(t, err)
		return string(b)
	case "latestEpoch":
		return maybe(c.Latest(), c.Latest() >= 0)
	case "previousEpoch":
		return maybe(c.Previous(epoch))
	case "nextEpoch":
		return maybe(c.Next(epoch))
	case "epochForOffset":
		return maybe(c.EpochForOffset(offset))
	}
	t.Fatal("unknown query ", query)
	return ""
}

func TestProducerIdempotence(t *testing.T) {
	type op struct {
		Op            string
		ProducerID    int64
		ProducerEpoch int16
		BaseSequence  int32
		Count         int
		Origin        string
	}
	type in struct{ Ops []op }
	type result struct {
		Error                  string
		BaseOffset, LastOffset int64
		Duplicate              bool
	}
	type out struct {
		Results      []result
		LogEndOffset int64
	}
	for _, c := range vectors[in, out](t, "producer_idempotence", 10) {
		t.Run(c.ID, func(t *testing.T) {
			log := replica.NewLog()
			require.Len(t, c.Expected.Results, len(c.Input.Ops))
			for i, o := range c.Input.Ops {
				b := replica.Batch{ProducerID: o.ProducerID, ProducerEpoch: o.ProducerEpoch, BaseSeq: o.BaseSequence, IDs: make([]int32, max(o.Count, 1))}
				if o.Op == "endTxnMarker" {
					b.Control, b.BaseSeq = true, -1
					got := log.AppendAsLeader(b, 0)
					assert.Equal(t, result{"NONE", got.Base, got.Last(), false}, c.Expected.Results[i], "op %d", i)
					continue
				}
				origin := replica.FromClient
				if o.Origin == "REPLICATION" {
					origin = replica.FromReplication
				}
				want := c.Expected.Results[i]
				dup, errName := log.CheckProducer(b, origin)
				if errName != "" {
					assert.Equal(t, want.Error, errName, "op %d", i)
					continue
				}
				require.Equal(t, "NONE", want.Error, "op %d", i)
				assert.Equal(t, want.Duplicate, dup != nil, "op %d", i)
				if dup != nil {
					assert.Equal(t, want.BaseOffset, dup.BaseOffset)
					assert.Equal(t, want.LastOffset, dup.LastOffset)
					continue
				}
				got := log.AppendAsLeader(b, 0)
				assert.Equal(t, want.BaseOffset, got.Base)
				assert.Equal(t, want.LastOffset, got.Last())
			}
			assert.Equal(t, c.Expected.LogEndOffset, log.LEO())
		})
	}
}

type fakeMetadata struct {
	fenced, shut map[int32]bool
	epoch        map[int32]int64
}

func (m fakeMetadata) Fenced(id int32) bool       { return m.fenced[id] }
func (m fakeMetadata) ShuttingDown(id int32) bool { return m.shut[id] }
func (m fakeMetadata) BrokerEpoch(id int32) int64 {
	if e, ok := m.epoch[id]; ok {
		return e
	}
	return 1000 + int64(id)
}

func TestPartitionHighWatermarkAndISR(t *testing.T) {
	type step struct {
		Op                          string
		ISR                         []int32
		LeaderEpoch, PartitionEpoch int32
		R                           int32
		Offset                      int64
		BrokerEpoch                 *int64
		Count                       int
		Ms                          int64
		Error                       string
		ID                          int32
		Fenced, Shut                *bool
		Epoch                       *int64
		Required                    int64
	}
	type in struct {
		Replicas            []int32
		InitialLeo          int
		InitialHw           int64
		MinInsyncReplicas   int
		ReplicaLagTimeMaxMs int64
		StartTimeMs         int64
		Steps               []step
	}
	type state struct {
		Hw, Leo           int64
		ISR, MaximalISR   []int32
		Pending           *string
		PartitionEpoch    int32
		AlterPartitionISR []int32
		Error, Result     string
		Replicas          map[string]struct{ Leo, LastCaughtUpMs int64 }
	}
	type out struct{ AfterEachStep []state }
	for _, c := range vectors[in, out](t, "partition_hw_isr", 22) {
		t.Run(c.ID, func(t *testing.T) {
			md := fakeMetadata{map[int32]bool{}, map[int32]bool{}, map[int32]int64{}}
			log := replica.NewLog()
			if c.Input.InitialLeo > 0 {
				log.AppendAsFollower(replica.Batch{IDs: make([]int32, c.Input.InitialLeo), ProducerID: -1})
			}
			log.SetHW(c.Input.InitialHw)
			p := replica.NewPartition(1, log, c.Input.ReplicaLagTimeMaxMs*1000, md)
			now := c.Input.StartTimeMs * 1000
			minISR := min(c.Input.MinInsyncReplicas, len(c.Input.Replicas))
			require.Len(t, c.Expected.AfterEachStep, len(c.Input.Steps))
			for i, s := range c.Input.Steps {
				var item *replica.AlterPartitionItem
				errName, result := "", ""
				switch s.Op {
				case "makeLeader":
					p.MakeLeader(c.Input.Replicas, s.ISR, s.LeaderEpoch, s.PartitionEpoch, now)
					p.MaybeIncrementLeaderHW(now, minISR)
				case "append":
					log.AppendAsLeader(replica.Batch{IDs: make([]int32, s.Count), ProducerID: -1}, p.LeaderEpoch())
					p.MaybeIncrementLeaderHW(now, minISR)
				case "fetch":
					epoch := md.BrokerEpoch(s.R)
					if s.BrokerEpoch != nil {
						epoch = *s.BrokerEpoch
					}
					var moved bool
					moved, errName = p.UpdateFollowerFetchState(s.R, s.Offset, now, epoch)
					if errName == "" {
						item = p.MaybeExpandISR(s.R)
						if moved {
							p.MaybeIncrementLeaderHW(now, minISR)
						}
					}
				case "sleep":
					now += s.Ms * 1000
				case "shrink":
					item = p.MaybeShrinkISR(now)
				case "alterOk":
					p.AlterCommitted(p.Proposed(), p.LeaderEpoch(), s.PartitionEpoch)
					p.MaybeIncrementLeaderHW(now, minISR)
				case "alterFail":
					item = p.AlterFailed(s.Error)
				case "broker":
					if s.Fenced != nil {
						md.fenced[s.ID] = *s.Fenced
					}
					if s.Shut != nil {
						md.shut[s.ID] = *s.Shut
					}
					if s.Epoch != nil {
						md.epoch[s.ID] = *s.Epoch
					}
				case "produceCheck":
					result = p.CheckEnoughReplicas(s.Required, minISR)
				default:
					t.Fatal("unknown op ", s.Op)
				}
				want := c.Expected.AfterEachStep[i]
				if s.Op == "produceCheck" {
					assert.Equal(t, want.Result, result, "step %d", i)
					continue
				}
				assert.Equal(t, want.Hw, log.HW(), "step %d %s: hw", i, s.Op)
				assert.Equal(t, want.Leo, log.LEO(), "step %d: leo", i)
				assert.ElementsMatch(t, want.ISR, p.ISR(), "step %d: isr", i)
				assert.ElementsMatch(t, want.MaximalISR, p.MaximalISR(), "step %d: maximalIsr", i)
				pending := ""
				if want.Pending != nil {
					pending = *want.Pending
				}
				assert.Equal(t, pending, p.Pending(), "step %d: pending", i)
				assert.Equal(t, want.PartitionEpoch, p.PartitionEpoch(), "step %d", i)
				assert.Equal(t, want.Error, errName, "step %d", i)
				if item == nil {
					assert.Nil(t, want.AlterPartitionISR, "step %d: no AlterPartition", i)
				} else {
					got := slices.Clone(item.NewISR)
					slices.Sort(want.AlterPartitionISR)
					assert.Equal(t, want.AlterPartitionISR, got, "step %d", i)
				}
				assert.Len(t, p.Remotes(), len(want.Replicas), "step %d", i)
				for _, r := range p.Remotes() {
					w := want.Replicas[strconv.Itoa(int(r.ID))]
					assert.Equal(t, w.Leo, r.LEO, "step %d: leo of %d", i, r.ID)
					assert.Equal(t, w.LastCaughtUpMs, r.LastCaughtUpTime/1000, "step %d: caught up of %d", i, r.ID)
				}
			}
		})
	}
}

func TestLogTruncation(t *testing.T) {
	type diverging struct {
		Epoch     int32
		EndOffset int64
	}
	type round struct {
		FetchOffset      int64
		LastFetchedEpoch *int32
		Response         struct {
			Diverging              *diverging
			RecordsFrom, RecordsTo *int64
			Error                  string
		}
		TruncateTo         *int64
		TruncationComplete bool
	}
	type in struct {
		Kind                                     string
		LeaderEpochEntries, FollowerEpochEntries [][2]int64
		LeaderLogStartOffset, LeaderLogEndOffset int64
		FollowerLogStartOffset                   int64
		FollowerLogEndOffset, FetchOffset        int64
		LastFetchedEpoch                         *int32
		Diverging                                diverging
		LeaderLogEpochs, FollowerLogEpochs       []int32
		LeaderEpoch                              int32
	}
	type out struct {
		Diverging              *diverging
		Error                  string
		TruncateTo             int64
		TruncationComplete     bool
		Rounds                 []round
		FinalFollowerLogEpochs []int32
	}
	cache := func(es [][2]int64) *replica.EpochCache {
		c := &replica.EpochCache{}
		for _, e := range es {
			c.Assign(int32(e[0]), e[1])
		}
		return c
	}
	check := func(c *replica.EpochCache, start, leo int64, epoch *int32, offset int64) (*diverging, string) {
		if epoch == nil || *epoch < 0 {
			return nil, ""
		}
		div, ok := replica.Diverging(c, leo, *epoch, offset)
		if !ok || offset < start {
			return nil, "OFFSET_OUT_OF_RANGE"
		}
		if div == nil {
			return nil, ""
		}
		return &diverging{div.Epoch, div.EndOffset}, ""
	}
	for _, c := range vectors[in, out](t, "log_truncation", 25) {
		t.Run(c.ID, func(t *testing.T) {
			switch c.Input.Kind {
			case "leaderCheck":
				div, errName := check(cache(c.Input.LeaderEpochEntries), c.Input.LeaderLogStartOffset, c.Input.LeaderLogEndOffset, c.Input.LastFetchedEpoch, c.Input.FetchOffset)
				assert.Equal(t, c.Expected.Error, errName)
				assert.Equal(t, c.Expected.Diverging, div)
			case "followerTruncate":
				to, complete := replica.TruncateTo(cache(c.Input.FollowerEpochEntries), c.Input.FollowerLogEndOffset, replica.EpochEnd(c.Input.Diverging))
				assert.Equal(t, c.Expected.TruncateTo, to)
				assert.Equal(t, c.Expected.TruncationComplete, complete)
			case "reconcile":
				logOf := func(start int64, epochs []int32) *replica.Log {
					l := replica.NewLog()
					l.StartAt(start)
					for _, e := range epochs {
						l.AppendAsLeader(replica.Batch{IDs: []int32{1}, ProducerID: -1}, e)
					}
					return l
				}
				leader := logOf(c.Input.LeaderLogStartOffset, c.Input.LeaderLogEpochs)
				leader.Epochs().Assign(c.Input.LeaderEpoch, leader.LEO())
				follower := logOf(c.Input.FollowerLogStartOffset, c.Input.FollowerLogEpochs)
				for i, r := range c.Expected.Rounds {
					assert.Equal(t, r.FetchOffset, follower.LEO(), "round %d", i)
					latest := follower.Epochs().Latest()
					if r.LastFetchedEpoch == nil {
						assert.Equal(t, int32(-1), latest, "round %d", i)
					} else {
						assert.Equal(t, *r.LastFetchedEpoch, latest, "round %d", i)
					}
					div, errName := check(leader.Epochs(), leader.LogStart(), leader.LEO(), &latest, follower.LEO())
					assert.Equal(t, r.Response.Error, errName, "round %d", i)
					assert.Equal(t, r.Response.Diverging, div, "round %d", i)
					if div != nil {
						to, complete := replica.TruncateTo(follower.Epochs(), follower.LEO(), replica.EpochEnd(*div))
						require.NotNil(t, r.TruncateTo)
						assert.Equal(t, *r.TruncateTo, to, "round %d", i)
						assert.Equal(t, r.TruncationComplete, complete, "round %d", i)
						follower.Truncate(to)
						continue
					}
					for _, b := range leader.Read(follower.LEO(), leader.LEO(), 1<<20, true) {
						follower.AppendAsFollower(b)
					}
				}
				got := []int32{}
				for _, b := range follower.Batches() {
					got = append(got, b.Epoch)
				}
				assert.Equal(t, c.Expected.FinalFollowerLogEpochs, got)
			default:
				t.Fatal("unknown kind ", c.Input.Kind)
			}
		})
	}
}
