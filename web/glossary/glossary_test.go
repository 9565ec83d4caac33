package glossary_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web/catalog"
	"github.com/highwater-kafka/highwater/web/glossary"
)

func TestEveryTermIsWhole(t *testing.T) {
	ids, forms := map[string]bool{}, map[string]string{}
	for _, term := range glossary.All() {
		assert.False(t, ids[term.ID], "%s is there twice", term.ID)
		ids[term.ID] = true
		assert.Regexp(t, `^[a-z0-9_.-]+$`, term.ID)
		assert.NotEmpty(t, term.Name)
		assert.Regexp(t, `[.?]$`, term.Text, term.ID)
		assert.NotEmpty(t, term.Source, term.ID)
		assert.True(t, term.Linked, "%s is on the concepts page", term.ID)
		assert.Less(t, len(term.Text), 290, "%s fits a tooltip", term.ID)
		require.NotEmpty(t, term.Forms, term.ID)
		for _, f := range term.Forms {
			assert.Empty(t, forms[f], "%q means %s and %s", f, forms[f], term.ID)
			forms[f] = term.ID
		}
	}
	assert.Len(t, glossary.Concepts(), 20)
	for _, term := range glossary.Nouns() {
		assert.NotEmpty(t, term.Kafka, "%s has a name in Kafka", term.ID)
	}
}

// told is everything that the shipped scenarios say: captions, questions, what
// checks say, and each sentence, pill and label once.
var told = sync.OnceValues(func() (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			b.WriteString(s + "\n")
		}
	}
	for _, sc := range scenarios.Builtin() {
		r, err := catalog.Build(sc)
		if err != nil {
			return "", err
		}
		add(r.Summary)
		for _, c := range r.Chapters {
			add(c.Title)
			add(c.Say)
			if c.Ask != nil {
				add(c.Ask.Question)
				add(c.Ask.Because)
				for _, o := range c.Ask.Options {
					add(o)
				}
			}
		}
		for _, c := range r.Verdict.Expect {
			add(c.Say)
		}
		for i := range r.Journal.Events {
			e := &r.Journal.Events[i]
			add(r.Say(e))
			if pill := r.Pill(e); pill != nil {
				add(pill.Text)
			}
			for _, ch := range r.View[e.N] {
				if label, ok := ch.Val.(string); ok {
					add(label)
				}
			}
		}
	}
	return b.String(), nil
})

// signs are how Kafka's words look: acronyms and error codes, names in camel
// case, keys with dots, and a capital within a sentence.
var signs = regexp.MustCompile(`\b[A-Z]{2,}[A-Z_]*\b|\b[A-Z][a-z]+[A-Z]\w*\b|\b[a-z]+(?:\.[a-z]+){1,6}\b|[a-z,;] [A-Z][a-z]+\b`)

// technical are words that look like any other and mean something of their own.
var technical = regexp.MustCompile(`(?i)\b(?:rebalanc|assignor|coordinat|generation|epoch|fenc(?:e|ing)|unfence|quorum|idempoten|replica|partition|offset|watermark|leader|follower|in[- ]sync|headroom|purgatory|batch|acks|heartbeat|snapshot|transaction|segment|retention|compact|tombstone|checkpoint|murmur|sticky|cooperative|eager|static|unclean|preferred leader|truncat|diverg|reassign|offline|metadata|controller|broker|consumer|producer|topic|group|member|lag\b|commit|position|session|observer|voter|candidate|prospective|callback|log end\b|log start|auto-commit|leaderless)\w*`)

// plain are words that look like Kafka's and are not.
var plain = []string{"TCP", "UUID", "RAID", "MB"}

// names are capitals within a sentence that name nodes, or begin one after a quotation.
var names = regexp.MustCompile(`^. (?:Broker|Controller|Consumer|Producer|Record|Java|Here|From|It|The|Group|Both)$`)

// forms matches every form, as static/js/terms.js does.
func forms() *regexp.Regexp {
	var all []string
	for _, term := range glossary.All() {
		all = append(all, term.Forms...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for i, f := range all {
		q := regexp.QuoteMeta(f)
		if f == strings.ToLower(f) && f[0] >= 'a' && f[0] <= 'z' {
			q = "[" + f[:1] + strings.ToUpper(f[:1]) + "]" + regexp.QuoteMeta(f[1:])
		}
		end := ""
		if f[len(f)-1] != ')' {
			end = `(?:e?s)?\b`
		}
		all[i] = `\b` + q + end
		if f[0] == '_' {
			all[i] = q + end
		}
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}

// quoted are the ids, values and settings that a scenario chose itself, and
// records of the metadata log, whose fields are named where they stand.
var quoted = regexp.MustCompile(`"[^"]*"|\w+=\S+|\b\w+(?:Record|Exception)\b[^.;]*|\b[a-z]+(?:-[a-z0-9]+)+\b|\b(?:c|b)?[A-Z]?\d+\b`)

var digits = regexp.MustCompile(`\d+`)

func TestEveryWordOfKafkaIsDefined(t *testing.T) {
	text, err := told()
	require.NoError(t, err)
	known := forms()
	missing := map[string]bool{}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		shape := digits.ReplaceAllString(line, "0")
		if seen[shape] {
			continue
		}
		seen[shape] = true
		rest := quoted.ReplaceAllString(known.ReplaceAllString(line, "·"), "·")
		found := technical.FindAllString(rest, -1)
		for _, w := range signs.FindAllString(rest, -1) {
			if !names.MatchString(w) {
				found = append(found, w)
			}
		}
		for _, w := range found {
			if !slices.Contains(plain, w) && !missing[w] {
				missing[w] = true
				t.Errorf("%q has no definition in web/glossary; it stands in: %s", w, line)
			}
		}
	}
}

func TestNoTermIsDead(t *testing.T) {
	text, err := told()
	require.NoError(t, err)
	// The phrase catalogue and the pages speak too, also of what no scenario shows yet.
	var b strings.Builder
	b.WriteString(text)
	for _, pattern := range []string{"../../engine/words/*.go", "../../engine/story/*.go", "../stage/*.templ", "../page/*.templ"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			b.Write(src)
		}
	}
	found := map[string]bool{}
	for _, term := range glossary.All() {
		for _, other := range glossary.In(term.Text) {
			found[other.ID] = found[other.ID] || other.ID != term.ID
		}
	}
	for _, term := range glossary.In(b.String()) {
		found[term.ID] = true
	}
	for _, term := range glossary.Nouns() {
		assert.True(t, found[term.ID], "nobody says %v", term.Forms)
	}
}

// TestEveryErrorHasAText: a run may answer with any of them.
func TestEveryErrorHasAText(t *testing.T) {
	ids := map[string]bool{}
	for _, term := range glossary.All() {
		ids[term.ID] = true
	}
	for code := range kafka.ErrorCode(200) {
		if name := code.String(); code != kafka.None && !strings.HasPrefix(name, "UNKNOWN_SERVER_ERROR") {
			assert.True(t, ids["error-"+strings.ToLower(name)], "%s has no text in errorTexts of protocol.go", name)
		}
	}
}

func TestInFindsWhatATextSays(t *testing.T) {
	var names []string
	for _, term := range glossary.In("Followers are in sync for replica.lag.time.max.ms; then AlterPartition, or NOT_CONTROLLER.") {
		names = append(names, term.ID)
	}
	assert.Equal(t, []string{"partition", "replica", "follower", "isr", "controller", "lag", "api-alterpartition", "error-not_controller", "replica.lag.time.max.ms"}, names)
}
