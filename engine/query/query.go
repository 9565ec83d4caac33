// Package query answers questions about a run: what was true just after an
// event, and what happened over the whole of it. It is what expectations,
// captions and the command line ask. Times are in microseconds; whoever shows
// them converts.
package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// None is the leader of a partition without one.
const None = "none"

// Q asks about the state just after event n. What is said to be over the whole
// run does not depend on n.
type Q struct {
	x   *journal.Index
	j   *journal.Journal
	sc  *cluster.Scenario
	n   int
	end journal.Time
}

// New asks at event n of a run; n below 1 is the last event. end is when the run
// stopped, 0 for the time of its last event.
func New(x *journal.Index, sc *cluster.Scenario, n int, end journal.Time) *Q {
	j := x.Journal()
	if n < 1 || n > len(j.Events) {
		n = len(j.Events)
	}
	if len(j.Events) > 0 {
		end = max(end, j.Events[len(j.Events)-1].T)
	}
	return &Q{x: x, j: j, sc: sc, n: n, end: end}
}

// At is the same question at another event.
func (q *Q) At(n int) *Q { return New(q.x, q.sc, n, q.end) }

// N is the event after which this asks.
func (q *Q) N() int { return q.n }

// NodeOf reads a broker in the forms in which events and keys name one: "b1" or 1.
func nodeOf(v any) string {
	switch v := v.(type) {
	case string:
		if v == "" || v == "-1" {
			return None
		}
		if id, err := strconv.Atoi(v); err == nil {
			return kafka.NodeName(kafka.BrokerID(id))
		}
		return v
	case int:
		return nodeOf(strconv.Itoa(v))
	case int32:
		return nodeOf(strconv.Itoa(int(v)))
	case int64:
		return nodeOf(strconv.FormatInt(v, 10))
	}
	return None
}

// idsOf reads a list of broker ids in the forms in which keys hold one.
func idsOf(v any) []int {
	ids := []int{}
	add := func(s string) {
		if id := kafka.NodeID(s); id > 0 {
			ids = append(ids, int(id))
		} else if n, err := strconv.Atoi(s); err == nil {
			ids = append(ids, n)
		}
	}
	switch v := v.(type) {
	case []int:
		return slices.Clone(v)
	case []int32:
		for _, id := range v {
			ids = append(ids, int(id))
		}
	case []string:
		for _, s := range v {
			add(s)
		}
	case string:
		for _, s := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" ,[]", r) }) {
			add(s)
		}
	}
	return ids
}

// Leader is the committed leader of a partition, "b1", or None.
func (q *Q) Leader(part string) string { return q.leaderAt(part, q.n) }

func (q *Q) leaderAt(part string, n int) string {
	return nodeOf(q.x.Get(journal.MetaKey(part, "leader"), n))
}

// Epoch is the leader epoch, −1 for no such partition.
func (q *Q) Epoch(part string) int64 { return q.x.Int(journal.MetaKey(part, "leaderEpoch"), q.n, -1) }

// PartitionEpoch counts all changes of a partition's state.
func (q *Q) PartitionEpoch(part string) int64 {
	return q.x.Int(journal.MetaKey(part, "partitionEpoch"), q.n, -1)
}

// ISR is the committed set of in-sync replicas, ascending.
func (q *Q) ISR(part string) []int { return q.ids(part, "isr") }

// ELR are the eligible leader replicas outside the ISR, ascending.
func (q *Q) ELR(part string) []int { return q.ids(part, "elr") }

func (q *Q) ids(part, field string) []int {
	ids := idsOf(q.x.Get(journal.MetaKey(part, field), q.n))
	slices.Sort(ids)
	return ids
}

// HW is the high watermark as a replica knows it, −1 for no replica.
func (q *Q) HW(node, part string) int64 { return q.replica(node, part, "hw") }

// LEO is the log end offset of a replica, −1 for no replica.
func (q *Q) LEO(node, part string) int64 { return q.replica(node, part, "leo") }

// LSO is the last stable offset of the leader, −1 without a leader.
func (q *Q) LSO(part string) int64 { return q.replica(q.Leader(part), part, "lso") }

func (q *Q) replica(node, part, field string) int64 {
	return q.x.Int(journal.ReplicaKey(node, part, field), q.n, -1)
}

func (q *Q) logOf(node, part string) journal.Log {
	return q.x.LogAt(journal.ReplicaKey(node, part, "log"), q.n)
}

