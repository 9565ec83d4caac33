package client

import (
	"maps"
	"slices"
	"sort"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// consumerFetch is the fetch session with one leader (FetchSessionHandler).
type consumerFetch struct {
	node    string
	busy    bool
	session int32
	epoch   int32
	sent    map[string]wire.FetchPart
}

// FormedFetch is a Fetch that waits at a leader since before the run.
type FormedFetch struct {
	Leader int32
	Conn   *sim.Conn
	Call   *sim.Call
	Parts  []wire.FetchPart
	Opened func(session int32)
}

// FormedFetches are the resting Fetches, one a leader.
func (c *Consumer) FormedFetches() []FormedFetch {
	var out []FormedFetch
	for _, node := range c.leaders() {
		f := c.fetcher(node)
		all := c.partsOf(node)
		for _, p := range all {
			f.sent[p.Part] = p
		}
		call := c.fetchCall(f, c.request(f))
		call.Timeout, call.Timer = c.requestTimeout(), "request.timeout.ms"
		f.busy = true
		out = append(out, FormedFetch{Leader: int32(kafka.NodeID(node)), Conn: c.nodes[node].conn, Call: call, Parts: all,
			Opened: func(s int32) { f.session, f.epoch = s, 1 }})
	}
	return out
}

// leaders are the nodes that lead assigned partitions, in order.
func (c *Consumer) leaders() []string {
	var ns []string
	for _, part := range c.assign {
		if n := c.leader(part); n != "" && !slices.Contains(ns, n) {
			ns = append(ns, n)
		}
	}
	sort.Strings(ns)
	return ns
}

func (c *Consumer) fetcher(node string) *consumerFetch {
	f := c.fetchers[node]
	if f == nil {
		f = &consumerFetch{node: node, sent: map[string]wire.FetchPart{}}
		c.fetchers[node] = f
	}
	return f
}

// partsOf is what is to be fetched from a node now.
func (c *Consumer) partsOf(node string) []wire.FetchPart {
	var ps []wire.FetchPart
	for _, part := range c.assign {
		pos, ok := c.pos[part]
		if !ok || c.leader(part) != node || c.check[part] || c.paused[part] || c.revoking[part] {
			continue
		}
		epoch := c.meta[part].LeaderEpoch
		if h, held := c.held[part]; held && h.until > c.w.Now() && epoch <= h.epoch {
			continue
		}
		ps = append(ps, wire.FetchPart{Part: part, CurrentLeaderEpoch: epoch, FetchOffset: pos, LastFetchedEpoch: -1, LogStartOffset: -1,
			PartitionMaxBytes: int(c.cfg.Int("max.partition.fetch.bytes"))})
	}
	return ps
}

func (c *Consumer) isolation() int8 {
	if c.cfg.String("isolation.level") == "read_committed" {
		return 1
	}
	return 0
}

// request names the partitions that changed since the last one of the session
// (KIP-227).
func (c *Consumer) request(f *consumerFetch) *wire.FetchRequest {
	q := &wire.FetchRequest{ReplicaID: -1, ReplicaEpoch: -1, MaxWaitMs: c.cfg.Millis("fetch.max.wait.ms"), MinBytes: int(c.cfg.Int("fetch.min.bytes")),
		MaxBytes: int(c.cfg.Int("fetch.max.bytes")), Isolation: c.isolation(), SessionID: f.session, SessionEpoch: f.epoch}
	now := map[string]bool{}
	for _, p := range c.partsOf(f.node) {
		now[p.Part] = true
		if old, ok := f.sent[p.Part]; ok && old == p {
			continue
		}
		f.sent[p.Part] = p
		q.Parts = append(q.Parts, p)
	}
	for _, part := range slices.Sorted(maps.Keys(f.sent)) {
		if !now[part] {
			q.Forgotten = append(q.Forgotten, part)
			delete(f.sent, part)
		}
	}
	return q
}

func (c *Consumer) fetchCall(f *consumerFetch, q *wire.FetchRequest) *sim.Call {
	part := ""
	if len(q.Parts) > 0 {
		part = q.Parts[0].Part
	}
	return &sim.Call{API: kafka.Fetch, Body: q, Part: part, Chatter: len(q.Parts) == 0, Done: func(r sim.Result) { c.fetched(f, r) }}
}

// fetch sends the next Fetch to a leader, in the background: when the answer of
// the one before is polled (AbstractFetch.prepareFetchRequests leaves out nodes
// whose records are still buffered).
func (c *Consumer) fetch(node string) {
	f := c.fetcher(node)
	if f.busy || len(c.partsOf(node)) == 0 || slices.ContainsFunc(c.buffer, func(p buffered) bool { return p.node == node }) {
		return
	}
	if conn := c.ready(node); conn != nil {
		f.busy = true
		c.call(conn, c.fetchCall(f, c.request(f)))
	}
}

func (c *Consumer) fetched(f *consumerFetch, r sim.Result) {
	f.busy = false
	if c.closed {
		return
	}
	a, answered := r.Body.(*wire.FetchResponse)
	if !answered || a.ErrorCode != kafka.None {
		c.restart(f)
		c.lost(f.node)
		c.step()
		return
	}
	if f.epoch == 0 {
		f.session = a.SessionID
	}
	f.epoch++
	if a.SessionID == 0 {
		c.restart(f) // the leader keeps no session
	}
	cause := c.w.Cause()
	for _, p := range a.Parts {
		c.w.Because(cause, func() { c.take(f, p) })
	}
	c.w.Because(cause, c.deliver)
	c.step()
}

// restart begins a new fetch session.
func (c *Consumer) restart(f *consumerFetch) {
	f.session, f.epoch = 0, 0
	f.sent = map[string]wire.FetchPart{}
}

// take is FetchCollector for one partition of an answer.
func (c *Consumer) take(f *consumerFetch, p wire.FetchResult) {
	pos, ok := c.pos[p.Part]
	if sent, asked := f.sent[p.Part]; !ok || asked && sent.FetchOffset != pos {
		return // a seek or a reset in between
	}
	switch p.ErrorCode {
	case kafka.None:
	case kafka.OffsetOutOfRange:
		delete(c.pos, p.Part)
		c.resets[p.Part] = outOfRange
		return
	default:
		c.holdBack(p.Part)
		c.hint(p.Part, p.CurrentLeader)
		c.refresh()
		return
	}
	if len(p.Records) == 0 {
		return
	}
	if end := p.Records[len(p.Records)-1].Last() + 1; end > pos {
		c.pos[p.Part] = end
		c.buffer = append(c.buffer, buffered{p, f.node})
	}
}

// holdBack leaves a partition alone for retry.backoff.ms.
func (c *Consumer) holdBack(part string) {
	wait := c.retryBackoff(0)
	c.held[part] = hold{c.w.Now() + wait, c.meta[part].LeaderEpoch}
	c.proc.After(wait, c.step)
}
