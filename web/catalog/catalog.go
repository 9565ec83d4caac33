// Package catalog runs scenarios for the pages: it puts a scenario, its journal,
// its words and its clock together into what the server serves.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/invariant"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/query"
	"github.com/highwater-kafka/highwater/engine/sim"
	"github.com/highwater-kafka/highwater/engine/story"
	"github.com/highwater-kafka/highwater/engine/words"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/retell"
)

// cells is how many slots a log window has unless the scenario says otherwise.
const cells = 8

// Catalog is the built-in scenarios and, if there is one, a user's directory.
type Catalog struct {
	dir *scenarios.Library

	mu    sync.Mutex // guards cards
	cards map[*scenarios.Scenario]web.Card
}

// New makes a catalog; dir is "" for the built-in scenarios alone.
func New(dir string) *Catalog {
	c := &Catalog{cards: map[*scenarios.Scenario]web.Card{}}
	if dir != "" {
		c.dir = scenarios.Dir(dir)
	}
	return c
}

// All lists the scenarios, the built-in ones first, and what is wrong with files
// of the user's directory.
func (c *Catalog) All() ([]*scenarios.Scenario, scenarios.Problems) {
	all := slices.Clone(scenarios.Builtin())
	if c.dir == nil {
		return all, nil
	}
	own, problems := c.dir.Scenarios()
	return append(all, own...), problems
}

// Menu lists the cards of the menu.
func (c *Catalog) Menu() []web.Card {
	all, _ := c.All()
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.cards
	c.cards = map[*scenarios.Scenario]web.Card{}
	var cards []web.Card
	listed := len(all)
	for i, s := range append(all, hidden()...) {
		// A scenario is immutable, so its card is made once, and that of one that ships
		// once for all catalogs.
		local := i >= len(scenarios.Builtin()) && i < listed
		card, ok := known[s]
		if !ok && !local {
			var made any
			if made, ok = shipped.Load(s); ok {
				card = made.(web.Card)
			}
		}
		if !ok {
			card = cardOf(s)
			card.Local, card.Hidden = local, i >= listed
			if !local {
				shipped.Store(s, card)
			}
		}
		c.cards[s] = card
		cards = append(cards, card)
	}
	return cards
}

// shipped has the cards of scenarios that ship, by scenario.
var shipped sync.Map

func cardOf(s *scenarios.Scenario) web.Card {
	card := web.Card{ID: s.ID, Title: s.Title, Summary: s.Summary, Lesson: s.Lesson, Track: s.Track, Level: s.Level, Explain: s.Explain, Next: s.Next}
	if r, err := Build(s); err == nil {
		card.Length, card.Still = length(r), still(r, s.Still)
		for _, ch := range r.Chapters {
			card.Chapters = append(card.Chapters, ch.Title)
		}
	}
	return card
}

// Problems are what is wrong with files of the user's directory.
func (c *Catalog) Problems() []string {
	_, problems := c.All()
	var out []string
	for _, p := range problems {
		out = append(out, p.Error())
	}
	return out
}

