// Package words is the phrase catalogue: one plain sentence for every event,
// and the short text of every message on its way.
package words

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Phrases renders the events of one journal. It is safe for concurrent use.
type Phrases struct {
	j    *journal.Journal
	reqs map[int]*journal.Event // request.send by message
}

// New prepares the catalogue for a journal.
func New(j *journal.Journal) *Phrases {
	p := &Phrases{j: j, reqs: map[int]*journal.Event{}}
	for i := range j.Events {
		if e := &j.Events[i]; e.Kind == journal.RequestSend {
			p.reqs[e.Msg] = e
		}
	}
	return p
}

// Node is a node's name in a sentence: broker 2, controller C1, or a client's id.
func Node(name string) string {
	id := kafka.NodeID(name)
	switch {
	case id < 0 || name == "":
		return name
	case id > 100:
		return "controller C" + name[1:]
	}
	return "broker " + name[1:]
}

// short is a node's name on a pill: 2, C1, or a client's id.
func short(name string) string {
	if id := kafka.NodeID(name); id > 100 {
		return "C" + name[1:]
	} else if id > 0 {
		return name[1:]
	}
	return name
}

// upper begins a sentence with a capital, unless it begins with a client's id.
func upper(s string) string {
	if strings.HasPrefix(s, "broker ") || strings.HasPrefix(s, "controller ") {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// phrase makes the sentence of one kind.
type phrase func(p *Phrases, e *journal.Event, f func(string) string) string

// say is a phrase with {node}, {part}, {group}, {from}, {to}, {api} and the
// names of fields in braces.
func say(template string) phrase {
	return func(_ *Phrases, e *journal.Event, f func(string) string) string { return fill(template, e, f) }
}

func fill(template string, e *journal.Event, f func(string) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			b.WriteString(template)
			break
		}
		j := strings.IndexByte(template[i:], '}') + i
		b.WriteString(template[:i])
		switch name := template[i+1 : j]; name {
		case "node":
			b.WriteString(Node(e.Node))
		case "part":
			b.WriteString(e.Part)
		case "group":
			b.WriteString(e.Group)
		case "from":
			b.WriteString(Node(e.From))
		case "to":
			b.WriteString(Node(e.To))
		case "api":
			b.WriteString(e.API)
		case "f.to":
			b.WriteString(f("to"))
		case "f.from":
			b.WriteString(f("from"))
		default:
			b.WriteString(f(name))
		}
		template = template[j+1:]
	}
	return upper(b.String())
}

// Say is the sentence of an event.
func (p *Phrases) Say(e *journal.Event) string {
	ph, ok := catalogue[e.Kind]
	if !ok {
		return string(e.Kind)
	}
	return ph(p, e, func(name string) string { return text(get(e.F, name)) })
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case []string:
		return strings.Join(v, ", ")
	case *string:
		if v == nil {
			return "no key"
		}
		return *v
	}
	return fmt.Sprint(v)
}

