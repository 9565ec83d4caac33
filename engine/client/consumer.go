package client

import (
	"slices"
	"sort"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Consumer is KafkaConsumer with partitions assigned by hand.
type Consumer struct {
	netClient
	group  string
	assign []string
	poll   journal.Time
	work   journal.Time
	commit string

	pos         map[string]int64 // fetch position: what is already here counts
	at          map[string]int64 // position of the application
	epochs      map[string]int32 // leader epoch of the last record consumed
	delivered   map[string]int64
	fetchers    map[string]*consumerFetch
	buffer      []wire.FetchResult
	busy        bool
	coordinator int32
	closed      bool
	polling     *sim.Timer
	asked       map[string]bool // a position look-up is on its way
}

type consumerFetch struct {
	node    string
	busy    bool
	session int32
	epoch   int32
	sent    map[string]wire.FetchPart
	after   journal.Time
}

// NewConsumer makes a consumer. poll is the pause between polls (0: as soon as
// records are there), work the time a record takes, commit "auto", "after",
// "before" or "none".
func NewConsumer(w *sim.World, proc *sim.Process, id, group string, cfg *kafka.Config, assign []string, poll, work journal.Time, commit string, brokers []string) *Consumer {
	c := &Consumer{netClient: newNetClient(w, proc, id, cfg, brokers), group: group, assign: assign, poll: poll, work: work, commit: commit,
		pos: map[string]int64{}, at: map[string]int64{}, epochs: map[string]int32{}, delivered: map[string]int64{}, fetchers: map[string]*consumerFetch{},
		coordinator: -1, asked: map[string]bool{}}
	for _, part := range assign {
		if topic, _ := image.Split(part); !slices.Contains(c.topics, topic) {
			c.topics = append(c.topics, topic)
		}
	}
	c.onMetadata = append(c.onMetadata, c.step)
	c.onReady = c.step
	return c
}

// Formed is a consumer at rest: it has read what there was.
func (c *Consumer) Formed(parts []wire.MetadataPart, positions map[string]int64, coordinator int32) {
	c.coordinator = coordinator
	for _, part := range c.assign {
		c.pos[part], c.at[part] = positions[part], positions[part]
		c.delivered[part] = 0
	}
	c.closed = true // nothing is sent before the run begins
	c.formed(parts)
	c.closed = false
	if coordinator > 0 {
		c.connect(kafka.NodeName(kafka.BrokerID(coordinator)))
	}
	c.autoCommit()
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
		all := c.parts(node)
		for _, p := range all {
			f.sent[p.Part] = p
		}
		q := c.request(f)
		f.busy = true
		out = append(out, FormedFetch{Leader: int32(kafka.NodeID(node)), Conn: c.nodes[node].conn, Call: c.call(f, q), Parts: all,
			Opened: func(s int32) { f.session, f.epoch = s, 1 }})
	}
	return out
}

