package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Sizes of what goes on the wire (DefaultRecordBatch, DefaultRecord).
const (
	batchOverhead  = 61
	recordOverhead = 7
)

// timedOut is the error of a batch or record that waited too long in the client
// (TimeoutException); no broker sends it.
const timedOut = "TIMEOUT"

// Producer is KafkaProducer.
type Producer struct {
	netClient
	acks       int16
	idempotent bool
	txn        txnManager

	queues  map[string]*queue
	order   []string       // partitions with a queue, in order of first use
	drainAt map[string]int // by node: where its next drain begins
	unsent  []*send        // records whose send() is blocked
	free    int64          // of buffer.memory
	sticky  map[string]*kafka.Sticky
	wake    *sim.Timer
	running bool
	again   bool
	closing bool
	sent    map[string]any
}

// send is a record from send() to its result.
type send struct {
	topic     string
	key       *string
	partition *int
	id        string
	part      string // "" not chosen yet
	chosen    int    // the event of the choice
	bytes     int
	done      func(ok bool)
}

// NewProducer makes a producer that knows nothing yet.
func NewProducer(w *sim.World, proc *sim.Process, id string, cfg *kafka.Config, brokers []string) *Producer {
	p := &Producer{netClient: newNetClient(w, proc, id, cfg, brokers), acks: cfg.Acks(), idempotent: kafka.IdempotenceEnabled(cfg),
		txn: txnManager{pid: -1}, queues: map[string]*queue{}, drainAt: map[string]int{}, free: cfg.Int("buffer.memory"),
		sticky: map[string]*kafka.Sticky{}, sent: map[string]any{}}
	p.maxInFlight = int(cfg.Int("max.in.flight.requests.per.connection"))
	p.onMetadata = func() { p.place(); p.run() }
	p.onReady = p.run
	p.listen()
	return p
}

// Formed is a producer that has metadata, connections and, if idempotent, its id.
func (p *Producer) Formed(parts []wire.MetadataPart, pid int64) {
	if p.idempotent {
		p.txn.pid = pid
	}
	p.formed(parts)
	p.diff()
}

// Resume is called when the run begins; a resting producer has nothing to do.
func (p *Producer) Resume() {}

// Start makes the first requests of a fresh producer: Metadata, and then
// InitProducerId if it is idempotent.
func (p *Producer) Start(topics []string) {
	p.topics = topics
	p.refresh()
	p.run()
}

// Send is KafkaProducer.send; done is called with the result. It returns the
// record's id.
func (p *Producer) Send(topic string, key *string, value string, partition *int, done func(ok bool)) string {
	s := &send{topic: topic, key: key, partition: partition, done: done, bytes: recordOverhead + len(value)}
	if key != nil {
		s.bytes += len(*key)
	}
	s.id = p.w.NewRecord(journal.Record{Topic: topic, Key: key, Value: value, Producer: p.id, Bytes: s.bytes})
	switch {
	case p.closing:
		p.failSend(s, "IllegalStateException")
		return s.id
	case int64(batchOverhead+s.bytes) > p.cfg.Int("max.request.size"):
		p.failSend(s, "RecordTooLargeException") // there is no request
		return s.id
	}
	p.unsent = append(p.unsent, s)
	if !slices.Contains(p.topics, topic) {
		p.refreshFor(topic)
	}
	p.place()
	if slices.Contains(p.unsent, s) {
		if p.partCount[topic] == 0 || s.partition != nil && *s.partition >= p.partCount[topic] {
			p.refresh()
		}
		p.proc.After(journal.Millis(p.cfg.Millis("max.block.ms")), func() { p.unblock(s) })
	}
	p.run()
	return s.id
}

// unblock ends a send() that is blocked for max.block.ms.
func (p *Producer) unblock(s *send) {
	i := slices.Index(p.unsent, s)
	if i < 0 {
		return
	}
	p.unsent = slices.Delete(p.unsent, i, i+1)
	n := p.w.Cause()
	p.w.Because(n, func() { p.failSend(s, timedOut) })
	p.w.Because(n, p.place)
	p.run()
}

func (p *Producer) failSend(s *send, errName string) {
	part := s.part
	if part == "" {
		part = image.Name(s.topic, 0)
		if s.partition != nil {
			part = image.Name(s.topic, *s.partition)
		}
	}
	p.fail(&batch{part: part, sends: []*send{s}}, errName)
}

// Close is KafkaProducer.close: what is there is sent without linger, then the
// connections are closed.
func (p *Producer) Close() {
	p.closing = true
	p.run()
}

// finished says whether all records have their result.
func (p *Producer) finished() bool {
	for _, name := range p.order {
		if q := p.queues[name]; len(q.batches) > 0 || len(q.inFlight) > 0 {
			return false
		}
	}
	return len(p.unsent) == 0
}

// place moves records into the accumulator, in order: the application's thread
// is blocked while the topic, the partition or memory is missing.
func (p *Producer) place() {
	cause := p.w.Cause()
	for len(p.unsent) > 0 {
		s := p.unsent[0]
		n := p.partCount[s.topic]
		if n == 0 || s.partition != nil && *s.partition >= n {
			return
		}
		if s.part == "" {
			p.w.Because(cause, func() { s.chosen = p.choose(s, n) })
		}
		if !p.fits(s) {
			return
		}
		p.unsent = p.unsent[1:]
		p.w.Because(s.chosen, func() { p.append(s) })
	}
}

