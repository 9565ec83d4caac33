package retell

import (
	"html"
	"regexp"
	"strings"
)

// labels are the short words of the stage, where there is less room than in a
// sentence. What is not among them is retold as a sentence is.
var labels = map[string]string{
	"leader": "main", "follower": "copy", "Controller lane": "Head office lane", "Group lane": "Reading groups",
	"in sync": "up to date", "out of sync": "out of date",
}

// prefixes stand before a value.
var prefixes = map[string]string{"HW ": "rope ", "LEO ": "free ", "ISR ": "list "}

var short = []struct {
	in  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`^ISR `), "list "},
	{regexp.MustCompile(`^HW (\d)`), "rope $1"},
	{regexp.MustCompile(`^LEO (\d)`), "free $1"},
	{regexp.MustCompile(`\bELR `), "ELR "},
}

// Label retells a label of the stage.
func Label(s string) string {
	if l, ok := labels[s]; ok {
		return l
	}
	for _, x := range short {
		if x.in.MatchString(s) {
			return x.in.ReplaceAllString(s, x.out)
		}
	}
	return Sentence(s)
}

var (
	element = regexp.MustCompile(`<(text|tspan)\b([^>]*)>([^<]*)</`)
	prefix  = regexp.MustCompile(`data-prefix="([^"]*)"`)
	named   = regexp.MustCompile(`aria-label="([^"]*)"`)
	role    = regexp.MustCompile(`data-text="[^"/]+/[^"/]+/role"`) // of a replica
	quorum  = regexp.MustCompile(`data-text="(?:v/)?c\d+/`)
)

// Quorum says whether a derived value is about a controller among the others.
func Quorum(key string) bool { return controller.MatchString(key) }

var controller = regexp.MustCompile(`^v/c\d+/`)

// SVG retells the labels of a drawn stage. Values that scripts will write come
// with the words to write instead of them (data-say). What a controller shows of
// its quorum stays Kafka's.
func SVG(svg string) string {
	svg = element.ReplaceAllStringFunc(svg, func(e string) string {
		m := element.FindStringSubmatch(e)
		tag, attrs, text := m[1], m[2], m[3]
		if quorum.MatchString(attrs) {
			return e
		}
		attrs = prefix.ReplaceAllStringFunc(attrs, func(a string) string {
			p := prefix.FindStringSubmatch(a)[1]
			if r, ok := prefixes[p]; ok {
				return `data-prefix="` + r + `"`
			}
			return a
		})
		if role.MatchString(attrs) {
			attrs += ` data-say="leader=main;follower=copy"`
		}
		return "<" + tag + attrs + ">" + html.EscapeString(Label(html.UnescapeString(text))) + "</"
	})
	// The scenario keeps its name, which the picture as a whole has.
	head, rest, _ := strings.Cut(svg, ">")
	return head + ">" + named.ReplaceAllStringFunc(rest, func(a string) string {
		return `aria-label="` + html.EscapeString(Sentence(html.UnescapeString(named.FindStringSubmatch(a)[1]))) + `"`
	})
}
