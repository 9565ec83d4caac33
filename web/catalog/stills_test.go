package catalog_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStills compares what the stage says at each chapter of each scenario that ships.
// A line is a thing of the stage with all its texts in sight, marks in brackets, so
// that a change of the picture reads as a change of what it says.
func TestStills(t *testing.T) {
	srv := httptest.NewServer(web.New(catalog.New(""), web.DefaultLimits()))
	t.Cleanup(srv.Close)
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			var got strings.Builder
			for _, c := range sc.Chapters {
				res, err := http.Get(srv.URL + "/still/" + sc.ID + ".svg?chapter=" + c.ID)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, res.StatusCode)
				fmt.Fprintf(&got, "# %s\n%s\n", c.ID, picture(t, res.Body))
				res.Body.Close()
			}
			file := filepath.Join("testdata", "stills", sc.ID+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run: go test ./web/catalog -run Stills -update")
			assert.Equal(t, string(want), got.String(), "run: go test ./web/catalog -run Stills -update, and read the difference")
		})
	}
}

// picture is what can be seen in an SVG, a line for each labelled thing.
func picture(t *testing.T, r io.Reader) string {
	t.Helper()
	type element struct {
		hidden, text bool
		within       *string // what its things were within, where it is one itself
	}
	var stack []element
	var lines, words []string
	name := ""
	end := func() {
		if len(words) > 0 {
			lines = append(lines, strings.TrimPrefix(name+": "+strings.Join(words, " | "), ": "))
		}
		words = nil
	}
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			e := element{}
			if len(stack) > 0 {
				e.hidden = stack[len(stack)-1].hidden
			}
			a := map[string]string{}
			for _, at := range x.Attr {
				a[at.Name.Local] = at.Value
			}
			e.hidden = e.hidden || a["display"] == "none" || x.Name.Local == "defs" || x.Name.Local == "style" || x.Name.Local == "title"
			if label := a["aria-label"]; label != "" && x.Name.Local == "g" && !e.hidden {
				end()
				before := name
				name, e.within = label, &before
			}
			e.text = x.Name.Local == "text"
			if e.text && !e.hidden {
				words = append(words, "")
			}
			if x.Name.Local == "use" && !e.hidden {
				words = append(words, "["+strings.TrimPrefix(a["href"], "#")+"]")
			}
			stack = append(stack, e)
		case xml.EndElement:
			last := len(words) - 1
			if e := stack[len(stack)-1]; e.text && !e.hidden && strings.TrimSpace(words[last]) == "" {
				words = words[:last]
			} else if e.within != nil {
				end()
				name = *e.within
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) == 0 || stack[len(stack)-1].hidden {
				continue
			}
			inText := false
			for _, e := range stack {
				inText = inText || e.text
			}
			if inText && len(words) > 0 {
				words[len(words)-1] += string(x)
			}
		}
	}
	end()
	return strings.Join(lines, "\n")
}
