package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// CommitOffsets serves an OffsetCommit (OffsetMetadataManager.commitOffset). It is
// answered when the offsets are committed; then they can be fetched.
func (s *Shard) CommitOffsets(now journal.Time, q *wire.OffsetCommitRequest, to any) Result {
	s.begin(now)
	g := s.group(q.GroupID)
	r := &wire.OffsetCommitResponse{}
	var records []Record
	var offsets []Offset
	for _, p := range q.Parts {
		code := s.mayCommit(g, q, p.Part)
		r.Parts = append(r.Parts, wire.PartError{Part: p.Part, ErrorCode: code})
		if code == kafka.None {
			o := Offset{p.CommittedOffset, p.CommittedLeaderEpoch, now}
			offsets = append(offsets, o)
			records = append(records, Record{Type: offsetCommit, Group: q.GroupID, Member: p.Part, Value: o})
		}
	}
	if g != nil && g.classic != nil {
		if m := g.classic.members[q.MemberID]; m != nil && len(records) > 0 {
			s.keepAlive(g, m)
		}
	}
	if len(records) == 0 {
		s.answer(to, r)
		return s.end()
	}
	if g == nil {
		g = s.newGroup(q.GroupID)
	}
	s.write(g.id, func(code kafka.ErrorCode) {
		if code != kafka.None {
			failed := &wire.OffsetCommitResponse{}
			for _, p := range q.Parts {
				failed.Parts = append(failed.Parts, wire.PartError{Part: p.Part, ErrorCode: appendError(code)})
			}
			s.answer(to, failed)
			return
		}
		for i, rec := range records {
			g.offsets[rec.Member] = offsets[i]
			g.emptied = s.now
			s.out.Events = append(s.out.Events, journal.Event{Kind: journal.OffsetCommit, Group: g.id, Part: rec.Member, F: journal.F("offset", offsets[i].Offset),
				Ch: s.diff(g)})
		}
		s.answer(to, r)
	}, records...)
	return s.end()
}

// mayCommit checks the member and its generation or epoch
// (ClassicGroup.validateOffsetCommit, ConsumerGroup.validateOffsetCommit).
func (s *Shard) mayCommit(g *group, q *wire.OffsetCommitRequest, part string) kafka.ErrorCode {
	switch {
	case g == nil || g.classic == nil && g.consumer == nil:
		if q.Epoch >= 0 {
			return kafka.IllegalGeneration
		}
		return kafka.None
	case g.consumer != nil:
		return g.consumer.mayCommit(q, part)
	}
	c := g.classic
	switch {
	case c.state == Dead:
		return kafka.CoordinatorNotAvailable
	case q.Epoch < 0 && c.state == Empty:
		return kafka.None
	case q.Epoch < 0 && q.MemberID == "" && q.Instance == "":
		return kafka.UnknownMemberID
	}
	if code := c.known(q.MemberID, q.Instance); code != kafka.None {
		return code
	}
	switch {
	case q.Epoch != c.generation:
		return kafka.IllegalGeneration
	case c.state == CompletingRebalance:
		return kafka.RebalanceInProgress
	}
	return kafka.None
}

// FetchOffsets serves an OffsetFetch: offset −1 where nothing is committed.
func (s *Shard) FetchOffsets(q *wire.OffsetFetchRequest) *wire.OffsetFetchResponse {
	r := &wire.OffsetFetchResponse{GroupID: q.GroupID}
	g := s.group(q.GroupID)
	if g != nil && g.consumer != nil && q.MemberID != "" {
		r.ErrorCode = g.consumer.mayFetch(q)
	}
	for _, part := range q.Parts {
		p := wire.OffsetFetchPart{Part: part, CommittedOffset: -1, CommittedLeaderEpoch: -1}
		if g != nil && r.ErrorCode == kafka.None {
			if o, ok := g.offsets[part]; ok {
				p.CommittedOffset, p.CommittedLeaderEpoch = o.Offset, o.Epoch
			}
		}
		r.Parts = append(r.Parts, p)
	}
	return r
}

// ExpireOffsets forgets the offsets of groups that have been without members for
// offsets.retention.minutes; a group with nothing left is removed
// (cleanupExpiredOffsets, KIP-211).
func (s *Shard) ExpireOffsets(now journal.Time) Result {
	s.begin(now)
	keep := journal.Time(s.opt.Config.Int("offsets.retention.minutes")) * 60 * journal.Second
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[id]
		if !g.idle() {
			continue
		}
		var records []Record
		for _, part := range slices.Sorted(maps.Keys(g.offsets)) {
			since := g.offsets[part].At
			if g.classic != nil || g.consumer != nil {
				since = max(since, g.emptied)
			}
			if now-since >= keep {
				records = append(records, Record{Type: offsetCommit, Group: id, Member: part})
			}
		}
		if len(records) < len(g.offsets) || len(records) == 0 && g.classic == nil && g.consumer == nil {
			if len(records) > 0 {
				s.expire(g, records)
			}
			continue
		}
		if g.classic != nil {
			records = append(records, Record{Type: groupMetadata, Group: id})
		}
		if g.consumer != nil {
			records = append(records, Record{Type: targetMetadata, Group: id}, Record{Type: consumerMetadata, Group: id})
		}
		s.expire(g, records)
	}
	return s.end()
}

// idle says whether a group has no members.
func (g *group) idle() bool {
	return (g.classic == nil || g.classic.state == Empty) && (g.consumer == nil || len(g.consumer.members) == 0)
}

func (s *Shard) expire(g *group, records []Record) {
	s.write(g.id, func(code kafka.ErrorCode) {
		if code != kafka.None || !g.idle() {
			return
		}
		for _, r := range records {
			switch r.Type {
			case offsetCommit:
				delete(g.offsets, r.Member)
				s.out.Events = append(s.out.Events, journal.Event{Kind: journal.OffsetExpire, Group: g.id, Part: r.Member, Ch: s.diff(g)})
			case groupMetadata:
				g.classic.to(Dead)
				s.emit(g, journal.GroupState, journal.F("state", string(Dead), "reason", "it has no members and no offsets"))
			}
		}
		if len(g.offsets) == 0 {
			g.classic, g.consumer = nil, nil
			s.out.Changes = append(s.out.Changes, s.diff(g)...)
			delete(s.groups, g.id)
		}
	}, records...)
}
