// Package page holds the HTML around the stage: the menu, the player, the embed
// and the error page. Its models mirror what the pages show.
package page

import (
	"strings"

	"github.com/highwater-kafka/highwater/web/glossary"
)

// Frame is what every page needs to find its files.
type Frame struct {
	Title  string
	Static string // "/static/<hash>"
	Theme  string // "light", "dark" or "" for the system's
}

// Menu is the list of scenarios.
type Menu struct {
	Query    string
	Continue *Link // where the reader was, if the address says so
	Sections []Section
	Problems []string // what is wrong with the user's own files
}

// Section is a part of the menu.
type Section struct {
	Title string
	Cards []Card
}

// Link is a way to another page.
type Link struct{ Href, Title string }

// Card is a scenario in the menu.
type Card struct {
	ID, Title, Summary, Length, Track, Level string
	Lesson                                   int // place among the first lessons, 0 for none
	Explain                                  []string
	Next                                     *Link
	Words                                    string // what a search looks at
}

// facts are the small print of a card.
func (c Card) facts() string {
	var parts []string
	for _, s := range []string{c.Track, c.Level, c.Length} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

// Player is a page with a stage.
type Player struct {
	Frame
	Scenario, Summary, Layout string
	Embed                     bool
	Chapters                  int
	Stage                     string          // SVG
	Terms                     []glossary.Term // the words of the run, with their meaning
	Boot                      Boot
	Words                     Link // the same page in the other words
}

// Boot is what the scripts start from.
type Boot struct {
	Scenario string            `json:"scenario"`
	Layout   string            `json:"layout"`
	Set      map[string]string `json:"set"`
	Seed     uint64            `json:"seed"`
	Words    string            `json:"words,omitempty"`
	WS       string            `json:"ws"`
	Offline  *Offline          `json:"offline"`
}

// Offline is a whole run, for a page without a server.
type Offline struct {
	Run    any `json:"run"`
	Events any `json:"events"`
	End    any `json:"end"`
}

// Problem is an error page: what is wrong and what to do.
type Problem struct {
	Frame
	Heading, Sentence string
}

// hint is a button's tooltip: what it does and its key, if it has one.
func hint(label, key string) string {
	if key == "" {
		return label
	}
	return label + " (" + key + ")"
}

// still is the address of a scenario's picture, in the page's theme.
func still(f Frame, id string) string {
	if f.Theme != "" {
		return "/still/" + id + ".svg?card=1&theme=" + f.Theme
	}
	return "/still/" + id + ".svg?card=1"
}

// panel is a panel of the drawer beside the stage.
type panel struct{ name, title string }

var panels = []panel{
	{"why", "Why?"},
	{"inspect", "Inspect"},
	{"events", "Events"},
	{"lag", "Lag"},
	{"checks", "Checks"},
	{"table", "Text"},
}

// mark is a shape on the timeline; which events it stands for is in marks.js.
type mark struct{ name, called, title string }

var marks = []mark{
	{"fault", "flag", "a fault, or another action from outside"},
	{"leader", "triangle", "an election"},
	{"node", "broad bar", "a broker or controller starts, stops, is fenced or unfenced"},
	{"loss", "cross", "a truncation, a lost message, a failed record"},
	{"isr", "diamond", "the ISR changes"},
	{"hw", "blue bar", "the leader's high watermark moves"},
	{"append", "square", "a replica appends records"},
	{"group", "circle", "a group or one of its members"},
	{"offset", "ring", "an offset is committed"},
	{"failed", "red cross below", "a check that fails"},
}
