package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheClusterAsTextFollowsTheCursor(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	crash := b.firstOf("e.kind === 'node.crash'")
	b.keys("x")
	b.until("document.querySelectorAll('.hw-panel-table table').length >= 4")
	cell := func(row string, k int) string {
		return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('.hw-panel-table tr')].find((r) => r.cells[0].textContent === %q).cells[%d].textContent", row, k))
	}
	assert.Equal(t, "running", cell("b1", 1))
	assert.Equal(t, "b1", cell("orders-0", 1), "the leader")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", crash))
	assert.Equal(t, "crashed", cell("b1", 1))
	b.keys(kb.End)
	b.until("[...document.querySelectorAll('.hw-panel-table tr')].find((r) => r.cells[0].textContent === 'b1').cells[1].textContent === 'running'")
	eval[bool](b, "(window.highwater.seek(0), true)")
	assert.Equal(t, "running", cell("b1", 1), "backwards too")
	b.quiet()
}

func TestAChapterAsksBeforeItShows(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	eval[bool](b, "(() => { window.highwater.play(); for (let i = 0; i < 3000 && window.highwater.state().playing; i++) window.highwater.tick(100); return true; })()")
	b.until("document.querySelector('.hw-predict').checkVisibility()")
	at := b.state().N
	assert.Contains(t, b.text(".hw-status"), "Paused for a question")

	// The keyboard answers; the run itself says whether that was right.
	b.tab(".hw-predict-options button")
	b.keys(kb.Enter)
	b.until("document.querySelector('.hw-predict-options .right')")
	assert.NotEmpty(t, b.text(".hw-predict-why"))
	b.tab(".hw-predict .hw-tools button")
	b.keys(kb.Enter)
	b.until(fmt.Sprintf("window.highwater.state().playing || window.highwater.state().n > %d", at))

	// Switched off, nothing stops the play.
	b.open("/s/leader-failover?clock=manual&pause&ask=off")
	b.ready()
	eval[bool](b, "(() => { window.highwater.play(); for (let i = 0; i < 6000 && window.highwater.state().playing; i++) window.highwater.tick(100); return true; })()")
	assert.Equal(t, "ended", eval[string](b, "window.highwater.state().phase"))
	b.quiet()
}

func TestWhatPassesWhileItPlaysIsNotSpoken(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual&pause&ask=off")
	b.ready()
	said := eval[[]string](b, `(async () => {
		const said = [];
		const status = document.querySelector('.hw-status');
		const watch = new MutationObserver(() => said.push(status.textContent));
		watch.observe(status, {childList: true, characterData: true, subtree: true});
		window.highwater.play();
		for (let i = 0; i < 1200 && window.highwater.state().playing; i++) {
			window.highwater.tick(50);
			await null;
		}
		await null;
		return said;
	})()`)
	chapters := eval[int](b, "document.querySelectorAll('.hw-chapters button').length")
	assert.NotEmpty(t, said)
	assert.LessOrEqual(t, len(said), chapters, "a chapter is told once, and nothing else: %q", said)
	b.quiet()
}

func TestAFrameDoesLittle(t *testing.T) {
	// The first is played most; the others have the most going on at once. A new chapter
	// may light up another part of the stage, and so may write more.
	for id, usual := range map[string]int{"producer-write": 60, "planned-restart": 60, "one-or-twelve": 100, "controllers-gone": 60} {
		t.Run(id, func(t *testing.T) {
			b := newBrowser(t, 1280, 720)
			b.open("/s/" + id + "?clock=manual&pause&ask=off")
			b.ready()
			work := eval[struct {
				Elements []int
				Pills    int
			}](b, `(async () => {
				const player = document.querySelector('.hw-player');
				const watch = new MutationObserver(() => {});
				watch.observe(player, {childList: true, characterData: true, attributes: true, subtree: true});
				const elements = [];
				let pills = 0;
				window.highwater.play();
				for (let i = 0; i < 1500 && window.highwater.state().playing; i++) {
					window.highwater.tick(50);
					elements.push(new Set(watch.takeRecords().map((r) => r.target)).size);
					pills = Math.max(pills, [...document.querySelectorAll('.hw-stage .pill')].filter((p) => p.style.display !== 'none' && !p.hasAttribute('hidden')).length);
				}
				return {Elements: elements, Pills: pills};
			})()`)
			slices.Sort(work.Elements)
			frames := len(work.Elements)
			require.Greater(t, frames, 100)
			most, nearly := work.Elements[frames-1], work.Elements[frames*99/100]
			t.Logf("%d frames: %d elements written or fewer in 99 of 100, %d at most; %d pills at most", frames, nearly, most, work.Pills)
			assert.LessOrEqual(t, nearly, usual)
			assert.LessOrEqual(t, most, 2000)
			assert.LessOrEqual(t, work.Pills, 40)
			b.quiet()
		})
	}
}

