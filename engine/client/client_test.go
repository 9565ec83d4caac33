package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

const ms = journal.Millisecond

// lab is a network of fake brokers that share one state.
type lab struct {
	t       *testing.T
	w       *sim.World
	leaders map[string]wire.CurrentLeader
	brokers []string
	live    []int32
	seen    []*sim.Request
	ends    map[string]int64 // log end by partition
	logs    map[string][]wire.Batch
	pid     int64
	commits map[string]int64
	coord   int32

	// answer, if set, may take a request over.
	answer func(node string, r *sim.Request) bool
}

type fake struct {
	l    *lab
	name string
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, leaders: map[string]wire.CurrentLeader{}, ends: map[string]int64{}, logs: map[string][]wire.Batch{}, commits: map[string]int64{},
		coord: 1, live: []int32{1, 2, 3}}
	l.w = sim.NewWorld(1, sim.Network{Broker: 2 * ms, Client: 2 * ms, Handle: 100}, 100_000)
	for _, n := range []string{"b1", "b2", "b3"} {
		l.w.AddProcess(n, false, &fake{l, n})
		l.brokers = append(l.brokers, n)
	}
	l.lead("orders-0", 1, 0)
	return l
}

func (l *lab) lead(part string, leader, epoch int32) {
	l.leaders[part] = wire.CurrentLeader{LeaderID: leader, LeaderEpoch: epoch}
}

func (l *lab) metadata() []wire.MetadataPart {
	var names []string
	for n := range l.leaders {
		names = append(names, n)
	}
	slices.Sort(names)
	var parts []wire.MetadataPart
	for _, n := range names {
		p := wire.MetadataPart{Part: n, LeaderID: l.leaders[n].LeaderID, LeaderEpoch: l.leaders[n].LeaderEpoch}
		if p.LeaderID < 0 {
			p.ErrorCode = kafka.LeaderNotAvailable
		}
		parts = append(parts, p)
	}
	return parts
}

func (f *fake) Handle(r *sim.Request) {
	l := f.l
	l.seen = append(l.seen, r)
	if l.answer != nil && l.answer(f.name, r) {
		return
	}
	switch q := r.Body.(type) {
	case *wire.MetadataRequest:
		resp := &wire.MetadataResponse{Brokers: l.live}
		for _, p := range l.metadata() {
			if topic, _ := image.Split(p.Part); slices.Contains(q.Topics, topic) {
				resp.Parts = append(resp.Parts, p)
			}
		}
		r.Reply(resp, 0, false)
	case *wire.InitProducerIDRequest:
		r.Reply(&wire.InitProducerIDResponse{ProducerID: l.pid}, 0, false)
	case *wire.ProduceRequest:
		r.Reply(l.append(q), 0, false)
	case *wire.FetchRequest:
		resp := &wire.FetchResponse{SessionID: 7}
		for _, p := range q.Parts {
			res := wire.FetchResult{Part: p.Part}
			for _, b := range l.logs[p.Part] {
				if b.Last() >= p.FetchOffset {
					res.Records = append(res.Records, b)
				}
			}
			if len(res.Records) > 0 {
				resp.Parts = append(resp.Parts, res)
			}
		}
		wait := journal.Time(0)
		if len(resp.Parts) == 0 {
			wait = journal.Millis(q.MaxWaitMs)
		}
		l.w.After(wait, func() { r.Reply(resp, 0, len(resp.Parts) == 0) })
	case *wire.ListOffsetsRequest:
		resp := &wire.ListOffsetsResponse{}
		for _, p := range q.Parts {
			off := l.ends[p.Part]
			if p.Timestamp == -2 {
				off = 0
			}
			resp.Parts = append(resp.Parts, wire.ListOffsetsResult{Part: p.Part, Offset: off})
		}
		r.Reply(resp, 0, false)
	case *wire.FindCoordinatorRequest:
		r.Reply(&wire.FindCoordinatorResponse{Coordinators: []wire.Coordinator{{Key: q.Keys[0], NodeID: l.coord}}}, 0, false)
	case *wire.OffsetForLeaderEpochRequest:
		r.Reply(&wire.OffsetForLeaderEpochResponse{Parts: []wire.LeaderEpochResult{{Part: q.Parts[0].Part, LeaderEpoch: q.Parts[0].LeaderEpoch, EndOffset: 1 << 40}}}, 0, false)
	case *wire.OffsetFetchRequest:
		resp := &wire.OffsetFetchResponse{GroupID: q.GroupID}
		for _, part := range q.Parts {
			off, ok := l.commits[part]
			if !ok {
				off = -1
			}
			resp.Parts = append(resp.Parts, wire.OffsetFetchPart{Part: part, CommittedOffset: off})
		}
		r.Reply(resp, 0, false)
	case *wire.OffsetCommitRequest:
		resp := &wire.OffsetCommitResponse{}
		for _, p := range q.Parts {
			l.commits[p.Part] = p.CommittedOffset
			resp.Parts = append(resp.Parts, wire.PartError{Part: p.Part})
		}
		r.Reply(resp, 0, false)
	}
}

