package client

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Sizes of what goes on the wire (DefaultRecordBatch, DefaultRecord).
const (
	batchOverhead  = 61
	recordOverhead = 70
)

// Producer is KafkaProducer.
type Producer struct {
	netClient
	acks       int16
	idempotent bool
	pid        int64 // −1 none yet
	epoch      int16
	asking     bool

	queues  map[string]*queue
	order   []string // partitions with a queue, in order of first use
	drainAt map[string]int
	unsent  []*send // records that wait for metadata
	sticky  map[string]*kafka.Sticky
	wake    *sim.Timer
	sent    map[string]any
}

type send struct {
	topic     string
	key       *string
	partition *int
	id        string
	bytes     int
	since     journal.Time
	done      func(ok bool)
}

// batch is ProducerBatch.
type batch struct {
	part     string
	sends    []*send
	bytes    int
	created  journal.Time
	cause    int
	seq      int32 // −1 not yet drained
	pid      int64
	epoch    int16
	attempts int
	retryAt  journal.Time
	leader   int32 // leader epoch known at the last attempt
	open     bool
}

type queue struct {
	part     string
	batches  []*batch // waiting
	inFlight []*batch
	nextSeq  int32
}

// NewProducer makes a producer that knows nothing yet.
func NewProducer(w *sim.World, proc *sim.Process, id string, cfg *kafka.Config, brokers []string) *Producer {
	p := &Producer{netClient: newNetClient(w, proc, id, cfg, brokers), acks: cfg.Acks(), idempotent: kafka.IdempotenceEnabled(cfg), pid: -1,
		queues: map[string]*queue{}, drainAt: map[string]int{}, sticky: map[string]*kafka.Sticky{}, sent: map[string]any{}}
	p.onMetadata = append(p.onMetadata, func() { p.place(); p.run() })
	p.onReady = p.run
	return p
}

// Formed is a producer that has metadata, connections and, if idempotent, its id.
func (p *Producer) Formed(parts []wire.MetadataPart, pid int64) {
	if p.idempotent {
		p.pid = pid
	}
	p.formed(parts)
	p.diff()
}

// Resume is called when the run begins; a resting producer has nothing to do.
func (p *Producer) Resume() {}

// Start makes the first requests of a fresh producer: Metadata, and
// InitProducerId if it is idempotent.
func (p *Producer) Start(topics []string) {
	p.topics = topics
	p.refresh()
	p.initID()
}

// initID asks any broker for a producer id; one without a block of ids says
// COORDINATOR_LOAD_IN_PROGRESS.
func (p *Producer) initID() {
	if !p.idempotent || p.pid >= 0 || p.asking {
		return
	}
	node := p.anyNode()
	conn := p.ready(node)
	if conn == nil {
		p.asking = true
		p.proc.After(5*journal.Millisecond, func() { p.asking = false; p.initID() })
		return
	}
	p.asking = true
	conn.Call(&sim.Call{API: kafka.InitProducerID, Body: &wire.InitProducerIDRequest{ProducerID: -1, ProducerEpoch: -1},
		Timeout: journal.Millis(p.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms", Done: func(r sim.Result) {
			p.asking = false
			if r.Outcome == sim.Answered {
				if a := r.Body.(*wire.InitProducerIDResponse); a.ErrorCode == kafka.None {
					p.pid, p.epoch = a.ProducerID, a.ProducerEpoch
					p.emit(journal.ProducerID, "", journal.F("producerId", p.pid, "producerEpoch", p.epoch))
					p.run()
					return
				}
			} else {
				p.lost(node)
			}
			p.proc.After(p.backoff("retry.backoff.ms", "retry.backoff.max.ms", 0), p.initID)
		}})
}

// Send is KafkaProducer.send; done is called with the result. It returns the
// record's id.
func (p *Producer) Send(topic string, key *string, value string, partition *int, done func(ok bool)) string {
	s := &send{topic: topic, key: key, partition: partition, since: p.w.Now(), done: done, bytes: recordOverhead + len(value)}
	if key != nil {
		s.bytes += len(*key)
	}
	s.id = p.w.NewRecord(journal.Record{Topic: topic, Key: key, Value: value, Producer: p.id, Bytes: s.bytes})
	if !slices.Contains(p.topics, topic) {
		p.topics = append(p.topics, topic)
	}
	p.unsent = append(p.unsent, s)
	p.place()
	if len(p.unsent) > 0 {
		p.refresh()
		p.proc.After(journal.Millis(p.cfg.Millis("max.block.ms")), func() {
			if i := slices.Index(p.unsent, s); i >= 0 {
				p.unsent = slices.Delete(p.unsent, i, i+1)
				p.fail(&batch{part: image.Name(topic, 0), sends: []*send{s}}, "TIMEOUT")
			}
		})
	}
	p.run()
	return s.id
}

