package broker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// OffsetsTopic holds the committed offsets; its partitions are replicated like
// any other.
const OffsetsTopic = "__consumer_offsets"

// coordinator keeps committed offsets on the leader of a group's partition of
// __consumer_offsets (OffsetMetadataManager).
//
// Left out for now: groups with members; every commit is one of a simple
// consumer (generation −1).
type coordinator struct {
	n      *Node
	loaded map[string]bool                   // partitions of the offsets topic that this broker leads
	groups map[string]map[string]commitValue // by group and partition
}

type commitValue struct {
	offset int64
	epoch  int32
}

func newCoordinator(n *Node) coordinator {
	return coordinator{n: n, loaded: map[string]bool{}, groups: map[string]map[string]commitValue{}}
}

func (n *Node) offsetsPart(group string) string {
	t := n.img.Topics[OffsetsTopic]
	if t == nil {
		return ""
	}
	return image.Name(OffsetsTopic, int(kafka.PartitionFor(group, int32(len(t.Parts)))))
}

func (n *Node) findCoordinator(q *wire.FindCoordinatorRequest) *wire.FindCoordinatorResponse {
	r := &wire.FindCoordinatorResponse{}
	for _, key := range q.Keys {
		c := wire.Coordinator{Key: key, NodeID: -1, ErrorCode: kafka.CoordinatorNotAvailable}
		if p := n.img.Partition(n.offsetsPart(key)); p != nil && p.Leader != image.NoLeader {
			c.NodeID, c.ErrorCode = p.Leader, kafka.None
		}
		r.Coordinators = append(r.Coordinators, c)
	}
	return r
}

// leads loads the partition: the commits in its log become the coordinator's memory.
func (c *coordinator) leads(part string, h *hosted) {
	if !strings.HasPrefix(part, OffsetsTopic+"-") {
		return
	}
	c.loaded[part] = true
	for _, b := range h.log.Batches() {
		for _, id := range b.IDs {
			if r := c.n.w.J.Record(journal.RecordID(int(id))); r != nil && r.Key != nil {
				c.replay(*r.Key, r.Value)
			}
		}
	}
}

func (c *coordinator) follows(part string) {
	if !c.loaded[part] {
		return
	}
	delete(c.loaded, part)
	for g := range c.groups {
		if c.n.offsetsPart(g) == part {
			delete(c.groups, g)
		}
	}
}

// replay reads one OffsetCommit record; the inverse of commit's key and value.
func (c *coordinator) replay(key, value string) {
	group, part, ok := strings.Cut(key, " ")
	var v commitValue
	if _, err := fmt.Sscanf(value, "offset %d epoch %d", &v.offset, &v.epoch); !ok || err != nil {
		return
	}
	if c.groups[group] == nil {
		c.groups[group] = map[string]commitValue{}
	}
	c.groups[group][part] = v
}

func (c *coordinator) role(group string) (string, *hosted, kafka.ErrorCode) {
	part := c.n.offsetsPart(group)
	h := c.n.leads(part)
	if h == nil {
		return part, nil, kafka.NotCoordinator
	}
	return part, h, kafka.None
}

// commit writes the offsets like an acks=all producer and answers when they are
// committed.
func (c *coordinator) commit(r *sim.Request, q *wire.OffsetCommitRequest) {
	n := c.n
	part, h, code := c.role(q.GroupID)
	fail := func(code kafka.ErrorCode) {
		resp := &wire.OffsetCommitResponse{}
		for _, p := range q.Parts {
			resp.Parts = append(resp.Parts, wire.PartError{Part: p.Part, ErrorCode: code})
		}
		r.Reply(resp, 0, false)
	}
	if code != kafka.None {
		fail(code)
		return
	}
	if q.Epoch >= 0 || q.MemberID != "" {
		fail(kafka.UnknownMemberID)
		return
	}
	if len(h.rep.ISR()) < n.img.MinISR(part) {
		fail(kafka.CoordinatorNotAvailable)
		return
	}
	b := replica.Batch{ProducerID: -1, ProducerEpoch: -1, BaseSeq: -1, Bytes: 61}
	for _, p := range q.Parts {
		key := q.GroupID + " " + p.Part
		id := n.w.NewRecord(journal.Record{Topic: OffsetsTopic, Key: &key, Value: fmt.Sprintf("offset %d epoch %d", p.CommittedOffset, p.CommittedLeaderEpoch), Bytes: 80})
		b.IDs = append(b.IDs, fromWire(wire.Batch{Records: []string{id}}).IDs[0])
		b.Bytes += 80
	}
	base := h.append(b)
	resp := &wire.ProduceResponse{Parts: []wire.ProduceResult{{Part: part, BaseOffset: base}}}
	n.park(&delayedProduce{req: r, resp: resp, waits: []produceWait{{h: h, required: h.log.LEO()}}, onReply: func(p *wire.ProduceResponse) {
		switch p.Parts[0].ErrorCode {
		case kafka.None:
			c.committed(r, q)
		case kafka.NotLeaderOrFollower:
			fail(kafka.NotCoordinator)
		default:
			fail(kafka.CoordinatorNotAvailable)
		}
	}}, journal.Millis(n.cfg.Millis("offsets.commit.timeout.ms")))
}

func (c *coordinator) committed(r *sim.Request, q *wire.OffsetCommitRequest) {
	resp := &wire.OffsetCommitResponse{}
	for _, p := range q.Parts {
		c.replay(q.GroupID+" "+p.Part, fmt.Sprintf("offset %d epoch %d", p.CommittedOffset, p.CommittedLeaderEpoch))
		c.n.w.Emit(journal.Event{Kind: journal.OffsetCommit, Node: c.n.name, Part: p.Part, Group: q.GroupID, F: journal.F("offset", p.CommittedOffset),
			Ch: []journal.Change{{Key: journal.ReplicaKey(q.GroupID, p.Part, "committed"), Val: p.CommittedOffset}}})
		resp.Parts = append(resp.Parts, wire.PartError{Part: p.Part})
	}
	r.Reply(resp, 0, false)
}

func (c *coordinator) fetch(r *sim.Request, q *wire.OffsetFetchRequest) {
	resp := &wire.OffsetFetchResponse{GroupID: q.GroupID}
	_, _, resp.ErrorCode = c.role(q.GroupID)
	for _, part := range q.Parts {
		p := wire.OffsetFetchPart{Part: part, CommittedOffset: -1, CommittedLeaderEpoch: -1}
		if v, ok := c.groups[q.GroupID][part]; ok && resp.ErrorCode == kafka.None {
			p.CommittedOffset, p.CommittedLeaderEpoch = v.offset, v.epoch
		}
		resp.Parts = append(resp.Parts, p)
	}
	r.Reply(resp, 0, false)
}

func (c *coordinator) snapshot() []journal.Change {
	var ch []journal.Change
	for _, g := range sortedKeys(c.groups) {
		parts := make([]string, 0, len(c.groups[g]))
		for p := range c.groups[g] {
			parts = append(parts, p)
		}
		sort.Strings(parts)
		for _, p := range parts {
			ch = append(ch, journal.Change{Key: journal.ReplicaKey(g, p, "committed"), Val: c.groups[g][p].offset})
		}
	}
	return ch
}
