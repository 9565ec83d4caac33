package web_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
	"github.com/highwater-kafka/highwater/web/stage"
)

// TestEveryPillHasAWay: what a message shows while it travels needs a way on the
// stage, or it is never seen. Partitions that are not on the stage have none.
func TestEveryPillHasAWay(t *testing.T) {
	c := catalog.New("")
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			r, problem := c.Open(t.Context(), web.OpenRequest{Scenario: sc.ID})
			require.Nil(t, problem)
			p := stage.Place(web.StageSpec(r, stage.Wide, nil))
			lanes, ways := map[string]bool{}, map[string]bool{}
			for _, l := range p.Lanes {
				lanes[l.Name] = true
			}
			for _, w := range p.Paths {
				ways[w.ID] = true
			}
			seen := 0
			for i := range r.Journal.Events {
				e := &r.Journal.Events[i]
				if e.Chatter || e.Kind != journal.RequestSend && e.Kind != journal.ResponseSend {
					continue
				}
				if pill := r.Pill(e); pill != nil && lanes[pill.Lane] {
					seen++
					assert.True(t, ways["lane/"+pill.Lane+"/"+e.From+"/"+e.To], "%s from %s to %s on lane %s", e.API, e.From, e.To, pill.Lane)
				} else {
					assert.Regexp(t, `-\d+$`, pill.Lane, "%s from %s to %s has no lane %s", e.API, e.From, e.To, pill.Lane)
				}
			}
			assert.Positive(t, seen)
		})
	}
}
