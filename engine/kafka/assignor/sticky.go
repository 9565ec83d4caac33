package assignor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Sticky keeps what members have as far as balance allows (StickyAssignor,
// KIP-54). Members with the same subscription are served by shares, others by
// moving partitions one at a time.
func Sticky(in Input) Assignment {
	out, _ := sticky(in)
	return out
}

// CooperativeSticky is Sticky without the partitions that change hands: their
// owners give them up in this generation and the next one deals them
// (CooperativeStickyAssignor, KIP-429).
func CooperativeSticky(in Input) Assignment {
	out, moving := sticky(in)
	for id, ps := range out {
		out[id] = slices.DeleteFunc(ps, func(p kafka.TopicPartition) bool { return moving[p] == id })
	}
	return out
}

// sticky also returns which partitions move from a member to another one.
func sticky(in Input) (out Assignment, moving map[kafka.TopicPartition]string) {
	if len(in.Members) == 0 {
		return Assignment{}, nil
	}
	in.Members = hashOrder(in.Members, func(m Member) int32 { return stringHash(m.ID) })
	owned, disputed, newest := claims(in)
	if sameTopics(in.Members) {
		return newShares(in, owned, disputed).assign()
	}
	out = newMoves(in, owned, newest).assign()
	return out, changed(in, out)
}

// sameTopics says whether all members subscribe to the same topics. A member
// without topics does not count while no other came before it, as in Kafka.
func sameTopics(members []Member) bool {
	var first []string
	for _, m := range members {
		t := topicSet(m.Topics)
		if len(first) == 0 {
			first = t
		} else if !slices.Equal(first, t) {
			return false
		}
	}
	return true
}

// claims returns what each member owns by the newest generation that claims it,
// what two members claim in one generation, and the newest generation.
func claims(in Input) (owned Assignment, disputed map[kafka.TopicPartition]bool, newest int32) {
	owned, disputed, newest = in.empty(), map[kafka.TopicPartition]bool{}, -1
	owner := map[kafka.TopicPartition]Member{}
	for _, m := range in.Members {
		newest = max(newest, m.Generation)
		for _, p := range m.Owned {
			if p.Partition >= in.Topics[p.Topic] {
				continue
			}
			other, taken := owner[p]
			if taken && other.Generation > m.Generation {
				continue
			}
			if taken {
				owned[other.ID] = without(owned[other.ID], p)
			}
			owner[p] = m
			if taken && other.Generation == m.Generation {
				disputed[p] = true
				continue
			}
			owned[m.ID] = append(owned[m.ID], p)
		}
	}
	return owned, disputed, newest
}

func without(ps []kafka.TopicPartition, p kafka.TopicPartition) []kafka.TopicPartition {
	return slices.DeleteFunc(ps, func(o kafka.TopicPartition) bool { return o == p })
}

// changed returns what one member got that another one gives up.
func changed(in Input, out Assignment) map[kafka.TopicPartition]string {
	moving, given := map[kafka.TopicPartition]string{}, map[kafka.TopicPartition]bool{}
	for _, m := range in.Members {
		for _, p := range out[m.ID] {
			if !slices.Contains(m.Owned, p) {
				moving[p] = m.ID
			}
		}
		for _, p := range m.Owned {
			if !slices.Contains(out[m.ID], p) {
				given[p] = true
			}
		}
	}
	maps.DeleteFunc(moving, func(p kafka.TopicPartition, _ string) bool { return !given[p] })
	return moving
}

// shares is AbstractStickyAssignor.ConstrainedAssignmentBuilder: each member gets
// P div M partitions, P mod M of them one more.
type shares struct {
	in       Input
	owned    Assignment
	disputed map[kafka.TopicPartition]bool
	least    int // partitions of each member
	most     int
	extra    int // members that may have most of them
	out      Assignment
	revoked  map[kafka.TopicPartition]string // from whom
	moving   map[kafka.TopicPartition]string // to whom
	under    []string                        // members with fewer than least
	level    []string                        // members with least, while more is to be had
}

func newShares(in Input, owned Assignment, disputed map[kafka.TopicPartition]bool) *shares {
	total := 0
	for _, n := range in.Topics {
		total += int(n)
	}
	m := len(in.Members)
	return &shares{in: in, owned: owned, disputed: disputed, least: total / m, most: (total + m - 1) / m, extra: total % m,
		out: in.empty(), revoked: map[kafka.TopicPartition]string{}, moving: map[kafka.TopicPartition]string{}}
}

func (s *shares) assign() (Assignment, map[kafka.TopicPartition]string) {
	s.keep()
	slices.Sort(s.under)
	slices.Sort(s.level)
	s.deal(s.free())
	return s.out, s.moving
}

// keep leaves members what they own, up to their share.
func (s *shares) keep() {
	over := 0
	for _, m := range s.in.Members {
		ps := slices.DeleteFunc(slices.Clone(s.owned[m.ID]), func(p kafka.TopicPartition) bool { return s.disputed[p] })
		slices.SortFunc(ps, func(a, b kafka.TopicPartition) int {
			return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Topic, b.Topic))
		})
		n := s.least
		switch {
		case len(ps) < s.least:
			n = len(ps)
			s.under = append(s.under, m.ID)
		case len(ps) >= s.most && over < s.extra:
			n = s.most
			if over++; over == s.extra {
				s.level = nil
			}
		case over < s.extra:
			s.level = append(s.level, m.ID)
		}
		s.out[m.ID] = ps[:n:n]
		for _, p := range ps[n:] {
			s.revoked[p] = m.ID
		}
	}
}

func (s *shares) free() (free []kafka.TopicPartition) {
	kept := map[kafka.TopicPartition]bool{}
	for _, ps := range s.out {
		for _, p := range ps {
			kept[p] = true
		}
	}
	for _, t := range slices.Sorted(maps.Keys(s.in.Topics)) {
		for p := range s.in.Topics[t] {
			if tp := (kafka.TopicPartition{Topic: t, Partition: p}); !kept[tp] {
				free = append(free, tp)
			}
		}
	}
	return free
}

// deal goes round the members that have too little until all have their share;
// then those that are level get one each.
func (s *shares) deal(free []kafka.TopicPartition) {
	at := 0
	for _, p := range free {
		var id string
		if len(s.under) > 0 {
			at %= len(s.under)
			id = s.under[at]
		} else {
			id, s.level = s.level[0], s.level[1:]
		}
		s.out[id] = append(s.out[id], p)
		if from, ok := s.revoked[p]; ok && from != id || s.disputed[p] {
			s.moving[p] = id
		}
		if len(s.under) == 0 {
			continue
		}
		if len(s.out[id]) == s.least {
			s.under = slices.Delete(s.under, at, at+1)
			s.level = append(s.level, id)
			continue // the next one has moved to this place
		}
		at++
	}
}
