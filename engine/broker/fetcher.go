package broker

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// fetcher is the thread that copies from one leader: one Fetch in flight for all
// its partitions (ReplicaFetcherThread with num.replica.fetchers 1).
type fetcher struct {
	n          *Node
	leader     int32
	conn       *sim.Conn
	setupFails int  // in a row
	busy       bool // a request in flight, or a connection being opened

	sessionID    int32
	sessionEpoch int32
	parts        []string
	at           map[string]*fetchState
	forget       []string // in the leader's session, but not fetched any more
	backoff      *sim.Timer
}

type fetchState struct {
	leaderEpoch int32
	sent        *wire.FetchPart // what the session holds; nil: not in it
	delayed     journal.Time    // no fetch before
	failed      bool            // fenced: waits for new metadata
}

func (n *Node) fetcherFor(leader int32) *fetcher {
	f := n.fetchers[leader]
	if f == nil {
		f = &fetcher{n: n, leader: leader, at: map[string]*fetchState{}}
		n.fetchers[leader] = f
	}
	return f
}

func (f *fetcher) add(part string, leaderEpoch int32) {
	if st := f.at[part]; st != nil {
		st.leaderEpoch, st.failed = leaderEpoch, false
		return
	}
	f.at[part] = &fetchState{leaderEpoch: leaderEpoch}
	f.forget = without(f.forget, part)
	f.parts = append(f.parts, part)
}

func (f *fetcher) remove(part string) {
	st := f.at[part]
	if st == nil {
		return
	}
	if st.sent != nil {
		f.forget = append(f.forget, part)
	}
	delete(f.at, part)
	f.parts = slices.DeleteFunc(f.parts, func(p string) bool { return p == part })
}

// next sends the next Fetch if none is in flight; a partition added meanwhile
// goes out with it.
func (f *fetcher) next() {
	if f.busy || len(f.parts) == 0 {
		return
	}
	q, news := f.request()
	if q == nil {
		return
	}
	if !f.conn.Open() {
		f.open()
		return
	}
	f.send(q, !news)
}

func (f *fetcher) open() {
	f.busy = true
	f.newSession()
	to := f.n.w.Process(kafka.NodeName(kafka.BrokerID(f.leader)))
	f.n.w.Dial(f.n.proc, to, "replica", f.setupTimeout(), func(c *sim.Conn) {
		f.busy = false
		if c == nil {
			f.setupFails++
			f.failed()
			return
		}
		f.conn, f.setupFails = c, 0
		f.next()
	})
}

// newSession begins the next Fetch with all partitions.
func (f *fetcher) newSession() {
	f.sessionID, f.sessionEpoch, f.forget = 0, 0, nil
	for _, st := range f.at {
		st.sent = nil
	}
}

// setupTimeout is what a connection that nobody answers costs: 10 s, then twice
// that, at most 30 s, each with 20 per cent jitter (ClusterConnectionStates).
func (f *fetcher) setupTimeout() journal.Time {
	d := f.n.cfg.Millis("socket.connection.setup.timeout.ms")
	most := f.n.cfg.Millis("socket.connection.setup.timeout.max.ms")
	for i := 0; i < f.setupFails && d < most; i++ {
		d *= 2
	}
	return journal.Time(f.n.w.Stream(f.n.name, "setup").Around(min(d, most)*1000, 20))
}

// request builds the incremental Fetch; news says whether it tells the leader
// something. Nil: nothing to fetch now.
func (f *fetcher) request() (*wire.FetchRequest, bool) {
	n := f.n
	q := &wire.FetchRequest{ReplicaID: n.id, ReplicaEpoch: n.epoch, MaxWaitMs: n.cfg.Millis("replica.fetch.wait.max.ms"),
		MinBytes: int(n.cfg.Int("replica.fetch.min.bytes")), MaxBytes: int(n.cfg.Int("replica.fetch.response.max.bytes")),
		SessionID: f.sessionID, SessionEpoch: f.sessionEpoch, Forgotten: f.forget}
	f.forget = nil
	active, perPart := 0, int(n.cfg.Int("replica.fetch.max.bytes"))
	for _, part := range f.parts {
		st, h := f.at[part], n.replicas[part]
		if st.failed || st.delayed > n.w.Now() {
			if st.sent != nil {
				q.Forgotten = append(q.Forgotten, part)
				st.sent = nil
			}
			continue
		}
		active++
		p := wire.FetchPart{Part: part, CurrentLeaderEpoch: st.leaderEpoch, FetchOffset: h.log.LEO(), LastFetchedEpoch: h.log.Epochs().Latest(),
			LogStartOffset: h.log.LogStart(), PartitionMaxBytes: perPart}
		if st.sent != nil && *st.sent == p {
			continue
		}
		st.sent = &p
		q.Parts = append(q.Parts, p)
	}
	if active == 0 && len(q.Forgotten) == 0 {
		return nil, false
	}
	return q, len(q.Parts) > 0 || len(q.Forgotten) > 0
}

