// Package words is the phrase catalogue: one plain sentence for every event,
// and the short text of every message on its way.
package words

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Phrases renders the events of one journal. It is safe for concurrent use.
type Phrases struct {
	j     *journal.Journal
	reqs  map[int]*journal.Event // request.send by message
	resps map[int]*journal.Event // response.send by message
}

// New prepares the catalogue for a journal.
func New(j *journal.Journal) *Phrases {
	p := &Phrases{j: j, reqs: map[int]*journal.Event{}, resps: map[int]*journal.Event{}}
	for i := range j.Events {
		switch e := &j.Events[i]; e.Kind {
		case journal.RequestSend:
			p.reqs[e.Msg] = e
		case journal.ResponseSend:
			p.resps[e.Msg] = e
		}
	}
	return p
}

// Node is a node's name in a sentence: broker 2, controller C1, or a client's id.
func Node(name string) string {
	switch id := kafka.NodeID(name); {
	case id < 0:
		return name
	case id > 100:
		return "controller " + short(name)
	}
	return "broker " + name[1:]
}

// upper begins a sentence with a capital, unless it begins with a client's id.
func upper(s string) string {
	if strings.HasPrefix(s, "broker ") || strings.HasPrefix(s, "controller ") {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// lookup finds a field of an event by name, as text.
type lookup func(name string) string

// phrase makes the sentence of one kind, or of one API.
type phrase func(p *Phrases, e *journal.Event, f lookup) string

// say is a phrase with {node}, {part}, {group}, {from}, {to}, {api} and the
// names of fields in braces; {a|b} is the first of the two that there is, and
// {f.to} the field where a name means a node otherwise.
func say(template string) phrase {
	return func(_ *Phrases, e *journal.Event, f lookup) string { return fill(template, e, f) }
}

func fill(template string, e *journal.Event, f lookup) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return upper(b.String())
		}
		var name string
		name, template, _ = strings.Cut(rest, "}")
		val := unknown
		for _, n := range strings.Split(name, "|") {
			if val = value(n, e, f); val != unknown {
				break
			}
		}
		b.WriteString(val)
	}
}

func value(name string, e *journal.Event, f lookup) string {
	v := ""
	switch name {
	case "node":
		v = Node(e.Node)
	case "part":
		if v = e.Part; v == "" {
			return f("part")
		}
	case "group":
		v = e.Group
	case "from":
		v = Node(e.From)
	case "to":
		v = Node(e.To)
	case "api":
		v = e.API
	default:
		return f(strings.TrimPrefix(name, "f."))
	}
	if v == "" {
		return unknown
	}
	return v
}

// Say is the sentence of an event.
func (p *Phrases) Say(e *journal.Event) string {
	ph, ok := catalogue[e.Kind]
	if !ok {
		return string(e.Kind)
	}
	return ph(p, e, func(name string) string { return find(e, name) })
}

// find looks for a value in the event's fields, in its first partition, and then
// among the keys that the event changes, where many kinds say what is new.
func find(e *journal.Event, name string) string {
	if v := first(e.F, name); v != nil {
		return text(v)
	}
	for _, c := range e.Ch {
		if strings.HasSuffix(c.Key, "/"+name) {
			return text(c.Val)
		}
	}
	return unknown
}

