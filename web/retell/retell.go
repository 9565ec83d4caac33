// Package retell tells Kafka in library words: branches, copies of book sections,
// numbered shelves, and the librarian who keeps each reading group's bookmarks.
// Captions have a retelling of their own where their scenario gives one; every
// other text is translated term by term here. What travels on the wire, and what
// people meet in logs and settings, keeps Kafka's names: see Stays.
package retell

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/highwater-kafka/highwater/web/glossary"
)

// Words names the choice in links and requests; no words are Kafka's own.
const Words = "library"

// Row is a line of the table: a word, its picture, and where the picture ends.
type Row struct {
	Kafka, Library, Limit string
	Forms                 []string // how the picture stands in a sentence, singular
}

// ID is the row's place on the concepts page.
func (r Row) ID() string {
	return "library-" + strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(r.Kafka), ",", ""), " ", "-")
}

// Terms are the library words as words to explain: each leads back to Kafka's.
func Terms() []glossary.Term {
	var out []glossary.Term
	for _, r := range Table {
		out = append(out, glossary.Term{ID: r.ID(), Name: r.Library, Kafka: r.Kafka, Linked: true, Forms: r.Forms,
			Text: "Where the picture ends: " + r.Limit, Source: "the library picture"})
	}
	return out
}

// Table is the picture as a whole.
var Table = []Row{
	{"cluster, broker", "library, branch", "A branch has the main copy of some sections and further copies of others.", []string{"library", "branch"}},
	{"topic, partition", "subject, section", "A section grows only at its end.", []string{"subject", "section"}},
	{"offset", "shelf number", "Starts at 0 in every section; the number of a committed book is never used again.", []string{"shelf number", "shelf", "shelves"}},
	{"record", "book", "Never lent: any number of readers read it in its place.", []string{"book"}},
	{"key", "author", "Picks the section by arithmetic; nobody can look up an author.", []string{"author"}},
	{"leader, follower", "main copy, other copies", "The other branches come and fetch; no courier brings them anything.", []string{"main copy", "main copies", "main", "other copy", "other copies", "list of copies"}},
	{"ISR", "copies kept up to date, on the up-to-date list", "Caught up within 30 s, not the same at every moment.", []string{"up-to-date list", "list", "kept up to date", "up to date"}},
	{"LEO", "next free shelf", "Each copy has its own.", []string{"next free shelf", "free"}},
	{"HW", "rope in front of the newest books", "Readers stop there, however many books stand behind it.", []string{"rope"}},
	{"controller", "head office", "Names the main copy; readers never pass through it.", []string{"head office"}},
	{"consumer group", "reading group", "One reader to a section; other groups notice nothing.", []string{"reading group", "reader"}},
	{"coordinator", "the group's librarian", "Sits where the notebook (__consumer_offsets) is, not where the books are, and cannot call readers.", []string{"librarian"}},
	{"committed offset", "bookmark in the notebook", "The next book to read, and only as the reader reported it.", []string{"bookmark", "notebook"}},
	{"position", "the reader's place", "Only in the reader's head: gone when the reader is.", []string{"reader's place"}},
	{"rebalance", "dealing the sections out again", "Whether all readers stop depends on the protocol.", []string{"dealing of sections", "dealings of sections"}},
	{"lag", "books from the bookmark to the rope", "A count, not a time.", []string{"books from the bookmark to the rope"}},
	{"retention", "clearing old shelves", "Whole shelves, read or not.", []string{"clearing of old shelves"}},
}

// Stays says what no picture covers.
const Stays = "These stay Kafka's in either language: requests and their fields, error codes, settings and acks, epochs and generations, batches, and whether a broker is fenced. The sentence of each event, the log and the panels stay Kafka's too: they are what you will meet in a real cluster."

