package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/retell"
	"github.com/highwater-kafka/highwater/web/stage"
)

// semantics is the version of what events mean to a page.
const semantics = 1

// served is a run as it goes over the wire. It is made once and sent to many.
type served struct {
	run    *Run
	view   *journal.Index
	colour map[string]int
	roots  roots
	main   []wireEvent
	last   int
	head   runFrame
	end    []byte
	terms  []glossary.Term // what the run's texts speak of
}

type wireEvent struct {
	n    int
	json []byte
}

// runFrame is the first message of a run.
type runFrame struct {
	Op         string               `json:"op"`
	ID         string               `json:"id"`
	Title      string               `json:"title"`
	Summary    string               `json:"summary"`
	Seed       uint64               `json:"seed"`
	Semantics  int                  `json:"semantics"`
	Last       int                  `json:"last"`
	Main       int                  `json:"main"`
	End        journal.Time         `json:"end"`
	Chapters   []Chapter            `json:"chapters"`
	Story      []Break              `json:"story"`
	Folds      []Fold               `json:"folds"`
	Countdowns []Countdown          `json:"countdowns"`
	Groups     []groupInfo          `json:"groups"`
	Records    [][4]any             `json:"records"`
	Producers  map[string]int       `json:"producers"`
	Settings   map[string][]setting `json:"settings"`
	Stage      string               `json:"stage,omitempty"`
}

// groupInfo is who may read for a group, and the partitions of its topics.
type groupInfo struct {
	ID      string   `json:"id"`
	Members []string `json:"members"`
	Parts   []string `json:"parts"`
}

type endFrame struct {
	Op      string  `json:"op"`
	Verdict Verdict `json:"verdict"`
}

type errorFrame struct {
	Op string `json:"op"`
	*Problem
}

// serve prepares a run for the wire; the run must not change afterwards.
func serve(r *Run, maxEvents int) (*served, *Problem) {
	if len(r.Journal.Events) == 0 {
		return nil, &Problem{Code: BadScenario, Message: "The run has no events."}
	}
	if n := len(r.Journal.Events); n > maxEvents {
		return nil, &Problem{Code: TooLong, Message: fmt.Sprintf("The run has %d events, more than the %d that this server sends. End it earlier.", n, maxEvents)}
	}
	if r.Index == nil {
		r.Index = journal.NewIndex(r.Journal)
	}
	s := &served{run: r, view: viewIndex(r.View), colour: producerColours(r.Scenario), roots: rootsOf(r.Journal)}
	for i := range r.Journal.Events {
		e := &r.Journal.Events[i]
		s.last = e.N
		if e.Chatter {
			continue
		}
		data, err := s.event(e)
		if err != nil {
			return nil, &Problem{Code: BadScenario, Message: fmt.Sprintf("Event %d cannot be written: %v.", e.N, err)}
		}
		s.main = append(s.main, wireEvent{e.N, data})
	}
	s.head = runFrame{
		Op: "run", ID: r.ID, Title: r.Title, Summary: r.Summary, Seed: r.Seed, Semantics: semantics,
		Last: s.last, Main: len(s.main), End: r.End, Producers: s.colour,
		Chapters: orEmpty(r.Chapters), Story: orEmpty(r.Story), Folds: orEmpty(r.Folds), Countdowns: orEmpty(r.Countdowns), Groups: groupInfos(r), Settings: settingsOf(r), Records: [][4]any{},
	}
	for _, rec := range r.Journal.Records {
		var key any
		if rec.Key != nil {
			key = *rec.Key
		}
		s.head.Records = append(s.head.Records, [4]any{rec.ID, rec.Producer, key, rec.Value})
	}
	s.terms = glossary.In(spoken(r))
	if r.Words == retell.Words {
		s.terms = append(retell.Terms(), s.terms...)
	}
	v := r.Verdict
	v.Expect, v.Invariants = orEmpty(v.Expect), orEmpty(v.Invariants)
	var err error
	s.end, err = marshal(endFrame{"end", v})
	if err != nil {
		return nil, &Problem{Code: BadScenario, Message: "The verdict cannot be written."}
	}
	return s, nil
}