func (l *lab) append(q *wire.ProduceRequest) *wire.ProduceResponse {
	resp := &wire.ProduceResponse{}
	for _, p := range q.Parts {
		resp.Parts = append(resp.Parts, wire.ProduceResult{Part: p.Part, BaseOffset: l.ends[p.Part]})
		l.ends[p.Part] += int64(len(p.Batch.Records))
	}
	return resp
}

func refuse(r *sim.Request, code kafka.ErrorCode, hint *wire.CurrentLeader) {
	resp := &wire.ProduceResponse{}
	for _, p := range r.Body.(*wire.ProduceRequest).Parts {
		resp.Parts = append(resp.Parts, wire.ProduceResult{Part: p.Part, ErrorCode: code, BaseOffset: -1, CurrentLeader: hint})
	}
	r.Reply(resp, 0, false)
}

// store puts count records into a partition's log.
func (l *lab) store(part string, count int) {
	b := wire.Batch{BaseOffset: l.ends[part], LeaderEpoch: 4}
	for range count {
		b.Records = append(b.Records, l.w.NewRecord(journal.Record{Topic: "orders"}))
	}
	l.logs[part] = append(l.logs[part], b)
	l.ends[part] += int64(count)
}

func (l *lab) producer(set ...string) *Producer {
	p := NewProducer(l.w, l.w.AddProcess("p", true, nil), "p", kafka.NewConfig("producer", pairs(set)), l.brokers)
	p.Formed(l.metadata(), 0)
	return p
}

func pairs(kv []string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

func (l *lab) at(t journal.Time, fn func()) { l.w.At(t, fn).Because(-1) }

func (l *lab) send(p *Producer, results *[]bool) {
	key := "k"
	p.Send("orders", &key, "v", nil, func(ok bool) {
		if results != nil {
			*results = append(*results, ok)
		}
	})
}

func (l *lab) run(until journal.Time) { require.NoError(l.t, l.w.Run(until)) }

// events are the events of a kind, as "time fields".
func (l *lab) events(kind journal.Kind, fields ...string) (out []string) {
	for _, e := range l.w.J.Events {
		if e.Kind != kind {
			continue
		}
		s := e.T.String()
		for _, f := range fields {
			s += fmt.Sprint(" ", e.F.(journal.Fields).Get(f))
		}
		out = append(out, s)
	}
	return out
}

// sent are the requests of an API, as "time to".
func (l *lab) sent(api kafka.API) (out []string) {
	for _, e := range l.w.J.Events {
		if e.Kind == journal.RequestSend && e.API == string(api) {
			out = append(out, e.T.String()+" "+e.To)
		}
	}
	return out
}

func (l *lab) batches() (out []wire.Batch) {
	for _, r := range l.seen {
		if q, ok := r.Body.(*wire.ProduceRequest); ok {
			for _, p := range q.Parts {
				out = append(out, p.Batch)
			}
		}
	}
	return out
}

func sequences(bs []wire.Batch) (out []string) {
	for _, b := range bs {
		out = append(out, fmt.Sprintf("e%d s%d n%d", b.ProducerEpoch, b.BaseSequence, len(b.Records)))
	}
	return out
}

func TestRecordsLingerAndShareABatch(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("linger.ms", "20")
	for i := range 3 {
		l.at(journal.Time(i)*5*ms, func() { l.send(p, &done) })
	}
	l.run(journal.Second)
	assert.Equal(t, []string{"0.02s b1"}, l.sent(kafka.Produce), "linger.ms counts from the first record")
	assert.Equal(t, []string{"e0 s0 n3"}, sequences(l.batches()))
	assert.Equal(t, []bool{true, true, true}, done)
	assert.Equal(t, []string{"0.0241s [r1 r2 r3] 0"}, l.events(journal.ProducerAcked, "records", "baseOffset"))
}

func TestAFullBatchDoesNotLinger(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "1000", "batch.size", "90") // three records of 9 and the batch's 61
	l.at(0, func() {
		for range 7 {
			l.send(p, nil)
		}
	})
	l.run(2 * journal.Second)
	assert.Equal(t, []string{"e0 s0 n3", "e0 s3 n3", "e0 s6 n1"}, sequences(l.batches()))
	assert.Equal(t, []string{"0s b1", "0s b1", "1s b1"}, l.sent(kafka.Produce), "the second fills while the first is on its way; the last one lingers")
}

