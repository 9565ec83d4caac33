// Package page holds the HTML around the stage: the menu, the player, the embed
// and the error page. Its models mirror what the pages show.
package page

import "github.com/highwater-kafka/highwater/web/glossary"

// Frame is what every page needs to find its files.
type Frame struct {
	Title  string
	Static string // "/static/<hash>"
	Theme  string // "light", "dark" or "" for the system's
}

// Card is a scenario in the menu.
type Card struct {
	ID, Title, Summary, Length string
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
}

// Boot is what the scripts start from.
type Boot struct {
	Scenario string            `json:"scenario"`
	Layout   string            `json:"layout"`
	Set      map[string]string `json:"set"`
	Seed     uint64            `json:"seed"`
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
