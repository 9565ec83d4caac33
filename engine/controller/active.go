package controller

import (
	"fmt"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// deferred is an answer that waits for records to be committed.
type deferred struct {
	offset int64 // answered when the high watermark is above it
	r      *sim.Request
	fn     func()
}

// activate begins the decisions of a leader that has replayed everything earlier
// leaders have committed: on that state, with a fresh session for every broker
// (QuorumController.claim).
func (n *Node) activate() {
	n.active = true
	n.img = n.done.Clone()
	n.sessions = map[int32]*session{}
	if n.log.empty() {
		n.write(bootstrap(n.features, n.cfg.String(minISR)), nil)
	}
	n.freshSessions()
	n.noOp()
	n.checkSessions()
	n.electPeriodically()
}

// renounce ends them: what is not committed never happened, and who waits for it
// is told to ask another (QuorumController.renounce).
func (n *Node) renounce() {
	n.linger.Stop()
	waits := n.waits
	n.lead, n.active, n.img, n.sessions, n.pending, n.ops, n.waits, n.linger = nil, false, nil, nil, nil, nil, nil, nil
	cause := n.w.Cause()
	for _, d := range waits {
		if d.r != nil {
			n.w.Because(cause, func() { n.refuse(d.r) })
		}
	}
}

// later runs fn after d, as something the active controller does by itself, unless
// it is not active any more.
func (n *Node) later(d journal.Time, fn func()) {
	turn := n.turn
	n.proc.After(d, func() {
		if n.turn == turn {
			fn()
		}
	}).Because(-1)
}

// noOp writes a NoOpRecord each metadata.max.idle.interval.ms (KIP-835).
func (n *Node) noOp() {
	every := n.millis("metadata.max.idle.interval.ms")
	if every <= 0 {
		return // never
	}
	n.later(every, func() {
		n.write([]wire.MetaRecord{{Type: "NoOpRecord"}}, nil)
		n.noOp()
	})
}

// decide serves a request to the active controller.
func (n *Node) decide(r *sim.Request) {
	if !n.active {
		n.refuse(r)
		return
	}
	n.serving = r
	defer func() { n.serving = nil }()
	switch q := r.Body.(type) {
	case *wire.BrokerRegistrationRequest:
		n.register(r, q)
	case *wire.BrokerHeartbeatRequest:
		n.heartbeat(r, q)
	case *wire.AlterPartitionRequest:
		n.alterPartition(r, q)
	case *wire.CreateTopicsRequest:
		n.createTopics(r, q)
	case *wire.CreatePartitionsRequest:
		n.createPartitions(r, q)
	case *wire.AlterPartitionReassignmentsRequest:
		n.alterPartitionReassignments(r, q)
	case *wire.ElectLeadersRequest:
		n.electLeaders(r, q)
	case *wire.IncrementalAlterConfigsRequest:
		n.alterConfigs(r, q)
	case *wire.AllocateProducerIDsRequest:
		if b := n.img.Brokers[q.BrokerID]; b == nil || b.Epoch != q.BrokerEpoch {
			r.Reply(&wire.AllocateProducerIDsResponse{ErrorCode: kafka.StaleBrokerEpoch}, 0, false)
			return
		}
		start := n.img.NextPID
		n.write([]wire.MetaRecord{{Type: "ProducerIdsRecord", BrokerID: q.BrokerID, Value: fmt.Sprint(start + 1000)}}, func() {
			r.Reply(&wire.AllocateProducerIDsResponse{ProducerIDStart: start, ProducerIDLen: 1000}, 0, false)
		})
	}
}

func (n *Node) refuse(r *sim.Request) {
	switch r.Body.(type) {
	case *wire.BrokerRegistrationRequest:
		r.Reply(&wire.BrokerRegistrationResponse{ErrorCode: kafka.NotController, BrokerEpoch: -1}, 0, false)
	case *wire.BrokerHeartbeatRequest:
		r.Reply(&wire.BrokerHeartbeatResponse{ErrorCode: kafka.NotController, IsFenced: true}, 0, false)
	case *wire.AlterPartitionRequest:
		r.Reply(&wire.AlterPartitionResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.AllocateProducerIDsRequest:
		r.Reply(&wire.AllocateProducerIDsResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.CreateTopicsRequest:
		r.Reply(&wire.CreateTopicsResponse{Topics: []wire.TopicError{{ErrorCode: kafka.NotController}}}, 0, false)
	case *wire.CreatePartitionsRequest:
		r.Reply(&wire.CreatePartitionsResponse{Results: []wire.TopicError{{ErrorCode: kafka.NotController}}}, 0, false)
	case *wire.AlterPartitionReassignmentsRequest:
		r.Reply(&wire.AlterPartitionReassignmentsResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.ElectLeadersRequest:
		r.Reply(&wire.ElectLeadersResponse{ErrorCode: kafka.NotController}, 0, false)
	case *wire.IncrementalAlterConfigsRequest:
		r.Reply(&wire.IncrementalAlterConfigsResponse{Responses: []wire.ResourceError{{ErrorCode: kafka.NotController}}}, 0, false)
	}
}

// write appends the records of one operation: they count in memory at once, go
// to the log after controller.quorum.append.linger.ms, and fn runs when they are
// committed (QuorumController's deferred events). last is the offset of the last
// record.
func (n *Node) write(recs []wire.MetaRecord, fn func()) (last int64) {
	base := n.leo() + int64(len(n.pending))
	for i := range recs {
		n.img.Apply(&recs[i], base+int64(i))
	}
	n.ops = append(n.ops, len(n.pending))
	n.pending = append(n.pending, recs...)
	last = base + int64(len(recs)) - 1
	n.waits = append(n.waits, deferred{last, n.serving, fn})
	if n.linger == nil {
		n.linger = n.proc.After(n.millis("controller.quorum.append.linger.ms"), n.flush)
	} else if fn != nil {
		n.linger.Because(n.w.Cause())
	}
	return last
}

// answer replies to a request that changes nothing. It was decided on what is in
// memory, so it waits until that is committed (ControllerWriteEvent.run).
func (n *Node) answer(r *sim.Request, body any, chatter bool) {
	reply := func() { r.Reply(body, 0, chatter) }
	if len(n.waits) == 0 {
		reply()
		return
	}
	n.waits = append(n.waits, deferred{n.waits[len(n.waits)-1].offset, r, reply})
}

func (n *Node) flush() {
	n.linger = nil
	recs, ops := n.pending, n.ops
	n.pending, n.ops = nil, nil
	n.append(recs, ops)
}

// append writes a batch to the log.
func (n *Node) append(recs []wire.MetaRecord, ops []int) {
	b := wire.MetaBatch{BaseOffset: n.leo(), Epoch: n.q.Epoch, Records: recs, Ops: ops}
	n.log.batches = append(n.log.batches, b)
	var texts []string
	for i := range b.Records {
		texts = append(texts, RecordText(&b.Records[i]))
	}
	n.w.Emit(journal.Event{Kind: journal.MetadataAppend, Node: n.name, Chatter: idle(b.Records), F: journal.F("baseOffset", b.BaseOffset, "records", texts),
		Ch: []journal.Change{{Key: journal.NodeKey(n.name, "leo"), Val: n.leo()}}})
	n.learnEnd(n.id, n.leo())
	n.answerParked()
}

func idle(recs []wire.MetaRecord) bool {
	for i := range recs {
		if recs[i].Type != "NoOpRecord" {
			return false
		}
	}
	return true
}

// learnEnd takes the log end of a voter, and with it perhaps a new high watermark.
func (n *Node) learnEnd(voter int32, end int64) {
	if !n.lead.Update(voter, end) {
		return
	}
	if from := n.hw; n.lead.hw > from {
		n.hw = n.lead.hw
		n.commit(from)
	}
	if !n.active && n.hw >= n.lead.start {
		n.activate()
	}
	n.answerParked()
}

// committed is a record that has just become so.
type committed struct {
	*wire.MetaRecord
	offset int64
	turn   string // the state that a broker turns to by it
}

// replay applies what was committed from an offset on to the committed image. It
// returns the records, and the partitions that they change.
func (n *Node) replay(from int64) (recs []committed, parts []string) {
	for _, b := range n.log.since(from) {
		for i := range b.Records {
			off, r := b.BaseOffset+int64(i), &b.Records[i]
			if off < from || off >= n.hw {
				continue
			}
			c := committed{MetaRecord: r, offset: off}
			before := n.sessionState(r.BrokerID)
			n.done.Apply(r, off)
			for _, p := range n.partsOf(r) {
				if !slices.Contains(parts, p) {
					parts = append(parts, p)
				}
			}
			if now := n.sessionState(r.BrokerID); now != before {
				c.turn = now
			}
			recs = append(recs, c)
		}
	}
	return recs, parts
}

// sessionState is the committed state of a broker, "" of one that is unknown.
func (n *Node) sessionState(id int32) string {
	if b := n.done.Brokers[id]; b != nil {
		return sessionState(b)
	}
	return ""
}

// commit makes records below the high watermark visible. What an earlier active
// controller has committed is not told again.
func (n *Node) commit(from int64) {
	old := from
	if from < n.lead.start {
		old = max(from, n.committedBefore())
	}
	recs, parts := n.replay(from)
	moved := map[string]bool{} // partitions whose reassignment began, changed or ended
	quiet := true
	for _, r := range recs {
		moved[r.Part] = moved[r.Part] || r.RemovingSet || r.AddingSet
		quiet = quiet && r.Type == "NoOpRecord"
	}
	ch := []journal.Change{{Key: journal.NodeKey(n.name, "commit"), Val: n.hw}}
	for _, part := range parts {
		ch = append(ch, metaChanges(n.done, part)...)
		if moved[part] {
			ch = append(ch, moveChanges(n.done, part)...)
		}
	}
	for _, r := range recs {
		if r.Type == "ConfigRecord" {
			ch = append(ch, journal.Change{Key: journal.ConfigKey(configured(r.MetaRecord), r.Name), Val: r.Value})
		}
		if r.turn != "" {
			ch = append(ch, journal.Change{Key: journal.SessionKey(kafka.NodeName(kafka.BrokerID(r.BrokerID))), Val: r.turn})
		}
	}
	c := n.w.Emit(journal.Event{Kind: journal.MetadataCommit, Node: n.name, Chatter: quiet, F: journal.F("highWatermark", n.hw), Ch: ch})
	for _, r := range recs {
		if r.offset < old {
			continue
		}
		if r.Leader != nil && r.Type == "PartitionChangeRecord" {
			p := n.done.Partition(r.Part)
			n.w.Because(c, func() {
				n.w.Emit(journal.Event{Kind: journal.LeaderElect, Node: n.name, Part: r.Part, F: journal.F("leader", p.Leader, "leaderEpoch", p.LeaderEpoch, "isr", join(p.ISR))})
			})
		}
		// A registration begins fenced; that is no fencing.
		if r.turn != "" && r.Type == "BrokerRegistrationChangeRecord" {
			n.w.Because(c, func() { n.sessionEvent(r.BrokerID, r.turn) })
		}
	}
	waits := n.waits
	n.waits = nil
	for _, d := range waits {
		if d.offset >= n.hw {
			n.waits = append(n.waits, d)
			continue
		}
		if d.fn != nil {
			n.w.Because(c, d.fn)
		}
	}
}

// committedBefore is the high watermark that the journal has told last.
func (n *Node) committedBefore() int64 {
	ev := n.w.J.Events
	for i := len(ev) - 1; i >= 0; i-- {
		if ev[i].Kind == journal.MetadataCommit {
			hw, _ := ev[i].F.(journal.Fields).Get("highWatermark").(int64)
			return hw
		}
	}
	return 0
}

// bootstrap is what the first active controller writes into an empty log
// (ActivationRecordsGenerator). The controllers' own min.insync.replicas becomes
// the cluster's (KIP-966). Kafka does that with ELR only; without it each broker
// goes by its own static value, which here is the same on all of them.
func bootstrap(features []string, ownMinISR string) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "BeginTransactionRecord"}}
	for _, f := range features {
		recs = append(recs, wire.MetaRecord{Type: "FeatureLevelRecord", Name: f})
	}
	return append(recs, wire.MetaRecord{Type: "ConfigRecord", Resource: wire.BrokerResource, Name: minISR, Value: ownMinISR}, wire.MetaRecord{Type: "EndTransactionRecord"})
}

// Features are those that a new 4.4 cluster has.
func Features() []string {
	return []string{"metadata.version", image.ELRFeature, "group.version", "share.version", "streams.version", "transaction.version"}
}

// leaderChange begins an epoch; in an empty log the voters stand beside it.
func leaderChange(leader int32, first bool) []wire.MetaRecord {
	recs := []wire.MetaRecord{{Type: "LeaderChange", LeaderID: leader}}
	if first {
		recs = append(recs, wire.MetaRecord{Type: "KRaftVersion"}, wire.MetaRecord{Type: "KRaftVoters"})
	}
	return recs
}
