package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func replace(s, id string) string { return strings.ReplaceAll(s, "%", id) }

// Every file of testdata/bad is wrong; what is said about it is the file beside it.
func TestProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 6)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			src, err := os.ReadFile(f)
			require.NoError(t, err)
			sc, ps := Load(filepath.Base(f), src)
			assert.Nil(t, sc)
			require.NotEmpty(t, ps)
			golden(t, strings.TrimSuffix(f, ".yaml")+".txt", []byte(ps.Error()+"\n"))
		})
	}
}

func TestTooBig(t *testing.T) {
	_, ps := Load("big.yaml", bytes.Repeat([]byte("# a\n"), 100_000))
	require.Len(t, ps, 1)
	assert.Contains(t, ps[0].Message, "at most 256")
}

func TestAliasBomb(t *testing.T) {
	src := "id: x\ntitle: T\ncluster: {brokers: 1, controllers: 1}\ntopics:\n- name: t\n  replicas: &r\n  - &p [1" + strings.Repeat(", 1", 300) + "]\n" +
		strings.Repeat("  - *p\n", 99) + strings.Repeat("- {name: t, replicas: *r}\n", 100)
	_, ps := Load("bomb.yaml", []byte(src))
	require.NotEmpty(t, ps)
	found := false
	for _, p := range ps {
		found = found || strings.Contains(p.Message, "aliases")
	}
	assert.True(t, found || len(ps) == maxProblems, ps.Error())
	_, ps = Load("loop.yaml", []byte("topics: &a [*a]\n"))
	require.NotEmpty(t, ps)
}

func FuzzLoad(f *testing.F) {
	entries, err := embedded.ReadDir(".")
	require.NoError(f, err)
	for _, e := range entries {
		src, err := embedded.ReadFile(e.Name())
		require.NoError(f, err)
		f.Add(src)
	}
	bad, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(f, err)
	for _, b := range bad {
		src, err := os.ReadFile(b)
		require.NoError(f, err)
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		sc, ps := Load("fuzz.yaml", src)
		if (sc == nil) == (len(ps) == 0) {
			t.Fatalf("a scenario or problems, not both or neither: %v", ps)
		}
		for _, p := range ps {
			if p.Message == "" || p.Line < 0 || !bytes.Contains(src, []byte("%")) && strings.Contains(p.Message, "%!(") {
				t.Fatalf("%+v", p)
			}
		}
	})
}
