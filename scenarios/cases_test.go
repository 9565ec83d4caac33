package scenarios_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
)

// A case is a real question or incident, and what the right outcome is.
type realCase struct {
	ID, Topic, Essence string
	Expected           []string
}

// covered are the topics whose cases are scenarios here.
var covered = strings.Fields(`
	acks-min-isr acks-1-loss isr-shrink isr-flapping rolling-restart availability elr unclean-election log-truncation leader-epoch
	high-watermark kraft-quorum kraft-failover
	offset-semantics lag lag-growth max-poll-interval idle-consumer assignment cooperative-rebalance rebalance-commit
	static-membership kip-848 commit-before-process duplicate-after-crash offset-reset poison-record hot-partition key-choice
	repartitioning sticky-partitioner partition-zero idempotence offsets-topic`)

// outcome says how a file holds each line of a case's expected outcome. It is the
// second document of the file.
type outcome struct {
	Case  string
	Scale string // by what rates and counts differ from the case's
	Lines []struct {
		Line      string
		Say       texts  // the expectations that hold it, by what they say
		Invariant texts  // the invariants that hold it
		Browser   string // the browser test that looks at it
		Not       string // why it cannot be said here: "because …"
	}
}

// texts is one text or a list of them.
type texts []string

func (t *texts) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = texts{n.Value}
		return nil
	}
	return n.Decode((*[]string)(t))
}

func realCases(t *testing.T) map[string]realCase {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "engine", "testdata", "cases.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	out := map[string]realCase{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var c realCase
		require.NoError(t, json.Unmarshal(s.Bytes(), &c))
		out[c.ID] = c
	}
	require.NoError(t, s.Err())
	require.Len(t, out, 87)
	return out
}

// TestCases runs each case of a covered topic as a scenario and counts the lines
// of its outcome: none may be missing, and none may be there that the case has not.
func TestCases(t *testing.T) {
	lines := 0
	for id, c := range realCases(t) {
		if !slices.Contains(covered, c.Topic) {
			continue
		}
		file := filepath.Join("testdata", "cases", id+".yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err, "%s: %s", c.Topic, c.Essence)
		lines += len(c.Expected)
		t.Run(id, func(t *testing.T) {
			src, rest, ok := bytes.Cut(text, []byte("\n---\n"))
			require.True(t, ok, "the file has a second document")
			var o outcome
			dec := yaml.NewDecoder(bytes.NewReader(rest))
			dec.KnownFields(true)
			require.NoError(t, dec.Decode(&o))
			require.Equal(t, id, o.Case)
			sc, ps := scenarios.Load(file, src)
			require.NoError(t, ps.Err())
			said := holds(t, sc)
			for _, v := range sc.Variants {
				changed, err := scenarios.Apply(sc, v.Set)
				require.NoError(t, err)
				said = append(said, holds(t, changed)...)
			}
			var listed []string
			for _, l := range o.Lines {
				listed = append(listed, l.Line)
				assert.True(t, len(l.Say)+len(l.Invariant) > 0 || l.Browser != "" || strings.HasPrefix(l.Not, "because "), "%q is held by something", l.Line)
				for _, say := range l.Say {
					assert.Contains(t, said, say, "an expectation of the scenario or a variant")
				}
				for _, name := range l.Invariant {
					assert.Contains(t, invariant.Names(), name)
				}
				if l.Browser != "" {
					assert.True(t, browserTest(t, l.Browser), "e2e has a test %s", l.Browser)
				}
			}
			assert.Equal(t, c.Expected, listed, "every line of the outcome, in its order")
		})
	}
	assert.Equal(t, 167, lines, "lines of outcomes")
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.yaml"))
	require.NoError(t, err)
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".yaml")
		assert.Contains(t, covered, realCases(t)[id].Topic, "%s is a case of a covered topic", id)
	}
}

func browserTest(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "e2e", "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		if regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`).Match(src) {
			return true
		}
	}
	return false
}

// holds runs a scenario, checks its expectations and the invariants, and returns
// what the expectations say.
func holds(t *testing.T, sc *scenarios.Scenario) (said []string) {
	t.Helper()
	res, err := cluster.Run(&sc.Cluster)
	require.NoError(t, err)
	v := scenarios.Check(&scenarios.Run{Scenario: sc, Journal: res.Journal, Index: journal.NewIndex(res.Journal), End: res.End, Idle: res.Idle})
	assert.NotEmpty(t, v.Expect)
	for _, r := range v.Expect {
		assert.True(t, r.OK, "%s %s", r.Say, r.Why)
		said = append(said, r.Say)
	}
	for _, r := range invariant.Check(res.Journal) {
		if r.Broken != nil {
			t.Errorf("event %d breaks %s: %s", r.Broken.N, r.Name, r.Broken.Why)
		}
	}
	return said
}
