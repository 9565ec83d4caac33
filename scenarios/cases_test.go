package scenarios_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
)

// essences are what real questions and incidents ask, by the id of the case.
func essences(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "engine", "testdata", "cases.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	out := map[string]string{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var c struct{ ID, Essence string }
		require.NoError(t, json.Unmarshal(s.Bytes(), &c))
		out[c.ID] = c.Essence
	}
	require.NoError(t, s.Err())
	require.Len(t, out, 87)
	return out
}

// TestCases runs the cases that this engine covers: a scenario each, with the
// outcome as its expectations. The others need crashes, groups or transactions.
func TestCases(t *testing.T) {
	known := essences(t)
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "K*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(id, func(t *testing.T) {
			require.NotEmpty(t, known[id], "a case of cases.jsonl")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			sc, ps := scenarios.Load(file, text)
			require.NoError(t, ps.Err())
			holds(t, sc)
			for _, v := range sc.Variants {
				changed, err := scenarios.Apply(sc, v.Set)
				require.NoError(t, err)
				holds(t, changed)
			}
		})
	}
}

func holds(t *testing.T, sc *scenarios.Scenario) {
	t.Helper()
	res, err := cluster.Run(&sc.Cluster)
	require.NoError(t, err)
	v := scenarios.Check(&scenarios.Run{Scenario: sc, Journal: res.Journal, Index: journal.NewIndex(res.Journal), End: res.End, Idle: res.Idle})
	assert.NotEmpty(t, v.Expect)
	for _, r := range v.Expect {
		assert.True(t, r.OK, "%s %s", r.Say, r.Why)
	}
}
