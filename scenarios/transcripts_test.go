package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/words"
	"github.com/highwater-kafka/highwater/scenarios"
)

// TestTranscripts are protocol tests for people who know Kafka and no Go: each
// file in testdata/transcripts says what happens to orders-0, in sentences.
// Read the diff before running it with -rehash.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			sc, problems := scenarios.Load(file, src)
			require.NoError(t, problems.Err())
			res, err := cluster.Run(&sc.Cluster)
			require.NoError(t, err)
			for _, e := range scenarios.Check(&scenarios.Run{Scenario: sc, Journal: res.Journal, End: res.End}).Expect {
				assert.True(t, e.OK, "%s %s", e.Say, e.Why)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			got := sentences(res.Journal)
			if *rehash {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func sentences(j *journal.Journal) string {
	p := words.New(j)
	var b strings.Builder
	for i := range j.Events {
		e := &j.Events[i]
		cuts := e.Kind == journal.Action || e.Kind == journal.NetCut || e.Kind == journal.NetHeal || e.Kind == journal.ConnClose
		asked := e.Node == "admin" || e.From == "admin" || e.To == "admin" || e.Kind == journal.MetadataAppend
		if e.N > 1 && !e.Chatter && (e.Part == "orders-0" || cuts || asked) {
			fmt.Fprintf(&b, "%11s  %s\n", e.T, p.Say(e))
		}
	}
	return b.String()
}