// labels are the words that stand on the stage itself.
const labels = "ISR ELR LEO HW LSO leader epoch quorum epoch follower controller fenced lag committed offset position generation member epoch\n"

// spoken is all that a run says, each sentence once.
func spoken(r *Run) string {
	var b strings.Builder
	b.WriteString(labels + r.Summary + "\n")
	for _, c := range r.Chapters {
		b.WriteString(c.Title + "\n" + c.Say + "\n")
		if c.Ask != nil {
			b.WriteString(c.Ask.Question + "\n" + strings.Join(c.Ask.Options, "\n") + "\n" + c.Ask.Because + "\n")
		}
	}
	if r.Say == nil {
		return b.String()
	}
	seen := map[string]bool{}
	for i := range r.Journal.Events {
		if say := r.Say(&r.Journal.Events[i]); !seen[say] {
			seen[say] = true
			b.WriteString(say + "\n")
		}
	}
	return b.String()
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// event writes an event with its derived keys, its sentence and its pill.
func (s *served) event(e *journal.Event) ([]byte, error) {
	if view := s.run.View[e.N]; len(view) > 0 {
		c := *e
		c.Ch = append(append([]journal.Change(nil), e.Ch...), view...)
		e = &c
	}
	data, err := journal.Marshal(e)
	if err != nil {
		return nil, err
	}
	extra := struct {
		Say  string  `json:"say,omitempty"`
		Pill *Pill   `json:"pill,omitempty"`
		Via  *[2]int `json:"via,omitempty"`
	}{Via: s.roots.via(e)}
	if s.run.Say != nil {
		extra.Say = s.run.Say(e)
	}
	if s.run.Pill != nil && (e.Kind == journal.RequestSend || e.Kind == journal.ResponseSend) {
		extra.Pill = s.run.Pill(e)
	}
	more, err := marshal(extra)
	if err != nil || len(more) == 2 {
		return data, err
	}
	data = append(data[:len(data)-1], ',')
	return append(data, more[1:]...), nil
}

// after is the place of the first main event beyond number n.
func (s *served) after(n int) int {
	return sort.Search(len(s.main), func(i int) bool { return s.main[i].n > n })
}

// batch writes main events as one message.
func (s *served) batch(from, to int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"op":"events","track":"main","events":[`)
	for i, e := range s.main[from:to] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e.json)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// chatter writes the background events with numbers from…to, in messages of
// at most 500 events; the last one says that it is.
func (s *served) chatter(from, to int, send func([]byte) error) error {
	from, to = max(from, 1), min(to, s.last)
	events := []json.RawMessage{}
	flush := func(done bool) error {
		data, err := marshal(struct {
			Op     string            `json:"op"`
			Track  string            `json:"track"`
			From   int               `json:"from"`
			To     int               `json:"to"`
			Done   bool              `json:"done,omitempty"`
			Events []json.RawMessage `json:"events"`
		}{"events", "chatter", from, to, done, events})
		events = events[:0]
		if err != nil {
			return err
		}
		return send(data)
	}
	for n := from; n <= to; n++ {
		e := s.run.Journal.At(n)
		if e == nil || !e.Chatter {
			continue
		}
		data, err := s.event(e)
		if err != nil {
			return err
		}
		events = append(events, data)
		if len(events) == maxBatch {
			if err := flush(false); err != nil {
				return err
			}
		}
	}
	return flush(true)
}

// draw is the stage of the run at an event.
func (s *served) draw(spec stage.Spec, n int) (string, error) {
	svg, err := stage.Draw(spec, s.moment(n))
	if err == nil && s.run.Words == retell.Words {
		svg = retell.SVG(svg)
	}
	return svg, err
}

func (s *served) moment(n int) moment {
	return moment{run: s.run, view: s.view, producers: s.colour, n: min(max(n, 1), s.last)}
}

// marshal is json.Marshal without the escaping of <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
