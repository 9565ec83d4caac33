package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
)

// Partitions is how many partitions a topic has now; 0 before it is created. Of a
// topic that the journal says nothing about it is what the scenario gives.
func (q *Q) Partitions(topic string) int {
	exists := func(i, n int) bool {
		return q.x.Get(journal.MetaKey(topic+"-"+strconv.Itoa(i), "leader"), n) != nil
	}
	if exists(0, math.MaxInt) && !exists(0, q.n) {
		return 0
	}
	n := Partitions(q.sc, topic)
	for n > 0 && exists(n, q.n) {
		n++
	}
	return n
}

// Partitions is how many partitions a scenario gives to a topic, 0 for no such topic.
func Partitions(sc *cluster.Scenario, topic string) int {
	for i := range sc.Topics {
		if t := &sc.Topics[i]; t.Name == topic {
			if len(t.Replicas) > 0 {
				return len(t.Replicas)
			}
			return max(t.Partitions, 1)
		}
	}
	if topic == OffsetsTopic && len(sc.Groups) > 0 {
		return int(kafka.NewConfig("broker", sc.Config).Int("offsets.topic.num.partitions"))
	}
	return 0
}

// OffsetsTopic is where group coordinators keep committed offsets.
const OffsetsTopic = "__consumer_offsets"

// Partition is the one that a key of a topic goes to, −1 for no such topic.
func (q *Q) Partition(topic, key string) int {
	n := q.Partitions(topic)
	if n == 0 {
		return -1
	}
	return int(kafka.PartitionForKey([]byte(key), int32(n)))
}

// Hash is murmur2 of a key without its sign bit, as the default partitioner uses it.
func (q *Q) Hash(key string) int64 { return int64(kafka.ToPositive(kafka.Murmur2([]byte(key)))) }

// Feature is the level of a feature whose level a scenario may set: 1 unless it
// sets 0.
func (q *Q) Feature(name string) (int, error) {
	if name != image.ELRFeature {
		return 0, fmt.Errorf("the level of %s is not a setting", name)
	}
	if level, ok := q.sc.Features[name]; ok {
		return level, nil
	}
	return 1, nil
}

// Config is the value of a setting of a node, topic, producer, group or member,
// with its definition; false where there is no such key.
func (q *Q) Config(who, key string) (string, kafka.ConfigDef, bool) {
	scope, sets := settings(q.sc, who)
	set := func(who string) map[string]string {
		if v, ok := q.x.Get(journal.ConfigKey(who, key), q.n).(string); ok {
			return map[string]string{key: v}
		}
		return nil
	}
	switch scope {
	case "topic":
		sets = slices.Concat([]map[string]string{set(who)}, sets[:1], []map[string]string{set("*")}, sets[1:])
	case "broker":
		sets = slices.Concat([]map[string]string{set(who), set("*")}, sets)
	}
	return lookup(scope, sets, key)
}

// Config is a setting as a scenario gives it or Kafka's default.
func Config(sc *cluster.Scenario, who, key string) (string, kafka.ConfigDef, bool) {
	scope, sets := settings(sc, who)
	return lookup(scope, sets, key)
}

func lookup(scope string, sets []map[string]string, key string) (string, kafka.ConfigDef, bool) {
	def, ok := kafka.LookupConfig(scope, key)
	if !ok {
		return "", def, false
	}
	for _, set := range sets {
		if v, ok := set[key]; ok {
			return v, def, true
		}
	}
	return def.Default, def, true
}

// settings are the scope of a name and what is set for it, the strongest first.
func settings(sc *cluster.Scenario, who string) (string, []map[string]string) {
	for i := range sc.Producers {
		if sc.Producers[i].ID == who {
			return "producer", []map[string]string{sc.Producers[i].Config}
		}
	}
	for i := range sc.Groups {
		g := &sc.Groups[i]
		if g.ID == who {
			return "consumer", []map[string]string{g.Config}
		}
		for k := range g.Members {
			if g.Members[k].ID == who {
				return "consumer", []map[string]string{g.Members[k].Config, g.Config}
			}
		}
	}
	for i := range sc.Topics {
		if sc.Topics[i].Name == who {
			return "topic", []map[string]string{sc.Topics[i].Config, sc.Config}
		}
	}
	return "broker", []map[string]string{sc.Nodes[who], sc.Config}
}

// TopicOf is the topic of a partition, "orders" of "orders-0".
func TopicOf(part string) string {
	for i := len(part) - 1; i > 0; i-- {
		if part[i] == '-' {
			return part[:i]
		}
	}
	return part
}

