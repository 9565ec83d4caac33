// Package scenarios reads scenario files, tells what is wrong with them, and
// evaluates their captions and expectations against a run.
package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// Scenario is a file that was read without problems. It is read-only: Apply
// makes another.
type Scenario struct {
	ID, Title, Summary string
	Lesson             int // place among the first lessons of the menu, 0 for none
	Track, Level       string
	Explain            []string // what people will be able to explain afterwards
	Still              string   // chapter of the picture in the menu, "" for the middle one
	Next               string   // id of the scenario to see after this one
	File               string
	Cluster            cluster.Scenario
	Chapters           []Chapter
	Expect             []Expect
	Variants           []Variant
	Stage              Stage
	Set                map[string]string // overrides that were applied, nil for the shipped settings
	Extra              int               // actions that were added to those of the file

	src []byte
}

// Overridden says whether settings or actions differ from those of the file.
func (s *Scenario) Overridden() bool { return len(s.Set) > 0 || s.Extra > 0 }

// Chapter is a step of the story.
type Chapter struct {
	ID    string
	Title *Template
	On    *cluster.Anchor // nil: at
	At    journal.Time
	Say   *Template
	Focus []string
	Ask   *Ask
	When  *Expr // nil: always
	Told  *Told // in library words; nil: word by word
}

// Ask lets people predict before the chapter reveals.
type Ask struct {
	Question *Template
	Options  []*Template
	Answer   *Expr // index of the right option
	At       Moment
	Because  *Template
}

// Moment is when something is read: a time, an anchor, or the end.
type Moment struct {
	End bool
	At  journal.Time
	On  *cluster.Anchor
}

// Expect is what must be true at a moment.
type Expect struct {
	At      Moment
	That    *Expr
	Say     *Template
	Shipped bool // only in the shipped settings
	Line    int
}

// Variant are settings under which a scenario is checked too.
type Variant struct {
	Set    map[string]string
	Say    *Template // nil: none
	Expect []Expect
}

// Stage is what the stage shows.
type Stage struct {
	Rows  []string // topics and partitions, nil for all that are not internal
	Cells int      // slots of a log window, 0 for the usual
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Load reads a file. name is what problems call it. A scenario is returned only
// where there is no problem.
func Load(name string, src []byte) (*Scenario, Problems) {
	r := newReporter(name, src)
	if len(src) > maxBytes {
		r.lines = nil
		r.at(pos{}, "the file has %d kB; a scenario has at most %d", len(src)>>10, maxBytes>>10)
		return nil, r.ps
	}
	root := parse(r, src)
	if root == nil {
		return nil, r.sorted()
	}
	return read(r, root, src)
}

// read decodes and checks a document.
func read(r *reporter, root *yaml.Node, src []byte) (*Scenario, Problems) {
	d := &decoder{reporter: r}
	var f file
	d.value(root, reflect.ValueOf(&f).Elem(), "a scenario", 0)
	if d.bomb {
		return nil, r.sorted()
	}
	c := &checker{reporter: r, f: &f}
	sc := c.scenario()
	if len(r.ps) > 0 {
		return nil, r.sorted()
	}
	sc.src = src
	return sc, nil
}

// With is the scenario with more actions, a list in YAML or JSON: a what-if. Its
// problems are places in that list.
func (s *Scenario) With(actions []byte) (*Scenario, Problems) {
	r := newReporter("actions", actions)
	if len(actions) > maxBytes {
		r.lines = nil
		r.at(pos{}, "the actions have %d kB; a scenario has at most %d", len(actions)>>10, maxBytes>>10)
		return nil, r.ps
	}
	more := parse(r, actions)
	if more == nil {
		return nil, r.sorted()
	}
	if more.Kind != yaml.SequenceNode {
		r.at(at(more), "actions are a list, not %s", what(more))
		return nil, r.ps
	}
	root := parse(newReporter(s.File, s.src), s.src)
	list := valueOf(root, "actions")
	list.Content = append(list.Content, more.Content...)
	sc, ps := read(r, root, s.src)
	if len(ps) > 0 {
		return nil, ps
	}
	sc.Extra = s.Extra + len(more.Content)
	if len(s.Set) > 0 {
		changed, err := Apply(sc, s.Set)
		if err != nil {
			return nil, Problems{{File: "actions", Message: err.Error()}}
		}
		return changed, nil
	}
	return sc, nil
}

// valueOf is the list under a key of a mapping, made where it is not there.
func valueOf(root *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			return root.Content[i+1]
		}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, list)
	return list
}

// parse reads the one document of a file.
func parse(r *reporter, src []byte) *yaml.Node {
	l, err := yaml.NewLoader(bytes.NewReader(src))
	var docs [2]yaml.Node
	if err == nil {
		err = l.Load(&docs[0])
	}
	var le *yaml.LoadError
	switch {
	case errors.Is(err, io.EOF):
		r.at(pos{1, 1}, "the file is empty")
		return nil
	case errors.As(err, &le):
		line, col := le.Mark.Line, le.Mark.Column
		if line == 0 {
			line, col = le.ContextMark.Line, le.ContextMark.Column
		}
		line = min(max(line, 1), len(r.lines))
		r.at(pos{line, max(col, 1)}, "this is not YAML: %s", le.Message)
		return nil
	case err != nil:
		r.at(pos{}, "this is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if err := l.Load(&docs[1]); err == nil && docs[1].Kind != 0 {
		r.at(at(&docs[1]), "a file holds one scenario; there is a second document")
		return nil
	}
	if docs[0].Kind != yaml.DocumentNode || len(docs[0].Content) == 0 {
		r.at(pos{1, 1}, "the file is empty")
		return nil
	}
	return docs[0].Content[0]
}

// ErrOverride is an override that does not fit a scenario.
type ErrOverride struct{ Key, Why string }

func (e *ErrOverride) Error() string { return fmt.Sprintf("%s: %s", e.Key, e.Why) }