func TestADrainTakesWhatLingersForTheSameNode(t *testing.T) {
	l := newLab(t)
	l.lead("orders-1", 1, 0)
	l.lead("orders-2", 2, 0)
	p := l.producer("linger.ms", "20")
	put := func(i int) { p.Send("orders", nil, "v", &i, func(bool) {}) }
	l.at(0, func() { put(0) })
	l.at(10*ms, func() { put(1); put(2) })
	l.run(journal.Second)
	assert.Equal(t, []string{"0.02s b1", "0.03s b2"}, l.sent(kafka.Produce))
	assert.Len(t, l.seen[0].Body.(*wire.ProduceRequest).Parts, 2, "orders-1 goes with orders-0 before its linger is over")
}

func TestFiveInFlight(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.answer = func(string, *sim.Request) bool { return true } // never an answer
	for i := range 8 {
		l.at(journal.Time(i)*ms, func() { l.send(p, nil) })
	}
	l.run(5 * journal.Second)
	assert.Len(t, l.sent(kafka.Produce), 5)
	assert.Len(t, p.queues["orders-0"].inFlight, 5)
}

func TestOneInFlightMutesThePartition(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0", "max.in.flight.requests.per.connection", "1", "enable.idempotence", "false")
	tries := 0
	l.answer = func(_ string, r *sim.Request) bool {
		if _, is := r.Body.(*wire.ProduceRequest); is {
			if tries++; tries == 1 {
				refuse(r, kafka.NotEnoughReplicas, nil)
				return true
			}
		}
		return false
	}
	for i := range 3 {
		l.at(journal.Time(i)*ms, func() { l.send(p, nil) })
	}
	l.run(journal.Second)
	var first []string
	for _, b := range l.batches() {
		first = append(first, b.Records[0])
	}
	assert.Equal(t, []string{"r1", "r1", "r2"}, first, "without sequences only one in flight keeps the order")
}

// strict accepts batches in the order of their sequences only, and loses the
// first lose of them.
func strict(l *lab, lose int) {
	next, epoch := int32(0), int16(0)
	l.answer = func(_ string, r *sim.Request) bool {
		q, is := r.Body.(*wire.ProduceRequest)
		if !is {
			return false
		}
		b := q.Parts[0].Batch
		if b.ProducerEpoch > epoch {
			epoch, next = b.ProducerEpoch, 0
		}
		switch {
		case lose > 0:
			lose--
			refuse(r, kafka.NotEnoughReplicas, nil)
		case b.BaseSequence != next:
			refuse(r, kafka.OutOfOrderSequenceNumber, nil)
		default:
			next += int32(len(b.Records))
			r.Reply(l.append(q), 0, false)
		}
		return true
	}
}

func TestRetriesKeepOrderAndSequences(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("linger.ms", "0")
	strict(l, 1)
	for i := range 4 {
		l.at(journal.Time(i)*ms, func() { l.send(p, &done) })
	}
	l.run(journal.Second)
	var acked []string
	for _, e := range l.events(journal.ProducerAcked, "records", "baseOffset") {
		acked = append(acked, e[strings.Index(e, " ")+1:])
	}
	assert.Equal(t, []string{"[r1] 0", "[r2] 1", "[r3] 2", "[r4] 3"}, acked)
	assert.Equal(t, []string{"e0 s0 n1", "e0 s1 n1", "e0 s2 n1", "e0 s3 n1", "e0 s0 n1"}, sequences(l.batches())[:5])
	assert.Equal(t, int16(0), p.txn.epoch, "no epoch bump: the refused batches were not the next ones")
	assert.Len(t, done, 4)
}

