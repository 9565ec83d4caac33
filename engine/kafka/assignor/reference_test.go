package assignor_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/assignor"
)

// The slow versions know one thing, who owns which partition, and count
// everything else anew at each step.

type owners map[kafka.TopicPartition]string

func (o owners) count(id string) (n int) {
	for _, x := range o {
		if x == id {
			n++
		}
	}
	return n
}

func (o owners) of(in assignor.Input) assignor.Assignment {
	out := assignor.Assignment{}
	for _, m := range in.Members {
		out[m.ID] = nil
	}
	for p, id := range o {
		out[id] = append(out[id], p)
	}
	return out
}

func partitionsOf(in assignor.Input, topics []string) (out []kafka.TopicPartition) {
	for _, t := range topics {
		for p := range in.Topics[t] {
			out = append(out, kafka.TopicPartition{Topic: t, Partition: p})
		}
	}
	return out
}

func topicsOf(in assignor.Input) []string { return slices.Sorted(maps.Keys(in.Topics)) }

// rank is the order of members for range and roundrobin.
func rank(in assignor.Input) (ids []string) {
	var static, dynamic []assignor.Member
	for _, m := range in.Members {
		if m.Instance != "" {
			static = append(static, m)
		} else {
			dynamic = append(dynamic, m)
		}
	}
	slices.SortFunc(static, func(a, b assignor.Member) int { return cmp.Compare(a.Instance, b.Instance) })
	slices.SortFunc(dynamic, func(a, b assignor.Member) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range append(static, dynamic...) {
		ids = append(ids, m.ID)
	}
	return ids
}

func subscribes(in assignor.Input, id, topic string) bool {
	return slices.ContainsFunc(in.Members, func(m assignor.Member) bool { return m.ID == id && slices.Contains(m.Topics, topic) })
}

func slowRange(in assignor.Input) owners {
	out := owners{}
	for _, t := range topicsOf(in) {
		ids := slices.DeleteFunc(rank(in), func(id string) bool { return !subscribes(in, id, t) })
		n := int(in.Topics[t])
		for p := range n {
			for i, id := range ids {
				// Member i begins behind i shares and the extra ones of those before it.
				each, extra := n/len(ids), n%len(ids)
				if first := i*each + min(i, extra); p >= first && p < first+each+min(1, max(0, extra-i)) {
					out[kafka.TopicPartition{Topic: t, Partition: int32(p)}] = id
				}
			}
		}
	}
	return out
}

func slowRoundRobin(in assignor.Input) owners {
	out, ids, last := owners{}, rank(in), -1
	for _, p := range partitionsOf(in, topicsOf(in)) {
		for step := 1; step <= len(ids); step++ {
			if at := (last + step) % len(ids); subscribes(in, ids[at], p.Topic) {
				out[p], last = ids[at], at
				break
			}
		}
	}
	return out
}

// slowShares is sticky for one subscription, in rounds over members.
func slowShares(in assignor.Input, claims owners) owners {
	out := owners{}
	all := partitionsOf(in, topicsOf(in))
	each, extra := len(all)/len(in.Members), len(all)%len(in.Members)
	var ids, level []string
	for _, m := range in.Members {
		ids = append(ids, m.ID)
	}
	over := 0
	for _, id := range assignor.HashOrder(ids) {
		mine := slices.SortedFunc(maps.Keys(claims), func(a, b kafka.TopicPartition) int {
			return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Topic, b.Topic))
		})
		mine = slices.DeleteFunc(mine, func(p kafka.TopicPartition) bool { return claims[p] != id })
		keep := min(len(mine), each)
		if extra > 0 && len(mine) >= (len(all)+len(in.Members)-1)/len(in.Members) && over < extra {
			keep = each + 1
			over++
		} else if extra == 0 {
			keep = min(len(mine), each)
		}
		for _, p := range mine[:keep] {
			out[p] = id
		}
	}
	slices.Sort(ids)
	free := slices.DeleteFunc(all, func(p kafka.TopicPartition) bool { return out[p] != "" })
	for _, id := range ids {
		if out.count(id) == each && over < extra {
			level = append(level, id)
		}
	}
	for len(free) > 0 {
		given := false
		for _, id := range ids {
			if out.count(id) < each {
				out[free[0]], free, given = id, free[1:], true
				if out.count(id) == each {
					level = append(level, id)
				}
			}
		}
		if !given {
			out[free[0]], free, level = level[0], free[1:], level[1:]
		}
	}
	return out
}

