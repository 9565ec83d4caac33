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
	Track, Level       string
	Next               string // id of the scenario to see after this one
	File               string
	Cluster            cluster.Scenario
	Chapters           []Chapter
	Expect             []Expect
	Variants           []Variant
	Stage              Stage
	Set                map[string]string // overrides that were applied, nil for the shipped settings
}

// Overridden says whether settings differ from those of the file.
func (s *Scenario) Overridden() bool { return len(s.Set) > 0 }

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
	return sc, nil
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
