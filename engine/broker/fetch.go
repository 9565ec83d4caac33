package broker

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

func splitPart(part string) (string, int) { return image.Split(part) }

// sessions are the fetch sessions of a broker (FetchSession, KIP-227): a
// request names only partitions that changed, an answer only those with news.
type sessions struct {
	next int32
	byID map[int32]*session
}

func newSessions() sessions { return sessions{next: 1, byID: map[int32]*session{}} }

type session struct {
	id    int32
	epoch int32
	parts []string // in the order in which they were added, or brought records last
	at    map[string]*sessionPart
}

type sessionPart struct {
	q  wire.FetchPart
	hw int64 // last answered; −1 none
	lo int64
}

func (ss *sessions) open() *session {
	s := &session{id: ss.next, epoch: 1, at: map[string]*sessionPart{}}
	ss.next++
	ss.byID[s.id] = s
	return s
}

func (s *session) merge(q *wire.FetchRequest) {
	for _, part := range q.Forgotten {
		delete(s.at, part)
		s.parts = slices.DeleteFunc(s.parts, func(p string) bool { return p == part })
	}
	for _, p := range q.Parts {
		if sp := s.at[p.Part]; sp != nil {
			sp.q = p
			continue
		}
		s.at[p.Part] = &sessionPart{q: p, hw: -1, lo: -1}
		s.parts = append(s.parts, p.Part)
	}
}

// last puts a partition at the end, so that one with much to read does not fill
// every answer (FetchSession's PartitionIterator).
func (s *session) last(part string) {
	i := slices.Index(s.parts, part)
	s.parts = append(slices.Delete(s.parts, i, i+1), part)
}

// delayedFetch waits until there is something to say (DelayedFetch).
type delayedFetch struct {
	n     *Node
	req   *sim.Request
	q     *wire.FetchRequest
	s     *session
	full  bool // the answer lists every partition
	timer *sim.Timer
	done  bool
}

func (n *Node) handleFetch(r *sim.Request, q *wire.FetchRequest) {
	s, full := n.sessions.byID[q.SessionID], false
	switch {
	case q.SessionEpoch == 0 || q.SessionEpoch == -1:
		if s != nil {
			delete(n.sessions.byID, s.id)
		}
		s, full = n.sessions.open(), true
	case s == nil:
		r.Reply(&wire.FetchResponse{ErrorCode: kafka.FetchSessionIDNotFound}, 0, false)
		return
	case s.epoch != q.SessionEpoch:
		r.Reply(&wire.FetchResponse{ErrorCode: kafka.InvalidFetchSessionEpoch}, 0, false)
		return
	default:
		s.epoch++
	}
	s.merge(q)
	d := &delayedFetch{n: n, req: r, q: q, s: s, full: full}
	// Read first, then take the fetch offsets as receipts: an immediate answer
	// carries the high watermark from before this request.
	results, bytes, urgent := d.read()
	defer func() { d.keep(results) }()
	if q.ReplicaID >= 0 {
		n.takeReceipts(d, results)
	}
	if bytes >= max(q.MinBytes, 1) || urgent || q.MaxWaitMs == 0 || full && len(s.parts) == 0 {
		d.answer(results, bytes)
		return
	}
	d.timer = n.proc.After(journal.Millis(q.MaxWaitMs), d.expire)
	d.watch()
}

// watch puts the fetch into the purgatory of its partitions.
func (d *delayedFetch) watch() {
	name := "DelayedFetch " + d.req.From
	for _, part := range d.s.parts {
		if h := d.n.replicas[part]; h != nil {
			h.fetches = append(h.fetches, d)
			// Most fetches come back to where the last one waited: nothing new to tell.
			if shown, _ := h.sent[h.keys.waiting].(string); d.req.RecvN > 1 && !strings.Contains(shown, name) {
				d.n.w.Attach(d.req.RecvN, h.diff())
			}
		}
	}
}

// read is ReplicaManager.readFromLog for all partitions of the session. All
// together bring at most MaxBytes; only the first batch of the answer may be
// larger.
//
// The results lie in a buffer of the broker until keep gives it back: most
// fetches find nothing, for every partition of their session.
func (d *delayedFetch) read() (results []wire.FetchResult, bytes int, urgent bool) {
	results, d.n.results = d.n.results[:0], nil
	for _, part := range d.s.parts {
		sp := d.s.at[part]
		res := d.readOne(sp, max(d.q.MaxBytes-bytes, 0), bytes == 0)
		for _, b := range res.Records {
			bytes += b.Bytes
		}
		urgent = urgent || res.ErrorCode != kafka.None || res.DivergingEpoch != nil
		results = append(results, res)
	}
	return results, bytes, urgent
}

