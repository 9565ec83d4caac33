package controller

import (
	"fmt"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// maxFetchWait is KafkaRaftClient.MAX_FETCH_WAIT_MS.
const maxFetchWait = 500 * journal.Millisecond

type parkedFetch struct {
	r     *sim.Request
	q     *wire.FetchRequest
	timer *sim.Timer
}

// leaderError is the error for a request that only the leader of an epoch serves
// (KafkaRaftClient.validateLeaderOnlyRequest).
func (n *Node) leaderError(epoch int32) kafka.ErrorCode {
	switch {
	case epoch < n.q.Epoch:
		return kafka.FencedLeaderEpoch
	case epoch > n.q.Epoch:
		return kafka.UnknownLeaderEpoch
	case n.q.Role != Leader:
		return kafka.NotLeaderOrFollower
	}
	return kafka.None
}

func (n *Node) currentLeader() *wire.CurrentLeader {
	return &wire.CurrentLeader{LeaderID: n.q.Leader, LeaderEpoch: n.q.Epoch}
}

// refuseFetch tells who leads, if anybody does. It is no news where the epoch is
// the same.
func (n *Node) refuseFetch(r *sim.Request, q *wire.FetchRequest, code kafka.ErrorCode) {
	r.Reply(&wire.FetchResponse{Parts: []wire.FetchResult{{Part: metadataPart, ErrorCode: code, HighWatermark: -1, LastStableOffset: -1, CurrentLeader: n.currentLeader()}}},
		0, r.Chatter && code == kafka.NotLeaderOrFollower)
}

func (n *Node) handleFetch(r *sim.Request, q *wire.FetchRequest) {
	p := q.Parts[0]
	if code := n.leaderError(p.CurrentLeaderEpoch); code != kafka.None {
		n.refuseFetch(r, q, code)
		return
	}
	if n.lead.heard(q.ReplicaID) {
		n.extend(n.checkQuorumTimeout())
	}
	if snap, diverging := n.log.check(p.FetchOffset, p.LastFetchedEpoch); snap != nil || diverging != nil {
		r.Reply(&wire.FetchResponse{Parts: []wire.FetchResult{{Part: metadataPart, HighWatermark: n.lead.hw, LastStableOffset: n.lead.hw, LogStartOffset: n.log.base.Offset,
			DivergingEpoch: diverging, SnapshotID: snap}}}, 0, false)
		return
	}
	// A voter's fetch offset is durable data; the answer already carries the
	// high watermark that it moves.
	n.learnEnd(q.ReplicaID, p.FetchOffset)
	f := &parkedFetch{r: r, q: q}
	if n.news(f) {
		n.answerFetch(f)
		return
	}
	f.timer = n.proc.After(maxFetchWait, func() { n.expire(f) })
	n.parked = append(n.parked, f)
}

// news: there are records, or a high watermark that the fetcher has not heard
// of (KIP-1166).
func (n *Node) news(f *parkedFetch) bool {
	p := f.q.Parts[0]
	return p.FetchOffset < n.leo() || p.HighWatermark != nil && *p.HighWatermark < min(n.lead.hw, p.FetchOffset)
}

func (n *Node) answerFetch(f *parkedFetch) {
	f.timer.Stop()
	p := f.q.Parts[0]
	res := wire.FetchResult{Part: metadataPart, HighWatermark: n.lead.hw, LastStableOffset: n.lead.hw, LogStartOffset: n.log.base.Offset}
	chatter := true
	for _, b := range n.log.since(p.FetchOffset) {
		res.Meta = append(res.Meta, b)
		chatter = chatter && idle(b.Records)
	}
	if p.HighWatermark != nil {
		for _, b := range n.log.since(*p.HighWatermark) {
			if b.Last() < n.lead.hw && !idle(b.Records) {
				chatter = false
			}
		}
	}
	f.r.Reply(&wire.FetchResponse{Parts: []wire.FetchResult{res}}, 0, chatter)
}

func (n *Node) answerParked() {
	cause := n.w.Cause()
	parked := n.parked
	n.parked = nil
	for _, f := range parked {
		if n.news(f) {
			n.w.Because(cause, func() { n.answerFetch(f) })
			continue
		}
		n.parked = append(n.parked, f)
	}
}

// dropParked sends the waiting fetches away: somebody else leads, or nobody.
func (n *Node) dropParked() {
	cause := n.w.Cause()
	parked := n.parked
	n.parked = nil
	for _, f := range parked {
		f.timer.Stop()
		n.w.Because(cause, func() { n.refuseFetch(f.r, f.q, kafka.NotLeaderOrFollower) })
	}
}

func (n *Node) expire(f *parkedFetch) {
	for i, x := range n.parked {
		if x == f {
			n.parked = append(n.parked[:i], n.parked[i+1:]...)
			n.answerFetch(f)
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
	if n.Leads() {
		return nil
	}
	p, call := n.peers[leader.id], n.fetchCall()
	call.Chatter, n.polling = true, true
	p.prepare(call, func(body any) { n.fetched(p, body) })
	leader.Park(p.Resting(call), left)
	return []string{"Fetch " + n.name + "→" + leader.name}
}

func (n *Node) fetchCall() *sim.Call {
	hw, end := n.hw, n.log.end()
	return &sim.Call{API: kafka.Fetch, Chatter: n.quiet,
		Body: &wire.FetchRequest{ReplicaID: n.id, ReplicaEpoch: -1, MaxWaitMs: 500, SessionEpoch: -1, Parts: []wire.FetchPart{{
			Part: metadataPart, CurrentLeaderEpoch: n.q.Epoch, FetchOffset: end.Offset, LastFetchedEpoch: end.Epoch, HighWatermark: &hw}}}}
}

// fetch asks the leader for what follows, or any other voter who the leader is:
// where none is known, and where the known one does not answer
// (KafkaRaftClient.maybeSendFetchToBestNode).
func (n *Node) fetch() {
	if n.polling || n.q.Role != Follower && n.q.Role != Unattached {
		return
	}
	p := n.peers[n.q.Leader]
	if p == nil || !p.Ready() {
		p = n.anyReady()
	}
	if p == nil {
		n.fetchLater()
		return
	}
	call := n.fetchCall()
	if p.id == n.q.Leader && n.wanted != nil {
		call = &sim.Call{API: kafka.FetchSnapshot, Body: &wire.FetchSnapshotRequest{ReplicaID: n.id, CurrentLeaderEpoch: n.q.Epoch, SnapshotID: *n.wanted}}
	}
	n.polling = true
	p.send(call, func(body any) { n.fetched(p, body) })
}

// anyReady is a voter at random that does not back off, nil if all do.
func (n *Node) anyReady() *peer {
	vs := n.q.Voters
	at := int(n.w.Stream(n.name, "bootstrap").Intn(int64(len(vs))))
	for i := range vs {
		if p := n.peers[vs[(at+i)%len(vs)]]; p != nil && p.Ready() {
			return p
		}
	}
	return nil
}

// fetchLater asks again after controller.quorum.retry.backoff.ms.
func (n *Node) fetchLater() {
	n.polling = true
	turn := n.turn
	n.proc.After(n.millis("controller.quorum.retry.backoff.ms"), func() {
		if n.turn == turn {
			n.polling = false
			n.fetch()
		}
	})
}

// fetched takes the answer and asks again at once, unless there was none.
func (n *Node) fetched(p *peer, body any) {
	n.polling = false
	turn := n.turn
	if r, ok := body.(*wire.FetchResponse); ok && n.take(p.id, &r.Parts[0]) {
		n.fetch()
		return
	}
	if r, ok := body.(*wire.FetchSnapshotResponse); ok && n.takeSnapshot(r) {
		n.fetch()
		return
	}
	if n.turn == turn {
		n.quiet = true
		n.fetchLater()
	}
}

// take follows one answer of a Fetch (KafkaRaftClient.handleFetchResponse). False:
// it did not come from the leader.
func (n *Node) take(sender int32, p *wire.FetchResult) bool {
	c := wire.CurrentLeader{LeaderID: sender, LeaderEpoch: n.q.Epoch} // without an error it is the leader who answers
	if p.CurrentLeader != nil {
		c = *p.CurrentLeader
	}
	if n.hear(p.ErrorCode, c.LeaderEpoch, c.LeaderID) {
		return false
	}
	if p.ErrorCode != kafka.None || n.q.Role != Follower {
		return false
	}
	n.q.Fetched = true
	n.extend(n.fetchTimeout())
	switch {
	case p.SnapshotID != nil:
		n.wanted = p.SnapshotID
		return true
	case p.DivergingEpoch != nil:
		n.truncate(*p.DivergingEpoch)
		return true
	}
	chatter := true
	for _, b := range p.Meta {
		if b.BaseOffset != n.leo() {
			continue
		}
		n.log.batches = append(n.log.batches, b)
		chatter = chatter && idle(b.Records)
	}
	from := n.hw
	n.hw = max(n.hw, min(p.HighWatermark, n.leo()))
	recs, _ := n.replay(from)
	for _, r := range recs {
		chatter = chatter && r.Type == "NoOpRecord"
	}
	if len(p.Meta) > 0 || n.hw != from {
		n.w.Emit(journal.Event{Kind: journal.MetadataApply, Node: n.name, Chatter: chatter, F: journal.F("offset", n.leo()-1), Ch: n.logKeys()})
	}
	n.quiet = chatter
	return true
}

func (n *Node) logKeys() []journal.Change {
	return []journal.Change{{Key: journal.NodeKey(n.name, "leo"), Val: n.leo()}, {Key: journal.NodeKey(n.name, "commit"), Val: n.hw}}
}

// truncate cuts off what the leader does not have. Nothing of it can be committed.
func (n *Node) truncate(leader wire.EpochEnd) {
	from, to := n.leo(), n.log.truncationPoint(leader)
	if to < n.hw {
		n.w.Fail(fmt.Errorf("controller %s would cut its metadata log at offset %d, below its high watermark %d", n.name, to, n.hw))
		return
	}
	n.log.truncate(to)
	n.quiet = false
	n.w.Emit(journal.Event{Kind: journal.MetadataTruncate, Node: n.name, F: journal.F("to", to, "from", from), Ch: n.logKeys()})
}