// slowMoves is sticky for members with different subscriptions, with all of them
// in one generation.
func slowMoves(in assignor.Input, claims owners) owners {
	out := owners{}
	lost := false
	for p, id := range claims {
		if subscribes(in, id, p.Topic) {
			out[p] = id
		} else {
			lost = true
		}
	}
	fresh := len(out) == 0
	smallest := func(topic string) string {
		var best string
		for _, m := range in.Members {
			if subscribes(in, m.ID, topic) && (best == "" || cmp.Or(out.count(m.ID)-out.count(best), cmp.Compare(m.ID, best)) < 0) {
				best = m.ID
			}
		}
		return best
	}
	subs := func(topic string) (n int) {
		for _, m := range in.Members {
			if slices.Contains(m.Topics, topic) {
				n++
			}
		}
		return n
	}
	topics := topicsOf(in)
	slices.SortStableFunc(topics, func(a, b string) int { return subs(a) - subs(b) })
	all := partitionsOf(in, topics)
	var free []kafka.TopicPartition
	for _, p := range all {
		if out[p] == "" && subs(p.Topic) > 0 {
			out[p] = smallest(p.Topic)
			free = append(free, p)
		}
	}
	movable := func(p kafka.TopicPartition) bool {
		if subs(p.Topic) < 2 {
			return false
		}
		return out.count(out[p]) > out.count(smallest(p.Topic))+1
	}
	from, moved := map[kafka.TopicPartition]string{}, false
	pass := func(ps []kafka.TopicPartition) (any bool) {
		for again := true; again; {
			again = false
			for _, p := range ps {
				if !slices.ContainsFunc(all, movable) {
					return any
				}
				if !movable(p) {
					continue
				}
				to := smallest(p.Topic)
				was := out[p]
				if f, ok := from[p]; ok {
					was = f
				}
				// One that came from there goes back instead.
				var back []kafka.TopicPartition
				for q, f := range from {
					if q.Topic == p.Topic && f == to && out[q] == was {
						back = append(back, q)
					}
				}
				if len(back) > 0 {
					slices.SortFunc(back, assignor.ByTopic)
					p = assignor.HashOrderPartitions(back)[0]
				}
				if f, ok := from[p]; ok && f == to {
					delete(from, p)
				} else if !ok {
					from[p] = out[p]
				}
				out[p] = to
				again, any = true, true
			}
		}
		return any
	}
	score := func() (n int) {
		for i, a := range in.Members {
			for _, b := range in.Members[i+1:] {
				d := out.count(a.ID) - out.count(b.ID)
				n += max(d, -d)
			}
		}
		return n
	}
	before, start := maps.Clone(out), score()
	if !lost {
		pass(free)
	}
	moved = pass(all)
	if moved && !fresh && score() >= start {
		return before
	}
	return out
}

func slowUniform(in assignor.Input) owners {
	out := owners{}
	all := partitionsOf(in, in.Order)
	each, extra := len(all)/len(in.Members), len(all)%len(in.Members)
	taken, room := map[kafka.TopicPartition]bool{}, []int{}
	var revoked []kafka.TopicPartition
	for i, m := range in.Members {
		own := slices.DeleteFunc(slices.Clone(m.Owned), func(p kafka.TopicPartition) bool { return !slices.Contains(all, p) })
		quota := each
		if extra > 0 && (len(own) > each || extra >= len(in.Members)-i) {
			quota++
			extra--
		}
		for n, p := range own {
			taken[p] = true
			if n < quota {
				out[p] = m.ID
			} else {
				revoked = append(revoked, p)
			}
		}
		room = append(room, quota-min(quota, len(own)))
	}
	free := append(slices.DeleteFunc(all, func(p kafka.TopicPartition) bool { return taken[p] }), revoked...)
	for i, m := range in.Members {
		for range room[i] {
			out[free[0]], free = m.ID, free[1:]
		}
	}
	return out
}

