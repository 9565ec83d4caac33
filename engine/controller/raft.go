package controller

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// maxFetchWait is KafkaRaftClient.MAX_FETCH_WAIT_MS.
const maxFetchWait = 500 * journal.Millisecond

func (n *Node) handleFetch(r *sim.Request, q *wire.FetchRequest) {
	p := q.Parts[0]
	if !n.active() {
		r.Reply(&wire.FetchResponse{Parts: []wire.FetchResult{{Part: metadataPart, ErrorCode: kafka.NotLeaderOrFollower,
			CurrentLeader: &wire.CurrentLeader{LeaderID: n.leader, LeaderEpoch: n.epoch}}}}, 0, false)
		return
	}
	// A voter's fetch offset is durable data; the answer already carries the
	// high watermark that it moves.
	if _, voter := n.ends[q.ReplicaID]; voter && p.FetchOffset > n.ends[q.ReplicaID] {
		n.ends[q.ReplicaID] = p.FetchOffset
		n.advance()
	}
	f := &parkedFetch{r: r, q: q}
	if n.news(f) {
		n.answer(f)
		return
	}
	f.timer = n.proc.After(maxFetchWait, func() { n.expire(f) })
	n.parked = append(n.parked, f)
}

// news: there are records, or a high watermark that the fetcher has not heard
// of (KIP-1166).
func (n *Node) news(f *parkedFetch) bool {
	p := f.q.Parts[0]
	return p.FetchOffset < n.leo || p.HighWatermark != nil && *p.HighWatermark < min(n.hw, p.FetchOffset)
}

func (n *Node) answer(f *parkedFetch) {
	f.timer.Stop()
	p := f.q.Parts[0]
	res := wire.FetchResult{Part: metadataPart, HighWatermark: n.hw, LastStableOffset: n.hw}
	chatter := true
	for _, b := range n.since(p.FetchOffset) {
		res.Meta = append(res.Meta, b)
		chatter = chatter && idle(b.Records)
	}
	if p.HighWatermark != nil {
		for _, b := range n.since(*p.HighWatermark) {
			if b.Last() < n.hw && !idle(b.Records) {
				chatter = false
			}
		}
	}
	f.r.Reply(&wire.FetchResponse{Parts: []wire.FetchResult{res}}, 0, chatter)
}

// since are the batches that end at or after an offset.
func (n *Node) since(offset int64) []wire.MetaBatch {
	i := len(n.log)
	for i > 0 && n.log[i-1].Last() >= offset {
		i--
	}
	return n.log[i:]
}

func (n *Node) answerParked() {
	cause := n.w.Cause()
	parked := n.parked
	n.parked = nil
	for _, f := range parked {
		if n.news(f) {
			n.w.Because(cause, func() { n.answer(f) })
			continue
		}
		n.parked = append(n.parked, f)
	}
}

func (n *Node) expire(f *parkedFetch) {
	for i, x := range n.parked {
		if x == f {
			n.parked = append(n.parked[:i], n.parked[i+1:]...)
			n.answer(f)
			return
		}
	}
}

// Park takes a Fetch that waits here since before the run.
func (n *Node) Park(r *sim.Request, left journal.Time) {
	f := &parkedFetch{r: r, q: r.Body.(*wire.FetchRequest)}
	f.timer = n.proc.After(left, func() { n.expire(f) })
	f.timer.Because(1)
	n.parked = append(n.parked, f)
}

// ParkFetches leaves the voter's waiting Fetch at the leader.
func (n *Node) ParkFetches(leader *Node, left journal.Time) []string {
	if n.active() {
		return nil
	}
	n.conn = n.w.Connect(n.proc, leader.proc, "raft")
	n.busy = true
	leader.Park(n.conn.Resting(n.poll()), left)
	return []string{"Fetch " + n.name + "→" + leader.name}
}

func (n *Node) poll() *sim.Call {
	hw := n.hw
	return &sim.Call{API: kafka.Fetch, Part: metadataPart, Chatter: true, Timeout: journal.Millis(n.cfg.Millis("controller.quorum.request.timeout.ms")),
		Timer: "controller.quorum.request.timeout.ms", Done: n.fetched,
		Body: &wire.FetchRequest{ReplicaID: n.id, ReplicaEpoch: -1, MaxWaitMs: 500, SessionEpoch: -1, Parts: []wire.FetchPart{{
			Part: metadataPart, CurrentLeaderEpoch: n.epoch, FetchOffset: n.leo, LastFetchedEpoch: n.epoch, HighWatermark: &hw}}}}
}

// fetched appends what the leader sent and asks again at once.
func (n *Node) fetched(res sim.Result) {
	n.busy = false
	if res.Outcome == sim.Answered {
		n.heard = n.w.Now()
	} else {
		n.conn = nil
		n.proc.After(20*journal.Millisecond, n.fetch)
		return
	}
	p := res.Body.(*wire.FetchResponse).Parts[0]
	if p.ErrorCode != kafka.None {
		n.proc.After(20*journal.Millisecond, n.fetch)
		return
	}
	chatter := true
	for _, b := range p.Meta {
		if b.BaseOffset != n.leo {
			continue
		}
		n.log = append(n.log, b)
		n.leo = b.Last() + 1
		chatter = chatter && idle(b.Records)
	}
	from := n.hw
	n.hw = max(n.hw, min(p.HighWatermark, n.leo))
	for _, b := range n.since(from) {
		for i := range b.Records {
			if off := b.BaseOffset + int64(i); off >= from && off < n.hw {
				n.done.Apply(&b.Records[i], off)
				chatter = chatter && b.Records[i].Type == "NoOpRecord"
			}
		}
	}
	if len(p.Meta) > 0 || n.hw != from {
		n.w.Emit(journal.Event{Kind: journal.MetadataApply, Node: n.name, Chatter: chatter, F: journal.F("offset", n.leo-1),
			Ch: []journal.Change{{Key: journal.NodeKey(n.name, "leo"), Val: n.leo}, {Key: journal.NodeKey(n.name, "commit"), Val: n.hw}}})
	}
	n.quiet = chatter
	n.fetch()
}

func (n *Node) fetch() {
	if n.busy || n.active() || n.leader < 0 {
		return
	}
	if n.conn.Open() {
		n.busy = true
		call := n.poll()
		call.Chatter = n.quiet
		n.conn.Call(call)
		return
	}
	n.busy = true
	to := n.w.Process(kafka.NodeName(kafka.BrokerID(n.leader)))
	n.w.Dial(n.proc, to, "raft", 10*journal.Second, func(c *sim.Conn) {
		n.busy = false
		n.conn = c
		if c == nil {
			n.proc.After(20*journal.Millisecond, n.fetch)
			return
		}
		n.fetch()
	})
}
