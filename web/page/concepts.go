package page

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/highwater-kafka/highwater/web/concepts"
	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/retell"
)

// Concepts is the page of concepts and words.
type Concepts struct {
	Frame
	Concepts []concepts.Concept
	Library  []retell.Row // the library picture
	Stays    string       // what it does not cover
	Words    []WordList
	Terms    []glossary.Term
}

// WordList is a part of the glossary below the concepts.
type WordList struct {
	ID, Title, Note string
	Terms           []glossary.Term
}

// clipStill is the address of a clip's first picture.
func clipStill(f Frame, c *concepts.Clip, layout string) string {
	q := url.Values{"chapter": {c.Chapter}, "layout": {layout}, "show": {strings.Join(c.Show, ",")}}
	if f.Theme != "" {
		q.Set("theme", f.Theme)
	}
	return "/still/" + c.Scenario + ".svg?" + q.Encode()
}

// size reserves the room of a picture.
func size(s concepts.Size) templ.OrderedAttributes {
	if s.W == 0 {
		return nil
	}
	return templ.OrderedAttributes{{Key: "width", Value: number(s.W)}, {Key: "height", Value: number(s.H)}}
}

// named is a part's name where its label is short.
func named(p concepts.Part) templ.OrderedAttributes {
	if p.Name == "" {
		return nil
	}
	return templ.OrderedAttributes{{Key: "aria-label", Value: p.Name}}
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) }

// number is a coordinate.
func number(n int) string { return strconv.Itoa(n) }

func move(x, y int) string { return "translate(" + number(x) + " " + number(y) + ")" }

// baseline is the y of a part's label.
func baseline(p concepts.Part) int {
	if p.Note != "" {
		return 20
	}
	return p.H/2 + 5
}

// The measures of a drawn log.
const (
	drawnPitch = 40
	drawnLeft  = 34
)

func drawnX(i int) int { return drawnLeft + i*drawnPitch }

// drawnWidth is the same for all frames of a drawing.
func drawnWidth(frames []concepts.Frame) int {
	n := 0
	for _, f := range frames {
		n = max(n, len(f.Cells))
	}
	return drawnX(n) + drawnLeft
}

func drawnClass(cell string) string {
	if cell == "-" {
		return "gone"
	}
	return "cell"
}

func drawnWord(cell string) string {
	if cell == "-" {
		return ""
	}
	return cell
}
