package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// assign runs a client-side assignor.
func assign(name string, members []wire.JoinMember, topics map[string]int) map[string][]string {
	out := map[string][]string{}
	ms := slices.Clone(members)
	slices.SortFunc(ms, func(a, b wire.JoinMember) int {
		if a.Instance != "" && b.Instance != "" {
			return strings.Compare(a.Instance, b.Instance)
		}
		return strings.Compare(a.MemberID, b.MemberID)
	})
	if name == "cooperative-sticky" {
		var all []string
		for _, t := range slices.Sorted(maps.Keys(topics)) {
			for p := range topics[t] {
				all = append(all, fmt.Sprint(t, "-", p))
			}
		}
		owner := map[string]string{}
		for _, m := range ms {
			for _, p := range m.Metadata.OwnedPartitions {
				owner[p] = m.MemberID
			}
		}
		extra := len(all) % len(ms)
		left := slices.Clone(all)
		for _, m := range ms {
			q := len(all) / len(ms)
			own := m.Metadata.OwnedPartitions
			if len(own) > q && extra > 0 {
				q++
				extra--
			}
			own = own[:min(q, len(own))]
			out[m.MemberID] = slices.Clone(own)
			left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(own, p) })
		}
		for _, m := range ms {
			q := len(all) / len(ms)
			for len(out[m.MemberID]) < q && len(left) > 0 {
				out[m.MemberID] = append(out[m.MemberID], left[0])
				left = left[1:]
			}
		}
		for _, m := range ms {
			if len(left) > 0 && extra > 0 && len(out[m.MemberID]) == len(all)/len(ms) {
				out[m.MemberID] = append(out[m.MemberID], left[0])
				left = left[1:]
				extra--
			}
		}
		for id := range out {
			out[id] = slices.DeleteFunc(out[id], func(p string) bool { return owner[p] != "" && owner[p] != id })
		}
		return out
	}
	for _, t := range slices.Sorted(maps.Keys(topics)) {
		n, m := topics[t], len(ms)
		at := 0
		for i, x := range ms {
			k := n / m
			if i < n%m {
				k++
			}
			for range k {
				out[x.MemberID] = append(out[x.MemberID], fmt.Sprint(t, "-", at))
				at++
			}
		}
	}
	return out
}
