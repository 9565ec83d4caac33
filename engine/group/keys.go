package group

import (
	"maps"
	"reflect"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// values are the group's keys as they are now, sorted. A member's keys carry the
// id of its client; where an old member id and its successor are both members,
// the successor's are shown.
func (s *Shard) values(g *group) []journal.Change {
	var ch []journal.Change
	put := func(field string, v any) { ch = append(ch, journal.Change{Key: journal.NodeKey(g.id, field), Val: v}) }
	member := func(client, field string, v any) {
		ch = append(ch, journal.Change{Key: journal.ReplicaKey(g.id, client, field), Val: v})
	}
	for _, part := range slices.Sorted(maps.Keys(g.offsets)) {
		ch = append(ch, journal.Change{Key: journal.ReplicaKey(g.id, part, "committed"), Val: g.offsets[part].Offset})
	}
	switch {
	case g.classic != nil:
		c := g.classic
		put("state", string(c.state))
		put("protocol", "classic")
		put("generation", c.generation)
		if m := c.members[c.leader]; m != nil {
			put("leader", m.client)
		}
		if c.protocol != "" {
			put("assignor", c.protocol)
		}
		for _, m := range newest(c.members, func(m *classicMember) (string, int) { return m.client, m.order }) {
			state := "stable"
			switch {
			case m.join != nil:
				state = "joining"
			case m.sync != nil:
				state = "syncing"
			}
			member(m.client, "state", state)
			member(m.client, "epoch", c.generation)
			member(m.client, "assignment", list(m.assignment))
			if at, ok := s.timers.deadline(g.id, session(m.id)); ok && m.join == nil && m.sync == nil {
				member(m.client, "session", int64(at))
			}
		}
	case g.consumer != nil:
		c := g.consumer
		put("state", string(c.state()))
		put("protocol", "consumer")
		put("groupEpoch", c.epoch)
		put("targetEpoch", c.targetEpoch)
		put("assignor", c.assignor)
		for _, m := range newest(c.members, func(m *consumerMember) (string, int) { return m.client, m.order }) {
			member(m.client, "state", string(m.state))
			member(m.client, "epoch", m.epoch)
			member(m.client, "assignment", slices.Sorted(maps.Keys(m.assigned)))
			member(m.client, "target", list(c.target[m.id]))
			if at, ok := s.timers.deadline(g.id, session(m.id)); ok {
				member(m.client, "session", int64(at))
			}
		}
	}
	return ch
}

// newest picks one member a client, the one that came last, in the order of their
// names.
func newest[M any](members map[string]M, who func(M) (client string, order int)) []M {
	by := map[string]M{}
	for _, m := range members {
		client, order := who(m)
		if old, ok := by[client]; ok {
			if _, before := who(old); before > order {
				continue
			}
		}
		by[client] = m
	}
	var out []M
	for _, client := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[client])
	}
	return out
}

// diff returns the keys that changed since the last call.
func (s *Shard) diff(g *group) []journal.Change {
	now := map[string]any{}
	var ch []journal.Change
	for _, c := range s.values(g) {
		now[c.Key] = c.Val
		if old, ok := g.sent[c.Key]; !ok || !reflect.DeepEqual(old, c.Val) {
			ch = append(ch, c)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(g.sent)) {
		if _, ok := now[k]; !ok {
			ch = append(ch, journal.Change{Key: k})
		}
	}
	g.sent = now
	return ch
}

// Snapshot reads the whole state from the live groups.
func (s *Shard) Snapshot() []journal.Change {
	var ch []journal.Change
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		ch = append(ch, s.values(s.groups[id])...)
	}
	return ch
}
