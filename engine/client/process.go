package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
)

// process hands the records of a poll over and works on them, one after the
// other where that takes time.
func (c *Consumer) process(out []handed) {
	cause := c.w.Cause()
	count := 0
	var mine []handed
	for i := range out {
		if pos, ok := c.pos[out[i].part]; !ok || pos < out[i].next {
			continue // a seek or a rebalance in between
		}
		count += len(out[i].ids)
		mine = append(mine, out[i])
	}
	if c.opt.Work == 0 || count == 0 {
		for i := range mine {
			c.w.Because(cause, func() { c.hand(&mine[i]) })
		}
		c.polling = c.proc.After(0, func() { c.worked(count) })
		return
	}
	for i := range mine {
		c.w.Because(cause, func() { c.returned(&mine[i]) })
	}
	c.workOn(mine, count)
}

// workOn gives the application one record after the other.
func (c *Consumer) workOn(out []handed, count int) {
	for len(out) > 0 && len(out[0].ids) == 0 {
		out = out[1:]
	}
	if len(out) == 0 {
		c.worked(count)
		return
	}
	h := &out[0]
	c.delivered[h.part]++
	n := c.w.Emit(journal.Event{Kind: journal.ConsumerDeliver, Node: c.id, Part: h.part, Group: c.group, F: journal.F("records", h.ids[:1], "offset", h.offsets[0]),
		Ch: []journal.Change{{Key: journal.ReplicaKey(c.id, h.part, "delivered"), Val: c.delivered[h.part]}}})
	h.ids, h.offsets = h.ids[1:], h.offsets[1:]
	c.polling = c.proc.After(c.opt.Work, func() { c.workOn(out, count) })
	c.polling.Because(n)
}

// worked is the end of a poll's records.
func (c *Consumer) worked(count int) {
	if c.commit == "after" && c.group != "" && count > 0 {
		c.commitOffsets(c.positions(nil), func(code kafka.ErrorCode) {
			c.threw(code)
			c.polled()
		})
		return
	}
	c.polled()
}

// move sets the application's position to what a poll returned.
func (c *Consumer) move(h *handed) journal.Change {
	c.at[h.part] = h.next
	if h.epoch >= 0 {
		c.epochs[h.part] = h.epoch
	}
	return journal.Change{Key: journal.ReplicaKey(c.id, h.part, "position"), Val: h.next}
}

// returned is a poll whose records are worked on later: the position counts them
// all already.
func (c *Consumer) returned(h *handed) {
	position := c.move(h)
	c.w.Emit(journal.Event{Kind: journal.ConsumerPoll, Node: c.id, Part: h.part, Group: c.group, F: journal.F("count", len(h.ids), "offset", h.first),
		Ch: []journal.Change{position}})
}

func (c *Consumer) hand(h *handed) {
	position := c.move(h)
	if len(h.ids) == 0 {
		c.w.Emit(journal.Event{Kind: journal.ConsumerPosition, Node: c.id, Part: h.part, Group: c.group, F: journal.F("offset", h.next),
			Ch: []journal.Change{position}})
		return
	}
	c.delivered[h.part] += int64(len(h.ids))
	c.w.Emit(journal.Event{Kind: journal.ConsumerDeliver, Node: c.id, Part: h.part, Group: c.group, F: journal.F("records", h.ids, "offset", h.first),
		Ch: []journal.Change{position, {Key: journal.ReplicaKey(c.id, h.part, "delivered"), Val: c.delivered[h.part]}}})
}

// Seek moves the position of a partition.
func (c *Consumer) Seek(part string, offset int64) {
	if !slices.Contains(c.assign, part) {
		return // IllegalStateException
	}
	c.buffer = slices.DeleteFunc(c.buffer, func(p buffered) bool { return p.Part == part })
	delete(c.resets, part)
	delete(c.epochs, part)
	c.setPosition(part, offset, "seek")
	c.step()
}

func (c *Consumer) setPosition(part string, offset int64, policy string) {
	reason := c.resets[part]
	delete(c.resets, part)
	delete(c.check, part)
	c.pos[part], c.at[part] = offset, offset
	kind, f := journal.ConsumerPosition, journal.F("offset", offset)
	if reason != "" {
		kind, f = journal.ConsumerReset, journal.F("offset", offset, "policy", policy, "reason", reason)
	}
	ch := []journal.Change{{Key: journal.ReplicaKey(c.id, part, "position"), Val: offset}}
	if _, ok := c.delivered[part]; !ok {
		c.delivered[part] = 0
		ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, part, "delivered"), Val: int64(0)})
	}
	c.w.Emit(journal.Event{Kind: kind, Node: c.id, Part: part, Group: c.group, F: f, Ch: ch})
}

// Pause and Resume stop and restart the fetching of partitions without a
// rebalance.
func (c *Consumer) Pause(parts []string) {
	for _, p := range parts {
		if slices.Contains(c.assign, p) {
			c.paused[p] = true
		}
	}
	c.step()
}

// Resume undoes Pause.
func (c *Consumer) Resume(parts []string) {
	for _, p := range parts {
		delete(c.paused, p)
	}
	c.step()
	c.deliver()
}

// Subscribe changes the subscription; the group is told with the next poll().
func (c *Consumer) Subscribe(topics []string) {
	c.between(func(next func()) {
		c.opt.Topics = topics
		for _, t := range topics {
			if !slices.Contains(c.topics, t) {
				c.refreshFor(t)
			}
		}
		if m, ok := c.member.(interface{ subscribed() }); ok {
			m.subscribed()
		}
		next()
	})
}

// Assign gives the consumer other partitions by hand.
func (c *Consumer) Assign(parts []string) {
	c.between(func(next func()) {
		if c.member == nil {
			c.own(parts)
			for _, p := range parts {
				if topic, _ := image.Split(p); !slices.Contains(c.topics, topic) {
					c.refreshFor(topic)
				}
			}
			c.step()
		}
		next()
	})
}

// own replaces what the consumer may read; what it forgets of partitions that go
// is returned.
func (c *Consumer) own(parts []string) []journal.Change {
	var ch []journal.Change
	for _, p := range c.assign {
		if slices.Contains(parts, p) {
			continue
		}
		if _, ok := c.at[p]; ok {
			ch = append(ch, journal.Change{Key: journal.ReplicaKey(c.id, p, "position")})
		}
		delete(c.pos, p)
		delete(c.at, p)
		delete(c.epochs, p)
		delete(c.check, p)
		delete(c.paused, p)
		delete(c.held, p)
		delete(c.resets, p)
		delete(c.looking, p)
		delete(c.leaderEpochs, p)
		c.buffer = slices.DeleteFunc(c.buffer, func(b buffered) bool { return b.Part == p })
	}
	clear(c.revoking)
	c.assign = slices.Clone(parts)
	return ch
}

// callback is a rebalance listener's method. The partitions that it takes away
// are gone before the application goes on.
func (c *Consumer) callback(name string, parts, left []string) {
	ch := c.own(left)
	c.w.Emit(journal.Event{Kind: journal.ConsumerCallback, Node: c.id, Group: c.group, F: journal.F("callback", name, "parts", listOf(parts), "count", len(parts)), Ch: ch})
}

const (
	partitionsAssigned = "onPartitionsAssigned"
	partitionsRevoked  = "onPartitionsRevoked"
	partitionsLost     = "onPartitionsLost"
)

func listOf(ps []string) []string {
	if ps == nil {
		return []string{}
	}
	return ps
}

// minus is a without b, in a's order.
func minus(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
