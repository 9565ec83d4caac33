package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// owners are the strip of a group: who has each partition now.
func (b *browser) owners(group string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.group[data-node="%s"] .strip text.c:not(.m)')].map((x) => x.textContent).join(' ')`, group))
}

// row is a partition's line in the panel of lags.
func (b *browser) row(part string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.hw-lag tr')].filter((x) => x.textContent.startsWith(%q)).map((x) => x.textContent + (x.classList.contains('unread') ? ' unread' : '')).join(' | ')`, part))
}

func TestAGroupRebalances(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("group-rebalance")
	assert.Equal(t, "a1 a2 a3", b.owners("group-a"))
	assert.Equal(t, "m1 m1 m2", b.owners("group-b"))
	b.chapter("A third member asks")
	b.shows(".hw-predict", "Which partitions stop being read meanwhile?")
	b.click(".hw-predict-options button:nth-child(1)")
	b.shows(".hw-predict", "Not this time. In this run: All of group-b's.")
	b.chapter("All in: the next generation")
	assert.Equal(t, "– – –", b.owners("group-b"), "nobody reads")
	assert.Equal(t, "a1 a2 a3", b.owners("group-a"), "the other group notices nothing")
	b.chapter("A fourth member for group-a")
	assert.Equal(t, "m1 m2 m3", b.owners("group-b"))
	b.shows(`.group[data-node="group-b"]`, "generation 2")
	eval[bool](b, "(window.highwater.seek(1e9), true)")
	assert.Equal(t, "a1 a2 a3", b.owners("group-a"))
	b.shows(`.member[data-node="a4"]`, "stands by")
	b.quiet()
}

func TestACommitAndACrash(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("offset-commit")
	b.chapter("A commit is a write")
	b.shows(".hw-caption-text", "the next record to read, not the last one read")
	b.chapter("Both die at one record")
	b.shows(`.hw-caption-text`, "4 in group-a and 8 in group-b")
	b.click(".hw-predict-options button:nth-child(2)")
	b.shows(".hw-predict", "Right.")
	b.press("g")
	b.until("document.querySelectorAll('.hw-lag tr').length > 1")
	b.chapter("Again, and never")
	rows := b.row("orders-0")
	assert.Contains(t, rows, "a2")
	assert.Contains(t, rows, "m2")
	b.quiet()
}

func TestThreeProtocolsSideBySide(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("join-three-protocols")
	b.chapter("Consumer protocol: no barrier")
	assert.Equal(t, 3, strings.Count(b.owners("eager"), "–"), "the eager group waits for a slow member: %s", b.owners("eager"))
	assert.NotContains(t, b.owners("cooperative"), "–")
	b.chapter("The slow member polls")
	assert.Contains(t, b.owners("consumer"), "s3")
	b.chapter("The bill")
	assert.NotContains(t, b.owners("eager")+b.owners("cooperative")+b.owners("consumer"), "–")
	b.quiet()
}

func TestOneLaneOrTwelve(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("one-or-twelve")
	b.click(`[data-cmd="lag"]`)
	b.until("document.querySelectorAll('.hw-lag').length === 4")
	b.chapter("The fullest lane decides")
	sums := eval[[]string](b, "[...document.querySelectorAll('.hw-lag caption span')].map((x) => x.textContent)")
	assert.Contains(t, sums[2], "200 handed out")
	width := func(i int) float64 {
		return eval[float64](b, fmt.Sprintf("document.querySelectorAll('.hw-lag-bar.is-sum .done')[%d].getBoundingClientRect().width", i))
	}
	assert.Greater(t, width(2), 5*width(0), "twelve lanes are far ahead of one")
	assert.Less(t, width(2), 12*width(0), "and not twelve times")
	b.chapter("The thirteenth reader")
	b.shows(`.member[data-node="w13"]`, "w13")
	b.quiet()
}

func TestTheTesterMissesWhatIsElsewhere(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("tester-on-partition-0")
	b.press("g")
	b.chapter("Twelve partitions, the same keys")
	b.shows(".hw-predict", "When does it get it?")
	b.press("q") // no questions now
	b.until("!document.querySelector('.hw-predict').checkVisibility() || document.querySelector('.hw-predict').hidden")
	b.chapter("Arithmetic, not load")
	assert.Contains(t, b.row("orders-7"), "unread")
	assert.Contains(t, b.row("orders-0"), "stage-test")
	b.chapter("Fix two: assign all")
	assert.Contains(t, b.row("orders-7"), "fix-2")
	b.quiet()
}

func TestTheCoordinatorComesBackWithThreeCopies(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("coordinator-crash")
	b.chapter("Broker 2 dies")
	b.shows(`.broker[data-broker="b2"]`, "crashed")
	b.chapter("Elected, then loaded")
	b.shows(`.hw-clock`, "0:1") // within seconds of the fence
	b.chapter("The same generation")
	b.shows(`.group[data-node="group-a"]`, "coordinator: broker 3")
	b.chapter("Broker 2 returns")
	b.shows(`.hw-clock`, "0:3")
	b.quiet()
}