func (f *fetcher) send(q *wire.FetchRequest, chatter bool) {
	f.busy = true
	f.conn.Call(f.call(q, chatter))
}

func (f *fetcher) call(q *wire.FetchRequest, chatter bool) *sim.Call {
	part := ""
	if len(q.Parts) > 0 {
		part = q.Parts[0].Part
	}
	return &sim.Call{API: kafka.Fetch, Body: q, Part: part, Chatter: chatter, Timeout: journal.Millis(f.n.cfg.Millis("replica.socket.timeout.ms")),
		Timer: "replica.socket.timeout.ms", Done: f.answered}
}

func (f *fetcher) answered(res sim.Result) {
	f.busy = false
	if res.Outcome != sim.Answered {
		f.failed()
		return
	}
	r := res.Body.(*wire.FetchResponse)
	if r.ErrorCode != kafka.None {
		f.newSession()
		f.next()
		return
	}
	if f.sessionEpoch == 0 {
		f.sessionID = r.SessionID
	}
	f.sessionEpoch++
	wait := journal.Time(0)
	for _, p := range r.Parts {
		if len(p.Records) > 0 {
			wait = f.n.opt.Append
		}
	}
	f.busy = true
	f.n.proc.After(wait, func() {
		f.busy = false
		f.n.w.Because(f.process(r), f.next)
	})
}

// process is AbstractFetcherThread.processFetchRequest, partition by partition.
// It returns the last event, which enables the next Fetch.
func (f *fetcher) process(r *wire.FetchResponse) (last int) {
	cause := f.n.w.Cause()
	last = cause
	for i := range r.Parts {
		p := &r.Parts[i]
		st, h := f.at[p.Part], f.n.replicas[p.Part]
		if st == nil || h == nil || st.sent == nil || st.sent.CurrentLeaderEpoch != st.leaderEpoch {
			continue // the leader epoch changed meanwhile: dropped
		}
		f.n.w.Because(cause, func() {
			f.processOne(p, st, h)
			last = f.n.w.Cause()
		})
	}
	return last
}

func (f *fetcher) processOne(p *wire.FetchResult, st *fetchState, h *hosted) {
	switch p.ErrorCode {
	case kafka.None:
	case kafka.FencedLeaderEpoch:
		st.failed = true
		return
	default:
		f.delay(st)
		return
	}
	if p.DivergingEpoch != nil {
		to, _ := replica.TruncateTo(h.log.Epochs(), h.log.LEO(), replica.EpochEnd{Epoch: p.DivergingEpoch.Epoch, EndOffset: p.DivergingEpoch.EndOffset})
		h.truncate(to)
		return
	}
	for _, b := range p.Records {
		if b.BaseOffset != h.log.LEO() {
			return // an answer to an older offset
		}
		stored := h.log.AppendAsFollower(fromWire(b))
		op := logOp(stored)
		h.emit(journal.ReplicaAppend, false, journal.F("baseOffset", stored.Base, "count", len(stored.IDs), "epoch", stored.Epoch, "records", op.IDs),
			journal.Change{Key: h.keys.log, Val: op})
	}
	from := h.log.HW()
	if to := min(h.log.LEO(), p.HighWatermark); to != from {
		h.log.SetHW(to)
		h.emit(journal.HWLearn, false, journal.F("from", from, "to", to))
		h.completeFetches()
	}
}

func (h *hosted) truncate(to int64) {
	from := h.log.LEO()
	h.log.Truncate(to)
	to = h.log.LEO() // whole batches go, so the log may end lower
	h.emit(journal.ReplicaTruncate, false, journal.F("to", to, "from", from),
		journal.Change{Key: h.keys.log, Val: journal.LogOp{Op: journal.LogTruncate, Base: to}})
}

func (f *fetcher) delay(st *fetchState) {
	d := journal.Millis(f.n.cfg.Millis("replica.fetch.backoff.ms"))
	st.delayed = f.n.w.Now() + d
	f.n.proc.After(d, f.next)
}

// failed backs all partitions off after a broken connection or a time-out.
func (f *fetcher) failed() {
	f.backoff.Stop()
	f.conn = nil
	for _, part := range f.parts {
		f.at[part].delayed = f.n.w.Now() + journal.Millis(f.n.cfg.Millis("replica.fetch.backoff.ms"))
	}
	f.backoff = f.n.proc.After(journal.Millis(f.n.cfg.Millis("replica.fetch.backoff.ms")), f.next)
}
