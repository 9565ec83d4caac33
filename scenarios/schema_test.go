package scenarios

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run go test ./scenarios -update")
}

func TestSchemaIsCurrent(t *testing.T) {
	b, err := makeSchema()
	require.NoError(t, err)
	golden(t, "schema.json", b)
}

func TestSchemaAcceptsTheLibrary(t *testing.T) {
	var s jsonschema.Schema
	b, err := makeSchema()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &s))
	r, err := s.Resolve(nil)
	require.NoError(t, err)
	entries, err := embedded.ReadDir(".")
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		src, err := embedded.ReadFile(e.Name())
		require.NoError(t, err)
		var v map[string]any
		require.NoError(t, yaml.Unmarshal(src, &v))
		asJSON, err := json.Marshal(v)
		require.NoError(t, err)
		var plain any
		require.NoError(t, json.Unmarshal(asJSON, &plain))
		assert.NoError(t, r.Validate(plain), e.Name())
	}
}

// The kinds of package journal are constants, which a program cannot list.
func TestKindsAreComplete(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../engine/journal/kinds.go", nil, 0)
	require.NoError(t, err)
	var want []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, x := range v.Values {
				if l, ok := x.(*ast.BasicLit); ok {
					s, err := strconv.Unquote(l.Value)
					require.NoError(t, err)
					want = append(want, s)
				}
			}
		}
		return true
	})
	assert.Equal(t, want, kinds)
}
