package page_test

import (
	"context"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/highwater-kafka/highwater/web/concepts"
	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/keys"
	"github.com/highwater-kafka/highwater/web/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the expected files anew")

func golden(t *testing.T, name string, c templ.Component) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Render(context.Background(), &b))
	got := strings.ReplaceAll(b.String(), "><", ">\n<") + "\n"
	file := filepath.Join("testdata", name+".html")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

var frame = page.Frame{Title: "Title", Static: "/static/hash"}

func TestPages(t *testing.T) {
	card := page.Card{ID: "demo", Title: "A <title>", Summary: "A summary.", Length: "3 chapters", Track: "Groups", Level: "beginner", Lesson: 2,
		Explain: []string{"one thing"}, Next: &page.Link{Href: "/s/other", Title: "Other"}, Words: "a title"}
	t.Run("card", func(t *testing.T) { golden(t, "card", page.MenuCard(frame, card)) })
	t.Run("menu", func(t *testing.T) {
		golden(t, "menu", page.MenuPage(frame, page.Menu{Sections: []page.Section{{Title: "Start here", Cards: []page.Card{card}}}, Problems: []string{"mine.yaml:3:23: unknown key"}}))
	})
	t.Run("menu without a match", func(t *testing.T) {
		golden(t, "menu-empty", page.MenuPage(page.Frame{Static: "/static/hash", Theme: "dark"}, page.Menu{Query: "<x>", Continue: &page.Link{Href: "/s/demo#e4", Title: "Demo"}}))
	})
	t.Run("controls", func(t *testing.T) { golden(t, "controls", page.Controls()) })
	t.Run("problem", func(t *testing.T) {
		golden(t, "problem", page.ProblemPage(page.Problem{Frame: frame, Heading: "Heading", Sentence: "A sentence."}))
	})
	t.Run("keys", func(t *testing.T) {
		golden(t, "keys", page.KeysPage(frame, keys.Read(url.Values{"key": {"ö<1>"}, "n": {"3"}, "list": {"a\nb\na"}})))
	})
	t.Run("keys without key", func(t *testing.T) {
		golden(t, "keys-null", page.KeysPage(frame, keys.Read(url.Values{"null": {"1"}, "n": {"0"}})))
	})
	t.Run("concepts", func(t *testing.T) {
		term := glossary.Term{ID: "leo", Name: "LEO", Kafka: "logEndOffset", Text: "The next offset.", Source: "UnifiedLog", Forms: []string{"LEO"}}
		golden(t, "concepts", page.ConceptsPage(page.Concepts{
			Frame: page.Frame{Title: "Title", Static: "/static/hash", Theme: "dark"}, Terms: []glossary.Term{term},
			Concepts: []concepts.Concept{
				{Term: term, Said: "The last one.", More: []string{"One more."}, Watch: "The caret.", See: &concepts.See{Href: "/keys", Title: "Keys"}, In: []concepts.See{{Href: "/s/a", Title: "A"}, {Href: "/s/b", Title: "B"}},
					Clip: &concepts.Clip{Scenario: "demo", Chapter: "append", Lead: 1.5, Seconds: 7, Show: []string{"orders-0", "c1"}, Title: "Demo", Wide: concepts.Size{W: 760, H: 300}}},
				{Term: glossary.Term{ID: "lso", Name: "LSO"}, Note: "A drawing.", Drawn: []concepts.Frame{{Say: "It waits.", From: 2, Cells: []string{"-", "t"}, Marks: []concepts.Mark{{Name: "LSO", At: 3}}}}},
			},
			Words: []page.WordList{{ID: "settings", Title: "Settings", Note: "A note.", Terms: []glossary.Term{term}}},
		}))
	})
	t.Run("player", func(t *testing.T) {
		golden(t, "player", page.PlayerPage(page.Player{
			Frame: frame, Scenario: "demo", Summary: "A summary.", Layout: "wide", Stage: "<svg></svg>",
			Words: page.Link{Href: "?words=library"},
			Boot:  page.Boot{Scenario: "demo", Layout: "wide", Set: map[string]string{"x": "</script>"}, WS: "/ws"},
		}))
	})
}