// Log are the values of the records on a replica, "" for a control record.
func (q *Q) Log(node, part string) []string {
	vs := []string{}
	for _, e := range q.logOf(node, part).Entries {
		v := ""
		if r := q.j.Record(e.ID); r != nil {
			v = r.Value
		}
		vs = append(vs, v)
	}
	return vs
}

// Committed is a group's committed offset, −1 for none.
func (q *Q) Committed(group, part string) int64 {
	return q.x.Int(journal.ReplicaKey(group, part, "committed"), q.n, -1)
}

// Position is the offset that a member asks for next, −1 for none.
func (q *Q) Position(member, part string) int64 {
	return q.x.Int(journal.ReplicaKey(member, part, "position"), q.n, -1)
}

// Readable is the end that consumers see: the leader's high watermark, −1
// without a leader.
func (q *Q) Readable(part string) int64 { return q.HW(q.Leader(part), part) }

// Lag is the end that consumers see minus the committed offset; false where
// nothing is committed or nobody leads.
func (q *Q) Lag(group, part string) (int64, bool) {
	c, end := q.Committed(group, part), q.Readable(part)
	if c < 0 || end < 0 {
		return 0, false
	}
	return end - c, true
}

// ack is where a producer was told that its record is.
type ack struct {
	id, part string
	offset   int64 // −1 with acks=0
}

func (q *Q) acks() []ack {
	var as []ack
	seen := map[string]bool{}
	for i := range q.n {
		e := &q.j.Events[i]
		if e.Kind != journal.ProducerAcked {
			continue
		}
		base := fieldInt(e, "baseOffset", -1)
		for k, id := range recordsOf(e) {
			if seen[id] {
				continue
			}
			seen[id] = true
			a := ack{id, e.Part, -1}
			if base >= 0 {
				a.offset = base + int64(k)
			}
			as = append(as, a)
		}
	}
	return as
}

// Acked are the records whose producers were told that they are written; with
// acks=0 those that were sent.
func (q *Q) Acked() []string {
	ids := []string{}
	for _, a := range q.acks() {
		ids = append(ids, a.id)
	}
	return ids
}

// Lost are the records that were acknowledged with an offset and are no longer
// in the log of the leader, or in none where nobody leads. What retention took
// is not lost.
func (q *Q) Lost() []string {
	ids := []string{}
	logs := map[string]map[string]bool{}
	starts := map[string]int64{}
	for _, a := range q.acks() {
		if a.offset < 0 {
			continue
		}
		part := a.part
		if part == "" {
			continue
		}
		if logs[part] == nil {
			logs[part] = map[string]bool{}
			for _, node := range q.holders(part) {
				l := q.logOf(node, part)
				starts[part] = max(starts[part], l.Start)
				for _, e := range l.Entries {
					logs[part][e.ID] = true
				}
			}
		}
		if !logs[part][a.id] && a.offset >= starts[part] {
			ids = append(ids, a.id)
		}
	}
	return ids
}

// holders are the brokers whose log decides what a partition holds.
func (q *Q) holders(part string) []string {
	if l := q.Leader(part); l != None {
		return []string{l}
	}
	var ns []string
	for i := range q.sc.Brokers {
		ns = append(ns, kafka.NodeName(kafka.BrokerID(i+1)))
	}
	return ns
}

// Record is the id of a record by its value, and by its key where one is given;
// the first made where several agree, "" for none.
func (q *Q) Record(key *string, value string) string {
	for i := range q.j.Records {
		r := &q.j.Records[i]
		if r.Value == value && (key == nil || r.Key != nil && *r.Key == *key) {
			return r.ID
		}
	}
	return ""
}

// resolve takes a record's id or its value.
func (q *Q) resolve(record string) string {
	if q.j.Record(record) != nil {
		return record
	}
	return q.Record(nil, record)
}

// Delivered is how often consumers were given a record.
func (q *Q) Delivered(record string) int {
	id, n := q.resolve(record), 0
	for i := range q.n {
		if e := &q.j.Events[i]; e.Kind == journal.ConsumerDeliver && slices.Contains(recordsOf(e), id) {
			n++
		}
	}
	return n
}

// Copies is how often a record is in the log of the leader.
func (q *Q) Copies(record, part string) int {
	id, n := q.resolve(record), 0
	for _, e := range q.logOf(q.Leader(part), part).Entries {
		if e.ID == id {
			n++
		}
	}
	return n
}

