package scenarios

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuiltin(t *testing.T) {
	scs, ps := builtin()
	require.NoError(t, ps.Err())
	require.NotEmpty(t, scs)
	assert.Equal(t, "producer-write", scs[0].ID)
	for _, sc := range scs {
		assert.Equal(t, sc.ID+".yaml", sc.File)
		assert.Same(t, Lookup(sc.ID).Chapters[0].Say, Lookup(sc.ID).Chapters[0].Say)
		for _, v := range sc.Variants {
			_, err := Apply(sc, v.Set)
			assert.NoError(t, err)
		}
	}
	assert.Nil(t, Lookup("no-such"))
}

const small = "id: %\ntitle: T\ncluster: {brokers: 1, controllers: 1}\ntopics: [{name: t}]\n"

func TestDirIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	l := Dir(dir)
	write := func(name, id string, mod time.Time) {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(replace(small, id)), 0o600))
		require.NoError(t, os.Chtimes(p, mod, mod))
	}
	now := time.Now()
	write("a.yaml", "one", now)
	scs, ps := l.Scenarios()
	require.NoError(t, ps.Err())
	require.Len(t, scs, 1)
	again, _ := l.Scenarios()
	assert.Same(t, scs[0], again[0], "an unchanged file is not read again")
	write("a.yaml", "two", now.Add(time.Second))
	write("b.yaml", "two", now)
	write("c.yaml", "no good", now)
	scs, ps = l.Scenarios()
	require.Len(t, scs, 1)
	assert.Equal(t, "two", scs[0].ID)
	assert.Len(t, ps, 2)
	require.NoError(t, os.Remove(filepath.Join(dir, "a.yaml")))
	scs, _ = l.Scenarios()
	assert.Len(t, scs, 1)
	_, ps = Dir(filepath.Join(dir, "none")).Scenarios()
	assert.Len(t, ps, 1)
}
