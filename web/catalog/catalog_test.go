package catalog_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

// text is a run's journal, a line an event.
func text(t *testing.T, r *web.Run) string {
	t.Helper()
	var b strings.Builder
	for i := range r.Journal.Events {
		line, err := journal.Marshal(&r.Journal.Events[i])
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

func TestAnOpenTakesSettingsSeedAndActions(t *testing.T) {
	c := catalog.New("")
	plain, problem := c.Open(t.Context(), web.OpenRequest{Scenario: "producer-write"})
	require.Nil(t, problem)
	for name, req := range map[string]web.OpenRequest{
		"set":     {Set: map[string]string{"producer.order-service.acks": "1"}},
		"seed":    {Seed: 7},
		"actions": {Actions: json.RawMessage(`[{"at":"100ms","do":"cut","from":"b3","to":"b1"}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			req.Scenario = "producer-write"
			a, problem := c.Open(t.Context(), req)
			require.Nil(t, problem)
			b, problem := c.Open(t.Context(), req)
			require.Nil(t, problem)
			assert.True(t, text(t, a) == text(t, b), "a link names one run")
			if req.Seed != 0 { // nothing is drawn in this scenario, but the run knows its seed
				assert.Equal(t, req.Seed, a.Seed)
				return
			}
			assert.False(t, text(t, plain) == text(t, a), "the run is another one")
		})
	}
}

func TestAnOpenThatCannotRunSaysWhy(t *testing.T) {
	c := catalog.New("")
	for name, tc := range map[string]struct {
		req        web.OpenRequest
		code, want string
	}{
		"scenario": {web.OpenRequest{Scenario: "nope"}, web.UnknownScenario, "producer-write"},
		"key":      {web.OpenRequest{Scenario: "producer-write", Set: map[string]string{"producer.order-service.ack": "1"}}, web.BadRequest, "acks"},
		"value":    {web.OpenRequest{Scenario: "producer-write", Set: map[string]string{"producer.order-service.acks": "2"}}, web.BadRequest, "acks"},
		"action":   {web.OpenRequest{Scenario: "producer-write", Actions: json.RawMessage(`[{"at":"1s","do":"pause","node":"b9"}]`)}, web.BadRequest, "b9"},
		"text":     {web.OpenRequest{Text: "title: [\n"}, web.BadScenario, "scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			run, problem := c.Open(t.Context(), tc.req)
			require.Nil(t, run)
			require.NotNil(t, problem)
			assert.Equal(t, tc.code, problem.Code)
			assert.Contains(t, problem.Message, tc.want)
		})
	}
}

func TestManyOpenAtOnce(t *testing.T) {
	c := catalog.New("")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, problem := c.Open(t.Context(), web.OpenRequest{Scenario: "isr-deep-dive"})
			assert.Nil(t, problem)
			assert.NotEmpty(t, c.Menu())
		})
	}
	all.Wait()
}
