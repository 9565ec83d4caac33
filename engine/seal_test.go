package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/highwater-kafka/highwater/"

// banned are packages with a clock, I/O, threads or global randomness.
var banned = []string{"time", "math/rand", "os", "net", "sync", "log", "context", "runtime", "unsafe", "io/fs", "syscall"}

// TestTheEngineIsSealed walks every source file of the engine: no clock, no
// goroutine, no channel, no I/O, no global random source, no floats outside the
// story clock, and nothing of the project outside the engine.
func TestTheEngineIsSealed(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			for _, b := range banned {
				assert.False(t, name == b || strings.HasPrefix(name, b+"/"), "%s imports %s", path, name)
			}
			if rest, ok := strings.CutPrefix(name, module); ok {
				assert.True(t, strings.HasPrefix(rest, "engine/"), "%s imports %s", path, name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			at := func() token.Position { return set.Position(n.Pos()) }
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a goroutine", at())
			case *ast.ChanType, *ast.SelectStmt:
				t.Errorf("%s: a channel", at())
			case *ast.Ident:
				if (n.Name == "float64" || n.Name == "float32") && !strings.HasPrefix(path, "story") {
					t.Errorf("%s: a float", at())
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, files, 20, "the walk found the engine")
}
