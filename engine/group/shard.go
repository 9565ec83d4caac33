// Package group is the group coordinator of one partition of
// __consumer_offsets: the classic protocol, the consumer protocol of KIP-848 and
// committed offsets, as pure state machines. A Shard is asked and told the time;
// it returns what to answer, what to write, and what happened. Whoever drives it
// writes the records and comes back with the outcome.
//
// Modelled after Kafka 4.4's GroupMetadataManager, OffsetMetadataManager,
// ClassicGroup and ConsumerGroup. Left out: share and streams groups, regular
// expressions, racks of members, authorization.
//
// Where Kafka walks a hash map of members the order here is fixed: answers list
// them by member id; when the leader of a classic group is gone the newest member
// becomes leader, and server-side assignors are given the newest first.
package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Options are what a coordinator needs from its broker.
type Options struct {
	Config *kafka.Config
	// NewID makes a member id for a client (its id and a UUID in Kafka).
	NewID func(client string) string
	// Partitions is the partition count of a topic, 0 for none.
	Partitions func(topic string) int
	// Assign runs a server-side assignor; ok is false for an unknown name.
	Assign func(name string, spec Spec) (target map[string][]string, ok bool)
	// Cause is what a timer set now is the consequence of.
	Cause func() int
}

// Shard coordinates the groups of one partition (GroupCoordinatorShard).
type Shard struct {
	opt    Options
	groups map[string]*group
	timers timers
	now    journal.Time
	out    Result
}

// Result is what a request or a timer leads to. Events first, then writes, then
// answers.
type Result struct {
	Events  []journal.Event
	Writes  []*Write
	Answers []Answer
	// Changes of the state that no event tells: a session that goes on.
	Changes []journal.Change
}

// Answer is a response to a request that was asked with To.
type Answer struct {
	To   any
	Body any
}

// Write is one atomic batch. Who drives the shard calls Done when the batch is
// committed, or has failed.
type Write struct {
	Group   string
	Records []Record
	done    func(kafka.ErrorCode)
}

// NewShard makes a coordinator that knows no group.
func NewShard(opt Options) *Shard {
	return &Shard{opt: opt, groups: map[string]*group{}}
}

// group is a group of either protocol, or only a name under which offsets are
// committed.
type group struct {
	id       string
	classic  *classic
	consumer *consumer
	offsets  map[string]Offset
	emptied  journal.Time // when the last member went, or the last offset was committed without members
	sent     map[string]any
}

// IDs of the groups, sorted.
func (s *Shard) IDs() []string { return slices.Sorted(maps.Keys(s.groups)) }

func (s *Shard) group(id string) *group { return s.groups[id] }

func (s *Shard) newGroup(id string) *group {
	g := &group{id: id, offsets: map[string]Offset{}, emptied: s.now, sent: map[string]any{}}
	s.groups[id] = g
	return g
}

// begin starts an operation.
func (s *Shard) begin(now journal.Time) {
	s.now, s.out = now, Result{}
}

// end closes an operation: what changed without an event comes along.
func (s *Shard) end() Result {
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		s.out.Changes = append(s.out.Changes, s.diff(s.groups[id])...)
	}
	return s.out
}

func (s *Shard) answer(to, body any) {
	if to != nil {
		s.out.Answers = append(s.out.Answers, Answer{to, body})
	}
}

func (s *Shard) write(group string, done func(kafka.ErrorCode), records ...Record) {
	s.out.Writes = append(s.out.Writes, &Write{Group: group, Records: records, done: done})
}

// Written tells the outcome of a write.
func (s *Shard) Written(now journal.Time, w *Write, code kafka.ErrorCode) Result {
	s.begin(now)
	w.done(code)
	return s.end()
}

func (s *Shard) emit(g *group, kind journal.Kind, f journal.Fields) {
	s.out.Events = append(s.out.Events, journal.Event{Kind: kind, Group: g.id, F: f, Ch: s.diff(g)})
}

// appendError is the coordinator's word for an error of its log
// (CoordinatorOperationExceptionHelper).
func appendError(code kafka.ErrorCode) kafka.ErrorCode {
	switch code {
	case kafka.NotEnoughReplicas, kafka.NotEnoughReplicasAfterAppend, kafka.RequestTimedOut, kafka.UnknownTopicOrPartition:
		return kafka.CoordinatorNotAvailable
	case kafka.NotLeaderOrFollower, kafka.KafkaStorageError:
		return kafka.NotCoordinator
	}
	return code
}

func (s *Shard) millis(key string) journal.Time { return journal.Millis(s.opt.Config.Millis(key)) }

// Deadline is when the next timer fires; false for none.
func (s *Shard) Deadline() (journal.Time, bool) { return s.timers.next() }

// Tick fires the timer that is due first, if one is; cause is what Options.Cause
// said when it was set.
func (s *Shard) Tick(now journal.Time) (r Result, cause int, ok bool) {
	t, ok := s.timers.pop(now)
	if !ok {
		return Result{}, 0, false
	}
	s.begin(now)
	if g := s.groups[t.group]; g != nil {
		t.fire(g)
	}
	return s.end(), t.cause, true
}

// later sets a timer of a group; setting one again moves it.
func (s *Shard) later(d journal.Time, g *group, key string, fire func(*group)) {
	cause := 0
	if s.opt.Cause != nil {
		cause = s.opt.Cause()
	}
	s.timers.set(timer{at: s.now + d, group: g.id, key: key, cause: cause, fire: fire})
}

// timers are the shard's timers by group and purpose (CoordinatorTimer).
type timers struct {
	list []timer
	seq  int
}

type timer struct {
	at         journal.Time
	seq        int
	group, key string
	cause      int
	fire       func(*group)
}

func (ts *timers) set(t timer) {
	ts.cancel(t.group, t.key)
	ts.seq++
	t.seq = ts.seq
	ts.list = append(ts.list, t)
}

func (ts *timers) cancel(group, key string) {
	ts.list = slices.DeleteFunc(ts.list, func(t timer) bool { return t.group == group && t.key == key })
}

func (ts *timers) deadline(group, key string) (journal.Time, bool) {
	for _, t := range ts.list {
		if t.group == group && t.key == key {
			return t.at, true
		}
	}
	return 0, false
}

func (ts *timers) first() int {
	best := -1
	for i := range ts.list {
		if best < 0 || ts.list[i].at < ts.list[best].at || ts.list[i].at == ts.list[best].at && ts.list[i].seq < ts.list[best].seq {
			best = i
		}
	}
	return best
}

func (ts *timers) next() (journal.Time, bool) {
	if i := ts.first(); i >= 0 {
		return ts.list[i].at, true
	}
	return 0, false
}

func (ts *timers) pop(now journal.Time) (timer, bool) {
	i := ts.first()
	if i < 0 || ts.list[i].at > now {
		return timer{}, false
	}
	t := ts.list[i]
	ts.list = slices.Delete(ts.list, i, i+1)
	return t, true
}

// session is the key of a member's session timer.
func session(member string) string { return "session " + member }
