package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Options are what an application does with its consumer.
type Options struct {
	ID, Group string
	Config    *kafka.Config
	Topics    []string                   // subscribed; not with Assign
	Assign    []string                   // partitions assigned by hand: no group protocol
	Poll      journal.Time               // pause between two polls; 0: none
	Work      journal.Time               // processing time of a record
	Commit    string                     // "auto", "after" (commitSync when the records of a poll are processed), "before" (commitSync, then process) or "none"; "" follows enable.auto.commit
	Brokers   []string                   // bootstrap.servers
	NewID     func(client string) string // member ids of the consumer protocol
}

// Consumer is KafkaConsumer and the application around it.
type Consumer struct {
	netClient
	opt    Options
	group  string
	commit string

	assign       []string         // partitions that it may read now
	pos          map[string]int64 // fetch position: what is already here counts
	at           map[string]int64 // position of the application
	epochs       map[string]int32 // leader epoch of the last record consumed
	delivered    map[string]int64
	check        map[string]bool   // positions to validate after a change of the leader
	paused       map[string]bool   // pause()
	revoking     map[string]bool   // to be given back: no longer fetched
	leaderEpochs map[string]int32  // of the partitions assigned, as last seen
	held         map[string]hold   // partitions that wait after an error
	resets       map[string]string // partitions that wait for auto.offset.reset, and why
	looking      map[string]int    // a position look-up is on its way, by its number
	lookups      int
	fetchers     map[string]*consumerFetch
	buffer       []buffered

	member       membership // nil with partitions assigned by hand
	busy         bool       // the application is not waiting in poll()
	todo         []func(next func())
	nextPoll     journal.Time // the pause between polls ends
	due          bool         // auto.commit.interval.ms is over
	dueTimer     *sim.Timer
	autoInFlight bool // an automatic commit is not answered yet
	polling      *sim.Timer
	pollEnd      *sim.Timer // max.poll.interval.ms
	closing      bool

	coordinator int32 // −1 unknown
	finding     bool
	findAfter   journal.Time
	waiters     []waiter
}

