package scenarios

import "github.com/highwater-kafka/highwater/engine/query"

// Told is a chapter in library words: branches, shelves, reading groups. What is
// nil is translated word by word.
type Told struct {
	Title, Say, Question, Because *Template
	Options                       []*Template // as many as the question has, or none
}

// ResolvedTold is a chapter's retelling with its numbers; "" where there is none.
type ResolvedTold struct {
	Title, Say, Question, Because string
	Options                       []string
}

func (c *checker) told(f *chapterFile) *Told {
	t := f.Told
	if t == nil {
		return nil
	}
	given := func(x text) *Template {
		if !x.set {
			return nil
		}
		return c.template(x)
	}
	out := &Told{Title: given(t.Title), Say: given(t.Say), Question: given(t.Question), Because: given(t.Because)}
	if f.Ask == nil && (t.Question.set || t.Options.set || t.Because.set) {
		c.at(t.at, "the chapter asks nothing, so there is no question to retell")
		return out
	}
	if t.Options.set && len(t.Options.list) != len(f.Ask.Options.list) {
		c.at(t.Options.at, "the question has %d options, and %d are retold", len(f.Ask.Options.list), len(t.Options.list))
	}
	for _, o := range t.Options.list {
		out.Options = append(out.Options, c.template(o))
	}
	return out
}

// resolve fills in what is read at the chapter's own event: all but the reason.
func (t *Told) resolve(q *query.Q) (*ResolvedTold, error) {
	if t == nil {
		return nil, nil
	}
	out := &ResolvedTold{}
	for _, x := range []struct {
		from *Template
		to   *string
	}{{t.Title, &out.Title}, {t.Say, &out.Say}, {t.Question, &out.Question}} {
		if x.from == nil {
			continue
		}
		s, err := x.from.Text(q)
		if err != nil {
			return nil, err
		}
		*x.to = s
	}
	for _, o := range t.Options {
		s, err := o.Text(q)
		if err != nil {
			return nil, err
		}
		out.Options = append(out.Options, s)
	}
	return out, nil
}