func TestBackoffGrowsToItsMaximum(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.answer = func(_ string, r *sim.Request) bool {
		if _, is := r.Body.(*wire.ProduceRequest); is {
			refuse(r, kafka.NotEnoughReplicas, nil)
		}
		return true
	}
	l.at(0, func() { l.send(p, nil) })
	l.run(10 * journal.Second)
	waits := l.events(journal.ProducerRetry, "backoffMs")
	for i, base := range []int64{100, 200, 400, 800, 1000, 1000} {
		var at string
		var got int64
		_, err := fmt.Sscan(waits[i], &at, &got)
		require.NoError(t, err)
		assert.InDelta(t, base, got, float64(base)/5+1)
		assert.LessOrEqual(t, got, int64(1000))
	}
	assert.Empty(t, l.sent(kafka.Metadata), "NOT_ENOUGH_REPLICAS says nothing about leaders")
}

func TestARealGapBumpsTheEpoch(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.at(0, func() { l.send(p, nil) })
	l.at(100*ms, func() {
		strict(l, 0) // an unclean election lost record 0: the broker expects sequence 0 of a new epoch
		l.send(p, nil)
	})
	l.run(journal.Second)
	assert.Equal(t, []string{"e0 s0 n1", "e0 s1 n1", "e1 s0 n1"}, sequences(l.batches()))
	assert.Equal(t, []string{"0.1041s 0 1"}, l.events(journal.ProducerID, "producerId", "producerEpoch"))
	assert.Len(t, l.events(journal.ProducerAcked), 2)
}

func TestOtherPartitionsFollowTheEpoch(t *testing.T) {
	l := newLab(t)
	l.lead("orders-1", 2, 0)
	p := l.producer("linger.ms", "0")
	put := func(i int) { p.Send("orders", nil, "v", &i, func(bool) {}) }
	l.at(0, func() { put(0); put(1) })
	gap := true
	l.at(100*ms, func() {
		l.answer = func(_ string, r *sim.Request) bool {
			if _, is := r.Body.(*wire.ProduceRequest); is && gap {
				gap = false
				refuse(r, kafka.OutOfOrderSequenceNumber, nil)
				return true
			}
			return false
		}
		put(0)
	})
	l.at(500*ms, func() { put(1) })
	l.run(journal.Second)
	assert.Equal(t, "e1 s0 n1", sequences(l.batches())[4], "the other partition starts again too")
}

func TestDuplicateSequenceIsASuccess(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer()
	l.answer = func(_ string, r *sim.Request) bool { refuse(r, kafka.DuplicateSequenceNumber, nil); return true }
	l.at(0, func() { l.send(p, &done) })
	l.run(journal.Second)
	assert.Equal(t, []bool{true}, done)
}

func TestDeliveryTimeout(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("linger.ms", "0", "request.timeout.ms", "400", "delivery.timeout.ms", "1000")
	silent := true
	l.answer = func(_ string, r *sim.Request) bool {
		_, is := r.Body.(*wire.ProduceRequest)
		return is && silent
	}
	l.at(0, func() { l.send(p, &done) })
	l.at(1500*ms, func() { silent = false; l.send(p, &done) })
	l.run(3 * journal.Second)
	assert.Equal(t, []string{"1s [r1] TIMEOUT"}, l.events(journal.ProducerFailed, "records", "error"))
	assert.Equal(t, []bool{false, true}, done)
	last := sequences(l.batches())
	assert.Equal(t, "e1 s0 n1", last[len(last)-1], "nobody knows whether the lost one was written: a new epoch")
	assert.NotEmpty(t, l.events(journal.ProducerRetry))
}

func TestDeliveryTimeoutIsRaisedWhereNotSet(t *testing.T) {
	l := newLab(t)
	p := l.producer("request.timeout.ms", "200000")
	assert.Equal(t, 200_005*ms, p.deliveryTimeout())
}

