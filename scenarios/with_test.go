package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/scenarios"
)

func TestAWhatIfIsTheScenarioWithMoreActions(t *testing.T) {
	sc := scenarios.Lookup("producer-write")
	whatIf, ps := sc.With([]byte(`[{"at":"100ms","do":"cut","from":"b3","to":"b1"}]`))
	require.NoError(t, ps.Err())
	assert.Len(t, whatIf.Cluster.Actions, len(sc.Cluster.Actions)+1)
	assert.True(t, whatIf.Overridden(), "unmet expectations differ, they are not red")
	res, err := cluster.Run(&whatIf.Cluster)
	require.NoError(t, err)
	v := scenarios.Check(&scenarios.Run{Scenario: whatIf, Journal: res.Journal, End: res.End})
	assert.True(t, v.Differs, "with broker 3 cut off nothing is acknowledged")
	assert.False(t, sc.Overridden(), "the original stays as it was")

	slow, err := scenarios.Apply(sc, map[string]string{"producer.order-service.acks": "1"})
	require.NoError(t, err)
	both, ps := slow.With([]byte("- {at: 1s, do: pause, node: b2}"))
	require.NoError(t, ps.Err())
	assert.Equal(t, "1", both.Cluster.Producers[0].Config["acks"], "overrides stay")
}

func TestABadWhatIfGetsItsPlace(t *testing.T) {
	sc := scenarios.Lookup("producer-write")
	for text, want := range map[string]string{
		`{}`:                                     "actions are a list",
		`[{"do":`:                                "not YAML",
		``:                                       "empty",
		`[{"at":"1s","do":"pause","node":"b9"}]`: "actions:1:",
	} {
		_, ps := sc.With([]byte(text))
		require.NotEmpty(t, ps, text)
		assert.Contains(t, ps.Error(), want, text)
	}
}
