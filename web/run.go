// Package web serves Highwater: the menu, the player, stills, and the stream of
// a run over a WebSocket. It computes nothing itself: a Library hands it runs,
// and everything that a page shows is in a Run or is drawn from one.
package web

import (
	"context"
	"encoding/json"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// Library knows the scenarios and runs them. It is used from many goroutines.
type Library interface {
	// Menu lists the scenarios that the server shows, in their order.
	Menu() []Card
	// Open runs a scenario. The run is immutable.
	Open(context.Context, OpenRequest) (*Run, *Problem)
	// Version changes with the scenarios. It is asked for at each request, so
	// that a file that was edited is run again; "" where they never change.
	Version() string
	// Problems are what is wrong with files of the user's own, for people.
	Problems() []string
}

// Card is a scenario in the menu.
type Card struct {
	ID, Title, Summary string
	Length             string   // "6 chapters, 1:20"
	Lesson             int      // place among the first lessons, 0 for none
	Track, Level       string   // section of the menu, for whom
	Explain            []string // what people will be able to explain afterwards
	Next               string   // id of the scenario to see after this one
	Chapters           []string // their titles, for the search
	Still              int      // the event that its picture shows, 0 for the last of the boot
	Local              bool     // a user's own file: only for pages of the same origin
	Hidden             bool     // has a page, and no place in the menu
}

// OpenRequest names a run: a scenario or the text of one, and what differs.
type OpenRequest struct {
	Scenario string            `json:"scenario,omitempty"`
	Text     string            `json:"text,omitempty"`
	Set      map[string]string `json:"set,omitempty"`
	Actions  json.RawMessage   `json:"actions,omitempty"`
	Seed     uint64            `json:"seed,omitempty"`  // 0: the scenario's own
	Words    string            `json:"words,omitempty"` // "" for Kafka's, "library" for those of the retelling
}

// Problem is why there is no run, for people.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

func (p *Problem) Error() string { return p.Message }

// The codes of problems that pages tell apart.
const (
	UnknownScenario = "unknown-scenario"
	BadRequest      = "bad-request"
	Forbidden       = "forbidden"
	TooBusy         = "too-busy"
	TooLong         = "too-long"
	BadScenario     = "bad-scenario"
)

// Run is a finished run with all that the page says about it.
type Run struct {
	ID, Title, Summary string
	Seed               uint64
	Words              string // as in the request
	Journal            *journal.Journal
	Index              *journal.Index // of Journal; made where it is nil
	Scenario           *cluster.Scenario
	Rows               []string // partitions of the stage, nil for all that are not internal
	Cells              int      // slots of a log window, 0 for the usual
	Chapters           []Chapter
	Story              []Break
	Folds              []Fold
	Countdowns         []Countdown
	View               map[int][]journal.Change // derived "v/" keys that change with an event
	Say                func(*journal.Event) string
	Pill               func(*journal.Event) *Pill
	Verdict            Verdict
	End                journal.Time
}

// Chapter is a chapter, at its event.
type Chapter struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	N     int      `json:"n"`
	Say   string   `json:"say"`
	Focus []string `json:"focus,omitempty"`
	Ask   *Ask     `json:"ask,omitempty"`
	Told  *Told    `json:"-"` // in library words, nil where the scenario has none
}

// Told is a chapter as its scenario retells it; "" is translated word by word.
type Told struct {
	Title, Say, Question, Because string
	Options                       []string
}

// Ask is a question to answer before going on.
type Ask struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Answer   int      `json:"answer"`
	Because  string   `json:"because"`
}

// Countdown is a time-out that is started anew again and again: from, and due; a
// due of 0 stops it.
type Countdown struct {
	Key    string            `json:"key"`
	Starts [][2]journal.Time `json:"starts"`
}

// Break is a point of the story clock: an event, its time, and seconds of story.
type Break struct {
	N int
	T journal.Time
	S float64
}

// MarshalJSON writes [n, t, s].
func (b Break) MarshalJSON() ([]byte, error) { return json.Marshal([3]any{b.N, b.T, b.S}) }

// Fold is a stretch of story in which long idle time passes.
type Fold struct {
	S0    float64 `json:"s0"`
	S1    float64 `json:"s1"`
	Label string  `json:"label"`
}

// Pill is what a message on its way shows.
type Pill struct {
	Text  string   `json:"text"`
	Lane  string   `json:"lane"`
	More  int      `json:"more"`
	Tags  []string `json:"tags,omitempty"`
	Error bool     `json:"error,omitempty"` // an answer that refuses
}

// Verdict is the outcome of the checks.
type Verdict struct {
	OK         bool    `json:"ok"`
	Expect     []Check `json:"expect"`
	Invariants []Check `json:"invariants"`
}

// Check is one expectation (with Say) or invariant (with Name).
type Check struct {
	Say  string `json:"say,omitempty"`
	Name string `json:"name,omitempty"`
	OK   bool   `json:"ok"`
	N    int    `json:"n"`
}