var catalogue = map[journal.Kind]phrase{
	journal.Boot:   say("The cluster rests: every replica has what its leader has, and every Fetch waits for news."),
	journal.Action: action,

	journal.NodeStart:  say("{node} starts."),
	journal.NodeStop:   say("{node} stops in order."),
	journal.NodeCrash:  say("{node} dies: its memory is gone, its log stays on disk."),
	journal.NodeVanish: say("The host of {node} is gone: nobody gets an answer, and nobody is told."),
	journal.NodePause:  say("{node} pauses, as in a long garbage collection; what arrives waits."),
	journal.NodeResume: say("{node} goes on with what waited."),

	journal.NetCut:    say("The connections that {from} opens to {to} carry nothing any more; nothing breaks by itself."),
	journal.NetHeal:   say("The connections from {from} to {to} carry data again with TCP's next attempt."),
	journal.NetSlow:   say("The connections from {from} to {to} get slow."),
	journal.ConnOpen:  say("{from} opens a connection to {to}."),
	journal.ConnClose: say("The connection from {from} to {to} ends: {reason}."),

	journal.RequestSend:     requestSend,
	journal.RequestReceive:  requestReceive,
	journal.ResponseSend:    responseSend,
	journal.ResponseReceive: say("{node} has the answer of {from} to its {api}."),
	journal.MessageHeld:     say("{api} from {from} to {to} is held on its way; it comes later or its connection breaks."),
	journal.MessageLost:     say("{api} from {from} to {to} is lost: its connection is gone."),
	journal.TimerFire:       say("{node} has waited {afterMs} ms for the answer to its {api}: {timer} is over."),

	journal.ProducerPartition: producerPartition,
	journal.ProducerBatch:     say("{node} adds the record to a batch for {part} ({count} in it)."),
	journal.ProducerDrain:     say("{node} takes the batch for {part} out of its queue, to send it."),
	journal.ProducerAcked:     producerAcked,
	journal.ProducerRetry:     say("{node} got {error} for {part} and tries again in {backoffMs} ms."),
	journal.ProducerFailed:    say("{node} gives up on a batch for {part}: {error}."),
	journal.ProducerID:        say("{node} has producer id {producerId}, epoch {producerEpoch}."),

	journal.ReplicaAppend:     replicaAppend,
	journal.ReplicaTruncate:   say("{node} cuts its log of {part} from log end {f.from} to {f.to}: the leader has another history from there."),
	journal.ReplicaLeader:     say("{node} leads {part} in leader epoch {leaderEpoch}, from offset {startOffset}."),
	journal.ReplicaFollower:   say("{node} follows broker {leader} for {part} in leader epoch {leaderEpoch}."),
	journal.ReplicaOffline:    say("{part} on {node} is offline."),
	journal.HWAdvance:         say("{node} moves the high watermark of {part} from {f.from} to {f.to}: all that count have everything below {f.to}."),
	journal.HWLearn:           say("{node} learns from the answer that the high watermark of {part} is {f.to}."),
	journal.LogStartAdvance:   say("{part} on {node} now starts at offset {f.to}."),
	journal.ISRPropose:        isrPropose,
	journal.ISRCommit:         say("{node} works with the ISR {isr} of {part}, partition epoch {partitionEpoch}."),
	journal.PurgatoryWait:     say("{node} parks the Produce for {part} until the high watermark reaches {requiredOffset}; it waits for {waitsFor}."),
	journal.PurgatoryComplete: say("Nothing keeps the waiting Produce for {part} any longer: {node} answers it."),
	journal.PurgatoryExpire:   say("The Produce for {part} has waited too long at {node}: REQUEST_TIMED_OUT. The record stays in the log."),
	journal.ProducerDuplicate: say("{node} has this batch of {part} already, at offset {baseOffset}: nothing is appended again."),

	journal.MetadataAppend:  metadataAppend,
	journal.MetadataCommit:  say("A majority of the controllers has the metadata log up to {highWatermark}: it counts now."),
	journal.MetadataApply:   say("{node} has applied the metadata log up to offset {offset}."),
	journal.LeaderElect:     say("The controller makes broker {leader} the leader of {part}, leader epoch {leaderEpoch}, ISR {isr}."),
	journal.BrokerFence:     say("{node} is fenced: it leads nothing and is in no ISR."),
	journal.BrokerUnfence:   say("{node} is unfenced: it may lead and join ISRs again."),
	journal.BrokerShutdown:  say("{node} is in controlled shutdown: its leaderships move away first."),
	journal.QuorumProspect:  say("{node} asks whether it would be elected, in quorum epoch {epoch}."),
	journal.QuorumCandidate: say("{node} stands for election in quorum epoch {epoch}."),
	journal.QuorumLeader:    say("{node} is the active controller in quorum epoch {epoch}."),
	journal.QuorumFollower:  say("{node} follows controller {leader} in quorum epoch {epoch}."),
	journal.QuorumResign:    say("{node} resigns in quorum epoch {epoch}."),
	journal.QuorumVote:      say("{node} answers the vote of {candidate}: granted {granted}."),

	journal.GroupState:        say("Group {group} is {state}."),
	journal.GroupGeneration:   say("Group {group} is in generation {generation}."),
	journal.GroupTarget:       say("Group {group} has a new target assignment."),
	journal.GroupAssign:       say("{node} is assigned {parts} in group {group}."),
	journal.MemberJoin:        say("{node} joins group {group}."),
	journal.MemberLeave:       say("{node} leaves group {group}."),
	journal.MemberFence:       say("{node} is removed from group {group}."),
	journal.CoordinatorLoad:   say("{node} loads {part}: it coordinates the groups in it."),
	journal.CoordinatorUnload: say("{node} coordinates the groups of {part} no longer."),
	journal.OffsetCommit:      say("Group {group} has committed offset {offset} of {part}: the next to read after a restart."),
	journal.OffsetExpire:      say("The committed offset of group {group} for {part} has expired."),

	journal.ConsumerPoll:     say("{node} polls."),
	journal.ConsumerDeliver:  consumerDeliver,
	journal.ConsumerCallback: say("{node} runs {callback}."),
	journal.ConsumerPosition: say("{node} reads {part} from offset {offset}."),
	journal.ConsumerReset:    say("{node} has no committed offset of {part}: auto.offset.reset {policy} gives {offset}."),
	journal.ConsumerCommit:   say("{node} commits its positions to the coordinator of group {group}."),
	journal.ConsumerStall:    say("{node} is busy and does not poll."),

	journal.TxnState:  say("The transaction of {node} is {state}."),
	journal.TxnMarker: say("{node} writes a transaction marker to {part}."),

	journal.CheckExpect:    say("An expectation is checked: {say}."),
	journal.CheckInvariant: say("An invariant is checked: {name}."),
}