// terms are the words that change, singular and plural as they stand; a form
// without capitals may begin a sentence.
var terms = map[string]string{
	"cluster": "library", "clusters": "libraries", "in the cluster": "in the library",
	"broker": "branch", "brokers": "branches", "a broker": "a branch", "broker's": "branch's",
	"topic": "subject", "topics": "subjects",
	"partition": "section", "partitions": "sections",
	"offset": "shelf number", "offsets": "shelf numbers", "at offset": "on shelf", "from offset": "from shelf",
	"record": "book", "records": "books",
	"key": "author", "keys": "authors",
	"leader": "main copy", "leaders": "main copies", "leadership": "the main copy", "leaderships": "its main copies", "new leader": "new main copy", "leader broker": "main copy's branch",
	"leads": "has the main copy of", "to lead": "to have the main copy", "may lead": "may have the main copy", "lead": "have the main copy of",
	"leads on": "keeps the main copy", "still leading": "still the main copy",
	"follower": "other copy", "followers": "other copies", "a follower": "another copy", "each follower": "each other copy", "the first follower": "the first of the other copies", "followers'": "other copies'", "as a follower": "as another copy",
	"replica": "copy", "replicas": "copies", "a replica": "a copy", "replication": "copying", "replicated": "copied", "replicate": "copy", "replicates": "copies",
	"in-sync replicas": "copies kept up to date", "in-sync replica": "copy kept up to date", "in sync": "up to date", "out of sync": "out of date",
	"the isr": "the up-to-date list", "in the isr": "on the up-to-date list", "an isr": "an up-to-date list", "isrs": "up-to-date lists",
	"log start": "first shelf", "log start offset": "first shelf", "log end offset": "next free shelf", "log end": "next free shelf", "leo": "the next free shelf",
	"high watermark": "rope", "hw": "the rope", "the hw": "the rope", "the high watermark": "the rope",
	"controller": "head office", "controllers": "nodes of head office", "active controller": "head office", "a controller": "head office", "the controllers": "the nodes of head office",
	"consumer group": "reading group", "consumer groups": "reading groups", "group": "reading group", "groups": "reading groups",
	"coordinator": "librarian", "group coordinator": "librarian", "group's coordinator": "reading group's librarian", "coordinators": "librarians",
	"consumer": "reader", "consumers": "readers", "member": "reader", "members": "readers",
	"committed offset": "bookmark", "committed offsets": "bookmarks", "position": "place", "positions": "places",
	"rebalance": "new dealing of sections", "rebalances": "new dealings of sections", "a rebalance": "a new dealing of sections",
	"retention": "the clearing of old shelves",
	"log":       "row", "logs": "rows", "replica list": "list of copies", "copies of the same bytes": "copies of the same books",
	"isr": "up-to-date list",
}

// capital are forms that Kafka writes in capitals.
var capital = map[string]string{"the isr": "the ISR", "in the isr": "in the ISR", "an isr": "an ISR", "isrs": "ISRs", "isr": "ISR", "leo": "LEO", "hw": "HW", "the hw": "the HW"}

// keep matches what is a name, or Kafka's own in any language.
const keep = `"[^"]*"|\((?:LEO|HW|ISR|the ISR)\)|\bELR \(eligible leader replicas\)|\beligible leader replicas?\b|\bpreferred leaders?\b|\(r\d+\)|__\w+(?:-\d+)?|[\w-]+(?:\.[\w-]+)+|\w+=\S+|\b[A-Z]+_[A-Z_]+\b|\b[A-Z][a-z]+[A-Z]\w*\b|` +
	`\b(?:[Ll]eader|[Pp]artition|[Qq]uorum|[Bb]roker|[Mm]ember|diverging) epochs?\b|\bmetadata log\b|\bgroup leader\b|\b[Cc]onsumer protocol\b|\brebalance protocol\b|\brecords-lag\b|\blast stable offset\b|\bLOG-END-OFFSET\b|\bkey-value\b|\bBelow min ISR\b|\bmin ISR\b|` +
	`\b[A-Za-z][a-z]*(?:-[a-z]+)*-(?:\d+|[a-z]|service)\b|\bcontrolled shutdown\b|\blog on\b`

