package catalog_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

// kept are names and Kafka's own words, which no picture covers.
var kept = regexp.MustCompile(`"[^"]*"|\((?:LEO|HW|ISR|the ISR|ISR [\d, ]+)\)|\bELR\b[^.:;]*|eligible leader replicas?|preferred leaders?|[\w-]+(?:\.[\w-]+)+|\w+=\S+|\b[A-Z]+_[A-Z_]+\b|\b[A-Z][a-z]+[A-Z]\w*\b|(?:[Ll]eader|[Pp]artition|[Qq]uorum|[Bb]roker|[Mm]ember|diverging) epochs?|metadata log|group leader|(?:[a-z]+-)+(?:\d+|[a-z]|service)\b|__\w+(?:-\d+)?|in Kafka's words[^.:;]*|[Cc]onsumer protocol|rebalance protocol|records-lag|last stable offset|LOG-END-OFFSET|\bmin ISR\b`)

var kafkas = regexp.MustCompile(`(?i)\b(?:brokers?|topics?|partitions?|offsets?|records?|leaders?|followers?|replicas?|isr|leo|hw|log end|high watermark|in[- ]sync|consumers?|coordinators?|members?|controllers?)\b`)

func TestEveryCaptionReadsInLibraryWords(t *testing.T) {
	c := catalog.New("")
	clumsy := regexp.MustCompile(`(?i)'s the (?:rope|next)|\b[Aa] (?:other|author|up)|\bnew dealings? of sections (?:protocol|again)|\b(?:and|which) new dealing|\ban? the |\bthe the |\bits the |\bof (?:and|in|,)|\bof\.`)
	for _, sc := range scenarios.Builtin() {
		t.Run(sc.ID, func(t *testing.T) {
			library, problem := c.Open(t.Context(), web.OpenRequest{Scenario: sc.ID, Words: "library"})
			require.Nil(t, problem)
			check := func(id, s string) {
				rest := kept.ReplaceAllString(s, "·")
				assert.Empty(t, kafkas.FindAllString(rest, -1), "%s: %s", id, s)
				assert.NotRegexp(t, clumsy, s, id)
			}
			check("summary", library.Summary)
			for _, ch := range library.Chapters {
				check(ch.ID, ch.Title)
				check(ch.ID, ch.Say)
				if ch.Ask == nil {
					continue
				}
				check(ch.ID, ch.Ask.Question)
				check(ch.ID, ch.Ask.Because)
				for _, o := range ch.Ask.Options {
					check(ch.ID, o)
				}
			}
		})
	}
}

func TestOnlyTheTellingIsAnother(t *testing.T) {
	c := catalog.New("")
	kafka, problem := c.Open(t.Context(), web.OpenRequest{Scenario: "below-min-isr"})
	require.Nil(t, problem)
	library, problem := c.Open(t.Context(), web.OpenRequest{Scenario: "below-min-isr", Words: "library"})
	require.Nil(t, problem)
	assert.True(t, text(t, kafka) == text(t, library), "the journal is the same")
	require.Equal(t, len(kafka.Chapters), len(library.Chapters))
	for i := range kafka.Chapters {
		k, l := kafka.Chapters[i], library.Chapters[i]
		assert.Equal(t, k.N, l.N)
		assert.NotEqual(t, k.Say, l.Say, k.ID)
		if k.Ask != nil {
			assert.Equal(t, k.Ask.Answer, l.Ask.Answer, k.ID)
			assert.Len(t, l.Ask.Options, len(k.Ask.Options), k.ID)
		}
	}
}

// byHand are the scenarios that everybody sees first: word by word is not good
// enough for them.
var byHand = []string{"producer-write", "group-rebalance", "leader-failover", "isr-deep-dive", "offset-commit"}

func TestTheFirstLessonsAreRetoldByHand(t *testing.T) {
	for _, id := range byHand {
		sc := scenarios.Lookup(id)
		require.NotNil(t, sc, id)
		for _, ch := range sc.Chapters {
			if assert.NotNil(t, ch.Told, "%s, chapter %s has no library words", sc.ID, ch.ID) {
				assert.NotNil(t, ch.Told.Say, "%s, chapter %s", sc.ID, ch.ID)
			}
		}
	}
}

func TestTheStageIsRetoldInEveryWidth(t *testing.T) {
	s := server()
	for _, layout := range []string{"wide", "medium", "narrow", "clip"} {
		svg := get(t, s, "/still/isr-deep-dive.svg?words=library&chapter=cut-off&layout="+layout)
		for _, word := range []string{">Branch 1<", ">main<", ">rope 1<", ">free 3<", ">copy<"} {
			assert.Contains(t, svg, word, layout)
		}
		for _, word := range []string{">Broker 1<", ">LEO 3<", ">ISR 1,2,3<", `chip-text c" x="58" y="18">leader<`} {
			assert.NotContains(t, svg, word, layout)
		}
	}
	page := get(t, s, "/s/isr-deep-dive?words=library&seed=7")
	assert.Contains(t, page, `href="?seed=7&amp;words=kafka"`)
	assert.Contains(t, page, "Where the picture ends")
	assert.Contains(t, page, `"words":"library"`)
	assert.True(t, strings.Contains(get(t, s, "/s/isr-deep-dive"), `href="?words=library"`))
}

var labels = regexp.MustCompile(`<(?:text|tspan)\b([^>]*)>([^<]+)</`)

// TestNoLabelOfTheStageIsForgotten looks at the first, middle and last chapter of
// every scenario; what a controller shows of its quorum, and requests, stay Kafka's.
func TestNoLabelOfTheStageIsForgotten(t *testing.T) {
	s := server()
	quorum := regexp.MustCompile(`data-text="(?:v/)?c\d+/`)
	seen := map[string]bool{}
	for _, sc := range scenarios.Builtin() {
		n := len(sc.Chapters)
		for _, ch := range []scenarios.Chapter{sc.Chapters[0], sc.Chapters[n/2], sc.Chapters[n-1]} {
			for _, m := range labels.FindAllStringSubmatch(get(t, s, "/still/"+sc.ID+".svg?words=library&chapter="+ch.ID), -1) {
				word := kept.ReplaceAllString(m[2], "·")
				if quorum.MatchString(m[1]) || seen[word] {
					continue
				}
				seen[word] = true
				assert.Empty(t, kafkas.FindAllString(word, -1), "%s, chapter %s: %s", sc.ID, ch.ID, m[0])
			}
		}
	}
	assert.Greater(t, len(seen), 40)
}

func TestNoOtherWords(t *testing.T) {
	_, problem := catalog.New("").Open(t.Context(), web.OpenRequest{Scenario: "producer-write", Words: "latin"})
	require.NotNil(t, problem)
	assert.Equal(t, web.BadRequest, problem.Code)
	assert.Contains(t, problem.Message, "library")
}
