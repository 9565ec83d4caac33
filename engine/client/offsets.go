package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// coordMark begins the name of a link to a coordinator. Kafka gives it a node id
// of its own (Integer.MAX_VALUE − id), so that commits do not queue up behind a
// Fetch that waits at the same broker.
const coordMark = "^"

func (c *Consumer) coordinatorLink() string {
	return coordMark + kafka.NodeName(kafka.BrokerID(c.coordinator))
}

// waiter is something that needs the group's coordinator.
type waiter struct {
	fn   func(conn *sim.Conn)
	dead func() bool // no longer wanted
}

// withCoordinator runs fn with a connection to the group's coordinator, now or
// when it is found.
func (c *Consumer) withCoordinator(dead func() bool, fn func(conn *sim.Conn)) {
	c.waiters = append(c.waiters, waiter{fn, dead})
	c.coordinate()
}

// coordinate finds the coordinator with FindCoordinator, from any node, and
// connects to it; a coordinator that cannot be reached is looked up again
// (ConsumerCoordinator.ensureCoordinatorReady).
func (c *Consumer) coordinate() {
	c.waiters = slices.DeleteFunc(c.waiters, func(w waiter) bool { return w.dead() })
	if len(c.waiters) == 0 || c.closed || c.finding {
		return
	}
	if c.coordinator > 0 {
		link := c.coordinatorLink()
		if l := c.link(link); !l.conn.Open() && !l.opening && l.failures > 0 && l.after > c.w.Now() {
			c.unknownCoordinator()
		} else if conn := c.ready(link); conn != nil {
			ws := c.waiters
			c.waiters = nil
			n := c.w.Cause()
			for _, w := range ws {
				c.w.Because(n, func() { w.fn(conn) })
			}
			return
		} else {
			return // tick goes on
		}
	}
	if wait := c.findAfter - c.w.Now(); wait > 0 {
		c.finding = true
		c.proc.After(wait, func() { c.finding = false; c.coordinate() })
		return
	}
	node, conn := c.leastLoaded()
	if conn == nil {
		return
	}
	c.finding = true
	c.call(conn, &sim.Call{API: kafka.FindCoordinator, Group: c.group, Body: &wire.FindCoordinatorRequest{Keys: []string{c.group}}, Done: func(r sim.Result) {
		c.finding = false
		a, ok := r.Body.(*wire.FindCoordinatorResponse)
		if ok && len(a.Coordinators) > 0 && a.Coordinators[0].ErrorCode == kafka.None {
			c.coordinator = a.Coordinators[0].NodeID
		} else {
			c.lost(node)
			c.unknownCoordinator()
		}
		c.coordinate()
	}})
}

// unknownCoordinator is AbstractCoordinator.markCoordinatorUnknown.
func (c *Consumer) unknownCoordinator() {
	c.coordinator = -1
	c.findAfter = c.w.Now() + c.retryBackoff(0)
}

// coordinatorError says whether to try again after an answer of the coordinator,
// and forgets a coordinator that is none any more.
func (c *Consumer) coordinatorError(answered bool, code kafka.ErrorCode) bool {
	switch {
	case !answered:
		c.lost(c.coordinatorLink())
		c.unknownCoordinator()
		return true
	case code == kafka.NotCoordinator, code == kafka.CoordinatorNotAvailable, code == kafka.RequestTimedOut:
		c.unknownCoordinator()
		return true
	}
	return code.Retriable()
}

// Why a position comes from auto.offset.reset.
const (
	noOffset   = "has no committed offset"
	outOfRange = "asked for an offset outside the log"
)

// findPositions looks up where to start: the committed offset if the consumer
// has a group, else auto.offset.reset.
func (c *Consumer) findPositions() {
	var parts []string
	for _, part := range c.assign {
		if _, ok := c.pos[part]; !ok && !c.looking[part] && c.resets[part] == "" && c.leader(part) != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return
	}
	for _, part := range parts {
		if c.group == "" {
			c.resets[part] = noOffset
			continue
		}
		c.looking[part] = true
	}
	if c.group != "" {
		c.fetchOffsets(parts)
	}
}

