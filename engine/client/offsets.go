package client

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// findPositions looks up where to start: the committed offset if the consumer
// has a group, else auto.offset.reset.
func (c *Consumer) findPositions() {
	var parts []string
	for _, part := range c.assign {
		if _, ok := c.pos[part]; !ok && !c.asked[part] && c.leader(part) != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return
	}
	if c.group == "" {
		for _, part := range parts {
			c.reset(part)
		}
		return
	}
	for _, part := range parts {
		c.asked[part] = true
	}
	c.withCoordinator(func(conn *sim.Conn, node string) {
		conn.Call(&sim.Call{API: kafka.OffsetFetch, Group: c.group, Body: &wire.OffsetFetchRequest{GroupID: c.group, Parts: parts},
			Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms", Done: func(r sim.Result) {
				a, ok := r.Body.(*wire.OffsetFetchResponse)
				for _, part := range parts {
					delete(c.asked, part)
				}
				if !ok || a.ErrorCode != kafka.None {
					c.coordinator = -1
					c.proc.After(journal.Millis(c.cfg.Millis("retry.backoff.ms")), c.step)
					return
				}
				cause := c.w.Cause()
				for _, p := range a.Parts {
					c.w.Because(cause, func() {
						if p.CommittedOffset >= 0 {
							c.setPosition(p.Part, p.CommittedOffset, "committed")
						} else {
							c.reset(p.Part)
						}
					})
				}
				c.step()
			}})
	})
}

// reset asks the leader for the log's start or the visible end.
func (c *Consumer) reset(part string) {
	policy := c.cfg.String("auto.offset.reset")
	ts := int64(-1)
	switch policy {
	case "earliest":
		ts = -2
	case "none":
		c.closed = true
		return
	}
	node := c.leader(part)
	c.asked[part] = true
	again := func() {
		delete(c.asked, part)
		c.proc.After(journal.Millis(c.cfg.Millis("retry.backoff.ms")), c.step)
	}
	if node == "" {
		again()
		return
	}
	conn := c.ready(node)
	if conn == nil {
		again()
		return
	}
	q := &wire.ListOffsetsRequest{ReplicaID: -1, Parts: []wire.ListOffsetsPart{{Part: part, CurrentLeaderEpoch: c.meta[part].LeaderEpoch, Timestamp: ts}}}
	conn.Call(&sim.Call{API: kafka.ListOffsets, Part: part, Body: q, Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms",
		Done: func(r sim.Result) {
			a, ok := r.Body.(*wire.ListOffsetsResponse)
			if !ok {
				c.lost(node)
				again()
				return
			}
			if code := a.Parts[0].ErrorCode; code != kafka.None {
				if code.InvalidMetadata() {
					c.refresh()
				}
				again()
				return
			}
			delete(c.asked, part)
			c.setPosition(part, a.Parts[0].Offset, policy)
			c.step()
		}})
}

// withCoordinator runs fn with a connection to the group's coordinator, which
// FindCoordinator names.
func (c *Consumer) withCoordinator(fn func(conn *sim.Conn, node string)) {
	retry := func() {
		c.proc.After(journal.Millis(c.cfg.Millis("retry.backoff.ms")), func() { c.withCoordinator(fn) })
	}
	if c.coordinator > 0 {
		node := kafka.NodeName(kafka.BrokerID(c.coordinator))
		if conn := c.ready(node); conn != nil {
			fn(conn, node)
			return
		}
		retry()
		return
	}
	conn := c.ready(c.anyNode())
	if conn == nil {
		retry()
		return
	}
	conn.Call(&sim.Call{API: kafka.FindCoordinator, Group: c.group, Body: &wire.FindCoordinatorRequest{Keys: []string{c.group}},
		Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms", Done: func(r sim.Result) {
			if a, ok := r.Body.(*wire.FindCoordinatorResponse); ok && a.Coordinators[0].ErrorCode == kafka.None {
				c.coordinator = a.Coordinators[0].NodeID
				c.withCoordinator(fn)
				return
			}
			retry()
		}})
}

// autoCommit commits the positions each auto.commit.interval.ms, inside poll.
func (c *Consumer) autoCommit() {
	if c.group == "" || c.commit != "auto" && (c.commit != "" || !c.cfg.Bool("enable.auto.commit")) {
		return
	}
	c.proc.After(journal.Millis(c.cfg.Millis("auto.commit.interval.ms")), func() {
		c.commitPositions(false)
		c.autoCommit()
	})
}

// commitPositions commits what the application has got; ahead: also what this
// poll is about to hand out.
func (c *Consumer) commitPositions(ahead bool) {
	offsets := map[string]int64{}
	for _, part := range c.assign {
		if at, ok := c.at[part]; ok {
			offsets[part] = at
		}
		if pos, ok := c.pos[part]; ok && ahead {
			offsets[part] = pos
		}
	}
	c.Commit(offsets)
}

// Commit sends OffsetCommit to the coordinator, and again while the error can pass.
func (c *Consumer) Commit(offsets map[string]int64) {
	if c.group == "" || len(offsets) == 0 {
		return
	}
	q := &wire.OffsetCommitRequest{GroupID: c.group, Epoch: -1}
	for _, part := range c.assign {
		if off, ok := offsets[part]; ok {
			epoch, read := c.epochs[part]
			if !read {
				epoch = -1
			}
			q.Parts = append(q.Parts, wire.OffsetCommitPart{Part: part, CommittedOffset: off, CommittedLeaderEpoch: epoch})
		}
	}
	c.w.Emit(journal.Event{Kind: journal.ConsumerCommit, Node: c.id, Group: c.group, F: journal.F("parts", len(q.Parts))})
	c.withCoordinator(func(conn *sim.Conn, node string) {
		conn.Call(&sim.Call{API: kafka.OffsetCommit, Group: c.group, Body: q, Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms",
			Done: func(r sim.Result) {
				a, ok := r.Body.(*wire.OffsetCommitResponse)
				if ok && (len(a.Parts) == 0 || !a.Parts[0].ErrorCode.Retriable()) {
					return
				}
				c.coordinator = -1
				c.proc.After(journal.Millis(c.cfg.Millis("retry.backoff.ms")), func() { c.Commit(offsets) })
			}})
	})
}