// Errors are the names of the errors that a client met, each once, in the order
// in which they came.
func (q *Q) Errors(client string) []string {
	names := []string{}
	add := func(s string) {
		if s != "" && s != kafka.None.String() && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	for i := range q.n {
		e := &q.j.Events[i]
		if e.Node != client {
			continue
		}
		switch e.Kind {
		case journal.ProducerRetry, journal.ProducerFailed, journal.ConsumerStall, journal.AdminFailed:
			if v, ok := Field(e.F, "error"); ok {
				add(text(v))
			}
		case journal.ResponseReceive:
			for _, c := range errorCodes(e.F) {
				add(c.String())
			}
		}
	}
	return names
}

// Count is how many events a filter names.
func (q *Q) Count(f Filter) int {
	q.prepare(&f)
	n := 0
	for i := range q.n {
		if f.match(&q.j.Events[i]) {
			n++
		}
	}
	return n
}

// First is the Nth event of the whole run that a filter names, nil for none.
func (q *Q) First(f Filter) *journal.Event {
	q.prepare(&f)
	left := max(f.Nth, 1)
	for i := range q.j.Events {
		if f.match(&q.j.Events[i]) {
			if left--; left == 0 {
				return &q.j.Events[i]
			}
		}
	}
	return nil
}

// Last is the last event of the whole run that a filter names, nil for none.
func (q *Q) Last(f Filter) *journal.Event {
	q.prepare(&f)
	for i := len(q.j.Events) - 1; i >= 0; i-- {
		if f.match(&q.j.Events[i]) {
			return &q.j.Events[i]
		}
	}
	return nil
}

// Controller is the active controller, or None.
func (q *Q) Controller() string {
	best, epoch := None, int64(-1)
	for i := range q.sc.Ctrls {
		c := "c" + strconv.Itoa(i+1)
		role, e := q.x.Str(journal.NodeKey(c, "role"), q.n), q.x.Int(journal.NodeKey(c, "epoch"), q.n, -1)
		state := q.x.Str(journal.NodeKey(c, "state"), q.n)
		if (role == "leader" || role == "active") && state != "crashed" && state != "vanished" && state != "stopped" && e > epoch {
			best, epoch = c, e
		}
	}
	return best
}

// QuorumEpoch is the highest epoch that a controller has seen.
func (q *Q) QuorumEpoch() int64 {
	epoch := int64(-1)
	for i := range q.sc.Ctrls {
		epoch = max(epoch, q.x.Int(journal.NodeKey("c"+strconv.Itoa(i+1), "epoch"), q.n, -1))
	}
	return epoch
}

// Fenced says whether the controller has fenced a broker.
func (q *Q) Fenced(node string) bool { return q.x.Str(journal.SessionKey(node), q.n) == "fenced" }

// Coordinator is the broker that coordinates a group, or None.
func (q *Q) Coordinator(group string) string {
	return nodeOf(q.x.Get(journal.NodeKey(group, "coordinator"), q.n))
}

// GroupLeader is the member that computes a classic group's assignment, "" for none.
func (q *Q) GroupLeader(group string) string {
	return q.x.Str(journal.NodeKey(group, "leader"), q.n)
}

// GroupState is a group's state by Kafka's name, "" for none.
func (q *Q) GroupState(group string) string { return q.x.Str(journal.NodeKey(group, "state"), q.n) }

// Generation is a classic group's generation or the newer protocol's group epoch.
func (q *Q) Generation(group string) int64 {
	return q.x.Int(journal.NodeKey(group, "generation"), q.n, q.x.Int(journal.NodeKey(group, "groupEpoch"), q.n, -1))
}

// MemberEpoch is a member's epoch, −1 for none.
func (q *Q) MemberEpoch(member string) int64 {
	for _, g := range q.sc.Groups {
		for _, m := range g.Members {
			if m.ID == member {
				return q.x.Int(journal.ReplicaKey(g.ID, member, "epoch"), q.n, -1)
			}
		}
	}
	return -1
}

// Assignment are the partitions of a group's members.
func (q *Q) Assignment(group string) map[string][]string {
	all := map[string][]string{}
	for i := range q.sc.Groups {
		g := &q.sc.Groups[i]
		if g.ID != group {
			continue
		}
		for _, m := range g.Members {
			ps, ok := q.x.Get(journal.ReplicaKey(group, m.ID, "assignment"), q.n).([]string)
			if !ok {
				ps = m.Assign
			}
			all[m.ID] = slices.Clone(ps)
		}
	}
	return all
}

// Owner is the member of a group that has a partition, or None.
func (q *Q) Owner(group, part string) string {
	all := q.Assignment(group)
	for i := range q.sc.Groups {
		for _, m := range q.sc.Groups[i].Members {
			if q.sc.Groups[i].ID == group && slices.Contains(all[m.ID], part) {
				return m.ID
			}
		}
	}
	return None
}
