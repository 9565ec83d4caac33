package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

const twoGroups = `
id: two-groups
title: Two groups
cluster: {brokers: 3, controllers: 3}
topics: [{name: orders, partitions: 3, replicas: [[1, 2, 3], [2, 3, 1], [3, 1, 2]]}]
producers: [{id: order-service}]
groups:
  - {id: group-a, topics: [orders], config: {auto.offset.reset: earliest}, members: [a1, a2, {id: a3, at: 3s}, {id: a4, at: 12s}]}
  - {id: group-b, topics: [orders], config: {group.protocol: consumer, auto.offset.reset: earliest}, members: [m1, {id: m2, at: 4s}]}
  - {id: by-hand, config: {auto.offset.reset: earliest}, members: [{id: h1, assign: [orders-2, orders-0]}]}
actions: [{at: 500ms, do: produce, by: order-service, topic: orders, keys: [order-17, pay-2, user-2], count: 3, each: acked}]
end: 22s
`

// derived are the values of the view at a time.
func derived(r *web.Run, at journal.Time) map[string]any {
	vals := map[string]any{}
	for i := range r.Journal.Events {
		e := &r.Journal.Events[i]
		if e.T > at {
			break
		}
		for _, c := range r.View[e.N] {
			vals[c.Key] = c.Val
		}
	}
	return vals
}

func TestTheViewSaysWhoReadsWhatAndWhatForItWaits(t *testing.T) {
	r, problem := catalog.New("").Open(t.Context(), web.OpenRequest{Text: twoGroups})
	require.Nil(t, problem)
	for at, want := range map[journal.Time]map[string]any{
		2 * journal.Second: {
			"v/a1/parts": "P0 P1", "v/a2/parts": "P2", "v/a3/parts": nil, "v/a1/status": "generation 1", "v/group-a/note": "classic · range · generation 1",
			"v/m1/parts": "P0 P1 P2", "v/m2/status": nil, "v/h1/parts": "P0 P2", "v/by-hand/note": "partitions assigned by hand", "v/group-a/orders-0/position": int64(1),
		},
		4 * journal.Second: {"v/a3/status": "joining", "v/a3/parts": nil},
		22 * journal.Second: {
			"v/a1/parts": "P0", "v/a2/parts": "P1", "v/a3/parts": "P2", "v/a4/parts": nil, "v/a4/status": "stands by", "v/a1/status": "generation 3",
			"v/m1/parts": "P0 P1", "v/m2/parts": "P2", "v/group-a/orders-2/position": int64(1),
		},
	} {
		got := derived(r, at)
		for key, val := range want {
			assert.EqualValues(t, val, got[key], "%s at %v", key, at)
		}
	}
	for i := range r.Journal.Events {
		for _, c := range r.View[r.Journal.Events[i].N] {
			if c.Val == "stands by" {
				assert.Equal(t, "v/a4/status", c.Key, "who waits for an assignment does not stand by")
			}
		}
	}
	end := derived(r, 22*journal.Second)
	assert.Regexp(t, `^coordinator: broker [1-3]$`, end["v/group-a/coordinator"])
	assert.Regexp(t, `^consumer · uniform · group epoch \d$`, end["v/group-b/note"])
	assert.Regexp(t, `^member epoch \d$`, end["v/m2/status"])
}