// MinISR is min.insync.replicas of a partition: what counts at that moment, else
// what the scenario gives its topic.
func (q *Q) MinISR(part string) int64 {
	if n := q.x.Int(journal.MetaKey(part, "minIsr"), q.n, 0); n > 0 {
		return n
	}
	v, _, _ := q.Config(TopicOf(part), "min.insync.replicas")
	return atoi(v)
}

// Headroom is how many in-sync replicas a partition can lose before it refuses
// acks=all.
func (q *Q) Headroom(part string) int64 { return int64(len(q.ISR(part))) - q.MinISR(part) }

// Waited is the time from send() to the result of a record, over the whole run;
// false for a record without a result.
func (q *Q) Waited(record string) (journal.Time, bool) {
	sent, done := q.span(q.resolve(record))
	if sent < 0 || done < 0 {
		return 0, false
	}
	return done - sent, true
}

// span is when a record was sent and when its result came, −1 for never.
func (q *Q) span(id string) (sent, done journal.Time) {
	sent, done = -1, -1
	for i := range q.j.Events {
		e := &q.j.Events[i]
		switch e.Kind {
		case journal.ProducerPartition:
			if sent < 0 && slices.Contains(recordsOf(e), id) {
				sent = e.T
			}
		case journal.ProducerAcked, journal.ProducerFailed:
			if done < 0 && slices.Contains(recordsOf(e), id) {
				done = e.T
			}
		}
	}
	return sent, done
}

// Longest is the largest Waited of the records that a producer sent from one
// time to another, over the whole run. A record that never got a result counts
// until the end.
func (q *Q) Longest(producer string, from, to journal.Time) journal.Time {
	sent := map[string]journal.Time{}
	var order []string
	longest := journal.Time(0)
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if e.Node != producer {
			continue
		}
		switch e.Kind {
		case journal.ProducerPartition:
			for _, id := range recordsOf(e) {
				if _, ok := sent[id]; !ok && e.T >= from && e.T <= to {
					sent[id] = e.T
					order = append(order, id)
				}
			}
		case journal.ProducerAcked, journal.ProducerFailed:
			for _, id := range recordsOf(e) {
				if t, ok := sent[id]; ok && t >= 0 {
					longest = max(longest, e.T-t)
					sent[id] = -1
				}
			}
		}
	}
	for _, id := range order {
		if t := sent[id]; t >= 0 {
			longest = max(longest, q.end-t)
		}
	}
	return longest
}

// End is when the run stopped.
func (q *Q) End() journal.Time { return q.end }

// Offline is how long a partition had no leader, over the whole run.
func (q *Q) Offline(part string) journal.Time {
	total, since := journal.Time(0), journal.Time(-1)
	for _, n := range q.x.Changes(journal.MetaKey(part, "leader")) {
		t := q.j.At(n).T
		none := q.leaderAt(part, n) == None
		switch {
		case none && since < 0:
			since = t
		case !none && since >= 0:
			total, since = total+t-since, -1
		}
	}
	if since >= 0 {
		total += q.end - since
	}
	return total
}

// LeaderAt is the leader of a partition at a time of the run.
func (q *Q) LeaderAt(part string, t journal.Time) string { return q.leaderAt(part, q.EventAt(t)) }

// EventAt is the number of the last event at or before a time, 0 for none.
func (q *Q) EventAt(t journal.Time) int { return EventAt(q.j, t) }

// EventAt is the number of the last event at or before a time, 0 for none.
func EventAt(j *journal.Journal, t journal.Time) int {
	n, _ := slices.BinarySearchFunc(j.Events, t+1, func(e journal.Event, t journal.Time) int {
		switch {
		case e.T < t:
			return -1
		case e.T > t:
			return 1
		}
		return 0
	})
	return n
}

// Recovering says whether the leader of a partition was elected uncleanly and
// has not reported its recovery yet.
func (q *Q) Recovering(part string) bool {
	return q.x.Int(journal.MetaKey(part, "leaderRecoveryState"), q.n, 0) == 1
}

// Gone is how many records a replica cut off its log, over the whole run.
func (q *Q) Gone(node, part string) int64 {
	n := int64(0)
	for i := range q.j.Events {
		e := &q.j.Events[i]
		if e.Kind == journal.ReplicaTruncate && e.Node == node && e.Part == part {
			n += max(fieldInt(e, "from", 0)-fieldInt(e, "to", 0), 0)
		}
	}
	return n
}
