package static

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryFileIsServedAndScriptsAndStylesAreMinified(t *testing.T) {
	count := 0
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		whole, err := files.ReadFile(name)
		require.NoError(t, err)
		data, found := File(name)
		require.True(t, found, name)
		switch path.Ext(name) {
		case ".js", ".css":
			assert.Less(t, len(data), len(whole)*95/100, "%s is not minified", name)
			assert.False(t, strings.HasPrefix(strings.TrimSpace(string(data)), "//"), name)
		default:
			assert.Equal(t, whole, data, name)
		}
		return nil
	}))
	assert.Greater(t, count, 20)
	_, found := File("js/../static.go")
	assert.False(t, found)
	assert.Len(t, Hash(), 12)
}