// draw makes members with topics; what they own is spread without conflict if
// claims is set.
func draw(r *rand.Rand, same, claim bool) (assignor.Input, owners) {
	in := assignor.Input{Topics: map[string]int32{}}
	for t := range 1 + r.IntN(4) {
		in.Topics[fmt.Sprint("t", t)] = int32(1 + r.IntN(7))
	}
	in.Order = topicsOf(in)
	for m := range 1 + r.IntN(6) {
		x := assignor.Member{ID: fmt.Sprintf("m%d-%x", m, r.IntN(1<<16)), Generation: -1}
		if r.IntN(4) == 0 {
			x.Instance = fmt.Sprint("i", r.IntN(1000), "-", m)
		}
		for _, t := range in.Order {
			if same || r.IntN(2) == 0 {
				x.Topics = append(x.Topics, t)
			}
		}
		if len(x.Topics) == 0 {
			x.Topics = slices.Clone(in.Order[:1])
		}
		in.Members = append(in.Members, x)
	}
	for _, t := range in.Order {
		if !slices.ContainsFunc(in.Members, func(m assignor.Member) bool { return slices.Contains(m.Topics, t) }) {
			in.Members[0].Topics = append(in.Members[0].Topics, t)
		}
	}
	claims := owners{}
	if claim {
		for _, p := range partitionsOf(in, in.Order) {
			i := r.IntN(len(in.Members) + 1)
			// Lopsided at times, and with claims from before a change of topics.
			if i < len(in.Members) && r.IntN(3) == 0 {
				i = 0
			}
			if i < len(in.Members) {
				in.Members[i].Owned = append(in.Members[i].Owned, p)
				in.Members[i].Generation = 4
				claims[p] = in.Members[i].ID
			}
		}
		for i := range in.Members {
			in.Members[i].Generation = 4
		}
	}
	return in, claims
}

func equal(t *testing.T, in assignor.Input, want owners, got assignor.Assignment) {
	t.Helper()
	for id, ps := range want.of(in) {
		require.Equal(t, sorted(ps), sorted(got[id]), "%s of %+v", id, in)
	}
}

func TestSlowVersionsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	moved := 0
	for range 3000 {
		in, _ := draw(r, r.IntN(2) == 0, false)
		equal(t, in, slowRange(in), assignor.Range(in))
		equal(t, in, slowRange(in), assignor.ServerRange(in))
		equal(t, in, slowRoundRobin(in), assignor.RoundRobin(in))

		in, claims := draw(r, true, r.IntN(3) > 0)
		want := slowShares(in, claims)
		equal(t, in, want, assignor.Sticky(in))
		equal(t, in, cooperative(want, claims), assignor.CooperativeSticky(in))
		equal(t, in, slowUniform(in), assignor.Uniform(in))

		in, claims = draw(r, false, r.IntN(3) > 0)
		if topics := in.Members[0].Topics; slices.ContainsFunc(in.Members, func(m assignor.Member) bool { return !slices.Equal(m.Topics, topics) }) {
			want = slowMoves(in, claims)
			equal(t, in, want, assignor.Sticky(in))
			equal(t, in, cooperative(want, claims), assignor.CooperativeSticky(in))
			moved += len(claims)
			level(t, in, assignor.Uniform(in))
		}
	}
	assert.Positive(t, moved)
}

// cooperative leaves out what someone else still owns.
func cooperative(want, claims owners) owners {
	out := owners{}
	for p, id := range want {
		if was, ok := claims[p]; !ok || was == id {
			out[p] = id
		}
	}
	return out
}

// level checks an assignment of members with different subscriptions: everything
// at a subscriber, and nothing that a member with two fewer could have.
func level(t *testing.T, in assignor.Input, got assignor.Assignment) {
	t.Helper()
	seen := owners{}
	for id, ps := range got {
		for _, p := range ps {
			require.Empty(t, seen[p], "%v has two owners", p)
			require.True(t, subscribes(in, id, p.Topic))
			seen[p] = id
		}
	}
	require.Len(t, seen, len(partitionsOf(in, in.Order)))
	for p, id := range seen {
		for _, m := range in.Members {
			if subscribes(in, m.ID, p.Topic) {
				require.LessOrEqual(t, len(got[id]), len(got[m.ID])+1, "%v could go from %s to %s in %+v", p, id, m.ID, in)
			}
		}
	}
}
