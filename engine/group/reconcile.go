package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// reconcile is the next state of a member on its heartbeat
// (CurrentAssignmentBuilder): first it has to give back what is no longer its
// own, then it moves to the target's epoch and gets what is free. owned are the
// partitions that it reports, nil for unchanged; free says that no member has a
// partition or has still to give it back.
func reconcile(m consumerMember, targetEpoch int32, target []string, owned []string, free func(part string) bool) (consumerMember, kafka.ErrorCode) {
	owns := func(parts map[string]int32) bool {
		if owned == nil {
			return true
		}
		for p := range parts {
			if slices.Contains(owned, p) {
				return true
			}
		}
		return false
	}
	switch m.state {
	case MemberStable:
		if m.epoch == targetEpoch {
			return m, kafka.None
		}
	case Unrevoked:
		if owns(m.pending) {
			return m, kafka.None
		}
	case Unreleased:
	default:
		if owns(m.pending) {
			return m, kafka.FencedMemberEpoch
		}
	}
	kept, revoke := map[string]int32{}, map[string]int32{}
	for p, since := range m.assigned {
		if slices.Contains(target, p) {
			kept[p] = since
		} else {
			revoke[p] = since
		}
	}
	if len(revoke) > 0 && owns(revoke) {
		m.state, m.assigned, m.pending = Unrevoked, kept, revoke
		return m, kafka.None
	}
	m.previous, m.epoch, m.state = m.epoch, targetEpoch, MemberStable
	m.assigned, m.pending = maps.Clone(kept), map[string]int32{}
	for _, p := range target {
		if _, has := kept[p]; has {
			continue
		}
		if free(p) {
			m.assigned[p] = targetEpoch
		} else {
			m.state = Unreleased
		}
	}
	return m, kafka.None
}
