package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/web/concepts"
	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/page"
	"github.com/highwater-kafka/highwater/web/retell"
	"github.com/highwater-kafka/highwater/web/stage"
)

func (s *Server) concepts(w http.ResponseWriter, r *http.Request) {
	all, cards := concepts.All(), s.lib.Menu()
	for i := range all {
		all[i].Clip = s.clip(r.Context(), all[i].Clip)
		all[i].In = about(all[i].ID, cards)
	}
	nouns := slices.DeleteFunc(glossary.Nouns(), func(t glossary.Term) bool { return t.Concept })
	render(w, r, http.StatusOK, ownFrames, page.ConceptsPage(page.Concepts{
		Frame: frame(r, "Concepts: what a Kafka cluster is made of"), Concepts: all, Terms: glossary.All(),
		Library: retell.Table, Stays: retell.Stays,
		Words: []page.WordList{
			{ID: "more-words", Title: "More words", Terms: nouns},
			{ID: "requests", Title: "Requests", Note: "Every arrow on the stage is one of these, under Kafka's own name.", Terms: glossary.APIs()},
			{ID: "errors", Title: "Error codes", Terms: glossary.Errors()},
			{ID: "settings", Title: "Settings", Terms: glossary.Configs()},
		},
	}))
}

// mostAbout is how many scenarios a concept leads to.
const mostAbout = 4

// about are the scenarios whose cards name a term, those first that name it in
// their title.
func about(term string, cards []Card) []concepts.See {
	names := func(text string) bool {
		return slices.ContainsFunc(glossary.In(text), func(t glossary.Term) bool { return t.ID == term })
	}
	var titled, others []concepts.See
	for _, c := range cards {
		see := concepts.See{Href: "/s/" + c.ID, Title: c.Title}
		switch {
		case c.Local, c.Hidden:
		case names(c.Title):
			titled = append(titled, see)
		case names(strings.Join(slices.Concat([]string{c.Summary}, c.Explain, c.Chapters), "\n")):
			others = append(others, see)
		}
	}
	all := append(titled, others...)
	return all[:min(len(all), mostAbout)]
}

// clip is a clip with what only a run knows: its title and the size of its
// pictures. It is nil where the scenario or the chapter is not there.
func (s *Server) clip(ctx context.Context, c *concepts.Clip) *concepts.Clip {
	if c == nil {
		return nil
	}
	run, problem := s.cache.get(ctx, OpenRequest{Scenario: c.Scenario})
	if problem != nil || chapterOf(run.run, c.Chapter) == nil {
		return nil
	}
	size := func(l stage.Layout) concepts.Size {
		p := stage.Place(only(stageSpec(run.run, l, nil), c.Show))
		return concepts.Size{W: p.W, H: p.H}
	}
	whole := *c
	whole.Title, whole.Wide, whole.Narrow = run.run.Title, size(stage.Clip), size(stage.Narrow)
	return &whole
}
