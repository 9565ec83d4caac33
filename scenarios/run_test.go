package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
)

func runOf(t *testing.T, sc *Scenario) *Run {
	t.Helper()
	res, err := cluster.Run(&sc.Cluster)
	require.NoError(t, err)
	return &Run{Scenario: sc, Journal: res.Journal, End: res.End}
}

// Every scenario tells the truth about its own run, under its variants too.
func TestBuiltinScenariosHold(t *testing.T) {
	for _, sc := range Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			var story strings.Builder
			r := runOf(t, sc)
			check(t, r)
			for _, c := range Chapters(r) {
				fmt.Fprintf(&story, "%s at %v, %s\n  %s\n", c.ID, r.Journal.At(c.N).T, c.Title, c.Say)
				if c.Ask != nil {
					fmt.Fprintf(&story, "  %s %q: %d. %s\n", c.Ask.Question, c.Ask.Options, c.Ask.Answer, c.Ask.Because)
				}
			}
			require.NoError(t, os.MkdirAll("testdata/story", 0o755))
			golden(t, "testdata/story/"+sc.ID+".txt", []byte(story.String()))
			for _, v := range sc.Variants {
				t.Run(fmt.Sprint(v.Set), func(t *testing.T) {
					changed, err := Apply(sc, v.Set)
					require.NoError(t, err)
					r := runOf(t, changed)
					check(t, r)
					for _, c := range Chapters(r) {
						t.Logf("%s at %v: %s", c.ID, r.Journal.At(c.N).T, c.Say)
					}
				})
			}
		})
	}
}

func check(t *testing.T, r *Run) {
	t.Helper()
	v := Check(r)
	for _, x := range v.Expect {
		assert.True(t, x.OK, "%s (%s)", x.Say, x.Why)
	}
}
