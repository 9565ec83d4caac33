package client

import (
	"slices"

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

	pos       map[string]int64 // fetch position: what is already here counts
	at        map[string]int64 // position of the application
	epochs    map[string]int32 // leader epoch of the last record consumed
	delivered map[string]int64
	held      map[string]hold   // partitions that wait after an error
	resets    map[string]string // partitions that wait for auto.offset.reset, and why
	looking   map[string]bool   // a position look-up is on its way
	fetchers  map[string]*consumerFetch
	buffer    []buffered

	busy     bool         // the application is not waiting in poll()
	nextPoll journal.Time // the pause between polls ends
	due      bool         // auto.commit.interval.ms is over
	polling  *sim.Timer

	coordinator int32 // −1 unknown
	finding     bool
	findAfter   journal.Time
	waiters     []waiter
}

// buffered is one partition's answer that the application has not polled yet
// (CompletedFetch).
type buffered struct {
	wire.FetchResult
	node string
}

// hold is the back-off of one partition; a newer leader epoch ends it.
type hold struct {
	until journal.Time
	epoch int32
}

// NewConsumer makes a consumer. poll is the pause between two polls (0: none),
// work the time a record takes, commit "auto", "after" (commitSync when the
// records of a poll are processed), "before" (commitSync, then process) or "none";
// "" follows enable.auto.commit.
func NewConsumer(w *sim.World, proc *sim.Process, id, group string, cfg *kafka.Config, assign []string, poll, work journal.Time, commit string, brokers []string) *Consumer {
	c := &Consumer{netClient: newNetClient(w, proc, id, cfg, brokers), group: group, assign: assign, poll: poll, work: work, commit: commit,
		pos: map[string]int64{}, at: map[string]int64{}, epochs: map[string]int32{}, delivered: map[string]int64{}, held: map[string]hold{},
		resets: map[string]string{}, looking: map[string]bool{}, fetchers: map[string]*consumerFetch{}, coordinator: -1}
	for _, part := range assign {
		if topic, _ := image.Split(part); !slices.Contains(c.topics, topic) {
			c.topics = append(c.topics, topic)
		}
	}
	c.onMetadata = c.step
	c.onReady = c.step
	c.listen()
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
		c.connect(c.coordinatorLink())
	}
	c.autoCommitLater(journal.Millis(c.cfg.Millis("auto.commit.interval.ms")))
}

// Start makes a fresh consumer's first requests.
func (c *Consumer) Start() {
	c.refresh()
	c.autoCommitLater(journal.Millis(c.cfg.Millis("auto.commit.interval.ms")))
}

// step sends what is to be sent: look-ups of the coordinator and of positions,
// and fetches.
func (c *Consumer) step() {
	if c.closed {
		return
	}
	cause := c.w.Cause()
	c.w.Because(cause, c.findPositions)
	c.w.Because(cause, c.resetPositions)
	c.w.Because(cause, c.coordinate)
	for _, node := range c.leaders() {
		c.w.Because(cause, func() { c.fetch(node) })
	}
}

// deliver lets a waiting application have what is here.
func (c *Consumer) deliver() {
	if c.busy || c.closed || len(c.buffer) == 0 {
		return
	}
	c.busy = true
	c.polling = c.proc.After(max(c.nextPoll-c.w.Now(), 0), c.pollOnce)
	c.polling.Because(c.w.Cause())
}

// handed is what one poll returns of one partition.
type handed struct {
	part        string
	ids         []string
	first, next int64
	epoch       int32
}

// pollOnce is one poll() that returns records, at most max.poll.records.
func (c *Consumer) pollOnce() {
	cause := c.w.Cause()
	c.w.Because(cause, c.autoCommit)
	left := int(c.cfg.Int("max.poll.records"))
	var out []handed
	for len(c.buffer) > 0 && left > 0 {
		h := c.cut(&c.buffer[0].FetchResult, left)
		left -= len(h.ids)
		if len(c.buffer[0].Records) == 0 {
			c.buffer = c.buffer[1:]
		}
		out = append(out, h)
	}
	// What is polled is no longer buffered: the next Fetch leaves before the
	// application has the records (ClassicKafkaConsumer.poll).
	c.w.Because(cause, c.step)
	c.w.Because(cause, func() { c.polledRecords(out) })
}

