package demo_test

import (
	"testing"

	"github.com/highwater-kafka/highwater/web/demo"
	"github.com/stretchr/testify/assert"
)

// A page's tests are worth no more than the run they stand on.
func TestTheDemoIsAJournal(t *testing.T) {
	r := demo.Run()
	sent := map[int]bool{}
	for i, e := range r.Journal.Events {
		assert.Equal(t, i+1, e.N)
		if i > 0 {
			assert.GreaterOrEqual(t, e.T, r.Journal.Events[i-1].T, "time never goes back, event %d", e.N)
		}
		assert.Less(t, e.Cause, e.N)
		if e.Arrive > 0 {
			sent[e.Msg] = true
			assert.Greater(t, e.Arrive, e.T)
		}
	}
	last := len(r.Journal.Events)
	assert.Len(t, sent, 6)
	for _, b := range []string{"b1", "b2", "b3"} {
		assert.EqualValues(t, 6, r.Index.LogAt(b+"/orders-0/log", last).End(), b)
		assert.EqualValues(t, 6, r.Index.Int(b+"/orders-0/leo", last, 0), b)
	}
	assert.EqualValues(t, 6, r.Index.Int("b1/orders-0/hw", last, 0))
	assert.EqualValues(t, 5, r.Index.Int("b2/orders-0/hw", last, 0), "followers learn it with the next response")
}