// choose is KafkaProducer.partition.
func (p *Producer) choose(s *send, n int) int {
	part, f := 0, journal.F("record", s.id)
	switch {
	case s.partition != nil:
		part = *s.partition
		f = append(f, journal.F("partition", part, "how", "explicit")...)
	case s.key != nil && !p.cfg.Bool("partitioner.ignore.keys"):
		hash := kafka.ToPositive(kafka.Murmur2([]byte(*s.key)))
		part = int(hash) % n
		f = append(f, journal.F("key", *s.key, "hash", hash, "partitions", n, "partition", part, "how", "key")...)
	default:
		available, load := p.load(s.topic, n)
		part = int(p.stickyFor(s.topic).Partition(int32(n), available, load))
		f = append(f, journal.F("partition", part, "how", "sticky")...)
	}
	s.part = image.Name(s.topic, part)
	return p.emit(journal.ProducerPartition, s.part, f)
}

// stuck says whether the built-in logic chose the partition.
func (p *Producer) stuck(s *send) bool {
	return s.partition == nil && (s.key == nil || p.cfg.Bool("partitioner.ignore.keys"))
}

// stickyFor is the built-in choice for records without key.
func (p *Producer) stickyFor(topic string) *kafka.Sticky {
	st := p.sticky[topic]
	if st == nil {
		r := p.w.Stream(p.id, "sticky")
		st = &kafka.Sticky{BatchSize: p.cfg.Int("batch.size"), Draw: func() int32 { return int32(r.Intn(1 << 31)) }}
		p.sticky[topic] = st
	}
	return st
}

// load is the table of queue lengths, once every partition of the topic has a
// queue (RecordAccumulator.partitionReady).
func (p *Producer) load(topic string, n int) (available []int32, table *kafka.LoadTable) {
	var queues, ids []int32
	all := true
	for i := range n {
		part := image.Name(topic, i)
		q := p.queues[part]
		all = all && q != nil
		if p.leader(part) == "" {
			continue
		}
		available = append(available, int32(i))
		if q != nil {
			queues, ids = append(queues, int32(len(q.batches))), append(ids, int32(i))
		}
	}
	if all && p.cfg.Bool("partitioner.adaptive.partitioning.enable") {
		table = kafka.NewLoadTable(queues, ids, n)
	}
	return available, table
}

// fail gives up on a batch.
func (p *Producer) fail(b *batch, errName string) {
	p.release(b)
	n := p.emit(journal.ProducerFailed, b.part, journal.F("records", b.ids(), "error", errName))
	b.tell(p.w, n, false)
}

// diff is what changed of the producer's keys since its last event.
func (p *Producer) diff() []journal.Change {
	var ch []journal.Change
	set := func(key string, v any) {
		if old, ok := p.sent[key]; ok && old == v || !ok && v == nil {
			return
		}
		p.sent[key] = v
		ch = append(ch, journal.Change{Key: key, Val: v})
	}
	if p.txn.pid >= 0 {
		set(journal.NodeKey(p.id, "id"), p.txn.pid)
		set(journal.NodeKey(p.id, "epoch"), int32(p.txn.epoch))
	}
	flying, waiting := 0, 0
	for _, name := range p.order {
		q := p.queues[name]
		set(journal.ReplicaKey(p.id, name, "batch"), list(q.batches))
		set(journal.ReplicaKey(p.id, name, "inflight"), list(q.inFlight))
		if p.idempotent {
			set(journal.ReplicaKey(p.id, name, "sequence"), q.nextSeq)
		}
		flying += records(q.inFlight)
		waiting += records(q.batches)
	}
	set(journal.NodeKey(p.id, "status"), status(flying, waiting))
	return ch
}

func records(bs []*batch) (n int) {
	for _, b := range bs {
		n += len(b.sends)
	}
	return n
}

func status(flying, waiting int) string {
	switch {
	case flying > 0:
		return fmt.Sprintf("%d sent, no answer", flying)
	case waiting > 0:
		return fmt.Sprintf("%d waiting", waiting)
	}
	return "idle"
}

// shownIDs is how many records a key names; the rest is a number.
const shownIDs = 8

// list names the records of batches: "r17,r18", or "r17,…,r24 +12".
func list(bs []*batch) any {
	var ids []string
	for _, b := range bs {
		for _, s := range b.sends[:min(len(b.sends), shownIDs-len(ids))] {
			ids = append(ids, s.id)
		}
		if len(ids) == shownIDs {
			break
		}
	}
	if len(ids) == 0 {
		return nil
	}
	s := strings.Join(ids, ",")
	if more := records(bs) - len(ids); more > 0 {
		s += fmt.Sprintf(" +%d", more)
	}
	return s
}

func (p *Producer) emit(kind journal.Kind, part string, f journal.Fields) int {
	return p.w.Emit(journal.Event{Kind: kind, Node: p.id, Part: part, F: f, Ch: p.diff()})
}

// Snapshot is the producer's state for event 1.
func (p *Producer) Snapshot() []journal.Change {
	p.sent = map[string]any{}
	return append(p.diff(), journal.Change{Key: journal.NodeKey(p.id, "state"), Val: string(p.proc.State())})
}

// Forget is what a process that dies takes with it: the records in its memory.
func (p *Producer) Forget() []journal.Change {
	var ch []journal.Change
	for _, name := range p.order {
		for _, field := range []string{"batch", "inflight", "sequence"} {
			ch = append(ch, journal.Change{Key: journal.ReplicaKey(p.id, name, field), Val: nil})
		}
	}
	return append(ch, journal.Change{Key: journal.NodeKey(p.id, "status"), Val: "dead"})
}
