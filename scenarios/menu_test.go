package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/scenarios"
)

// TestWhatShipsHasItsPlaceInTheMenu: the first lessons are five, under these names
// and in this order; those that are not there yet leave a gap.
func TestWhatShipsHasItsPlaceInTheMenu(t *testing.T) {
	lessons := []string{"Producer write", "Consumer group rebalancing", "Broker failure and leader election", "ISR replication deep dive", "Consumer offset commit"}
	tracks := []string{"Write path", "Replication", "Failure", "Groups", "Keys", "Offsets"}
	taken := map[int]string{}
	for _, sc := range scenarios.Builtin() {
		assert.Contains(t, tracks, sc.Track, "%s: track", sc.ID)
		assert.NotEmpty(t, sc.Level, "%s: level", sc.ID)
		assert.NotEmpty(t, sc.Explain, "%s: explain lists what people will be able to explain afterwards", sc.ID)
		if sc.Lesson == 0 {
			continue
		}
		assert.Empty(t, taken[sc.Lesson], "lesson %d", sc.Lesson)
		taken[sc.Lesson] = sc.ID
		if assert.LessOrEqual(t, sc.Lesson, len(lessons), sc.ID) {
			assert.Equal(t, lessons[sc.Lesson-1], sc.Title, sc.ID)
		}
	}
}
