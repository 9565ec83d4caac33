// Package stage draws the cluster as SVG. All geometry is decided here, in Go:
// a Spec says what there is to draw, Plan places it, and the templ components
// draw the plan with the values of one moment. The page's scripts later rewrite
// the same elements through their data attributes; they never move anything
// that Go has not given a place.
package stage

import (
	"github.com/highwater-kafka/highwater/engine/journal"
)

// Layout is one of the three widths in which the stage is drawn; each is drawn
// at its lower bound and only scaled up, so text never gets under 11 px.
type Layout string

// The layouts of the player, and that of a small stage within a text.
const (
	Wide   Layout = "wide"
	Medium Layout = "medium"
	Narrow Layout = "narrow"
	Clip   Layout = "clip" // three brokers with their logs and clients above and below: a moment within a text
)

// ParseLayout reads a layout's name; anything unknown is wide.
func ParseLayout(s string) Layout {
	switch Layout(s) {
	case Medium, Narrow, Clip:
		return Layout(s)
	}
	return Wide
}

// Width is the width in which a layout is drawn, in px.
func (l Layout) Width() int {
	switch l {
	case Medium:
		return 640
	case Narrow:
		return 320
	case Clip:
		return 760
	}
	return 1200
}

// Spec says what there is to draw.
type Spec struct {
	Layout      Layout
	Title       string
	Controllers []string
	Brokers     []string
	Rows        []Row
	Cells       int // slots of a log window, 0 as 8
	Producers   []Producer
	Groups      []Group
	GroupLane   bool        // members speak with a coordinator
	Cuts        [][2]string // pairs of nodes whose link is not sound at some time
	Open        []string    // cards drawn in full where cards are compact, "orders-0/b2"
	Standalone  string      // style sheet to carry along, for a picture outside a page
	Theme       string      // "light", "dark" or "", for a picture outside a page
}

// Row is a partition and the brokers that ever hold a replica of it.
type Row struct {
	Part     string
	Replicas []string
}

// Producer is a producing client; its place in the list is its colour.
type Producer struct {
	ID   string
	Note string // what its settings say, "acks=all · idempotent"
}

// Group is a group and its members.
type Group struct {
	ID      string
	Members []string
	Parts   []string // whose owners are shown, before and after the last change
}

// State is the values of one moment.
type State interface {
	Get(key string) any
	Log(key string) journal.Log
	Producer(record string) int // colour of a record, −1 without producer
}