func (d *delayedFetch) readOne(sp *sessionPart, limit int, one bool) wire.FetchResult {
	n, q := d.n, sp.q
	res := wire.FetchResult{Part: q.Part, HighWatermark: -1, LastStableOffset: -1, LogStartOffset: -1}
	h := n.leads(q.Part)
	switch {
	case h == nil:
		res.ErrorCode, res.CurrentLeader = n.leaderError(q.Part)
		if p := n.img.Partition(q.Part); p != nil && q.CurrentLeaderEpoch >= 0 && q.CurrentLeaderEpoch < p.LeaderEpoch && n.replicas[q.Part] != nil {
			res.ErrorCode = kafka.FencedLeaderEpoch
		}
		return res
	case q.CurrentLeaderEpoch >= 0 && q.CurrentLeaderEpoch < h.rep.LeaderEpoch():
		res.ErrorCode = kafka.FencedLeaderEpoch
		res.CurrentLeader = &wire.CurrentLeader{LeaderID: n.id, LeaderEpoch: h.rep.LeaderEpoch()}
		return res
	case q.CurrentLeaderEpoch > h.rep.LeaderEpoch(), d.q.ReplicaID >= 0 && !h.rep.Assigned(d.q.ReplicaID):
		res.ErrorCode = kafka.UnknownLeaderEpoch
		return res
	}
	log := h.log
	res.HighWatermark, res.LastStableOffset, res.LogStartOffset = log.HW(), log.HW(), log.LogStart()
	if q.FetchOffset < log.LogStart() {
		res.ErrorCode = kafka.OffsetOutOfRange
		return res
	}
	end := log.HW()
	if d.q.ReplicaID >= 0 {
		end = log.LEO()
		if q.LastFetchedEpoch >= 0 {
			div, ok := replica.Diverging(log.Epochs(), log.LEO(), q.LastFetchedEpoch, q.FetchOffset)
			if !ok {
				res.ErrorCode = kafka.OffsetOutOfRange
				return res
			}
			if div != nil {
				res.DivergingEpoch = &wire.EpochEnd{Epoch: div.Epoch, EndOffset: div.EndOffset}
				return res
			}
		}
	}
	if q.FetchOffset > log.LEO() {
		res.ErrorCode = kafka.OffsetOutOfRange
		return res
	}
	for _, b := range log.Read(q.FetchOffset, end, min(q.PartitionMaxBytes, limit), one) {
		res.Records = append(res.Records, toWire(b))
	}
	return res
}

// keep gives the buffer of read back.
func (d *delayedFetch) keep(results []wire.FetchResult) { d.n.results = results }

// takeReceipts is Partition.updateFollowerFetchState: the fetch offset says that
// the follower has everything below it.
func (n *Node) takeReceipts(d *delayedFetch, results []wire.FetchResult) {
	cause, q, s := n.w.Cause(), d.q, d.s
	for i := range results {
		res := &results[i]
		if res.ErrorCode != kafka.None || res.DivergingEpoch != nil {
			continue
		}
		h := n.replicas[res.Part]
		offset := s.at[res.Part].q.FetchOffset
		n.w.Because(cause, func() {
			moved, errName := h.rep.UpdateFollowerFetchState(q.ReplicaID, offset, int64(n.w.Now()), q.ReplicaEpoch)
			if errName != "" {
				res.ErrorCode, _ = kafka.ParseErrorCode(errName)
				res.Records = nil
				return
			}
			if moved {
				n.w.Attach(d.req.RecvN, h.diff())
			}
			if item := h.rep.MaybeExpandISR(q.ReplicaID); item != nil {
				n.propose(h, item, "expand")
			}
			if moved {
				h.advanceHW()
			}
		})
	}
}

// answer sends what is new to the session.
func (d *delayedFetch) answer(results []wire.FetchResult, bytes int) {
	d.done = true
	d.timer.Stop()
	resp := &wire.FetchResponse{SessionID: d.s.id}
	news := false
	for _, res := range results {
		sp := d.s.at[res.Part]
		changed := len(res.Records) > 0 || res.ErrorCode != kafka.None || res.DivergingEpoch != nil || res.HighWatermark != sp.hw || res.LogStartOffset != sp.lo
		if !changed && !d.full {
			continue
		}
		news = news || changed
		if res.ErrorCode == kafka.None {
			sp.hw, sp.lo = res.HighWatermark, res.LogStartOffset
		}
		resp.Parts = append(resp.Parts, res)
		if len(res.Records) > 0 && !d.full {
			d.s.last(res.Part)
		}
	}
	for _, part := range d.s.parts {
		if h := d.n.replicas[part]; h != nil {
			h.fetches = without(h.fetches, d)
		}
	}
	d.req.Part = mainPart(resp)
	d.req.Reply(resp, bytes, !news)
}

// mainPart is the first partition with data, else the first.
func mainPart(r *wire.FetchResponse) string {
	for _, p := range r.Parts {
		if len(p.Records) > 0 {
			return p.Part
		}
	}
	if len(r.Parts) > 0 {
		return r.Parts[0].Part
	}
	return ""
}

func (d *delayedFetch) expire() {
	results, bytes, _ := d.read()
	d.answer(results, bytes)
	d.keep(results)
}

// tryComplete answers if there are enough bytes, or an error to tell.
func (d *delayedFetch) tryComplete() {
	if d.done {
		return
	}
	results, bytes, urgent := d.read()
	if bytes >= max(d.q.MinBytes, 1) || urgent {
		d.answer(results, bytes)
	}
	d.keep(results)
}

func (h *hosted) completeFetches() {
	cause := h.n.w.Cause()
	for _, d := range append([]*delayedFetch(nil), h.fetches...) {
		h.n.w.Because(cause, d.tryComplete)
	}
}