func action(_ *Phrases, e *journal.Event, f func(string) string) string {
	switch do := f("do"); do {
	case "produce":
		return fmt.Sprintf("%s sends a record to topic %s: key %s, value %s.", e.Node, f("topic"), f("key"), f("value"))
	case "cut", "connect", "reset", "slow":
		if f("from") == "" {
			return "All links are healed."
		}
		return fmt.Sprintf("From outside: %s %s to %s.", do, f("from"), f("to"))
	default:
		return fmt.Sprintf("From outside: %s %s.", do, Node(e.Node))
	}
}

func producerPartition(_ *Phrases, e *journal.Event, f func(string) string) string {
	if f("how") == "key" {
		return fmt.Sprintf("%s: (murmur2(%q) & 0x7fffffff) mod %s = %s mod %s = %s, so the record goes to %s.",
			e.Node, f("key"), f("partitions"), f("hash"), f("partitions"), f("partition"), e.Part)
	}
	if f("how") == "explicit" {
		return fmt.Sprintf("%s names the partition itself: %s.", e.Node, e.Part)
	}
	return fmt.Sprintf("%s has no key for the record and stays with %s until a batch is full.", e.Node, e.Part)
}

func producerAcked(p *Phrases, e *journal.Event, f func(string) string) string {
	if f("baseOffset") == "-1" {
		return fmt.Sprintf("%s reports success as soon as the bytes are sent, with offset −1: nobody answers acks=0.", e.Node)
	}
	return fmt.Sprintf("%s has its answer: %s is at offset %s of %s.", e.Node, p.values(get(e.F, "records")), f("baseOffset"), e.Part)
}

// values names records by their values.
func (p *Phrases) values(ids any) string {
	list, _ := ids.([]string)
	switch len(list) {
	case 0:
		return "nothing"
	case 1:
		if r := p.j.Record(list[0]); r != nil && r.Value != "" {
			return "record “" + r.Value + "”"
		}
		return "record " + list[0]
	}
	return fmt.Sprintf("%d records", len(list))
}

func replicaAppend(p *Phrases, e *journal.Event, f func(string) string) string {
	return fmt.Sprintf("%s appends %s to %s at offset %s, leader epoch %s.", upper(Node(e.Node)), p.values(get(e.F, "records")), e.Part, f("baseOffset"), f("epoch"))
}

func consumerDeliver(p *Phrases, e *journal.Event, f func(string) string) string {
	return fmt.Sprintf("%s gets %s from %s, from offset %s on.", e.Node, p.values(get(e.F, "records")), e.Part, f("offset"))
}

func isrPropose(_ *Phrases, e *journal.Event, f func(string) string) string {
	if f("change") == "shrink" {
		return fmt.Sprintf("%s proposes the ISR %s for %s: a follower was not caught up for longer than replica.lag.time.max.ms.", upper(Node(e.Node)), f("isr"), e.Part)
	}
	return fmt.Sprintf("%s proposes the ISR %s for %s: a follower has reached the high watermark.", upper(Node(e.Node)), f("isr"), e.Part)
}

func metadataAppend(_ *Phrases, e *journal.Event, _ func(string) string) string {
	recs, _ := get(e.F, "records").([]string)
	if len(recs) == 1 {
		return fmt.Sprintf("%s writes to the metadata log: %s.", upper(Node(e.Node)), recs[0])
	}
	return fmt.Sprintf("%s writes a batch of %d records to the metadata log, first %s.", upper(Node(e.Node)), len(recs), recs[0])
}
