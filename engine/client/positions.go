package client

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// Why a position comes from auto.offset.reset.
const (
	noOffset   = "has no committed offset"
	outOfRange = "asked for an offset outside the log"
	diverged   = "read beyond what the new leader has"
)

// findPositions looks up where to start: the committed offset if the consumer
// has a group, else auto.offset.reset.
func (c *Consumer) findPositions() {
	var parts []string
	for _, part := range c.assign {
		if _, ok := c.pos[part]; !ok && c.looking[part] == 0 && c.resets[part] == "" && c.leader(part) != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return
	}
	if c.group == "" {
		for _, part := range parts {
			c.resets[part] = noOffset
		}
		return
	}
	c.lookups++
	for _, part := range parts {
		c.looking[part] = c.lookups
	}
	c.fetchOffsets(parts, c.lookups)
}

// stillWanted are the partitions whose look-up is still this one.
func (c *Consumer) stillWanted(parts []string, lookup int) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return c.looking[p] != lookup })
}

func (c *Consumer) fetchOffsets(parts []string, lookup int) {
	dead := func() bool { return len(c.stillWanted(parts, lookup)) == 0 }
	if dead() {
		return
	}
	c.withCoordinator(dead, func(conn *sim.Conn) {
		parts := c.stillWanted(parts, lookup)
		q := &wire.OffsetFetchRequest{GroupID: c.group, MemberEpoch: -1, Parts: parts}
		if c.member != nil {
			c.member.offsetFetch(q)
		}
		c.call(conn, &sim.Call{API: kafka.OffsetFetch, Group: c.group, Body: q, Done: func(r sim.Result) {
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
				c.proc.After(c.retryBackoff(0), func() { c.fetchOffsets(parts, lookup) })
				return
			}
			cause := c.w.Cause()
			for _, p := range a.Parts {
				if c.looking[p.Part] != lookup {
					continue
				}
				delete(c.looking, p.Part)
				if _, sought := c.pos[p.Part]; sought {
					continue
				}
				if p.CommittedOffset < 0 {
					c.resets[p.Part] = noOffset
					continue
				}
				if p.CommittedLeaderEpoch >= 0 {
					c.epochs[p.Part] = p.CommittedLeaderEpoch
				}
				c.w.Because(cause, func() { c.setPosition(p.Part, p.CommittedOffset, "committed") })
				c.check[p.Part] = p.CommittedLeaderEpoch >= 0
			}
			c.w.Because(cause, c.step)
		}})
	})
}

// doubt notes that a partition has a leader of a newer epoch: the position has to
// be checked there before more is fetched (SubscriptionState.maybeValidatePosition,
// KIP-320).
func (c *Consumer) doubt(part string) {
	epoch := c.meta[part].LeaderEpoch
	if old, ok := c.leaderEpochs[part]; ok && epoch > old {
		if _, read := c.epochs[part]; read {
			c.check[part] = true
		}
	}
	c.leaderEpochs[part] = epoch
}

// validatePositions asks the leaders where the epochs of the positions end, one
// OffsetForLeaderEpoch a leader (OffsetFetcher.validatePositionsAsync).
func (c *Consumer) validatePositions() {
	for _, node := range c.leaders() {
		q := &wire.OffsetForLeaderEpochRequest{ReplicaID: -2}
		for _, part := range c.assign {
			_, ok := c.at[part]
			if ok && c.check[part] && c.looking[part] == 0 && c.leader(part) == node && c.held[part].until <= c.w.Now() {
				q.Parts = append(q.Parts, wire.LeaderEpochPart{Part: part, CurrentLeaderEpoch: c.meta[part].LeaderEpoch, LeaderEpoch: c.epochs[part]})
			}
		}
		if len(q.Parts) == 0 {
			continue
		}
		if conn := c.ready(node); conn != nil {
			c.validate(node, conn, q)
		}
	}
}

func (c *Consumer) validate(node string, conn *sim.Conn, q *wire.OffsetForLeaderEpochRequest) {
	c.lookups++
	lookup := c.lookups
	for _, p := range q.Parts {
		c.looking[p.Part] = lookup
	}
	n := c.w.Cause()
	c.w.Because(n, func() {
		c.call(conn, &sim.Call{API: kafka.OffsetForLeaderEpoch, Part: q.Parts[0].Part, Body: q, Done: func(r sim.Result) {
			cause := c.w.Cause()
			a, ok := r.Body.(*wire.OffsetForLeaderEpochResponse)
			if !ok {
				for _, p := range q.Parts {
					if c.looking[p.Part] == lookup {
						delete(c.looking, p.Part)
						c.holdBack(p.Part)
					}
				}
				c.lost(node)
				return
			}
			for _, p := range a.Parts {
				if c.looking[p.Part] != lookup {
					continue
				}
				delete(c.looking, p.Part)
				if p.ErrorCode != kafka.None {
					c.holdBack(p.Part)
					c.refresh()
					continue
				}
				c.w.Because(cause, func() { c.validated(p) })
			}
			c.w.Because(cause, c.step)
		}})
	})
}