func length(r *web.Run) string {
	s := 0.0
	if n := len(r.Story); n > 0 {
		s = r.Story[n-1].S
	}
	if len(r.Chapters) == 0 {
		return fmt.Sprintf("%d:%02d", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d chapters, %d:%02d", len(r.Chapters), int(s)/60, int(s)%60)
}

// still is the event of the picture in the menu: that of the chapter it names,
// else the middle one's.
func still(r *web.Run, chapter string) int {
	for _, c := range r.Chapters {
		if c.ID == chapter {
			return c.N
		}
	}
	if len(r.Chapters) == 0 {
		return len(r.Journal.Events)
	}
	return r.Chapters[len(r.Chapters)/2].N
}

// Version changes when a file of the user's directory does.
func (c *Catalog) Version() string {
	if c.dir == nil {
		return ""
	}
	return c.dir.Version()
}

// Open runs what a page asks for.
func (c *Catalog) Open(_ context.Context, req web.OpenRequest) (*web.Run, *web.Problem) {
	if req.Words != "" && req.Words != retell.Words {
		return nil, &web.Problem{Code: web.BadRequest, Message: fmt.Sprintf("There are no words %q; leave them out, or say %s.", req.Words, retell.Words)}
	}
	sc, problem := c.find(req)
	if problem != nil {
		return nil, problem
	}
	set := map[string]string{}
	for k, v := range req.Set {
		set[k] = v
	}
	if req.Seed != 0 {
		set["seed"] = fmt.Sprint(req.Seed)
	}
	if len(set) > 0 {
		changed, err := scenarios.Apply(sc, set)
		if err != nil {
			return nil, &web.Problem{Code: web.BadRequest, Message: err.Error()}
		}
		sc = changed
	}
	if text := strings.TrimSpace(string(req.Actions)); text != "" && text != "[]" && text != "null" {
		changed, ps := sc.With(req.Actions)
		if len(ps) > 0 {
			return nil, &web.Problem{Code: web.BadRequest, Message: ps[0].Error(), Line: ps[0].Line, Column: ps[0].Column}
		}
		sc = changed
	}
	r, err := Build(sc)
	if err != nil {
		var long sim.ErrTooLong
		code := web.BadScenario
		if errors.As(err, &long) {
			code = web.TooLong
		}
		return nil, &web.Problem{Code: code, Message: err.Error()}
	}
	if req.Words == retell.Words {
		retold(r)
	}
	return r, nil
}

func (c *Catalog) find(req web.OpenRequest) (*scenarios.Scenario, *web.Problem) {
	if req.Text != "" {
		sc, ps := scenarios.Load("scenario", []byte(req.Text))
		if len(ps) > 0 {
			return nil, &web.Problem{Code: web.BadScenario, Message: ps[0].Error(), Line: ps[0].Line, Column: ps[0].Column}
		}
		return sc, nil
	}
	all, _ := c.All()
	for _, s := range append(all, hidden()...) {
		if s.ID == req.Scenario {
			return s, nil
		}
	}
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return nil, &web.Problem{Code: web.UnknownScenario, Message: fmt.Sprintf("There is no scenario %q; there are %s.", req.Scenario, strings.Join(ids, ", "))}
}

// Outcome is a scenario's run with its verdict.
type Outcome struct {
	Scenario   *scenarios.Scenario
	Result     *cluster.Result
	Index      *journal.Index
	Chapters   []scenarios.ResolvedChapter
	Verdict    scenarios.Verdict
	Invariants []invariant.Outcome
}

// OK says whether all expectations and invariants hold.
func (o *Outcome) OK() bool { return o.Verdict.OK && o.Sound() }

// Sound says whether all invariants hold.
func (o *Outcome) Sound() bool {
	return !slices.ContainsFunc(o.Invariants, func(i invariant.Outcome) bool { return i.Broken != nil })
}

// Simulate runs a scenario and checks it.
func Simulate(sc *scenarios.Scenario) (*Outcome, error) {
	res, err := cluster.Run(&sc.Cluster)
	if err != nil {
		return nil, err
	}
	x := journal.NewIndex(res.Journal)
	run := &scenarios.Run{Scenario: sc, Journal: res.Journal, Index: x, End: res.End, Idle: res.Idle}
	return &Outcome{Scenario: sc, Result: res, Index: x, Chapters: scenarios.Chapters(run), Verdict: scenarios.Check(run), Invariants: invariant.Check(res.Journal)}, nil
}

// Build makes what the pages serve.
func Build(sc *scenarios.Scenario) (*web.Run, error) {
	o, err := Simulate(sc)
	if err != nil {
		return nil, err
	}
	j := o.Result.Journal
	p := words.New(j)
	r := &web.Run{ID: sc.ID, Title: sc.Title, Summary: sc.Summary, Seed: sc.Cluster.Seed, Journal: j, Index: o.Index, Scenario: &sc.Cluster,
		Rows: rows(o), Cells: sc.Stage.Cells, Say: p.Say, End: o.Result.End, Verdict: verdict(o)}
	r.Pill = func(e *journal.Event) *web.Pill {
		pill := p.Pill(e)
		if pill == nil {
			return nil
		}
		return &web.Pill{Text: pill.Text, Lane: pill.Lane, More: pill.More, Tags: pill.Tags, Error: pill.Error}
	}
	var marks []story.Chapter
	for _, ch := range o.Chapters {
		r.Chapters = append(r.Chapters, chapter(ch))
		marks = append(marks, story.Chapter{N: ch.N, Focus: ch.Focus})
	}
	st := story.Clock(j, marks, o.Result.End)
	for _, b := range st.Breaks {
		r.Story = append(r.Story, web.Break(b))
	}
	for _, f := range st.Folds {
		r.Folds = append(r.Folds, web.Fold(f))
	}
	millis := func(who, key string) journal.Time {
		v, _, _ := query.Config(&sc.Cluster, who, key)
		ms, _ := strconv.ParseInt(v, 10, 64) // the value was checked with the scenario
		return journal.Millis(ms)
	}
	poll := func(member string) journal.Time { return millis(member, "max.poll.interval.ms") }
	for _, c := range story.Countdowns(j, millis("c1", "broker.session.timeout.ms"), poll) {
		r.Countdowns = append(r.Countdowns, web.Countdown(c))
	}
	n := sc.Stage.Cells
	if n == 0 {
		n = cells
	}
	r.View = story.Derive(j, r.Rows, n)
	members(r)
	return r, nil
}

func chapter(ch scenarios.ResolvedChapter) web.Chapter {
	c := web.Chapter{ID: ch.ID, Title: ch.Title, N: ch.N, Say: ch.Say, Focus: ch.Focus, Told: told(ch)}
	if a := ch.Ask; a != nil {
		c.Ask = &web.Ask{Question: a.Question, Options: a.Options, Answer: a.Answer, Because: a.Because}
	}
	return c
}

// rows are the partitions on the stage: those that the scenario names, else all
// that are not internal.
func rows(o *Outcome) []string {
	var parts []string
	for _, key := range o.Index.Keys() {
		part, ok := strings.CutPrefix(key, "meta/")
		if !ok || !strings.HasSuffix(part, "/leader") {
			continue
		}
		part = strings.TrimSuffix(part, "/leader")
		if want := o.Scenario.Stage.Rows; len(want) > 0 {
			topic := part[:strings.LastIndexByte(part, '-')]
			if !slices.Contains(want, part) && !slices.Contains(want, topic) {
				continue
			}
		} else if strings.HasPrefix(part, "__") {
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

func verdict(o *Outcome) web.Verdict {
	v := web.Verdict{OK: o.OK()}
	for _, e := range o.Verdict.Expect {
		v.Expect = append(v.Expect, web.Check{Say: e.Say, OK: e.OK, N: e.N})
	}
	for _, i := range o.Invariants {
		c := web.Check{Name: i.Name, OK: i.Broken == nil}
		if i.Broken != nil {
			c.N, c.Say = i.Broken.N, i.Broken.Why
		}
		v.Invariants = append(v.Invariants, c)
	}
	return v
}
