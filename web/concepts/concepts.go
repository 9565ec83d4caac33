// Package concepts is the content of the concepts page: an overview of a cluster
// as one labelled picture, and twenty concepts, each with a moment of a scenario
// that shows it. The definitions are the glossary's; what is here besides them is
// how a concept is often told, what to watch in its picture, and drawings of what
// the engine does not simulate (segments with retention, transactions).
package concepts

import (
	"fmt"

	"github.com/highwater-kafka/highwater/web/glossary"
)

// Concept is a term with a section of its own.
type Concept struct {
	glossary.Term
	Said  string   // how it is often told, and not quite right
	More  []string // what the definition has no room for
	Watch string   // what to look at in the picture
	Clip  *Clip    // a moment of a scenario, nil where none shows it
	Drawn []Frame  // a drawing, step by step, where no scenario shows it
	Note  string   // what the drawing is
	See   *See
	In    []See // scenarios that speak of it
}

// See is a page to go on at.
type See struct{ Href, Title string }

// Clip is a moment of a scenario to play: from a chapter on, or a little before
// it, for some seconds of story.
type Clip struct {
	Scenario, Chapter string
	Lead, Seconds     float64  // seconds of story before the chapter's event, and in all
	Show              []string // partitions, clients and controllers that are drawn; brokers always are

	Title        string // of the scenario
	Wide, Narrow Size   // of its picture
}

// Size is a picture's, in px.
type Size struct{ W, H int }

// Frame is one step of a drawing: a log with marks between its records.
type Frame struct {
	Say   string
	From  int      // the offset of the first record that is there
	Cells []string // "" for a record, else a word on it; "-" for one that is gone
	Marks []Mark
}

// Mark stands before the record of an offset.
type Mark struct {
	Name string
	At   int
}

func d(parts ...any) string { return fmt.Sprint(parts...) }

// All are the twenty concepts, in the glossary's order.
func All() []Concept {
	terms := glossary.Concepts()
	out := make([]Concept, len(terms))
	for i, t := range terms {
		out[i] = content[t.ID]
		out[i].Term = t
		out[i].Linked = true
	}
	return out
}