// validated takes the leader's word for the end of the position's epoch. A log
// that ends before the position has lost what the consumer read.
func (c *Consumer) validated(p wire.LeaderEpochResult) {
	delete(c.check, p.Part)
	if p.EndOffset >= c.at[p.Part] {
		return
	}
	c.buffer = slices.DeleteFunc(c.buffer, func(b buffered) bool { return b.Part == p.Part })
	delete(c.epochs, p.Part)
	if c.resetPolicy() == "none" {
		c.fail("LogTruncationException", p.Part)
		return
	}
	if p.EndOffset < 0 {
		delete(c.pos, p.Part)
		c.resets[p.Part] = diverged
		return
	}
	c.resets[p.Part] = diverged
	c.setPosition(p.Part, p.EndOffset, "the end of the last epoch they share")
}

// resetPolicy is auto.offset.reset without a duration.
func (c *Consumer) resetPolicy() string {
	policy, _, _ := strings.Cut(c.cfg.String("auto.offset.reset"), ":")
	return policy
}

// timestamp is what ListOffsets asks for: −2 the start, −1 the visible end, else
// milliseconds (by_duration, KIP-1106).
func (c *Consumer) timestamp() int64 {
	switch policy, d, _ := strings.Cut(c.cfg.String("auto.offset.reset"), ":"); policy {
	case "earliest":
		return -2
	case "by_duration":
		return max(c.w.NowMs()-isoMillis(d), 0)
	}
	return -1
}

// isoMillis reads an ISO-8601 duration such as P1DT2H or PT30S, in milliseconds.
func isoMillis(s string) int64 {
	total, n, inTime := int64(0), int64(0), false
	for _, r := range strings.ToUpper(s) {
		unit := int64(0)
		switch {
		case r >= '0' && r <= '9':
			n = 10*n + int64(r-'0')
			continue
		case r == 'T':
			inTime = true
		case r == 'D':
			unit = 24 * 3600
		case r == 'H':
			unit = 3600
		case r == 'M' && inTime:
			unit = 60
		case r == 'S':
			unit = 1
		}
		total, n = total+1000*unit*n, 0
	}
	return total
}

// resetPositions asks the leaders for the start or the visible end of their logs,
// one ListOffsets a leader (OffsetFetcher.resetPositionsAsync).
func (c *Consumer) resetPositions() {
	for _, node := range c.leaders() {
		q := &wire.ListOffsetsRequest{ReplicaID: -1, Isolation: c.isolation()}
		for _, part := range c.assign {
			if h := c.held[part]; c.resets[part] != "" && c.looking[part] == 0 && c.leader(part) == node && h.until <= c.w.Now() {
				q.Parts = append(q.Parts, wire.ListOffsetsPart{Part: part, CurrentLeaderEpoch: c.meta[part].LeaderEpoch, Timestamp: c.timestamp()})
			}
		}
		if len(q.Parts) == 0 {
			continue
		}
		if c.resetPolicy() == "none" {
			exception := "NoOffsetForPartitionException"
			if c.resets[q.Parts[0].Part] == outOfRange {
				exception = "OffsetOutOfRangeException"
			}
			c.fail(exception, q.Parts[0].Part)
			return
		}
		if conn := c.ready(node); conn != nil {
			c.listOffsets(node, conn, q)
		}
	}
}

func (c *Consumer) listOffsets(node string, conn *sim.Conn, q *wire.ListOffsetsRequest) {
	c.lookups++
	lookup := c.lookups
	for _, p := range q.Parts {
		c.looking[p.Part] = lookup
	}
	n := c.w.Cause()
	c.w.Because(n, func() {
		c.call(conn, &sim.Call{API: kafka.ListOffsets, Part: q.Parts[0].Part, Body: q, Done: func(r sim.Result) {
			cause := c.w.Cause()
			a, ok := r.Body.(*wire.ListOffsetsResponse)
			if !ok {
				for _, p := range q.Parts {
					if c.looking[p.Part] == lookup {
						delete(c.looking, p.Part)
						c.holdBack(p.Part)
					}
				}
				c.lost(node)
				return
			}
			for _, p := range a.Parts {
				if c.looking[p.Part] != lookup {
					continue
				}
				delete(c.looking, p.Part)
				switch {
				case c.resets[p.Part] == "":
				case p.ErrorCode != kafka.None:
					c.holdBack(p.Part) // OFFSET_NOT_AVAILABLE after an election: KIP-207
					if p.ErrorCode.InvalidMetadata() || p.ErrorCode == kafka.UnknownLeaderEpoch {
						c.refresh()
					}
				default:
					c.w.Because(cause, func() { c.setPosition(p.Part, p.Offset, c.resetPolicy()) })
				}
			}
			c.w.Because(cause, c.step)
		}})
	})
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
