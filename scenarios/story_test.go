package scenarios_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/story"
	"github.com/highwater-kafka/highwater/scenarios"
)

// TestTheStoryClock holds the promises of the clock on every built-in scenario.
func TestTheStoryClock(t *testing.T) {
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			res, err := cluster.Run(&sc.Cluster)
			require.NoError(t, err)
			var marks []story.Chapter
			for _, c := range scenarios.Chapters(&scenarios.Run{Scenario: sc, Journal: res.Journal, End: res.End}) {
				marks = append(marks, story.Chapter{N: c.N, Focus: c.Focus})
			}
			require.NotEmpty(t, marks)
			st := story.Clock(res.Journal, marks, res.End)
			require.NotEmpty(t, st.Breaks)
			for i := 1; i < len(st.Breaks); i++ {
				a, b := st.Breaks[i-1], st.Breaks[i]
				require.Greater(t, b.S, a.S, "story time strictly increases, break %d", i)
				require.GreaterOrEqual(t, b.T, a.T, "virtual time never decreases, break %d", i)
				require.GreaterOrEqual(t, b.N, a.N, "events come in order, break %d", i)
			}
			for _, f := range st.Folds {
				assert.LessOrEqual(t, f.S1-f.S0, 1.2001, "a fold is short: %s", f.Label)
				assert.NotEmpty(t, f.Label)
			}
			for i, m := range marks {
				from, to := at(st, m.N), st.Breaks[len(st.Breaks)-1].S
				if i+1 < len(marks) {
					to = at(st, marks[i+1].N)
				}
				assert.GreaterOrEqual(t, to-from, 4.9, "chapter %d is long enough to read", i+1)
				assert.LessOrEqual(t, to-from, 41.0, "chapter %d is short enough to watch", i+1)
			}
			assert.Equal(t, story.Clock(res.Journal, marks, res.End), st, "the same journal gives the same clock")
		})
	}
}

// at is the story time of an event: the first break that has it.
func at(st story.Story, n int) float64 {
	for _, b := range st.Breaks {
		if b.N >= n {
			return b.S
		}
	}
	return st.Breaks[len(st.Breaks)-1].S
}

// TestFoldingMainIsExact: what chatter events change is carried again by the
// next main event.
func TestFoldingMainIsExact(t *testing.T) {
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			res, err := cluster.Run(&sc.Cluster)
			require.NoError(t, err)
			all, main, differ := map[string]any{}, map[string]any{}, map[string]bool{}
			for i := range res.Journal.Events {
				e := &res.Journal.Events[i]
				for _, c := range e.Ch {
					if _, log := c.Val.(journal.LogOp); log {
						require.False(t, e.Chatter, "a log changes only on the main track, event %d", e.N)
						continue
					}
					all[c.Key] = c.Val
					if !e.Chatter {
						main[c.Key] = c.Val
					}
					if reflect.DeepEqual(all[c.Key], main[c.Key]) {
						delete(differ, c.Key)
					} else {
						differ[c.Key] = true
					}
				}
				if !e.Chatter {
					require.Empty(t, differ, "event %d", e.N)
				}
			}
		})
	}
}