// membership is a consumer's side of a group protocol.
type membership interface {
	// step sends what is due, when metadata or a connection came.
	step()
	// poll is what poll() does for the group, on the application's thread.
	poll()
	// late is the end of max.poll.interval.ms: the background thread leaves.
	late()
	// identity is what a commit carries, or why the client refuses it without a request.
	identity() (generation int32, memberID string, refusal kafka.ErrorCode)
	// refused hears of an error of an OffsetCommit.
	refused(code kafka.ErrorCode)
	// leave ends the membership after close() has committed; done runs when the
	// coordinator has answered or need not be told.
	leave(done func())
	// offsetFetch says who fetches offsets, where the protocol tells.
	offsetFetch(q *wire.OffsetFetchRequest)
	formed(generation int32, memberID string, beat journal.Time)
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

// NewConsumer makes a consumer.
func NewConsumer(w *sim.World, proc *sim.Process, opt Options) *Consumer {
	c := &Consumer{netClient: newNetClient(w, proc, opt.ID, opt.Config, opt.Brokers), opt: opt, group: opt.Group, commit: opt.Commit, assign: slices.Clone(opt.Assign),
		pos: map[string]int64{}, at: map[string]int64{}, epochs: map[string]int32{}, delivered: map[string]int64{}, check: map[string]bool{}, paused: map[string]bool{},
		revoking: map[string]bool{}, leaderEpochs: map[string]int32{}, held: map[string]hold{}, resets: map[string]string{}, looking: map[string]int{}, fetchers: map[string]*consumerFetch{}, coordinator: -1}
	for _, part := range opt.Assign {
		if topic, _ := image.Split(part); !slices.Contains(c.topics, topic) {
			c.topics = append(c.topics, topic)
		}
	}
	if len(opt.Assign) == 0 {
		c.topics = slices.Sorted(slices.Values(opt.Topics))
		c.member = c.newMembership()
	}
	c.onMetadata = c.step
	c.onReady = c.step
	c.listen()
	return c
}

func (c *Consumer) newMembership() membership {
	if c.cfg.String("group.protocol") == "consumer" {
		return newConsumerMember(c)
	}
	return newClassicMember(c)
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

// FormedMember is a member at rest: it has joined, owns partitions, and its next
// heartbeat is due after beat.
func (c *Consumer) FormedMember(generation int32, memberID string, assignment []string, beat journal.Time) {
	c.assign = slices.Clone(assignment)
	c.member.formed(generation, memberID, beat)
}

// FormedLeader makes a member at rest the leader of its group: it watches the
// number of partitions of the group's topics.
func (c *Consumer) FormedLeader(topics []string) {
	if m, ok := c.member.(*classicMember); ok {
		m.snapshot = map[string]int{}
		for _, t := range topics {
			m.snapshot[t] = c.partCount[t]
		}
	}
}

// Start makes a fresh consumer's first requests.
func (c *Consumer) Start() {
	c.refresh()
	if !c.classic() {
		c.autoCommitLater(journal.Millis(c.cfg.Millis("auto.commit.interval.ms")))
	}
}

// classic says whether the consumer is a member of the classic protocol.
func (c *Consumer) classic() bool {
	_, ok := c.member.(*classicMember)
	return ok
}

// step sends what is to be sent: what the group protocol needs, look-ups of the
// coordinator and of positions, and fetches.
func (c *Consumer) step() {
	if c.closed {
		return
	}
	for _, part := range c.assign {
		c.doubt(part)
	}
	cause := c.w.Cause()
	if c.member != nil {
		c.w.Because(cause, c.member.step)
		if !c.busy && !c.closed {
			c.w.Because(cause, c.member.poll)
		}
	}
	for _, fn := range []func(){c.findPositions, c.validatePositions, c.resetPositions, c.coordinate} {
		if !c.closed {
			c.w.Because(cause, fn)
		}
	}
	for _, node := range c.leaders() {
		c.w.Because(cause, func() { c.fetch(node) })
	}
}

// ready is the first buffered answer that may be returned, −1 for none.
func (c *Consumer) returnable() int {
	return slices.IndexFunc(c.buffer, func(b buffered) bool { return !c.paused[b.Part] && !c.revoking[b.Part] })
}

// deliver lets a waiting application have what is here.
func (c *Consumer) deliver() {
	if c.busy || c.closed || c.returnable() < 0 {
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
	offsets     []int64
	first, next int64
	epoch       int32
}

// pollOnce is one poll() that returns records, at most max.poll.records.
func (c *Consumer) pollOnce() {
	cause := c.w.Cause()
	c.awaitPoll()
	c.w.Because(cause, c.autoCommit)
	left := int(c.cfg.Int("max.poll.records"))
	var out []handed
	for i := c.returnable(); i >= 0 && left > 0; i = c.returnable() {
		h := c.cut(&c.buffer[i].FetchResult, left)
		left -= len(h.ids)
		if len(c.buffer[i].Records) == 0 {
			c.buffer = slices.Delete(c.buffer, i, i+1)
		}
		out = append(out, h)
	}
	// What is polled is no longer buffered: the next Fetch leaves before the
	// application has the records (ClassicKafkaConsumer.poll).
	c.w.Because(cause, c.step)
	c.w.Because(cause, func() { c.polledRecords(out) })
}

// awaitPoll starts max.poll.interval.ms: the application has left poll().
func (c *Consumer) awaitPoll() {
	if c.member == nil {
		return
	}
	c.pollEnd.Stop()
	c.pollEnd = c.proc.After(journal.Millis(c.cfg.Millis("max.poll.interval.ms")), c.member.late)
}

// polledRecords is what the application does with what a poll returned.
func (c *Consumer) polledRecords(out []handed) {
	if c.commit == "before" && c.group != "" && len(out) > 0 {
		c.commitOffsets(c.positions(out), func(code kafka.ErrorCode) {
			c.threw(code)
			c.process(out)
		})
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
			h.ids, h.offsets = append(h.ids, id), append(h.offsets, off)
			h.next, h.epoch = off+1, b.LeaderEpoch
		}
		h.next = max(h.next, b.Last()+1)
		p.Records = p.Records[1:]
	}
	return h
}

// polled is the application's next call of poll(); what it was asked to do comes
// first.
func (c *Consumer) polled() {
	if c.closed {
		return
	}
	if len(c.todo) > 0 {
		fn := c.todo[0]
		c.todo = c.todo[1:]
		c.w.Because(c.w.Cause(), func() { fn(c.polled) })
		return
	}
	c.busy = false
	c.pollEnd.Stop()
	c.nextPoll = c.w.Now() + c.opt.Poll
	cause := c.w.Cause()
	if c.member != nil {
		c.w.Because(cause, c.member.poll)
	}
	if c.returnable() < 0 {
		c.w.Because(cause, c.autoCommit)
	}
	c.w.Because(cause, c.deliver)
}

// between runs fn on the application's thread, between two polls; fn calls next
// when it is done.
func (c *Consumer) between(fn func(next func())) {
	c.todo = append(c.todo, fn)
	if !c.busy {
		c.busy = true
		c.awaitPoll()
		c.polled()
	}
}

// Stall keeps the application out of poll() for a while.
func (c *Consumer) Stall(d journal.Time) {
	c.between(func(next func()) {
		c.w.Emit(journal.Event{Kind: journal.ConsumerStall, Node: c.id, Group: c.group, F: journal.F("forMs", int64(d/journal.Millisecond))})
		c.proc.After(d, next)
	})
}

// fail ends the application: poll() threw.
func (c *Consumer) fail(exception, part string) {
	if c.closed {
		return
	}
	c.w.Emit(journal.Event{Kind: journal.ConsumerStall, Node: c.id, Part: part, Group: c.group, F: journal.F("error", exception)})
	c.shutdown()
}

// Close is close(): commit, callbacks, leave; done runs when the process may end.
func (c *Consumer) Close(done func()) {
	if c.closing || c.closed {
		return
	}
	c.closing = true
	c.between(func(func()) {
		finish := func() {
			if c.member == nil {
				done()
				return
			}
			c.member.leave(done)
		}
		offsets := c.positions(nil)
		if _, _, refusal := c.identity(); !c.auto() || refusal != kafka.None || len(offsets) == 0 {
			finish()
			return
		}
		c.commitOffsets(offsets, func(kafka.ErrorCode) { finish() })
	})
}

// Kill is the end of the process; what it changes is returned.
func (c *Consumer) Kill() []journal.Change {
	c.closed = true
	var ch []journal.Change
	for _, part := range c.assign {
		ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, part, "position")})
	}
	return ch
}

// Snapshot is the consumer's state for event 1.
func (c *Consumer) Snapshot() []journal.Change {
	ch := []journal.Change{{Key: journal.NodeKey(c.id, "state"), Val: string(c.proc.State())}}
	if !c.proc.Alive() {
		return ch
	}
	for _, part := range c.assign {
		if at, ok := c.at[part]; ok {
			ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, part, "position"), Val: at})
		}
		if n, ok := c.delivered[part]; ok {
			ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, part, "delivered"), Val: n})
		}
	}
	return ch
}
