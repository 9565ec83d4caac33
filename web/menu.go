package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/web/page"
)

// tracks are the sections of the menu after the first lessons. Tracks of other
// names follow by name, and what has none comes last.
var tracks = []string{"Write path", "Replication", "Failure", "Groups", "Keys", "Offsets"}

func (s *Server) menu(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	all := s.lib.Menu()
	m := page.Menu{Query: q.Get("q"), Problems: s.lib.Problems(), Sections: sections(all, q.Get("q"))}
	if c := find(all, q.Get("at")); c != nil {
		m.Continue = &page.Link{Href: "/s/" + c.ID, Title: c.Title}
		if moment := q.Get("moment"); moment != "" {
			m.Continue.Href += "#" + url.PathEscape(moment)
		}
	}
	render(w, r, http.StatusOK, ownFrames, page.MenuPage(frame(r, "Highwater: inside a Kafka cluster"), m))
}

func find(cards []Card, id string) *Card {
	if i := slices.IndexFunc(cards, func(c Card) bool { return c.ID == id }); i >= 0 {
		return &cards[i]
	}
	return nil
}

// sections puts the scenarios that have all words of a search into their places.
func sections(all []Card, query string) []page.Section {
	words := strings.Fields(strings.ToLower(query))
	byTrack := map[string][]page.Card{}
	var lessons []page.Card
	for _, c := range all {
		if c.Hidden {
			continue
		}
		text := strings.ToLower(strings.Join(slices.Concat([]string{c.ID, c.Title, c.Summary, c.Track, c.Level}, c.Explain, c.Chapters), " "))
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			continue
		}
		card := page.Card{ID: c.ID, Title: c.Title, Summary: c.Summary, Length: c.Length, Level: c.Level, Track: c.Track, Explain: c.Explain, Lesson: c.Lesson, Words: text}
		if next := find(all, c.Next); next != nil {
			card.Next = &page.Link{Href: "/s/" + next.ID, Title: next.Title}
		}
		if c.Lesson > 0 {
			lessons = append(lessons, card)
		} else {
			byTrack[c.Track] = append(byTrack[c.Track], card)
		}
	}
	var out []page.Section
	if len(lessons) > 0 {
		slices.SortStableFunc(lessons, func(a, b page.Card) int { return cmp.Compare(a.Lesson, b.Lesson) })
		out = append(out, page.Section{Title: "Start here", Cards: lessons})
	}
	names := make([]string, 0, len(byTrack))
	for name := range byTrack {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	for _, name := range names {
		title := name
		switch {
		case name == "" && len(out) == 0:
			title = "Scenarios"
		case name == "":
			title = "More"
		}
		cards := byTrack[name]
		slices.SortStableFunc(cards, func(a, b page.Card) int { return cmp.Compare(level(a.Level), level(b.Level)) })
		out = append(out, page.Section{Title: title, Cards: cards})
	}
	return out
}

// levels order the scenarios of a track; what has none of these comes last.
var levels = []string{"beginner", "practitioner", "expert"}

func level(l string) int {
	if i := slices.Index(levels, l); i >= 0 {
		return i
	}
	return len(levels)
}

func rank(track string) int {
	switch i := slices.Index(tracks, track); {
	case i >= 0:
		return i
	case track == "":
		return len(tracks) + 1
	}
	return len(tracks)
}