func (c *Consumer) fetchOffsets(parts []string) {
	never := func() bool { return false }
	c.withCoordinator(never, func(conn *sim.Conn) {
		c.call(conn, &sim.Call{API: kafka.OffsetFetch, Group: c.group, Body: &wire.OffsetFetchRequest{GroupID: c.group, Parts: parts}, Done: func(r sim.Result) {
			a, ok := r.Body.(*wire.OffsetFetchResponse)
			code := kafka.None
			if ok {
				code = a.ErrorCode
				for _, p := range a.Parts {
					if code == kafka.None {
						code = p.ErrorCode // UNSTABLE_OFFSET_COMMIT
					}
				}
			}
			if !ok || code != kafka.None {
				c.coordinatorError(ok, code)
				c.proc.After(c.retryBackoff(0), func() { c.fetchOffsets(parts) })
				return
			}
			cause := c.w.Cause()
			for _, p := range a.Parts {
				delete(c.looking, p.Part)
				if _, sought := c.pos[p.Part]; sought {
					continue
				}
				if p.CommittedOffset < 0 {
					c.resets[p.Part] = noOffset
					continue
				}
				c.w.Because(cause, func() { c.setPosition(p.Part, p.CommittedOffset, "committed") })
			}
			c.w.Because(cause, c.step)
		}})
	})
}

// resetPositions asks the leaders for the start or the visible end of their logs,
// one ListOffsets a leader (OffsetFetcher.resetPositionsAsync). by_duration is
// left out.
func (c *Consumer) resetPositions() {
	policy := c.cfg.String("auto.offset.reset")
	ts := int64(-1)
	if policy == "earliest" {
		ts = -2
	}
	for _, node := range c.leaders() {
		q := &wire.ListOffsetsRequest{ReplicaID: -1, Isolation: c.isolation()}
		for _, part := range c.assign {
			if h := c.held[part]; c.resets[part] != "" && !c.looking[part] && c.leader(part) == node && h.until <= c.w.Now() {
				q.Parts = append(q.Parts, wire.ListOffsetsPart{Part: part, CurrentLeaderEpoch: c.meta[part].LeaderEpoch, Timestamp: ts})
			}
		}
		if len(q.Parts) == 0 {
			continue
		}
		if policy == "none" {
			// poll() throws, and the application ends.
			c.w.Emit(journal.Event{Kind: journal.ConsumerStall, Node: c.id, Part: q.Parts[0].Part, Group: c.group, F: journal.F("error", "NoOffsetForPartitionException")})
			c.shutdown()
			return
		}
		if conn := c.ready(node); conn != nil {
			c.listOffsets(node, conn, q, policy)
		}
	}
}

func (c *Consumer) listOffsets(node string, conn *sim.Conn, q *wire.ListOffsetsRequest, policy string) {
	for _, p := range q.Parts {
		c.looking[p.Part] = true
	}
	n := c.w.Cause()
	c.w.Because(n, func() {
		c.call(conn, &sim.Call{API: kafka.ListOffsets, Part: q.Parts[0].Part, Body: q, Done: func(r sim.Result) {
			cause := c.w.Cause()
			for _, p := range q.Parts {
				delete(c.looking, p.Part)
			}
			a, ok := r.Body.(*wire.ListOffsetsResponse)
			if !ok {
				for _, p := range q.Parts {
					c.holdBack(p.Part)
				}
				c.lost(node)
				return
			}
			for _, p := range a.Parts {
				switch {
				case c.resets[p.Part] == "":
				case p.ErrorCode != kafka.None:
					c.holdBack(p.Part) // OFFSET_NOT_AVAILABLE after an election: KIP-207
					if p.ErrorCode.InvalidMetadata() || p.ErrorCode == kafka.UnknownLeaderEpoch {
						c.refresh()
					}
				default:
					c.w.Because(cause, func() { c.setPosition(p.Part, p.Offset, policy) })
				}
			}
			c.w.Because(cause, c.step)
		}})
	})
}

