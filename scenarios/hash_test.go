package scenarios_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
)

var rehash = flag.Bool("rehash", false, "write testdata/hashes.txt")

// hashes are the SHA-256 sums of all built-in journals, a line each.
func hashes(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, sc := range scenarios.Builtin() {
		res, err := cluster.Run(&sc.Cluster)
		require.NoError(t, err)
		h := sha256.New()
		for i := range res.Journal.Events {
			line, err := journal.Marshal(&res.Journal.Events[i])
			require.NoError(t, err)
			h.Write(line)
			h.Write([]byte("\n"))
		}
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(h.Sum(nil)), sc.ID)
	}
	return b.String()
}

// TestTheSameInputGivesTheSameBytes compares with the committed sums, twice in
// this process and once in a fresh one.
func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	file := filepath.Join("testdata", "hashes.txt")
	got := hashes(t)
	if os.Getenv("HIGHWATER_PRINT_HASHES") != "" {
		fmt.Print("HASHES\n" + got + "END\n")
		return
	}
	if *rehash {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "a change of a journal shows here; read what changed, then run with -rehash")
	assert.Equal(t, got, hashes(t), "a second run")

	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestTheSameInputGivesTheSameBytes$")
	cmd.Env = append(os.Environ(), "HIGHWATER_PRINT_HASHES=1")
	out, err := cmd.Output()
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(out), "HASHES\n")
	fresh, _, _ := strings.Cut(rest, "END\n")
	assert.Equal(t, got, fresh, "a fresh process")
}