func TestAcksNoneWaitsForNobody(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("acks", "0", "linger.ms", "0")
	for range 7 {
		l.at(0, func() { l.send(p, &done) })
	}
	l.run(ms)
	assert.Len(t, done, 7)
	assert.Equal(t, "0s -1", l.events(journal.ProducerAcked, "baseOffset")[0])
	l.run(journal.Second)
	assert.Len(t, l.batches(), 7)
	assert.Equal(t, int64(-1), l.batches()[0].ProducerID, "acks=0 turns idempotence off")
}

func TestALeaderHintSkipsTheBackoff(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.answer = func(node string, r *sim.Request) bool {
		_, is := r.Body.(*wire.ProduceRequest)
		if is && node == "b1" {
			refuse(r, kafka.NotLeaderOrFollower, &wire.CurrentLeader{LeaderID: 2, LeaderEpoch: 1})
			return true
		}
		return false
	}
	l.at(0, func() { l.lead("orders-0", 2, 1); l.send(p, nil) })
	l.run(journal.Second)
	assert.Equal(t, []string{"0s b1", "0.0081s b2"}, l.sent(kafka.Produce), "one connection later, not one back-off later")
	assert.Len(t, l.sent(kafka.Metadata), 1)
}

func TestAnOlderHintIsIgnored(t *testing.T) {
	l := newLab(t)
	l.lead("orders-0", 1, 5)
	p := l.producer()
	p.hint("orders-0", &wire.CurrentLeader{LeaderID: 2, LeaderEpoch: 5})
	assert.Equal(t, "b1", p.leader("orders-0"))
}

func TestMetadataBacksOffWhileItBringsNothingNew(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.at(0, func() {
		l.lead("orders-0", 2, 1)
		l.w.Process("b1").Kill(sim.Crashed)
		l.lead("orders-0", -1, 1)
		l.live = []int32{2, 3}
	})
	l.at(10*ms, func() { l.send(p, nil) })
	l.at(3*journal.Second, func() { l.lead("orders-0", 3, 2) })
	l.run(6 * journal.Second)
	n := len(l.sent(kafka.Metadata))
	assert.Less(t, n, 9, "0.1 s growing to 1 s, not a storm: %v", l.sent(kafka.Metadata))
	assert.Greater(t, n, 4)
	sent := l.sent(kafka.Produce)
	require.Len(t, sent, 1)
	assert.Contains(t, sent[0], " b3")
}

func TestAnIdleLostConnectionAsksForMetadata(t *testing.T) {
	l := newLab(t)
	l.producer()
	l.at(journal.Second, func() { l.w.Process("b1").Kill(sim.Crashed) })
	l.run(5 * journal.Second)
	assert.Len(t, l.sent(kafka.Metadata), 1)
}

func TestALostConnectionCountsOnce(t *testing.T) {
	l := newLab(t)
	p := l.producer("linger.ms", "0")
	l.answer = func(string, *sim.Request) bool { return true }
	for i := range 5 {
		l.at(journal.Time(i)*ms, func() { l.send(p, nil) })
	}
	l.at(20*ms, func() { l.w.Reset("b1", "p") })
	l.run(21 * ms)
	assert.Equal(t, 1, p.link("b1").failures, "five requests failed, one connection")
}

func TestAFreshProducerAsksForMetadataThenForItsID(t *testing.T) {
	l := newLab(t)
	p := NewProducer(l.w, l.w.AddProcess("p", true, nil), "p", kafka.NewConfig("producer", nil), l.brokers)
	loading := 2
	l.answer = func(_ string, r *sim.Request) bool {
		if _, is := r.Body.(*wire.InitProducerIDRequest); is && loading > 0 {
			loading--
			r.Reply(&wire.InitProducerIDResponse{ErrorCode: kafka.CoordinatorLoadInProgress, ProducerID: -1}, 0, false)
			return true
		}
		return false
	}
	l.pid = 1000
	var done []bool
	l.at(0, func() { p.Start([]string{"orders"}); l.send(p, &done) })
	l.run(journal.Second)
	var apis []string
	for _, r := range l.seen {
		apis = append(apis, string(r.API))
	}
	assert.Equal(t, []string{"Metadata", "InitProducerId", "InitProducerId", "InitProducerId", "Produce"}, apis)
	assert.Equal(t, []bool{true}, done)
	assert.Equal(t, int64(1000), l.batches()[0].ProducerID)
}

