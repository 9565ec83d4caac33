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
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/words"
	"github.com/highwater-kafka/highwater/scenarios"
)

// TestTranscripts are protocol tests for people who know Kafka and no Go: each
// file in testdata/transcripts says what happens to orders-0, in sentences.
// Read the diff before running it with -rehash.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 11)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { checkTranscript(t, file, ofOrders) })
	}
}

func checkTranscript(t *testing.T, file string, about func(*journal.Event) bool) {
	t.Helper()
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
	got := sentences(res.Journal, about)
	if *rehash {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func sentences(j *journal.Journal, about func(*journal.Event) bool) string {
	p := words.New(j)
	var b strings.Builder
	for i := range j.Events {
		e := &j.Events[i]
		if e.N > 1 && !e.Chatter && about(e) {
			fmt.Fprintf(&b, "%11s  %s\n", e.T, p.Say(e))
		}
	}
	return b.String()
}

// ofOrders is what happens to orders-0, and around it.
func ofOrders(e *journal.Event) bool {
	cuts := e.Kind == journal.Action || e.Kind == journal.NetCut || e.Kind == journal.NetHeal || e.Kind == journal.ConnClose
	asked := e.Node == "admin" || e.From == "admin" || e.To == "admin" || e.Kind == journal.MetadataAppend
	return e.Part == "orders-0" || cuts || asked
}

// TestQuorumTranscripts are the same for the controllers: each file in
// testdata/transcripts/quorum says what they and the brokers' channels to them do.
func TestQuorumTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "quorum", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { checkTranscript(t, file, ofTheQuorum) })
	}
}

// TestBrokerTranscripts are the same for brokers that die, stop and come back.
func TestBrokerTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "brokers", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 6)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { checkTranscript(t, file, ofBrokers) })
	}
}

// ofBrokers is what brokers and the controller say to each other, and what
// becomes of orders-0.
func ofBrokers(e *journal.Event) bool {
	for _, who := range []string{"node.", "broker."} {
		if strings.HasPrefix(string(e.Kind), who) {
			return true
		}
	}
	return ofOrders(e) || e.API == string(kafka.BrokerRegistration) || e.API == string(kafka.BrokerHeartbeat)
}

// ofTheQuorum leaves out what the metadata log has to do with partitions.
func ofTheQuorum(e *journal.Event) bool {
	for _, who := range []string{"action", "node.", "quorum.", "metadata.", "timer.", "broker.", "net."} {
		if strings.HasPrefix(string(e.Kind), who) {
			return true
		}
	}
	return e.API != "" && (e.API != string(kafka.Fetch) || e.Part == "__cluster_metadata-0" && e.Kind == journal.ResponseSend)
}