// polledRecords is what the application does with what a poll returned.
func (c *Consumer) polledRecords(out []handed) {
	if c.commit == "before" && c.group != "" && len(out) > 0 {
		c.commitOffsets(c.positions(out), func(bool) { c.process(out) })
		return
	}
	c.process(out)
}

// cut takes up to left records from the front of a partition's answer. Control
// batches only move the position.
func (c *Consumer) cut(p *wire.FetchResult, left int) handed {
	h := handed{part: p.Part, first: -1, next: c.at[p.Part], epoch: -1}
	for len(p.Records) > 0 {
		b := p.Records[0]
		for i, id := range b.Records {
			off := b.BaseOffset + int64(i)
			if off < h.next || b.Control {
				continue
			}
			if len(h.ids) == left {
				return h
			}
			if h.first < 0 {
				h.first = off
			}
			h.ids = append(h.ids, id)
			h.next, h.epoch = off+1, b.LeaderEpoch
		}
		h.next = max(h.next, b.Last()+1)
		p.Records = p.Records[1:]
	}
	return h
}

// process hands the records over and works on them.
func (c *Consumer) process(out []handed) {
	cause := c.w.Cause()
	count := 0
	for i := range out {
		if pos, ok := c.pos[out[i].part]; !ok || pos < out[i].next {
			continue // a seek in between
		}
		count += len(out[i].ids)
		c.w.Because(cause, func() { c.hand(&out[i]) })
	}
	c.polling = c.proc.After(journal.Time(count)*c.work, func() {
		if c.commit == "after" && c.group != "" && count > 0 {
			c.commitOffsets(c.positions(nil), func(bool) { c.polled() })
			return
		}
		c.polled()
	})
}

// polled is the application's next call of poll().
func (c *Consumer) polled() {
	c.busy = false
	c.nextPoll = c.w.Now() + c.poll
	if len(c.buffer) == 0 {
		c.autoCommit()
	}
	c.deliver()
}

func (c *Consumer) hand(h *handed) {
	c.at[h.part] = h.next
	if h.epoch >= 0 {
		c.epochs[h.part] = h.epoch
	}
	position := journal.Change{Key: journal.ReplicaKey(c.id, h.part, "position"), Val: h.next}
	if len(h.ids) == 0 {
		c.w.Emit(journal.Event{Kind: journal.ConsumerPosition, Node: c.id, Part: h.part, Group: c.group, F: journal.F("offset", h.next),
			Ch: []journal.Change{position}})
		return
	}
	c.delivered[h.part] += int64(len(h.ids))
	c.w.Emit(journal.Event{Kind: journal.ConsumerDeliver, Node: c.id, Part: h.part, Group: c.group, F: journal.F("records", h.ids, "offset", h.first),
		Ch: []journal.Change{position, {Key: journal.ReplicaKey(c.id, h.part, "delivered"), Val: c.delivered[h.part]}}})
}

// Seek moves the position of a partition.
func (c *Consumer) Seek(part string, offset int64) {
	c.buffer = slices.DeleteFunc(c.buffer, func(p buffered) bool { return p.Part == part })
	delete(c.resets, part)
	c.setPosition(part, offset, "seek")
	c.step()
}

func (c *Consumer) setPosition(part string, offset int64, policy string) {
	reason := c.resets[part]
	delete(c.resets, part)
	c.pos[part], c.at[part] = offset, offset
	kind, f := journal.ConsumerPosition, journal.F("offset", offset)
	if policy == "earliest" || policy == "latest" {
		kind, f = journal.ConsumerReset, journal.F("offset", offset, "policy", policy, "reason", reason)
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
