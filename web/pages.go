package web

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
	"github.com/highwater-kafka/highwater/static"
	"github.com/highwater-kafka/highwater/web/keys"
	"github.com/highwater-kafka/highwater/web/page"
	"github.com/highwater-kafka/highwater/web/retell"
	"github.com/highwater-kafka/highwater/web/stage"
)

func frame(r *http.Request, title string) page.Frame {
	f := page.Frame{Title: title, Static: "/static/" + static.Hash()}
	if t := r.URL.Query().Get("theme"); t == "light" || t == "dark" {
		f.Theme = t
	}
	return f
}

func (s *Server) keys(w http.ResponseWriter, r *http.Request) {
	v := keys.Read(r.URL.Query())
	code := http.StatusOK
	if v.Problem != "" {
		code = http.StatusBadRequest
	}
	render(w, r, code, ownFrames, page.KeysPage(frame(r, "Key explorer: which partition does a key go to?"), v))
}

func (s *Server) player(w http.ResponseWriter, r *http.Request) { s.play(w, r, false) }

func (s *Server) embed(w http.ResponseWriter, r *http.Request) { s.play(w, r, true) }

func (s *Server) play(w http.ResponseWriter, r *http.Request, embed bool) {
	req, ok := s.request(r, chi.URLParam(r, "id"))
	if !ok {
		s.notFound(w, r)
		return
	}
	run, problem := s.cache.get(r.Context(), req)
	if problem != nil {
		s.problem(w, r, problem)
		return
	}
	layout := stage.ParseLayout(r.URL.Query().Get("layout"))
	svg, err := run.draw(stageSpec(run.run, layout, nil), 1)
	if err != nil {
		s.broken(w, r)
		return
	}
	p := page.Player{
		Frame: frame(r, run.run.Title), Scenario: run.run.ID, Summary: run.run.Summary, Layout: string(layout),
		Embed: embed, Chapters: len(run.run.Chapters), Stage: svg, Terms: run.terms,
		Boot:  page.Boot{Scenario: req.Scenario, Layout: string(layout), Set: req.Set, Seed: req.Seed, Words: req.Words, WS: "/ws"},
		Words: page.Link{Href: "?" + otherWords(r.URL.Query(), req.Words), Title: "Library words"},
	}
	if p.Boot.Set == nil {
		p.Boot.Set = map[string]string{}
	}
	frames := ownFrames
	if embed {
		frames = anyFrames
	}
	render(w, r, http.StatusOK, frames, page.PlayerPage(p))
}

// otherWords is the address of the same page in Kafka's words, or in those of the
// retelling.
func otherWords(q url.Values, words string) string {
	other := url.Values{}
	for k, v := range q {
		other[k] = v
	}
	other.Set("words", retell.Words)
	if words == retell.Words {
		other.Set("words", "kafka")
	}
	return other.Encode()
}

// request reads the run that a page's address names: its scenario, the seed,
// and overrides as set=key=value.
func (s *Server) request(r *http.Request, id string) (OpenRequest, bool) {
	known := slices.ContainsFunc(s.lib.Menu(), func(c Card) bool { return c.ID == id })
	req := OpenRequest{Scenario: id}
	q := r.URL.Query()
	for _, kv := range q["set"] {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		if req.Set == nil {
			req.Set = map[string]string{}
		}
		req.Set[k] = v
	}
	if words := q.Get("words"); words == retell.Words {
		req.Words = words
	}
	req.Seed, _ = strconv.ParseUint(q.Get("seed"), 10, 64)
	return req, known
}

