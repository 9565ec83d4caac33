package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/transcript"
	"github.com/highwater-kafka/highwater/scenarios"
)

// recorded are the recordings of a real cluster that the engine equals.
var recorded = []string{"produce-acks-all", "produce-acks-1", "produce-batches-pipelined", "follower-cut-from-leader", "idempotent-retry", "reassign", "add-partitions", "leader-crash",
	"acks-1-loss-and-truncation", "elr-clean-recovery", "follower-paused", "leader-isolated", "rolling-restart", "elr-clean-stop", "active-controller-crash", "controller-quorum-lost",
	"classic-range-join-leave", "cooperative-join-leave", "consumer-protocol-join-leave", "classic-crash", "classic-static-restart", "classic-static-poll-limit", "consumer-protocol-static",
	"consumer-protocol-rebalance-under-load", "offset-commit-crash-redelivery", "auto-commit", "poll-interval-exceeded", "coordinator-crash-rf1", "below-min-isr"}

// open lists differences that Kafka itself leaves open: scenario, line, and the
// class that leaves it open.
var open = []struct{ scenario, line, class string }{
	// A client that loses its connection to a stopping broker asks another one,
	// which may or may not have applied the fence by then.
	{"elr-clean-stop", "Metadata -> orders-0 NONE leader 1 epoch 0 isr 1,2 offline 3", "BrokerMetadataPublisher"},
}

// TestTheRealClusterDidTheSame compares runs with recordings of Apache Kafka
// 4.4.0, section by section. A line without mark must come, in order; a line
// marked "~ " may come; no other line may.
func TestTheRealClusterDidTheSame(t *testing.T) {
	dir, ids := filepath.Join("testdata", "traces"), recorded
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 31, "recordings in this module's copy")
	if other := os.Getenv("HIGHWATER_TRACES"); other != "" {
		// Somebody else's folder: whatever is there.
		dir, ids = other, nil
		files, err = filepath.Glob(filepath.Join(dir, "*.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, files, "recordings in %s", dir)
		for _, f := range files {
			ids = append(ids, strings.TrimSuffix(filepath.Base(f), ".yaml"))
		}
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, id+".yaml"))
			require.NoError(t, err)
			want, err := os.ReadFile(filepath.Join(dir, id+".txt"))
			require.NoError(t, err)
			sc, problems := scenarios.Load(id+".yaml", src)
			require.NoError(t, problems.Err())
			res, err := cluster.Run(&sc.Cluster)
			require.NoError(t, err)
			for _, d := range compare(id, parse(string(want)), transcript.Of(res)) {
				t.Error(d)
			}
		})
	}
}

func parse(text string) map[string][]string {
	out := map[string][]string{}
	title := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case strings.HasPrefix(line, "== "):
			title = line[3:]
			out[title] = nil
		default:
			out[title] = append(out[title], line)
		}
	}
	return out
}

func compare(id string, want map[string][]string, got []transcript.Section) (diffs []string) {
	have := map[string][]string{}
	for _, s := range got {
		have[s.Title] = append(have[s.Title], s.Lines...)
	}
	for title, lines := range want {
		must := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "~ ") })
		i := 0
		for _, l := range have[title] {
			if i < len(must) && must[i] == l {
				i++
			}
		}
		if i < len(must) && !excused(id, must[i]) {
			diffs = append(diffs, fmt.Sprintf("== %s\nmissing, or out of order: %s\ngot:\n  %s", title, must[i], strings.Join(have[title], "\n  ")))
		}
	}
	for title, lines := range have {
		for _, l := range lines {
			if !slices.Contains(want[title], l) && !slices.Contains(want[title], "~ "+l) && !excused(id, l) {
				diffs = append(diffs, fmt.Sprintf("== %s\nno recording has: %s", title, l))
			}
		}
	}
	slices.Sort(diffs)
	return diffs
}

func excused(id, line string) bool {
	for _, o := range open {
		if o.scenario == id && o.line == line {
			return true
		}
	}
	return false
}

func TestTheComparisonFindsWhatDiffers(t *testing.T) {
	want := map[string][]string{"a": {"one", "~ maybe", "two"}}
	assert.Empty(t, compare("x", want, []transcript.Section{{Title: "a", Lines: []string{"one", "two"}}}))
	assert.Len(t, compare("x", want, []transcript.Section{{Title: "a", Lines: []string{"two", "one"}}}), 1, "order counts")
	assert.Len(t, compare("x", want, []transcript.Section{{Title: "a", Lines: []string{"one", "two", "three"}}}), 1, "nothing else may come")
}
