package scenarios

import (
	"fmt"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/query"
)

// Run is a scenario with what came of it.
type Run struct {
	Scenario *Scenario
	Journal  *journal.Journal
	Index    *journal.Index    // of Journal; made where it is nil
	End      journal.Time      // when the run stopped; 0: at its last event
	Idle     []*cluster.Action // actions whose event did not happen
}

// query asks at an event; 0 is the end.
func (r *Run) query(n int) *query.Q {
	if r.Index == nil {
		r.Index = journal.NewIndex(r.Journal)
	}
	return query.New(r.Index, &r.Scenario.Cluster, n, r.End)
}

// ResolvedChapter is a chapter with its event and its words filled in.
type ResolvedChapter struct {
	ID, Title string
	N         int
	Say       string
	Focus     []string
	Ask       *ResolvedAsk
	Told      *ResolvedTold // in library words, nil where the scenario has none
}

// ResolvedAsk is a question whose right answer is known.
type ResolvedAsk struct {
	Question string
	Options  []string
	Answer   int // index in Options
	Because  string
}

// Chapters resolves the chapters that the run has. One whose event does not
// come, or whose words cannot be filled in, is left out; Check reports it where
// it should have been there.
func Chapters(r *Run) []ResolvedChapter {
	chs, _ := r.chapters()
	return chs
}

func (r *Run) chapters() ([]ResolvedChapter, []Result) {
	var out []ResolvedChapter
	var bad []Result
	after := 0
	for i := range r.Scenario.Chapters {
		c := &r.Scenario.Chapters[i]
		fail := func(n int, format string, args ...any) {
			bad = append(bad, Result{Say: fmt.Sprintf("chapter %s: ", c.ID) + fmt.Sprintf(format, args...), N: n})
		}
		if c.When != nil {
			ok, err := c.When.Bool(r.query(1))
			if err != nil {
				fail(0, "when: %v", err)
			}
			if !ok {
				continue
			}
		}
		n := r.find(c.On, c.At, after)
		if n == 0 {
			fail(0, "its event does not happen after the one of the chapter before")
			continue
		}
		rc, err := r.chapter(c, n)
		if err != nil {
			fail(n, "%v", err)
			continue
		}
		after = n
		out = append(out, *rc)
	}
	return out, bad
}

// find is the event of an anchor after event n, or the last one up to a time.
func (r *Run) find(on *cluster.Anchor, t journal.Time, n int) int {
	if on != nil {
		return query.FindAfter(r.Journal, on, n)
	}
	return query.EventAt(r.Journal, t)
}

func (r *Run) chapter(c *Chapter, n int) (*ResolvedChapter, error) {
	q := r.query(n)
	title, err := c.Title.Text(q)
	if err != nil {
		return nil, err
	}
	say, err := c.Say.Text(q)
	if err != nil {
		return nil, err
	}
	rc := &ResolvedChapter{ID: c.ID, Title: title, N: n, Say: say, Focus: c.Focus}
	if rc.Told, err = c.Told.resolve(q); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	if c.Ask == nil {
		return rc, nil
	}
	a := &ResolvedAsk{}
	if a.Question, err = c.Ask.Question.Text(q); err != nil {
		return nil, err
	}
	for _, o := range c.Ask.Options {
		s, err := o.Text(q)
		if err != nil {
			return nil, err
		}
		a.Options = append(a.Options, s)
	}
	at := r.moment(c.Ask.At)
	if at == 0 {
		return nil, fmt.Errorf("the moment of its answer does not come")
	}
	v, err := c.Ask.Answer.Eval(r.query(at))
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	f, ok := float(v)
	if a.Answer = int(f); !ok || a.Answer < 0 || a.Answer >= len(a.Options) {
		return nil, fmt.Errorf("answer: %v is none of the options 0 to %d", v, len(a.Options)-1)
	}
	if a.Because, err = c.Ask.Because.Text(r.query(at)); err != nil {
		return nil, err
	}
	if c.Told != nil && c.Told.Because != nil {
		if rc.Told.Because, err = c.Told.Because.Text(r.query(at)); err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
	}
	rc.Ask = a
	return rc, nil
}

// moment is the event at which something is read, 0 where it does not come.
func (r *Run) moment(m Moment) int {
	if m.End {
		return len(r.Journal.Events)
	}
	return r.find(m.On, m.At, 0)
}

// Result is one expectation after a run.
type Result struct {
	Say string
	OK  bool
	N   int    // the event at which it was read, 0 for none
	Why string // where it is not met: the expression, or what went wrong
}

// Verdict is what became of a scenario's expectations.
type Verdict struct {
	OK      bool
	Expect  []Result
	Differs bool // unmet, but under settings that are not the shipped ones
}

// Check evaluates the expectations of a run. In the shipped settings every
// chapter and every action has to be there too. Under overrides, what is marked as shipped is
// passed over; under those of a variant its own expectations count as well.
func Check(r *Run) Verdict {
	v := Verdict{OK: true}
	add := func(x Result) {
		v.OK = v.OK && x.OK
		v.Expect = append(v.Expect, x)
	}
	over := r.Scenario.Overridden()
	for i := range r.Scenario.Expect {
		if e := &r.Scenario.Expect[i]; !over || !e.Shipped {
			add(r.expect(e))
		}
	}
	for i := range r.Scenario.Variants {
		if va := &r.Scenario.Variants[i]; over && same(va.Set, r.Scenario.Set) {
			for k := range va.Expect {
				add(r.expect(&va.Expect[k]))
			}
		}
	}
	if !over {
		_, bad := r.chapters()
		for _, a := range r.Idle {
			bad = append(bad, Result{Say: fmt.Sprintf("the action %s on line %d: its event does not happen", a.Do, a.Line)})
		}
		for _, x := range bad {
			add(x)
		}
	}
	v.Differs = over && !v.OK
	return v
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func (r *Run) expect(e *Expect) Result {
	n := r.moment(e.At)
	if n == 0 {
		say, _ := e.Say.Text(r.query(0))
		return Result{Say: say, Why: "its moment does not come"}
	}
	q := r.query(n)
	say, err := e.Say.Text(q)
	if err != nil {
		return Result{Say: e.Say.Source, N: n, Why: err.Error()}
	}
	ok, err := e.That.Bool(q)
	x := Result{Say: say, OK: ok && err == nil, N: n}
	switch {
	case err != nil:
		x.Why = err.Error()
	case !ok:
		x.Why = "not true: " + e.That.Source
	}
	return x
}
