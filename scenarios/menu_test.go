package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/scenarios"
)

// lessons are the first five, by id, in their order and under these names.
var lessons = []struct{ id, title string }{
	{"producer-write", "Producer write"},
	{"group-rebalance", "Consumer group rebalancing"},
	{"leader-failover", "Broker failure and leader election"},
	{"isr-deep-dive", "ISR replication deep dive"},
	{"offset-commit", "Consumer offset commit"},
}

// TestTheFirstLessonsComeInTheirOrder: one that is not there yet leaves a gap.
func TestTheFirstLessonsComeInTheirOrder(t *testing.T) {
	var first []string
	for _, sc := range scenarios.Builtin() {
		if sc.Lesson > 0 {
			first = append(first, sc.ID)
		}
	}
	var want []string
	for i, l := range lessons {
		sc := scenarios.Lookup(l.id)
		if sc == nil {
			continue
		}
		want = append(want, l.id)
		assert.Equal(t, i+1, sc.Lesson, "%s: lesson", l.id)
		assert.Equal(t, l.title, sc.Title, l.id)
	}
	assert.Equal(t, want, first, "no others are among them")
}

func TestWhatShipsHasItsPlaceInTheMenu(t *testing.T) {
	tracks := []string{"Write path", "Replication", "Failure", "Groups", "Keys", "Offsets"}
	levels := []string{"beginner", "practitioner", "expert"}
	for _, sc := range scenarios.Builtin() {
		assert.Contains(t, tracks, sc.Track, "%s: track", sc.ID)
		assert.Contains(t, levels, sc.Level, "%s: level", sc.ID)
		assert.GreaterOrEqual(t, len(sc.Explain), 2, "%s: explain lists what people will be able to explain afterwards", sc.ID)
		for _, x := range sc.Explain {
			assert.Regexp(t, `^([a-z]|ELR|HW|ISR|LEO|LSO|KRaft)`, x, "%s: goes on after 'you can explain'", sc.ID)
			assert.NotRegexp(t, `[.!?]$`, x, sc.ID)
		}
		if sc.Next != "" {
			assert.NotNil(t, scenarios.Lookup(sc.Next), "%s: next is %s", sc.ID, sc.Next)
		}
	}
}
