package concepts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web/concepts"
	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/stage"
)

func TestEachConceptSaysWhatIsOftenToldWrong(t *testing.T) {
	all := concepts.All()
	require.Len(t, all, 20)
	for _, c := range all {
		assert.NotEmpty(t, c.Said, c.ID)
		assert.NotEmpty(t, c.Source, c.ID)
		if c.Clip != nil {
			assert.NotEmpty(t, c.Watch, "%s says what to look at", c.ID)
			assert.NotEmpty(t, c.Clip.Show, "%s is a small stage", c.ID)
		}
		assert.Equal(t, len(c.Drawn) > 0, c.Note != "", "%s: a drawing says that it is none of a run", c.ID)
		for _, f := range c.Drawn {
			assert.NotEmpty(t, f.Say, c.ID)
			for _, m := range f.Marks {
				assert.LessOrEqual(t, m.At, f.From+len(f.Cells), c.ID)
			}
		}
	}
}

// TestTheSeedsLooseConceptsAreRight holds what introductions get wrong most often.
func TestTheSeedsLooseConceptsAreRight(t *testing.T) {
	text := map[string]string{}
	for _, c := range concepts.All() {
		text[c.ID] = c.Text
		for _, m := range c.More {
			text[c.ID] += " " + m
		}
	}
	for id, words := range map[string][]string{
		"leo":        {"next"},
		"isr":        {"caught up recently", "replica.lag.time.max.ms"},
		"hw":         {"min.insync.replicas", "followers late", "first offset"},
		"controller": {"3.3", "3.5", "4.0"},
		"rebalance":  {"eager", "auto-commit"},
		"position":   {"next"},
		"lag":        {"neither uses LEO"},
	} {
		for _, w := range words {
			assert.Contains(t, text[id], w, id)
		}
	}
}

func TestEveryPartOfTheOverviewOpensATermAndHasRoom(t *testing.T) {
	known := map[string]bool{}
	for _, term := range glossary.All() {
		known[term.ID] = true
	}
	wide, narrow := concepts.Overview(false), concepts.Overview(true)
	for _, p := range []*concepts.Picture{wide, narrow} {
		t.Run(p.Name, func(t *testing.T) {
			for i, x := range p.Parts {
				assert.True(t, known[x.Term], "%s is in the glossary", x.Term)
				assert.GreaterOrEqual(t, x.H, 24, "%s can be hit", x.Label)
				assert.True(t, x.X >= 0 && x.Y >= 0 && x.X+x.W <= p.W && x.Y+x.H <= p.H, "%s is within the picture: %+v", x.Label, x)
				bold := x.Class == "head" || x.Class == "leader" || x.Class == "hw chip"
				assert.LessOrEqual(t, stage.Measure(x.Label, 12, bold), float64(x.W-4), "%s fits", x.Label)
				assert.LessOrEqual(t, stage.Measure(x.Note, 11, false), float64(x.W-4), "the note of %s fits", x.Label)
				for _, y := range p.Parts[i+1:] {
					apart := x.X+x.W <= y.X || y.X+y.W <= x.X || x.Y+x.H <= y.Y || y.Y+y.H <= x.Y
					assert.True(t, apart, "%s and %s lie on each other", x.Label, y.Label)
				}
			}
		})
	}
	terms := func(p *concepts.Picture) map[string]bool {
		m := map[string]bool{}
		for _, x := range p.Parts {
			m[x.Term] = true
		}
		return m
	}
	for term := range terms(narrow) {
		assert.True(t, terms(wide)[term], "%s is in both pictures", term)
	}
	for _, must := range []string{"cluster", "broker", "controller", "metadata-log", "topic", "partition", "replica", "leader", "follower", "isr", "hw", "leo", "leader-epoch", "producer", "acks", "consumer", "group", "coordinator", "consumer-offsets", "position", "lag"} {
		assert.True(t, terms(narrow)[must], must)
	}
}