func TestADeadBootstrapBrokerIsNotTheEnd(t *testing.T) {
	l := newLab(t)
	for _, n := range []string{"b1", "b2"} {
		l.w.Process(n).Kill(sim.Crashed)
	}
	l.lead("orders-0", 3, 1)
	p := NewProducer(l.w, l.w.AddProcess("p", true, nil), "p", kafka.NewConfig("producer", nil), l.brokers)
	var done []bool
	l.at(0, func() { p.Start([]string{"orders"}); l.send(p, &done) })
	l.run(5 * journal.Second)
	assert.Equal(t, []bool{true}, done)
}

func TestSendBlocksForMaxBlock(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("max.block.ms", "2000")
	l.at(0, func() { p.Send("unknown", nil, "v", nil, func(ok bool) { done = append(done, ok) }) })
	l.at(ms, func() { l.send(p, &done) })
	l.run(5 * journal.Second)
	assert.Equal(t, []string{"2s [r1] TIMEOUT"}, l.events(journal.ProducerFailed, "records", "error"))
	assert.Equal(t, []bool{false, true}, done, "the thread that was blocked goes on")
}

func TestBufferMemory(t *testing.T) {
	l := newLab(t)
	l.lead("orders-1", 2, 0)
	var done []bool
	p := l.producer("linger.ms", "500", "buffer.memory", "16384")
	for i := range 2 {
		l.at(0, func() { p.Send("orders", nil, "v", &i, func(ok bool) { done = append(done, ok) }) })
	}
	l.run(journal.Second)
	assert.Equal(t, []bool{true, true}, done)
	assert.Equal(t, []string{"0s b1", "0.5041s b2"}, l.sent(kafka.Produce), "a full buffer ends the linger; the second waits for the first one's memory")
	assert.Equal(t, int64(16384), p.free)
}

func TestATooLargeBatchIsSplit(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("linger.ms", "10")
	l.answer = func(_ string, r *sim.Request) bool {
		if q, is := r.Body.(*wire.ProduceRequest); is && len(q.Parts[0].Batch.Records) > 2 {
			refuse(r, kafka.MessageTooLarge, nil)
			return true
		}
		return false
	}
	l.at(0, func() {
		for range 4 {
			l.send(p, &done)
		}
	})
	l.run(journal.Second)
	assert.Len(t, done, 4)
	assert.Empty(t, l.events(journal.ProducerRetry), "a split is no retry")
	next := int32(0)
	for _, b := range l.batches()[1:] {
		assert.Equal(t, next, b.BaseSequence)
		next += int32(len(b.Records))
	}
	assert.Equal(t, int32(4), next)
}

func TestCloseSendsWhatIsThere(t *testing.T) {
	l := newLab(t)
	var done []bool
	p := l.producer("linger.ms", "10000")
	l.at(0, func() { l.send(p, &done) })
	l.at(100*ms, p.Close)
	l.run(journal.Second)
	assert.Equal(t, []bool{true}, done)
	assert.Equal(t, []string{"0.1s b1"}, l.sent(kafka.Produce))
	assert.False(t, p.link("b1").conn.Open())
}

func TestSequencesWrap(t *testing.T) {
	assert.Equal(t, int32(0), addSeq(2147483647, 1))
	assert.Equal(t, int32(1), addSeq(2147483646, 3))
}

func (l *lab) consumer(group, commit string, poll, work journal.Time, set ...string) *Consumer {
	return NewConsumer(l.w, l.w.AddProcess("a1", true, nil), Options{ID: "a1", Group: group, Config: kafka.NewConfig("consumer", pairs(set)), Assign: []string{"orders-0"}, Poll: poll,
		Work: work, Commit: commit, Brokers: l.brokers})
}

func TestAConsumerStartsAtItsCommittedOffset(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 5)
	l.commits["orders-0"] = 3
	c := l.consumer("g", "none", 0, 0)
	l.at(0, c.Start)
	l.run(journal.Second)
	assert.Equal(t, []string{"[r4 r5] 3"}, tails(l.events(journal.ConsumerDeliver, "records", "offset")))
	assert.Len(t, l.sent(kafka.FindCoordinator), 1)
	assert.Empty(t, l.sent(kafka.ListOffsets))
}