// still draws one moment as a picture that stands alone.
func (s *Server) still(w http.ResponseWriter, r *http.Request) {
	id, isSVG := strings.CutSuffix(chi.URLParam(r, "file"), ".svg")
	req, ok := s.request(r, id)
	if !ok || !isSVG {
		s.notFound(w, r)
		return
	}
	run, problem := s.cache.get(r.Context(), req)
	if problem != nil {
		s.problem(w, r, problem)
		return
	}
	q := r.URL.Query()
	n, err := strconv.Atoi(q.Get("n"))
	if c := chapterOf(run.run, q.Get("chapter")); c != nil {
		n = c.N
	} else if err != nil {
		n = s.stillEvent(id)
	}
	spec := stageSpec(run.run, stage.ParseLayout(q.Get("layout")), nil)
	if q.Get("card") != "" {
		spec = stageSpec(run.run, stage.Narrow, nil)
		for _, row := range spec.Rows {
			// Between an election and its leader's first act the earlier leader stays open.
			if open := leaders(run.run, []stage.Row{row}, n); len(open) > 0 {
				spec.Open = slices.DeleteFunc(spec.Open, func(card string) bool { return strings.HasPrefix(card, row.Part+"/") })
				spec.Open = append(spec.Open, open...)
			}
		}
		spec = only(spec, cardShows(run.run, n))
	} else if show := q.Get("show"); show != "" {
		spec = only(spec, strings.Split(show, ","))
	}
	spec.Standalone = static.StageCSS()
	if t := q.Get("theme"); t == "light" || t == "dark" {
		spec.Theme = t
	}
	svg, err := run.draw(spec, n)
	if err != nil {
		s.broken(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("Cache-Control", "no-cache")
	h.Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write([]byte(svg))
}

// chapterOf is a run's chapter, nil where there is none of that id.
func chapterOf(r *Run, id string) *Chapter {
	for i := range r.Chapters {
		if r.Chapters[i].ID == id {
			return &r.Chapters[i]
		}
	}
	return nil
}

// cardShows is what there is room for on a card of the menu: of what the chapter
// speaks of, one partition, and a group where it is about one.
func cardShows(r *Run, n int) []string {
	var focus []string
	for _, c := range r.Chapters {
		if c.N <= n {
			focus = c.Focus
		}
	}
	var show []string
	rows := stageRows(r, brokerNames(r))
	for _, row := range rows {
		if len(show) == 0 && slices.Contains(focus, row.Part) {
			show = append(show, row.Part)
		}
	}
	for _, g := range r.Scenario.Groups {
		about := slices.Contains(focus, g.ID)
		for _, m := range groupMembers(r, g) {
			about = about || slices.Contains(focus, m)
		}
		if about {
			return append(show, g.ID)
		}
	}
	if len(show) == 0 && len(rows) > 0 {
		show = append(show, rows[0].Part)
	}
	return show
}

func (s *Server) stillEvent(id string) int {
	for _, c := range s.lib.Menu() {
		if c.ID == id {
			return max(c.Still, 1)
		}
	}
	return 1
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	render(w, r, http.StatusNotFound, ownFrames, page.ProblemPage(page.Problem{
		Frame: frame(r, "Not found"), Heading: "There is no such page", Sentence: "The scenario may have another name by now. The list has all of them.",
	}))
}

func (s *Server) broken(w http.ResponseWriter, r *http.Request) {
	render(w, r, http.StatusInternalServerError, ownFrames, page.ProblemPage(page.Problem{
		Frame: frame(r, "Error"), Heading: "This run cannot be drawn", Sentence: "That is an error of Highwater. Another scenario may work.",
	}))
}

func (s *Server) problem(w http.ResponseWriter, r *http.Request, p *Problem) {
	code := http.StatusUnprocessableEntity
	switch p.Code {
	case UnknownScenario:
		code = http.StatusNotFound
	case TooBusy:
		code = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	render(w, r, code, ownFrames, page.ProblemPage(page.Problem{Frame: frame(r, "Error"), Heading: "This run is not there", Sentence: p.Message}))
}

// Who may show a page in a frame. An embed says nothing about it, because the
// wildcard of frame-ancestors leaves out the schemes of apps.
const (
	ownFrames = "; frame-ancestors 'self'"
	anyFrames = ""
)

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)

// policy allows what the pages load and nothing else. The host is named too,
// because 'self' matches nothing in some browsers' sandboxed frames.
func policy(r *http.Request, frames string) string {
	here, ws := "'self'", ""
	if plainHost.MatchString(r.Host) {
		here = "'self' http://" + r.Host + " https://" + r.Host
		ws = " ws://" + r.Host + " wss://" + r.Host
	}
	return "default-src 'none'; script-src " + here + "; style-src " + here + "; font-src " + here + "; img-src " + here +
		" data:; connect-src " + here + ws + "; base-uri 'none'; form-action 'self'" + frames
}

// render writes a page only when all of it could be made.
func render(w http.ResponseWriter, r *http.Request, code int, frames string, c templ.Component) {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		http.Error(w, "The page cannot be drawn.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(r, frames))
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}