// TestAllThatTheMouseCanDoTheKeyboardCan uses no pointer at all.
func TestAllThatTheMouseCanDoTheKeyboardCan(t *testing.T) {
	b := newBrowser(t, 1280, 800)
	b.open("/")
	b.tab(`a[href*="/s/leader-failover"]`)
	b.keys(kb.Enter)
	b.until("location.pathname === '/s/leader-failover' && window.highwater?.state().complete")
	b.keys(" ")
	b.until("window.highwater.state().playing === false || window.highwater.state().s > 0.2")
	eval[bool](b, "(window.highwater.pause(), true)")

	// Steps, chapters, tenths, the bar.
	b.keys("5")
	b.until("window.highwater.state().n > 100")
	b.keys("]")
	b.keys("[")
	b.tab(".hw-chapters button:nth-child(2)")
	b.keys(kb.Enter)
	b.until("document.querySelector('.hw-chapters button:nth-child(2)').getAttribute('aria-current') === 'true'")
	b.tab(".hw-knob")
	at := b.state().N
	b.keys(kb.ArrowRight)
	b.until(fmt.Sprintf("window.highwater.state().n > %d", at))

	// Every button of the head and of the controls, by Tab.
	for _, name := range []string{"prev-chapter", "back", "forward", "next-chapter", "slower", "faster", "clock", "loop", "zoom-out", "zoom-in", "map", "why", "events", "lag", "checks", "table", "ask", "link", "theme", "fullscreen", "help"} {
		b.tab(fmt.Sprintf(`[data-cmd="%s"]`, name))
	}
	// The map is one stop, and its stretches are jumps.
	b.keys("m")
	b.until("document.querySelectorAll('.hw-stretch').length > 4")
	b.tab(".hw-stretch")
	b.keys(kb.ArrowRight)
	b.until("document.activeElement.matches('.hw-stretch:nth-child(2)')")
	at = b.state().N
	b.keys(kb.Enter)
	b.until(fmt.Sprintf("window.highwater.state().n !== %d", at))
	b.keys(kb.ArrowDown)
	b.until("document.activeElement.matches('.hw-strip:nth-child(2) .hw-stretch')")
	b.keys("m")

	// A panel: its tabs, its jumps, and out again.
	b.press("w")
	b.until("document.querySelector('.hw-panel-why .hw-jump')")
	b.tab(`.hw-tabs [data-tab="why"]`)
	b.keys(kb.ArrowRight)
	b.until("document.activeElement.matches('[role=tab][aria-selected=true]:not([data-tab=why])')")
	b.keys(kb.Escape)
	b.until("document.querySelector('.hw-side').hidden")

	// A word, the help, and back to the menu.
	b.tab(".hw-caption .term")
	b.keys(kb.Enter)
	b.until("document.querySelector('.hw-tip')?.checkVisibility()")
	b.keys(kb.Escape)
	b.until("!document.querySelector('.hw-tip')?.checkVisibility()")
	b.press("?")
	b.until("document.querySelector('.hw-help').open")
	b.keys(kb.Escape)
	b.until("!document.querySelector('.hw-help').open")
	b.tab("a.home")
	b.keys(kb.Enter)
	b.until("location.pathname === '/'")
	b.quiet()
}