// Start makes a fresh consumer's first requests.
func (c *Consumer) Start() {
	c.refresh()
	c.autoCommit()
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

// parts is what is to be fetched from a node now.
func (c *Consumer) parts(node string) []wire.FetchPart {
	var ps []wire.FetchPart
	for _, part := range c.assign {
		pos, ok := c.pos[part]
		if !ok || c.leader(part) != node {
			continue
		}
		ps = append(ps, wire.FetchPart{Part: part, CurrentLeaderEpoch: c.meta[part].LeaderEpoch, FetchOffset: pos, LastFetchedEpoch: -1, LogStartOffset: -1,
			PartitionMaxBytes: int(c.cfg.Int("max.partition.fetch.bytes"))})
	}
	return ps
}

func (c *Consumer) request(f *consumerFetch) *wire.FetchRequest {
	q := &wire.FetchRequest{ReplicaID: -1, ReplicaEpoch: -1, MaxWaitMs: c.cfg.Millis("fetch.max.wait.ms"), MinBytes: int(c.cfg.Int("fetch.min.bytes")),
		MaxBytes: int(c.cfg.Int("fetch.max.bytes")), SessionID: f.session, SessionEpoch: f.epoch}
	if c.cfg.String("isolation.level") == "read_committed" {
		q.Isolation = 1
	}
	now := map[string]bool{}
	for _, p := range c.parts(f.node) {
		now[p.Part] = true
		if old, ok := f.sent[p.Part]; ok && old == p {
			continue
		}
		f.sent[p.Part] = p
		q.Parts = append(q.Parts, p)
	}
	for _, part := range c.assign {
		if _, was := f.sent[part]; was && !now[part] {
			q.Forgotten = append(q.Forgotten, part)
			delete(f.sent, part)
		}
	}
	return q
}

func (c *Consumer) call(f *consumerFetch, q *wire.FetchRequest) *sim.Call {
	part := ""
	if len(q.Parts) > 0 {
		part = q.Parts[0].Part
	}
	return &sim.Call{API: kafka.Fetch, Body: q, Part: part, Chatter: len(q.Parts) == 0, Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")),
		Timer: "request.timeout.ms", Done: func(r sim.Result) { c.fetched(f, r) }}
}

// step sends what is to be sent: position look-ups and fetches.
func (c *Consumer) step() {
	if c.closed {
		return
	}
	cause := c.w.Cause()
	c.w.Because(cause, c.findPositions)
	for _, node := range c.leaders() {
		f := c.fetcher(node)
		if f.busy || f.after > c.w.Now() || len(c.parts(node)) == 0 {
			continue
		}
		conn := c.ready(node)
		if conn == nil {
			continue
		}
		f.busy = true
		q := c.request(f)
		c.w.Because(cause, func() { conn.Call(c.call(f, q)) })
	}
}

func (c *Consumer) fetched(f *consumerFetch, r sim.Result) {
	f.busy = false
	if r.Outcome != sim.Answered {
		c.restart(f)
		c.lost(f.node)
		return
	}
	a := r.Body.(*wire.FetchResponse)
	if a.ErrorCode != kafka.None {
		c.restart(f)
		c.step()
		return
	}
	if f.epoch == 0 {
		f.session = a.SessionID
	}
	f.epoch++
	for _, p := range a.Parts {
		c.take(f, p)
	}
	c.deliver()
	c.step()
}

// restart begins a new fetch session.
func (c *Consumer) restart(f *consumerFetch) {
	f.session, f.epoch = 0, 0
	f.sent = map[string]wire.FetchPart{}
}

func (c *Consumer) take(f *consumerFetch, p wire.FetchResult) {
	switch p.ErrorCode {
	case kafka.None:
	case kafka.OffsetOutOfRange:
		delete(c.pos, p.Part)
		c.reset(p.Part)
		return
	default:
		c.hint(p.Part, p.CurrentLeader)
		f.after = c.w.Now() + journal.Millis(c.cfg.Millis("retry.backoff.ms"))
		c.proc.After(f.after-c.w.Now(), c.step)
		c.refresh()
		return
	}
	pos, ok := c.pos[p.Part]
	if !ok || len(p.Records) == 0 {
		return
	}
	end := p.Records[len(p.Records)-1].Last() + 1
	if end <= pos {
		return
	}
	c.pos[p.Part] = end
	c.buffer = append(c.buffer, p)
}

// deliver hands buffered records to the application, at most max.poll.records a
// poll, then works on them.
func (c *Consumer) deliver() {
	if c.busy || len(c.buffer) == 0 {
		return
	}
	c.busy = true
	c.polling = c.proc.After(c.poll, c.pollOnce)
	c.polling.Because(c.w.Cause())
}

func (c *Consumer) pollOnce() {
	left := int(c.cfg.Int("max.poll.records"))
	cause := c.w.Cause()
	if c.commit == "before" {
		c.commitPositions(true)
	}
	count := 0
	for len(c.buffer) > 0 && left > 0 {
		p := &c.buffer[0]
		n := 0
		c.w.Because(cause, func() { n = c.hand(p, left) })
		left -= n
		count += n
		if len(p.Records) > 0 {
			break
		}
		c.buffer = c.buffer[1:]
	}
	c.polling = c.proc.After(journal.Time(count)*c.work, func() {
		c.busy = false
		if c.commit == "after" && count > 0 {
			c.commitPositions(false)
		}
		c.deliver()
	})
}

// hand gives up to left records of one partition to the application.
func (c *Consumer) hand(p *wire.FetchResult, left int) int {
	at := c.at[p.Part]
	var ids []string
	first := int64(-1)
	for len(p.Records) > 0 && len(ids) < left {
		b := p.Records[0]
		for i, id := range b.Records {
			off := b.BaseOffset + int64(i)
			if off < at {
				continue
			}
			if len(ids) == left {
				break
			}
			if first < 0 {
				first = off
			}
			ids = append(ids, id)
			at = off + 1
			c.epochs[p.Part] = b.LeaderEpoch
		}
		if at <= b.Last() {
			break
		}
		p.Records = p.Records[1:]
	}
	if len(ids) == 0 {
		return 0
	}
	c.at[p.Part] = at
	c.delivered[p.Part] += int64(len(ids))
	c.w.Emit(journal.Event{Kind: journal.ConsumerDeliver, Node: c.id, Part: p.Part, Group: c.group, F: journal.F("records", ids, "offset", first),
		Ch: []journal.Change{{Key: journal.ReplicaKey(c.id, p.Part, "position"), Val: at}, {Key: journal.ReplicaKey(c.id, p.Part, "delivered"), Val: c.delivered[p.Part]}}})
	return len(ids)
}

// Seek moves the position of a partition.
func (c *Consumer) Seek(part string, offset int64) {
	c.buffer = slices.DeleteFunc(c.buffer, func(p wire.FetchResult) bool { return p.Part == part })
	c.setPosition(part, offset, "seek")
	c.step()
}

func (c *Consumer) setPosition(part string, offset int64, policy string) {
	c.pos[part], c.at[part] = offset, offset
	kind, f := journal.ConsumerPosition, journal.F("offset", offset)
	if policy == "earliest" || policy == "latest" {
		kind, f = journal.ConsumerReset, journal.F("offset", offset, "policy", policy)
	}
	c.w.Emit(journal.Event{Kind: kind, Node: c.id, Part: part, Group: c.group, F: f,
		Ch: []journal.Change{{Key: journal.ReplicaKey(c.id, part, "position"), Val: offset}}})
}

// Snapshot is the consumer's state for event 1.
func (c *Consumer) Snapshot() []journal.Change {
	ch := []journal.Change{{Key: journal.NodeKey(c.id, "state"), Val: string(c.proc.State())}}
	for _, part := range c.assign {
		ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, part, "position"), Val: c.at[part]},
			journal.Change{Key: journal.ReplicaKey(c.id, part, "delivered"), Val: c.delivered[part]})
	}
	return ch
}
