package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pick goes from the menu to a scenario and waits until it can be used.
func (b *browser) pick(id string) {
	b.t.Helper()
	b.open("/")
	b.click(fmt.Sprintf(`.menu a[href^="/s/%s"], a[href^="/s/%s"]`, id, id))
	b.ready()
	b.until("window.highwater.state().complete")
	eval[bool](b, "(window.highwater.pause(), true)")
}

// chapter presses the chapter's mark on the timeline, as a mouse does.
func (b *browser) chapter(title string) {
	b.t.Helper()
	n := eval[int](b, fmt.Sprintf("[...document.querySelectorAll('.hw-chapters button')].findIndex((x) => x.title.includes(%q)) + 1", title))
	require.Positive(b.t, n, "a chapter %q", title)
	// Chapters that stand close together cover each other's marks: the key works on what has the focus.
	eval[bool](b, fmt.Sprintf("(document.querySelector('.hw-chapters button:nth-child(%d)').focus(), true)", n))
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
	b.until(fmt.Sprintf("document.querySelector('.hw-caption-title').textContent.includes(%q)", title))
}

// shows waits until a part of the stage can be seen and says a text.
func (b *browser) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((x) => x.getBoundingClientRect().width > 0 && x.textContent.includes(%q))", selector, text))
}

func (b *browser) leads(broker, part string) bool {
	b.t.Helper()
	return eval[bool](b, fmt.Sprintf(`document.querySelector('.replica[data-node="%s"][data-part="%s"]').classList.contains('is-leader')`, broker, part))
}

// cells are the records that a replica's window shows, a dot for an empty slot.
func (b *browser) cells(broker, part string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.replica[data-node="%s"][data-part="%s"] .cell-tag')].map((x) => x.textContent || '.').join(' ')`, broker, part))
}

func TestABrokerFailsAndALeaderIsElected(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("leader-failover")
	assert.True(t, b.leads("b1", "orders-0"))
	b.shows(`.broker[data-broker="b1"] .session`, "s")

	// Playing stops at the question, and the answer is held against this run.
	b.chapter("Three leaders, one controller")
	for range 3 {
		b.press(">") // 8 times as fast
	}
	b.press(" ")
	b.until("!window.highwater.state().playing && document.querySelector('.hw-predict').checkVisibility()")
	assert.Contains(t, b.text(".hw-predict-question"), "Which writes have to wait now?")
	assert.Equal(t, "Broker 1 dies", b.text(".hw-caption-title"))
	b.click(".hw-predict-options button:nth-child(2)")
	b.shows(".hw-predict", "Right.")
	b.shows(`.broker[data-broker="b1"]`, "crashed")
	b.shows(`.broker[data-broker="b1"] .session`, "s")
	b.click(".hw-predict .hw-tools button:last-child")
	b.until("document.querySelector('.hw-caption-title').textContent === 'The living wait as well'")
	b.shows(`.replica[data-node="b2"][data-part="orders-1"]`, "HW 4")
	b.shows(`.replica[data-node="b2"][data-part="orders-1"]`, "LEO 5")

	b.chapter("One batch decides")
	b.shows(`.broker[data-broker="b1"] .fence`, "fenced")
	b.shows(`.lane-words[data-part="orders-0"]`, "headroom 0 · leader epoch 1")
	assert.False(t, b.leads("b2", "orders-0"), "broker 2 has not heard of it yet")
	b.chapter("Brokers fetch the decision")
	assert.True(t, b.leads("b2", "orders-0"))
	b.chapter("Leadership goes home")
	b.shows(`.lane-words[data-part="orders-0"]`, "leader epoch 2")
	b.shows(`.lane-words[data-part="orders-0"]`, "ISR 3 of 3")

	// And back: what was is again.
	b.chapter("Three leaders, one controller")
	assert.True(t, b.leads("b1", "orders-0"))
	b.shows(`.lane-words[data-part="orders-0"]`, "leader epoch 0")
	b.quiet()
}

func TestWhoTakesOver(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("who-takes-over")
	b.chapter("Broker 1 is gone")
	assert.True(t, strings.HasPrefix(b.cells("b1", "orders-0"), "r1 r2 r3 r4 ."), b.cells("b1", "orders-0"))
	assert.True(t, strings.HasPrefix(b.cells("b2", "orders-0"), "r1 r2 r3 ."))
	b.chapter("The controller elects broker 2")
	b.shows(`.lane-words[data-part="orders-0"]`, "ISR 2 of 3")
	b.chapter("Clients find out themselves")
	assert.True(t, b.leads("b2", "orders-0"))
	b.chapter("The old tail is cut")
	assert.Equal(t, 1, strings.Count(b.cells("b2", "orders-0"), "r4"), "r4 was sent again, once")
	assert.True(t, b.leads("b2", "orders-0"))
	b.quiet()
}

func TestTheSameOffsetHoldsAnotherRecord(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("same-crash-acks-1")
	b.chapter("Same offset, another record")
	old := strings.Fields(b.cells("b1", "orders-0"))
	fresh := strings.Fields(b.cells("b2", "orders-0"))
	assert.Equal(t, "r4", old[3], "on the disk of the dead broker")
	assert.Equal(t, "r5", fresh[3], "on the new leader, at the same offset")
	b.chapter("The acknowledged record goes")
	assert.NotContains(t, b.cells("b1", "orders-0"), "r4")
	eval[bool](b, "(window.highwater.seek(1e9), true)")
	assert.Equal(t, "r5", strings.Fields(b.cells("b1", "orders-0"))[3])
	b.quiet()
}

func TestControllersGoAndWritesGoOn(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.pick("controllers-gone")
	active := func(c string) bool {
		return eval[bool](b, fmt.Sprintf(`document.querySelector('.controller[data-node="%s"]').classList.contains('is-leader')`, c))
	}
	assert.True(t, active("c1"))
	b.chapter("The active one dies")
	b.shows(`.controller[data-node="c1"]`, "crashed")
	b.shows(`.broker[data-broker="b1"]`, "Broker 1")
	assert.False(t, eval[bool](b, `[...document.querySelectorAll('.session')].some((x) => x.getBoundingClientRect().width > 0)`), "nobody counts heartbeats")
	b.chapter("The voters elect")
	assert.True(t, active("c3"))
	b.shows(`.controller[data-node="c3"]`, "quorum epoch 3")
	assert.True(t, b.leads("b1", "orders-0"), "no partition moved")
	b.chapter("Now a broker dies")
	for _, c := range []string{"c2", "c3"} {
		b.shows(fmt.Sprintf(`.controller[data-node="%s"]`, c), "crashed")
	}
	b.chapter("A majority, and a fresh clock")
	b.shows(`.broker[data-broker="b1"] .session`, "9 s")
	b.chapter("Only then")
	b.shows(`.broker[data-broker="b1"] .fence`, "fenced")
	b.shows(`.lane-words[data-part="orders-0"]`, "ISR 2 of 3")
	b.quiet()
}