// nodes names nodes of a list, or the one node that v is.
func nodes(v any) string {
	var out []string
	switch v := v.(type) {
	case string:
		return Node(v)
	case []string:
		for _, n := range v {
			out = append(out, Node(n))
		}
	}
	switch n := len(out); n {
	case 0:
		return ""
	case 1:
		return out[0]
	default:
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
}

// catalogue has the sentence of every kind.
var catalogue = map[journal.Kind]phrase{
	journal.Boot: func(_ *Phrases, e *journal.Event, f lookup) string {
		if f("start") == "empty" {
			return "The disks are formatted and empty, and every controller and broker starts."
		}
		return "The cluster rests: every replica has what its leader has, and every Fetch waits for news."
	},
	journal.Action: action,

	journal.NodeStart: say("{node} starts, with what is on its disk."),
	journal.NodeReady: func(_ *Phrases, e *journal.Event, f lookup) string {
		if kafka.NodeID(e.Node) > 100 {
			return fill("{node} has read its log and accepts connections.", e, f)
		}
		return fill("{node} has caught up with the metadata and accepts connections.", e, f)
	},
	journal.NodeStop:   say("{node} stops in order."),
	journal.NodeCrash:  nodeCrash,
	journal.NodeVanish: say("The host of {node} is gone: nobody gets an answer, and nobody is told."),
	journal.NodePause:  say("{node} pauses, as in a long garbage collection; what arrives waits."),
	journal.NodeResume: say("{node} goes on with what waited."),
	journal.NodeDisk: func(_ *Phrases, e *journal.Event, f lookup) string {
		if get(e.F, "disk") == journal.Time(0) {
			return fill("The disk of {node} is as fast as before.", e, f)
		}
		return fill("The disk of {node} is slow: each append takes {f.disk} longer.", e, f)
	},

	journal.NetCut:    say("What {from} and {to} send on the connections that {from} opens arrives no more; neither side sees an error yet."),
	journal.NetHeal:   say("The connections from {from} to {to} carry data again with TCP's next attempt."),
	journal.NetSlow:   say("The connections from {from} to {to} get slow."),
	journal.ConnOpen:  say("{from} opens a connection to {to}."),
	journal.ConnClose: say("The connection from {from} to {to} ends: {reason}."),

	journal.RequestSend:     requestSend,
	journal.RequestReceive:  requestReceive,
	journal.ResponseSend:    responseSend,
	journal.ResponseReceive: responseReceive,
	journal.MessageHeld: func(_ *Phrases, e *journal.Event, _ lookup) string {
		return onItsWay(e) + " is held on its way; it comes later or its connection breaks."
	},
	journal.MessageLost: func(_ *Phrases, e *journal.Event, _ lookup) string {
		return onItsWay(e) + " is lost: its connection is gone."
	},
	journal.TimerFire: timerFire,

	journal.ProducerPartition: producerPartition,
	journal.ProducerBatch:     say("{node} adds the record to a batch for {part} (records in it: {count})."),
	journal.ProducerDrain:     say("{node} takes the batch for {part} out of its queue, to send it."),
	journal.ProducerAcked:     producerAcked,
	journal.ProducerRetry:     producerRetry,
	journal.ProducerFailed: func(p *Phrases, e *journal.Event, f lookup) string {
		if strings.HasSuffix(f("error"), "Exception") {
			return fmt.Sprintf("%s: send() fails at once for %s: %s.", e.Node, p.values(get(e.F, "records")), f("error"))
		}
		return fmt.Sprintf("%s gives up on %s for %s: %s.", e.Node, p.values(get(e.F, "records")), e.Part, f("error"))
	},
	journal.ProducerID: say("{node} has producer id {producerId}, epoch {producerEpoch}."),

	journal.ReplicaAppend: replicaAppend,
	journal.ReplicaTruncate: func(_ *Phrases, e *journal.Event, f lookup) string {
		if get(e.F, "from") == get(e.F, "to") {
			return fill("{node} drops a leader epoch of {part} in which nothing was written, and that the leader does not know: its log still ends at {f.to}.", e, f)
		}
		return fill("{node} cuts its log of {part} from log end offset {f.from} to {f.to}: from there the leader has other records.", e, f)
	},
	journal.ReplicaLeader: say("{node} leads {part} in leader epoch {leaderEpoch}, which starts at offset {startOffset}."),
	journal.ReplicaFollower: func(_ *Phrases, e *journal.Event, f lookup) string {
		if num(get(e.F, "leader"), 0) < 0 {
			return fill("{node} follows nobody for {part}: it has no leader, in leader epoch {leaderEpoch}.", e, f)
		}
		return fill("{node} follows broker {leader} for {part} in leader epoch {leaderEpoch}.", e, f)
	},
	journal.ReplicaOffline:    say("{part} on {node} is offline."),
	journal.ReplicaStop:       say("{node} holds no replica of {part} any more: it stops fetching, fails who waits, and deletes the log."),
	journal.HWAdvance:         say("{node} moves the high watermark of {part} from {f.from} to {f.to}: every replica in the ISR has everything below {f.to}."),
	journal.HWCheckpoint:      say("{node} writes its high watermarks to disk (replication-offset-checkpoint); it would begin with them after a restart."),
	journal.HWLearn:           say("{node} learns from a Fetch response that the high watermark of {part} is {f.to}."),
	journal.LogStartAdvance:   say("{part} on {node} now starts at offset {f.to}."),
	journal.ISRPropose:        isrPropose,
	journal.ISRCommit:         say("{node} works with the ISR {isr} of {part}, partition epoch {partitionEpoch}."),
	journal.PurgatoryWait:     purgatoryWait,
	journal.PurgatoryComplete: purgatoryComplete,
	journal.PurgatoryExpire:   purgatoryExpire,
	journal.ProducerDuplicate: say("{node} has this batch of {part} already, at offset {baseOffset}: nothing is appended again."),

	journal.MetadataAppend:   metadataAppend,
	journal.MetadataCommit:   say("A majority of the controllers has the metadata log below offset {highWatermark}: it is committed."),
	journal.MetadataApply:    say("{node} has applied the metadata log up to offset {offset}."),
	journal.LeaderElect:      leaderElect,
	journal.BrokerFence:      say("{node} is fenced: it leads nothing and is in no ISR."),
	journal.BrokerUnfence:    say("{node} is unfenced: it may lead and join ISRs again."),
	journal.BrokerShutdown:   say("{node} is in controlled shutdown: its leaderships move away first."),
	journal.MetadataTruncate: say("{node} cuts its metadata log from log end offset {f.from} to {f.to}: the leader of the quorum has other records there, or none."),
	journal.MetadataSnapshot: say("{node} writes a snapshot: the committed metadata below offset {endOffset}."),
	journal.QuorumUnattached: say("{node} knows no leader in quorum epoch {epoch}."),
	journal.QuorumProspect:   say("{node} is prospective in quorum epoch {epoch}: it asks whether it would be elected before it opens a new quorum epoch."),
	journal.QuorumCandidate:  say("{node} is a candidate in quorum epoch {epoch} and asks for votes."),
	journal.QuorumLeader:     say("{node} is the active controller in quorum epoch {epoch}."),
	journal.QuorumFollower: func(_ *Phrases, e *journal.Event, f lookup) string {
		leader := Node(kafka.NodeName(kafka.BrokerID(num(get(e.F, "leader"), 0))))
		return fill("{node} follows "+leader+" in quorum epoch {epoch}.", e, f)
	},
	journal.QuorumResign: say("{node} resigns in quorum epoch {epoch}: it leads no longer, and it writes nothing more in this epoch."),
	journal.QuorumVote:   quorumVote,

	journal.GroupState: func(_ *Phrases, e *journal.Event, f lookup) string {
		if get(e.F, "reason") == nil {
			return fill("Group {group} is {state}.", e, f)
		}
		return fill("Group {group} is {state}: {reason}.", e, f)
	},
	journal.GroupGeneration:   say("Group {group} is in generation {generation}, with assignor {protocol} and {leader} as group leader."),
	journal.GroupTarget:       say("Group {group} has a new target assignment, target epoch {targetEpoch|epoch}."),
	journal.GroupAssign:       groupAssign,
	journal.MemberJoin:        say("{node} joins group {group}."),
	journal.MemberLeave:       say("{node} leaves group {group}."),
	journal.MemberFence:       say("{node} is removed from group {group}: {reason}."),
	journal.CoordinatorLoad:   say("{node} loads {part}: it coordinates the groups in it."),
	journal.CoordinatorUnload: say("{node} coordinates the groups of {part} no longer."),
	journal.OffsetCommit:      say("Group {group} has committed offset {offset} of {part}: the next to read after a restart."),
	journal.OffsetExpire:      say("The committed offset of group {group} for {part} has expired."),

	journal.AdminFailed: adminFailed,

	journal.ConsumerPoll:    say("poll() of {node} returns {count} records of {part}, from offset {offset} on."),
	journal.ConsumerDeliver: consumerDeliver,
	journal.ConsumerCallback: func(_ *Phrases, e *journal.Event, f lookup) string {
		if parts, _ := get(e.F, "parts").([]string); len(parts) == 0 {
			return fill("{node} runs {callback}, for no partition.", e, f)
		}
		return fill("{node} runs {callback} for {parts}.", e, f)
	},
	journal.ConsumerPosition: say("{node} reads {part} from offset {offset} on."),
	journal.ConsumerReset:    say("{node} {reason} of {part}: auto.offset.reset {policy} gives {offset}."),
	journal.ConsumerCommitted: func(_ *Phrases, e *journal.Event, f lookup) string {
		if err := text(get(e.F, "error")); get(e.F, "error") != nil {
			return fill("commitSync() of {node} throws "+err+".", e, f)
		}
		return fill("commitSync() of {node} returns: {offsets} committed.", e, f)
	},
	journal.ConsumerCommit: say("{node} commits its positions to the coordinator of group {group}."),
	journal.ConsumerStall: func(_ *Phrases, e *journal.Event, f lookup) string {
		if err := text(get(e.F, "error")); get(e.F, "error") != nil {
			if e.Part == "" {
				return fill("{node} stops: poll() throws "+err+".", e, f)
			}
			return fill("{node} stops: poll() throws "+err+" for {part}.", e, f)
		}
		return fill("{node} is busy for {forMs} ms and does not call poll().", e, f)
	},

	journal.TxnState:  say("The transaction of {node} is {state}."),
	journal.TxnMarker: say("{node} writes a transaction marker to {part}."),

	journal.CheckExpect: func(_ *Phrases, e *journal.Event, f lookup) string {
		return strings.TrimSuffix(fill("An expectation is checked: {say|that}", e, f), ".") + "."
	},
	journal.CheckInvariant: say("An invariant is checked: {name}."),
}

func action(_ *Phrases, e *journal.Event, f lookup) string {
	who := upper(Node(e.Node))
	switch do := f("do"); do {
	case "nothing":
		return fmt.Sprintf("%s is not running: there is no %s.", e.Node, f("instead"))
	case "produce":
		return fmt.Sprintf("%s sends a record to topic %s: %s, value %s.", e.Node, f("topic"), keyed(get(e.F, "key")), f("value"))
	case "slow", "cut", "connect", "reset":
		if e.Node != "" {
			if get(e.F, "disk") == journal.Time(0) {
				return fmt.Sprintf("From outside: the disk of %s is no longer slow.", Node(e.Node))
			}
			return fmt.Sprintf("From outside: the disk of %s becomes slow, by %s an append.", Node(e.Node), f("disk"))
		}
		done := map[string]string{"cut": "is cut", "connect": "is healed", "reset": "is reset", "slow": "becomes slow"}[do]
		from, to := nodes(get(e.F, "from")), nodes(get(e.F, "to"))
		switch {
		case from == "" && to == "":
			return "From outside: every link " + done + "."
		case to == "":
			return "From outside: the link of " + from + " " + done + "."
		}
		return "From outside: the link from " + from + " to " + to + " " + done + "."
	case "producer", "member":
		return who + " starts."
	case "create-topic":
		return fmt.Sprintf("%s is asked to create topic %s.", who, f("topic"))
	case "add-partitions":
		return fmt.Sprintf("%s is asked for %s partitions in all of topic %s.", who, f("to"), f("topic"))
	case "reassign":
		return fmt.Sprintf("%s is asked to reassign: %s.", who, f("to"))
	case "elect":
		return electAction(who, f("type"), get(e.F, "parts"))
	case "config":
		return fmt.Sprintf("%s is asked to set %s=%s for %s.", who, f("key"), f("value"), f("who"))
	case "commit":
		return who + ": the application calls commitSync()."
	case "seek":
		return fmt.Sprintf("%s: the application calls seek() on %s, to offset %s.", who, f("part"), f("offset"))
	default:
		if e.Node == "" {
			return "From outside: " + do + "."
		}
		return "From outside: " + do + " " + Node(e.Node) + "."
	}
}

func keyed(v any) string {
	if k := text(v); k != unknown {
		return "key " + k
	}
	return "no key"
}

func nodeCrash(_ *Phrases, e *journal.Event, f lookup) string {
	if kafka.NodeID(e.Node) < 0 {
		return fill("{node} is killed: what it had in memory is gone.", e, f)
	}
	return fill("{node} dies: its memory is gone, its log stays on disk.", e, f)
}

func timerFire(_ *Phrases, e *journal.Event, f lookup) string {
	switch {
	case f("timer") == "check quorum":
		return fill("{node}: no majority of the voters has fetched for 1.5 times controller.quorum.fetch.timeout.ms.", e, f)
	case e.API != "" && get(e.F, "afterMs") != nil:
		return fill("{node} has waited {afterMs} ms for the answer to its {api}: {timer} is over.", e, f)
	case e.Part != "":
		return fill("{node}: {timer} is over for {part}.", e, f)
	}
	return fill("{node}: {timer} is over.", e, f)
}

func producerPartition(_ *Phrases, e *journal.Event, f lookup) string {
	switch f("how") {
	case "key":
		return fmt.Sprintf("%s: (murmur2(%q) & 0x7fffffff) mod %s = %s mod %s = %s, so the record goes to %s.",
			e.Node, f("key"), f("partitions"), f("hash"), f("partitions"), f("partition"), e.Part)
	case "explicit":
		return fmt.Sprintf("%s names the partition itself: %s.", e.Node, e.Part)
	}
	return fmt.Sprintf("%s has no key for the record and stays with %s until a batch is full.", e.Node, e.Part)
}

func producerAcked(p *Phrases, e *journal.Event, f lookup) string {
	if num(get(e.F, "baseOffset"), 0) == -1 {
		return fmt.Sprintf("%s reports success as soon as the bytes are sent, with offset −1: nobody answers acks=0.", e.Node)
	}
	if ids, _ := get(e.F, "records").([]string); len(ids) > 1 {
		n, base := len(ids), num(get(e.F, "baseOffset"), 0)
		return fmt.Sprintf("%s has its answer: %d records are at offsets %d to %d of %s.", e.Node, n, base, base+int64(n)-1, e.Part)
	}
	return fmt.Sprintf("%s has its answer: %s is at offset %s of %s.", e.Node, p.values(get(e.F, "records")), f("baseOffset"), e.Part)
}

// producerRetry: after an error that means another leader, a batch does not wait
// for the end of its backoff once the producer knows the new one (KIP-951).
func producerRetry(_ *Phrases, e *journal.Event, f lookup) string {
	switch f("error") {
	case kafka.NotLeaderOrFollower.String(), kafka.FencedLeaderEpoch.String(), kafka.UnknownLeaderEpoch.String():
		return fill("{node} got {error} for {part} and tries again: as soon as it knows another leader, else in {backoffMs} ms.", e, f)
	}
	return fill("{node} got {error} for {part} and tries again in {backoffMs} ms.", e, f)
}

// values names records by their values.
func (p *Phrases) values(ids any) string {
	list, _ := ids.([]string)
	switch len(list) {
	case 0:
		return "no record"
	case 1:
		r := p.j.Record(list[0])
		if r != nil && r.Topic == "__consumer_offsets" && r.Key != nil {
			return fmt.Sprintf("record %s (%s)", list[0], offsetsRecord(*r.Key, r.Value))
		}
		if r != nil && r.Value != "" {
			return fmt.Sprintf("record %s (%q)", list[0], r.Value)
		}
		return "record " + list[0]
	}
	return fmt.Sprintf("%d records", len(list))
}

// offsetsRecord says what a record of the offsets topic is about: its key, and of a
// commit the offset.
func offsetsRecord(key, value string) string {
	of := strings.Split(key, " ")
	if value == "" {
		return "a tombstone for " + strings.Join(of, " ")
	}
	var commit struct{ Offset *int64 }
	if of[0] == "OffsetCommit" && len(of) == 3 && json.Unmarshal([]byte(value), &commit) == nil && commit.Offset != nil {
		return fmt.Sprintf("OffsetCommit of %s: offset %d of %s", of[1], *commit.Offset, of[2])
	}
	return of[0] + " of " + strings.Join(of[1:], ", ")
}

func replicaAppend(p *Phrases, e *journal.Event, f lookup) string {
	return fmt.Sprintf("%s appends %s to %s at offset %s, leader epoch %s.", upper(Node(e.Node)), p.values(get(e.F, "records")), e.Part, f("baseOffset"), f("epoch"))
}

func groupAssign(_ *Phrases, e *journal.Event, f lookup) string {
	parts, _ := get(e.F, "assignment").([]string)
	mine := "nothing"
	if len(parts) > 0 {
		mine = "{assignment}"
	}
	pending, _ := get(e.F, "pendingRevocation").([]string)
	switch {
	case len(pending) > 0:
		return fill("{node} keeps "+mine+" in group {group} and has to give back {pendingRevocation}.", e, f)
	case get(e.F, "memberEpoch") != nil:
		return fill("{node} has "+mine+" in group {group}, at member epoch {memberEpoch}.", e, f)
	}
	return fill("{node} is assigned "+mine+" in group {group}.", e, f)
}

func consumerDeliver(p *Phrases, e *journal.Event, f lookup) string {
	return fmt.Sprintf("%s gets %s from %s, from offset %s on.", e.Node, p.values(get(e.F, "records")), e.Part, f("offset"))
}

func isrPropose(_ *Phrases, e *journal.Event, f lookup) string {
	if f("change") == "shrink" {
		return fill("{node} proposes the ISR {isr} for {part}: a follower was not caught up for longer than replica.lag.time.max.ms.", e, f)
	}
	return fill("{node} proposes the ISR {isr} for {part}: a follower has reached the high watermark.", e, f)
}

// delayedFetch says whether an operation in purgatory is a Fetch.
func delayedFetch(e *journal.Event) bool { return get(e.F, "operation") == "DelayedFetch" }

func purgatoryWait(_ *Phrases, e *journal.Event, f lookup) string {
	if delayedFetch(e) {
		return fill("{node} parks the Fetch of {part} until there is something to answer.", e, f)
	}
	s := fill("{node} parks the Produce for {part}", e, f)
	if need := get(e.F, "requiredOffset"); need != nil {
		s += " until the high watermark reaches " + text(need)
	}
	if who := nodes(get(e.F, "waitsFor")); who != "" {
		s += "; it waits for " + who
	}
	return s + "."
}

func purgatoryComplete(_ *Phrases, e *journal.Event, f lookup) string {
	if delayedFetch(e) {
		return fill("The waiting Fetch of {part} has something to answer: {node} answers it.", e, f)
	}
	return fill("The high watermark of {part} has passed it: {node} answers the waiting Produce.", e, f)
}

func purgatoryExpire(_ *Phrases, e *journal.Event, f lookup) string {
	if delayedFetch(e) {
		return fill("The Fetch of {part} has waited its full time at {node}: it is answered without records.", e, f)
	}
	return fill("The Produce for {part} has waited too long at {node}: REQUEST_TIMED_OUT. The record stays in the log.", e, f)
}

func leaderElect(_ *Phrases, e *journal.Event, f lookup) string {
	if num(get(e.F, "leader"), 0) == -1 {
		isr := "with an empty ISR"
		if f("isr") != "" {
			isr = "ISR {isr}"
		}
		return fill("The controller finds no leader for {part}: it is offline in leader epoch {leaderEpoch}, "+isr+".", e, f)
	}
	return fill("The controller makes broker {leader} the leader of {part}, leader epoch {leaderEpoch}, ISR {isr}.", e, f)
}

func quorumVote(_ *Phrases, e *journal.Event, f lookup) string {
	what := "its vote"
	if get(e.F, "preVote") == true {
		what = "its pre-vote"
	}
	who := nodes(get(e.F, "candidate"))
	if id := num(get(e.F, "candidate"), 0); id > 0 {
		who = Node(kafka.NodeName(kafka.BrokerID(id)))
	}
	if get(e.F, "granted") == true {
		return fill("{node} grants "+who+" "+what+".", e, f)
	}
	return fill("{node} refuses "+who+" "+what+".", e, f)
}

func metadataAppend(_ *Phrases, e *journal.Event, f lookup) string {
	all, _ := get(e.F, "records").([]string)
	recs := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == "NoOpRecord" })
	switch len(recs) {
	case 0:
		if len(all) > 0 {
			return fill("{node} writes a NoOpRecord to the metadata log.", e, f)
		}
		return fill("{node} writes to the metadata log.", e, f)
	case 1:
		return fill("{node} writes to the metadata log: ", e, f) + recs[0] + "."
	case 2, 3, 4, 5:
		return fill("{node} writes one batch to the metadata log: ", e, f) + strings.Join(recs, "; ") + "."
	}
	return fill("{node} writes", e, f) + fmt.Sprintf(" a batch of %d records to the metadata log, first %s.", len(recs), recs[0])
}