// place moves records whose topic is known into the accumulator.
func (p *Producer) place() {
	cause := p.w.Cause()
	for len(p.unsent) > 0 && p.partCount[p.unsent[0].topic] > 0 {
		s := p.unsent[0]
		p.unsent = p.unsent[1:]
		p.w.Because(cause, func() { p.append(s) })
	}
}

// append chooses the partition and adds the record to its last open batch
// (RecordAccumulator.append).
func (p *Producer) append(s *send) {
	n := p.partCount[s.topic]
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
	name := image.Name(s.topic, part)
	p.emit(journal.ProducerPartition, name, f)
	q := p.queues[name]
	if q == nil {
		q = &queue{part: name}
		p.queues[name] = q
		p.order = append(p.order, name)
	}
	limit := int(p.cfg.Int("batch.size"))
	var b *batch
	if k := len(q.batches); k > 0 && q.batches[k-1].open && q.batches[k-1].bytes+s.bytes <= limit {
		b = q.batches[k-1]
	} else {
		if k > 0 {
			q.batches[k-1].open = false
		}
		b = &batch{part: name, bytes: batchOverhead, created: p.w.Now(), seq: -1, open: true, leader: -1}
		q.batches = append(q.batches, b)
	}
	b.sends = append(b.sends, s)
	b.bytes += s.bytes
	if s.key == nil && s.partition == nil {
		p.stickyFor(s.topic).Appended(int64(s.bytes), len(q.batches) > 1 || b.bytes >= limit)
	}
	b.cause = p.emit(journal.ProducerBatch, name, journal.F("record", s.id, "count", len(b.sends)))
	p.expireLater(b)
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
		if p.leader(part) == "" {
			continue
		}
		available = append(available, int32(i))
		q := p.queues[part]
		if q == nil {
			all = false
			continue
		}
		queues, ids = append(queues, int32(len(q.batches))), append(ids, int32(i))
	}
	if all && p.cfg.Bool("partitioner.adaptive.partitioning.enable") {
		table = kafka.NewLoadTable(queues, ids, n)
	}
	return available, table
}

// expireLater fails a batch that is not acknowledged within delivery.timeout.ms.
func (p *Producer) expireLater(b *batch) {
	if len(b.sends) != 1 {
		return
	}
	p.proc.After(journal.Millis(p.cfg.Millis("delivery.timeout.ms")), func() {
		q := p.queues[b.part]
		if i := slices.Index(q.batches, b); i >= 0 {
			q.batches = slices.Delete(q.batches, i, i+1)
			p.fail(b, "TIMEOUT")
		} else if i := slices.Index(q.inFlight, b); i >= 0 {
			q.inFlight = slices.Delete(q.inFlight, i, i+1)
			p.fail(b, "TIMEOUT")
		}
	})
}

func (p *Producer) fail(b *batch, errName string) {
	p.emit(journal.ProducerFailed, b.part, journal.F("records", b.ids(), "error", errName))
	for _, s := range b.sends {
		s.done(false)
	}
}

func (b *batch) ids() []string {
	ids := make([]string, len(b.sends))
	for i, s := range b.sends {
		ids[i] = s.id
	}
	return ids
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
	if p.pid >= 0 {
		set(journal.NodeKey(p.id, "id"), p.pid)
		set(journal.NodeKey(p.id, "epoch"), p.epoch)
	}
	flying, waiting := 0, 0
	for _, name := range p.order {
		q := p.queues[name]
		set(journal.ReplicaKey(p.id, name, "batch"), list(q.batches))
		set(journal.ReplicaKey(p.id, name, "inflight"), list(q.inFlight))
		if p.idempotent {
			set(journal.ReplicaKey(p.id, name, "sequence"), q.nextSeq)
		}
		for _, b := range q.inFlight {
			flying += len(b.sends)
		}
		for _, b := range q.batches {
			waiting += len(b.sends)
		}
	}
	set(journal.NodeKey(p.id, "status"), status(flying, waiting))
	return ch
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

func list(bs []*batch) any {
	s := ""
	for _, b := range bs {
		for _, id := range b.ids() {
			if s != "" {
				s += ","
			}
			s += id
		}
	}
	if s == "" {
		return nil
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