func TestAConsumerWithoutCommitResets(t *testing.T) {
	for policy, want := range map[string][]string{"earliest": {"[r1 r2] 0"}, "latest": nil} {
		l := newLab(t)
		l.store("orders-0", 2)
		c := l.consumer("g", "none", 0, 0, "auto.offset.reset", policy)
		l.at(0, c.Start)
		l.run(journal.Second)
		assert.Equal(t, want, tails(l.events(journal.ConsumerDeliver, "records", "offset")), policy)
		assert.Len(t, l.events(journal.ConsumerReset), 1)
	}
}

func TestAConsumerThatMayNotResetEnds(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 2)
	c := l.consumer("g", "none", 0, 0, "auto.offset.reset", "none")
	l.at(0, c.Start)
	l.run(2 * journal.Second)
	assert.Equal(t, []string{"NoOffsetForPartitionException"}, tails(l.events(journal.ConsumerStall, "error")))
	for _, conn := range c.nodes {
		assert.False(t, conn.conn.Open(), "its connections are closed")
	}
	assert.Empty(t, l.sent(kafka.Fetch), "nothing is fetched")
}

func TestWithoutGroupNobodyIsAskedForOffsets(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 1)
	c := l.consumer("", "none", 0, 0, "auto.offset.reset", "earliest")
	l.at(0, c.Start)
	l.run(journal.Second)
	assert.Empty(t, l.sent(kafka.FindCoordinator))
	assert.Len(t, l.events(journal.ConsumerDeliver), 1)
}

func TestPollsTakeAtMostMaxPollRecordsAndFetchBehind(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 5)
	c := l.consumer("", "none", 100*ms, 10*ms, "max.poll.records", "2", "auto.offset.reset", "earliest")
	l.at(0, c.Start)
	l.run(2 * journal.Second)
	got := l.events(journal.ConsumerDeliver, "records", "offset")
	require.Equal(t, []string{"[r1] 0", "[r2] 1", "[r3] 2", "[r4] 3", "[r5] 4"}, tails(got), "one after the other, since a record takes time")
	times := heads(l.events(journal.ConsumerDeliver))
	require.Len(t, l.events(journal.ConsumerPoll), 3)
	fetches := l.sent(kafka.Fetch)
	assert.Equal(t, times[4]+" b1", fetches[1], "the next Fetch leaves when the last of the answer is polled: %v %v", times, fetches)
}

func TestCommitAfterAndBefore(t *testing.T) {
	for commit, first := range map[string]journal.Kind{"after": journal.ConsumerDeliver, "before": journal.ConsumerCommit} {
		l := newLab(t)
		l.store("orders-0", 2)
		c := l.consumer("g", commit, 0, 10*ms, "auto.offset.reset", "earliest")
		l.at(0, c.Start)
		l.run(2 * journal.Second)
		assert.Equal(t, int64(2), l.commits["orders-0"], commit)
		var order []journal.Kind
		for _, e := range l.w.J.Events {
			if e.Kind == journal.ConsumerDeliver || e.Kind == journal.ConsumerCommit {
				order = append(order, e.Kind)
			}
		}
		require.Len(t, order, 3, commit)
		assert.Equal(t, first, order[0], commit)
	}
}

func TestAutoCommitIsInsidePoll(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 3)
	c := l.consumer("g", "auto", 0, 2*journal.Second, "auto.offset.reset", "earliest")
	l.at(0, c.Start)
	l.run(5900 * ms)
	assert.Empty(t, l.sent(kafka.OffsetCommit), "the application works for 6 s and does not call poll")
	l.run(7 * journal.Second)
	assert.Len(t, l.sent(kafka.OffsetCommit), 1)
	assert.Equal(t, int64(3), l.commits["orders-0"])
	l.run(12 * journal.Second)
	assert.Len(t, l.sent(kafka.OffsetCommit), 2, "also what did not change")
}