func (c *Consumer) auto() bool {
	return c.group != "" && (c.commit == "auto" || c.commit == "" && c.cfg.Bool("enable.auto.commit"))
}

// autoCommitLater starts auto.commit.interval.ms.
func (c *Consumer) autoCommitLater(after journal.Time) {
	if !c.auto() {
		return
	}
	c.proc.After(after, func() {
		c.due = true
		if !c.busy {
			c.autoCommit()
		}
	}).Because(-1)
}

// autoCommit commits inside poll() when its interval is over: what earlier polls
// returned, also where nothing changed.
func (c *Consumer) autoCommit() {
	if !c.due || c.closed {
		return
	}
	c.due = false
	interval := journal.Millis(c.cfg.Millis("auto.commit.interval.ms"))
	offsets := c.positions(nil)
	if len(offsets) == 0 {
		c.autoCommitLater(interval)
		return
	}
	sent := c.w.Now()
	c.emitCommit(offsets)
	c.sendCommit(offsets, c.w.Now()+c.requestTimeout(), func(ok, retriable bool) {
		if !ok && retriable {
			c.autoCommitLater(c.retryBackoff(0))
			return
		}
		c.autoCommitLater(max(sent+interval-c.w.Now(), 0))
	}, false)
}

// positions is what the application has got, and what a poll is about to return.
func (c *Consumer) positions(ahead []handed) map[string]int64 {
	offsets := map[string]int64{}
	for _, part := range c.assign {
		if at, ok := c.at[part]; ok {
			offsets[part] = at
		}
	}
	for _, h := range ahead {
		offsets[h.part] = h.next
	}
	return offsets
}

// Commit is commitSync: OffsetCommit to the coordinator, and again while the error
// can pass, for default.api.timeout.ms.
func (c *Consumer) Commit(offsets map[string]int64) { c.commitOffsets(offsets, func(bool) {}) }

func (c *Consumer) commitOffsets(offsets map[string]int64, done func(ok bool)) {
	if c.group == "" || len(offsets) == 0 || c.closed {
		done(false)
		return
	}
	c.emitCommit(offsets)
	deadline := c.w.Now() + journal.Millis(c.cfg.Millis("default.api.timeout.ms"))
	c.sendCommit(offsets, deadline, func(ok, _ bool) { done(ok) }, true)
}

func (c *Consumer) emitCommit(offsets map[string]int64) {
	c.w.Emit(journal.Event{Kind: journal.ConsumerCommit, Node: c.id, Group: c.group, F: journal.F("parts", len(offsets))})
}

// sendCommit calls done once; retry says whether errors that can pass are tried
// again before the deadline.
func (c *Consumer) sendCommit(offsets map[string]int64, deadline journal.Time, done func(ok, retriable bool), retry bool) {
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
	over := false
	limit := c.proc.After(deadline-c.w.Now(), func() {
		over = true
		done(false, true)
	})
	end := func(ok, retriable bool) {
		if !over {
			over = true
			limit.Stop()
			done(ok, retriable)
		}
	}
	var attempt func()
	attempt = func() {
		c.withCoordinator(func() bool { return over }, func(conn *sim.Conn) {
			c.call(conn, &sim.Call{API: kafka.OffsetCommit, Group: c.group, Body: q, Done: func(r sim.Result) {
				a, ok := r.Body.(*wire.OffsetCommitResponse)
				code := kafka.None
				if ok {
					for _, p := range a.Parts {
						if code == kafka.None {
							code = p.ErrorCode
						}
					}
				}
				switch {
				case over:
				case ok && code == kafka.None:
					end(true, false)
				case !c.coordinatorError(ok, code):
					end(false, false)
				case retry:
					c.proc.After(c.retryBackoff(0), attempt)
				default:
					end(false, true)
				}
			}})
		})
	}
	attempt()
}