var pattern = func() *regexp.Regexp {
	forms := make([]string, 0, len(terms))
	for f := range terms {
		forms = append(forms, f)
	}
	slices.SortFunc(forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, f := range forms {
		shown := f
		if c := capital[f]; c != "" {
			shown = c
		}
		first, rest := shown[:1], shown[1:]
		forms[i] = `\b[` + first + strings.ToUpper(first) + `]` + regexp.QuoteMeta(rest) + `(?:\b|$)`
		if strings.HasSuffix(f, "'") {
			forms[i] = strings.TrimSuffix(forms[i], `(?:\b|$)`)
		}
	}
	return regexp.MustCompile(keep + "|" + strings.Join(forms, "|"))
}()

// before are turns of phrase that would not read well word by word.
var before = []struct {
	in  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`\bLEO, the log end offset,`), `The next free shelf (LEO)`},
	{regexp.MustCompile(`\bits own log end \(LEO\)`), `its own next free shelf (LEO)`},
	{regexp.MustCompile(`\bits own high watermark \(HW\)`), `its own rope (HW)`},
	{regexp.MustCompile(`\bthe ISR (\d[\d, ]*\d|\d)`), `the copies kept up to date ($1)`},
	{regexp.MustCompile(`\bat offset (\d+)`), `on shelf $1`},
	{regexp.MustCompile(`\bat the same offsets\b`), `on shelves of the same numbers`},
	{regexp.MustCompile(`\b(group-\w+|which) rebalances again\b`), `$1 deals its sections out once more`},
	{regexp.MustCompile(`\b(group-\w+|which) rebalances\b`), `$1 deals its sections out again`},
	{regexp.MustCompile(`\band rebalance\b`), `and deal the sections out again`},
	{regexp.MustCompile(`\bconsumer (\d)`), `consumer protocol $1`},
	{regexp.MustCompile(`\ba missing follower\b`), `a missing copy`},
	{regexp.MustCompile(`\bout of the in-sync replicas\b`), `off the up-to-date list`},
	{regexp.MustCompile(`\bbehind HW\b`), `up to the rope`},
	{regexp.MustCompile(`\bHW, the high watermark,`), `the rope (HW)`},
	{regexp.MustCompile(`\bISR, the in-sync replicas: `), `Kept up to date (the ISR): `},
	{regexp.MustCompile(`: the ISR, the in-sync replicas\b`), `: the up-to-date list (ISR)`},
	{regexp.MustCompile(`\b[Tt]he log end \(LEO\)`), `the next free shelf (LEO)`},
	{regexp.MustCompile(`\bHW (?:is|goes to|stays at|stands still at|is frozen at) (\d+)`), `the rope is before shelf $1`},
	{regexp.MustCompile(`\bLEO(?: is)? (\d+)`), `the next free shelf is $1`},
	{regexp.MustCompile(`\bISR (\d)`), `up to date $1`},
	{regexp.MustCompile(`\boffsets below (\d+)`), `shelves below $1`},
	{regexp.MustCompile(`\boffset (\d+)`), `shelf $1`},
	{regexp.MustCompile(`\boffsets (\d+)`), `shelves $1`},
	{regexp.MustCompile(`\bin the log\b`), `on the shelves`},
	{regexp.MustCompile(`\bin no log\b`), `on no shelf`},
	{regexp.MustCompile(`\bbelow HW\b`), `in front of the rope`},
	{regexp.MustCompile(`\blag (\d+)`), `$1 to read`},
}

// after is what a word before asks of a word that came in.
var after = []struct {
	in  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`\b(ha(?:s|ve) the main copy) of([,.:;?!)]| (?:again|in|by|and|but|until|while|when|now|no)\b)`), `$1$2`},
	{regexp.MustCompile(`\b([Aa]) (author|other|up-to-date)`), `${1}n $2`},
	{regexp.MustCompile(`('s|s'|\b[Ii]ts|\b[Tt]heir|\bown|\b[Tt]he|\bthis) the (rope|next free shelf)`), `$1 $2`},
}

// opening is where a picture begins a sentence.
var opening = regexp.MustCompile(`[.?!] (?:the|up)\b`)

// Sentence retells a text term by term.
func Sentence(s string) string {
	initial := startsUpper(s)
	for _, b := range before {
		s = b.in.ReplaceAllString(s, b.out)
	}
	var out strings.Builder
	at := 0
	for _, m := range pattern.FindAllStringIndex(s, -1) {
		word := s[m[0]:m[1]]
		repl, ok := terms[strings.ToLower(word)]
		if !ok {
			repl = word
		} else if begins(s, m[0]) || capital[strings.ToLower(word)] == "" && startsUpper(word) {
			repl = upper(repl)
		}
		out.WriteString(s[at:m[0]] + repl)
		at = m[1]
	}
	out.WriteString(s[at:])
	s = out.String()
	for _, a := range after {
		s = a.in.ReplaceAllString(s, a.out)
	}
	s = opening.ReplaceAllStringFunc(s, func(w string) string {
		i := strings.LastIndexByte(w, ' ') + 1
		return w[:i] + upper(w[i:])
	})
	if initial {
		s = upper(s)
	}
	return s
}

// begins says whether a sentence begins at i.
func begins(s string, i int) bool {
	rest := strings.TrimRight(s[:i], " ")
	return rest == "" && startsUpper(s) || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "?")
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