func TestOffsetOutOfRangeResets(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 2)
	l.commits["orders-0"] = 40
	c := l.consumer("g", "none", 0, 0, "auto.offset.reset", "earliest")
	l.answer = func(_ string, r *sim.Request) bool {
		q, is := r.Body.(*wire.FetchRequest)
		if is && len(q.Parts) > 0 && q.Parts[0].FetchOffset == 40 {
			r.Reply(&wire.FetchResponse{SessionID: 7, Parts: []wire.FetchResult{{Part: "orders-0", ErrorCode: kafka.OffsetOutOfRange}}}, 0, false)
			return true
		}
		return false
	}
	l.at(0, c.Start)
	l.run(journal.Second)
	assert.Equal(t, []string{"[r1 r2] 0"}, tails(l.events(journal.ConsumerDeliver, "records", "offset")))
}

func TestAConsumerFollowsTheLeader(t *testing.T) {
	l := newLab(t)
	c := l.consumer("", "none", 0, 0, "auto.offset.reset", "earliest")
	l.answer = func(node string, r *sim.Request) bool {
		_, is := r.Body.(*wire.FetchRequest)
		if is && node == "b1" && l.leaders["orders-0"].LeaderID == 2 {
			r.Reply(&wire.FetchResponse{SessionID: 7, Parts: []wire.FetchResult{{Part: "orders-0", ErrorCode: kafka.NotLeaderOrFollower}}}, 0, false)
			return true
		}
		return false
	}
	l.at(0, c.Start)
	l.at(journal.Second, func() { l.lead("orders-0", 2, 1); l.store("orders-0", 1) })
	l.run(3 * journal.Second)
	assert.Len(t, l.events(journal.ConsumerDeliver), 1)
	last := l.sent(kafka.Fetch)
	assert.Contains(t, last[len(last)-1], " b2")
}

func TestACommitFindsTheNewCoordinator(t *testing.T) {
	l := newLab(t)
	c := l.consumer("g", "none", 0, 0)
	c.Formed(l.metadata(), map[string]int64{"orders-0": 0}, 1)
	l.answer = func(node string, r *sim.Request) bool {
		q, is := r.Body.(*wire.OffsetCommitRequest)
		if is && node == "b1" {
			r.Reply(&wire.OffsetCommitResponse{Parts: []wire.PartError{{Part: q.Parts[0].Part, ErrorCode: kafka.NotCoordinator}}}, 0, false)
			l.coord = 2
			return true
		}
		return false
	}
	l.at(0, func() { c.Commit(map[string]int64{"orders-0": 9}) })
	l.run(journal.Second)
	assert.Equal(t, int64(9), l.commits["orders-0"])
	assert.Len(t, l.sent(kafka.OffsetCommit), 2)
	assert.Len(t, l.events(journal.ConsumerCommit), 1)
}

func TestACommitDoesNotQueueBehindAFetch(t *testing.T) {
	l := newLab(t)
	c := l.consumer("g", "none", 0, 0)
	l.commits["orders-0"] = 0
	l.at(0, c.Start)
	l.at(600*ms, func() { c.Commit(map[string]int64{"orders-0": 4}) })
	l.run(605 * ms)
	assert.Equal(t, int64(4), l.commits["orders-0"], "the coordinator has a connection of its own, though it leads orders-0 too")
}

func TestSeekDropsWhatIsOnItsWay(t *testing.T) {
	l := newLab(t)
	l.store("orders-0", 1)
	l.store("orders-0", 1)
	c := l.consumer("", "none", 0, 0, "auto.offset.reset", "earliest")
	l.at(0, c.Start)
	l.at(500*ms, func() { c.Seek("orders-0", 1) })
	l.run(2 * journal.Second)
	assert.Equal(t, []string{"[r1] 0", "[r2] 1", "[r2] 1"}, splitRecords(l.events(journal.ConsumerDeliver, "records", "offset")))
}

// splitRecords makes one line a record of deliveries.
func splitRecords(in []string) (out []string) {
	for _, s := range tails(in) {
		ids, off, _ := strings.Cut(strings.TrimPrefix(s, "["), "] ")
		var first int
		_, _ = fmt.Sscan(off, &first)
		for i, id := range strings.Fields(ids) {
			out = append(out, fmt.Sprintf("[%s] %d", id, first+i))
		}
	}
	return out
}

func heads(in []string) (out []string) {
	for _, s := range in {
		h, _, _ := strings.Cut(s, " ")
		out = append(out, h)
	}
	return out
}

func tails(in []string) (out []string) {
	for _, s := range in {
		_, rest, _ := strings.Cut(s, " ")
		out = append(out, rest)
	}
	return out
}
