package client

import (
	"fmt"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

func (c *Consumer) auto() bool {
	return c.group != "" && (c.commit == "auto" || c.commit == "" && c.cfg.Bool("enable.auto.commit"))
}

// autoCommitLater starts auto.commit.interval.ms.
func (c *Consumer) autoCommitLater(after journal.Time) {
	if !c.auto() {
		return
	}
	c.due = false
	c.dueTimer.Stop()
	c.dueTimer = c.proc.After(after, func() {
		c.due = true
		if !c.busy {
			c.autoCommit()
		}
	})
	c.dueTimer.Because(-1)
}

// autoCommit commits inside poll() when its interval is over: what earlier polls
// returned, also where nothing changed. AsyncKafkaConsumer waits for the answer to
// the one before (CommitRequestManager.AutoCommitState); ClassicKafkaConsumer does
// not.
func (c *Consumer) autoCommit() {
	if !c.due || c.closed || c.autoInFlight && c.cfg.String("group.protocol") == "consumer" {
		return
	}
	interval := journal.Millis(c.cfg.Millis("auto.commit.interval.ms"))
	c.autoCommitLater(interval)
	offsets := c.positions(nil)
	if _, _, refusal := c.identity(); refusal != kafka.None || len(offsets) == 0 {
		return
	}
	c.emitCommit(offsets)
	c.autoInFlight = true
	c.sendCommit(offsets, c.w.Now()+c.requestTimeout(), func(code kafka.ErrorCode) {
		if code != kafka.None && passing(code) {
			c.autoCommitLater(c.retryBackoff(0))
		}
		c.autoCommitted()
	}, false, true)
}

// autoCommitted is the answer to an automatic commit, which one that is due may
// have waited for.
func (c *Consumer) autoCommitted() {
	c.autoInFlight = false
	if c.due && !c.busy {
		c.autoCommit()
	}
}

// passing says whether a failed commit may succeed later.
func passing(code kafka.ErrorCode) bool {
	return code.Retriable() || code == kafka.Network || code == kafka.StaleMemberEpoch || code == kafka.RequestTimedOut
}

// identity is what a commit carries; a consumer with partitions assigned by hand
// has none. With a refusal no request is sent.
func (c *Consumer) identity() (generation int32, memberID string, refusal kafka.ErrorCode) {
	if c.member == nil {
		return -1, "", kafka.None
	}
	return c.member.identity()
}

// Commit is commitSync, then committed(), between two polls. Without offsets the
// positions are committed.
func (c *Consumer) Commit(offsets map[string]int64) {
	c.between(func(next func()) {
		commit := c.commitOffsets
		if len(offsets) == 0 {
			offsets = c.positions(nil)
		} else {
			commit = c.commitGiven
		}
		commit(offsets, func(code kafka.ErrorCode) {
			if code != kafka.None {
				c.threw(code)
				next()
				return
			}
			c.committed(next)
		})
	})
}

// threw notes that the application's commitSync has thrown.
func (c *Consumer) threw(code kafka.ErrorCode) {
	if code != kafka.None {
		c.w.Emit(journal.Event{Kind: journal.ConsumerCommitted, Node: c.id, Group: c.group, F: journal.F("error", exception(code))})
	}
}

// exception is what commitSync throws.
func exception(code kafka.ErrorCode) string {
	switch code {
	case kafka.RebalanceInProgress:
		return "RebalanceInProgressException"
	case kafka.FencedInstanceID:
		return "FencedInstanceIdException"
	case kafka.UnknownMemberID, kafka.IllegalGeneration, kafka.StaleMemberEpoch:
		return "CommitFailedException"
	case kafka.RequestTimedOut, kafka.Network:
		return "TimeoutException"
	}
	return code.String()
}

// committed asks what is committed for the partitions assigned now.
func (c *Consumer) committed(next func()) {
	q := &wire.OffsetFetchRequest{GroupID: c.group, MemberEpoch: -1, Parts: slices.Clone(c.assign)}
	c.withCoordinator(func() bool { return false }, func(conn *sim.Conn) {
		if c.member != nil {
			c.member.offsetFetch(q)
		}
		c.call(conn, &sim.Call{API: kafka.OffsetFetch, Group: c.group, Body: q, Done: func(r sim.Result) {
			a, ok := r.Body.(*wire.OffsetFetchResponse)
			if !ok || a.ErrorCode != kafka.None {
				code := kafka.Network
				if ok {
					code = a.ErrorCode
				}
				c.coordinatorError(ok, code)
				c.proc.After(c.retryBackoff(0), func() { c.committed(next) })
				return
			}
			var offsets []string
			for _, p := range a.Parts {
				if p.CommittedOffset >= 0 {
					offsets = append(offsets, fmt.Sprintf("%s@%d", p.Part, p.CommittedOffset))
				}
			}
			slices.Sort(offsets)
			c.w.Emit(journal.Event{Kind: journal.ConsumerCommitted, Node: c.id, Group: c.group, F: journal.F("offsets", listOf(offsets))})
			next()
		}})
	})
}

// commitOffsets is commitSync: again and again while the error can pass, for
// default.api.timeout.ms.
func (c *Consumer) commitOffsets(offsets map[string]int64, done func(kafka.ErrorCode)) {
	c.commitSync(offsets, done, true)
}

// commitGiven commits offsets that the application names: it knows no leader
// epochs.
func (c *Consumer) commitGiven(offsets map[string]int64, done func(kafka.ErrorCode)) {
	c.commitSync(offsets, done, false)
}

func (c *Consumer) commitSync(offsets map[string]int64, done func(kafka.ErrorCode), epochs bool) {
	if c.group == "" || len(offsets) == 0 || c.closed {
		done(kafka.None)
		return
	}
	if _, _, refusal := c.identity(); refusal != kafka.None {
		done(refusal)
		return
	}
	c.emitCommit(offsets)
	deadline := c.w.Now() + journal.Millis(c.cfg.Millis("default.api.timeout.ms"))
	c.sendCommit(offsets, deadline, done, true, epochs)
}

func (c *Consumer) emitCommit(offsets map[string]int64) {
	c.w.Emit(journal.Event{Kind: journal.ConsumerCommit, Node: c.id, Group: c.group, F: journal.F("parts", len(offsets))})
}

// sendCommit calls done once; retry says whether errors that can pass are tried
// again before the deadline.
func (c *Consumer) sendCommit(offsets map[string]int64, deadline journal.Time, done func(kafka.ErrorCode), retry, epochs bool) {
	var parts []wire.OffsetCommitPart
	for _, part := range slices.Sorted(maps.Keys(offsets)) {
		if off, ok := offsets[part]; ok {
			epoch, read := c.epochs[part]
			if !read || !epochs {
				epoch = -1
			}
			parts = append(parts, wire.OffsetCommitPart{Part: part, CommittedOffset: off, CommittedLeaderEpoch: epoch})
		}
	}
	over := false
	limit := c.proc.After(deadline-c.w.Now(), func() {
		over = true
		done(kafka.RequestTimedOut)
	})
	end := func(code kafka.ErrorCode) {
		if !over {
			over = true
			limit.Stop()
			done(code)
		}
	}
	var attempt func()
	attempt = func() {
		c.withCoordinator(func() bool { return over }, func(conn *sim.Conn) {
			generation, id, refusal := c.identity()
			if refusal != kafka.None {
				end(refusal)
				return
			}
			q := &wire.OffsetCommitRequest{GroupID: c.group, Epoch: generation, MemberID: id, Parts: parts}
			if c.member != nil {
				q.Instance = c.cfg.String("group.instance.id")
			}
			c.call(conn, &sim.Call{API: kafka.OffsetCommit, Group: c.group, Body: q, Done: func(r sim.Result) {
				a, answered := r.Body.(*wire.OffsetCommitResponse)
				code := kafka.None
				if !answered {
					code = kafka.Network
				} else {
					for _, p := range a.Parts {
						if code == kafka.None {
							code = p.ErrorCode
						}
					}
				}
				if over {
					return
				}
				if code == kafka.None {
					end(code)
					return
				}
				again := c.coordinatorError(answered, code)
				if c.member != nil {
					c.member.refused(code)
				}
				if g, _, refusal := c.identity(); code == kafka.StaleMemberEpoch && refusal == kafka.None && g != generation {
					again = true // the epoch has moved on meanwhile
				}
				if again && retry {
					c.proc.After(c.retryBackoff(0), attempt)
					return
				}
				end(code)
			}})
		})
	}
	attempt()
}
