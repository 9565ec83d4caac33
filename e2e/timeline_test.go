package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bar is where the rail of the timeline stands, in px.
type bar struct{ X, Y, Width float64 }

func (b *browser) bar() bar {
	b.t.Helper()
	return eval[bar](b, "(({left, top, width}) => ({X: left, Y: top + 4, Width: width}))(document.querySelector('.hw-rail').getBoundingClientRect())")
}

// hover moves the mouse to a place on the bar, from 0 to 1.
func (b *browser) hover(p float64) {
	b.t.Helper()
	r := b.bar()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, r.X+p*r.Width, r.Y)))
}

func TestThePreviewShowsAnotherMomentAndCoversNoStage(t *testing.T) {
	for _, size := range [][2]int64{{1280, 720}, {1280, 520}, {640, 800}, {320, 700}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			b := newBrowser(t, size[0], size[1])
			b.still("leader-failover")
			b.hover(0.45)
			b.until("!document.querySelector('.hw-preview').hidden")
			assert.Contains(t, b.text(".hw-preview-head"), "0:", "the time")
			assert.NotEmpty(t, b.text(".hw-preview-say"), "the sentence")
			assert.Contains(t, b.text(".hw-preview-strip"), "ISR", "the state")
			assert.True(t, eval[bool](b, `(() => {
				const p = document.querySelector('.hw-preview').getBoundingClientRect();
				const s = document.querySelector('.hw-stage').getBoundingClientRect();
				return p.top >= s.bottom - 0.5 && p.left >= 0 && p.right <= innerWidth + 0.5;
			})()`), "beside the stage, within the page")

			// Escape sends it away, without moving the pointer, until the pointer comes anew.
			b.keys(kb.Escape)
			b.until("document.querySelector('.hw-preview').hidden")
			b.hover(0.5)
			assert.True(t, eval[bool](b, "document.querySelector('.hw-preview').hidden"))
			require.NoError(t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, 5, 5)))
			b.hover(0.5)
			b.until("!document.querySelector('.hw-preview').hidden")
			b.quiet()
		})
	}
}

func TestThePreviewFollowsTheKeyboard(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	b.tab(".hw-knob")
	b.keys(kb.ArrowRight)
	b.until("!document.querySelector('.hw-preview').hidden")
	b.keys("]")
	b.until("document.querySelector('.hw-preview-say').textContent === document.querySelector('.hw-say').textContent")
	assert.Contains(t, eval[string](b, "document.querySelector('.hw-knob').getAttribute('aria-valuetext')"), b.text(".hw-say"), "the slider speaks the sentence too")
	b.keys(kb.Escape)
	b.until("document.querySelector('.hw-preview').hidden")
	b.quiet()
}

func TestDraggingIsDrawnToEventsAndZoomsNothing(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	crash := b.firstOf("e.kind === 'node.crash'")
	at := eval[float64](b, fmt.Sprintf("(window.highwater.seekEvent(%d), parseFloat(document.querySelector('.hw-knob').style.left) / 100)", crash))
	eval[bool](b, "(window.highwater.seek(0), true)")
	r := b.bar()
	mouse := func(kind input.DispatchMouseEventType, p float64) {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.MouseEvent(kind, r.X+p*r.Width, r.Y, chromedp.ButtonLeft, chromedp.ClickCount(1))))
	}
	mouse(chromedp.MousePressed, 0.1)
	mouse(chromedp.MouseMoved, 0.3)
	mouse(chromedp.MouseMoved, at+3/r.Width)
	b.until("window.highwater.state().phase === 'dragging'")
	b.until(fmt.Sprintf("Math.abs(window.highwater.state().n - %d) < 8", crash))
	mouse(chromedp.MouseReleased, at+3/r.Width)
	b.until("window.highwater.state().phase === 'paused'")
	assert.True(t, eval[bool](b, "document.querySelector('.hw-overview').hidden"), "all of the run is shown as before")
	b.quiet()
}

func TestZoomByButtonWheelAndKey(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	marks := func() int { return eval[int](b, "document.querySelectorAll('.hw-ticks i').length") }
	assert.Positive(t, marks())
	assert.LessOrEqual(t, marks(), 10*100)
	window := func() float64 {
		return eval[float64](b, "parseFloat(document.querySelector('.hw-overview i').style.width)")
	}
	b.click(`[data-cmd="zoom-in"]`)
	b.until("!document.querySelector('.hw-overview').hidden")
	one := window()
	assert.InDelta(t, 100/1.5, one, 1)
	b.keys("+")
	b.until("parseFloat(document.querySelector('.hw-overview i').style.width) < 50")
	r := b.bar()
	require.NoError(t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseWheel, r.X+r.Width/2, r.Y, func(p *input.DispatchMouseEventParams) {
		p.DeltaX, p.DeltaY = 0.01, -300 // a zero would not be sent
	})))
	b.until("parseFloat(document.querySelector('.hw-overview i').style.width) < 20")

	// The stretch follows the cursor to the end, and the whole run comes back.
	b.press(kb.End)
	b.until("parseFloat(document.querySelector('.hw-knob').style.left) > 80 && !document.querySelector('.hw-knob').classList.contains('is-outside')")
	b.keys("z")
	b.until("document.querySelector('.hw-overview').hidden")
	b.quiet()
}

func TestALoopPlaysItsChapterAgainAndItsEndsMove(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	b.keys("]")
	b.until("window.highwater.state().n > 1")
	b.keys("o")
	b.until("!document.querySelector('.hw-loop').hidden")
	assert.Equal(t, "true", eval[string](b, `document.querySelector('[data-cmd="loop"]').getAttribute('aria-pressed')`))
	first := eval[int](b, "window.highwater.state().n")
	eval[bool](b, "(window.highwater.play(), true)")
	back := eval[bool](b, `(() => {
		let before = window.highwater.state().s;
		for (let i = 0; i < 600; i++) {
			window.highwater.tick(100);
			const now = window.highwater.state().s;
			if (now < before) return true;
			before = now;
		}
		return false;
	})()`)
	assert.True(t, back, "it comes back to the start of the chapter")
	assert.InDelta(t, first, eval[int](b, "window.highwater.state().n"), 5)

	eval[bool](b, "(window.highwater.pause(), true)")
	end := func() float64 {
		return eval[float64](b, "Number(document.querySelector('.hw-loop-to').getAttribute('aria-valuenow'))")
	}
	before := end()
	b.tab(".hw-loop-to")
	b.keys(kb.ArrowRight)
	b.until(fmt.Sprintf("Number(document.querySelector('.hw-loop-to').getAttribute('aria-valuenow')) > %f", before))
	b.keys("o")
	b.until("document.querySelector('.hw-loop').hidden")
	b.quiet()
}

func TestTheMapPaintsLeadersAndGenerations(t *testing.T) {
	b := newBrowser(t, 1280, 800)
	b.still("leader-failover")
	b.keys("m")
	b.until("document.querySelectorAll('.hw-strip .hw-stretch').length > 5")
	strip := func(name string) string {
		return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('.hw-strip[aria-label=\"%s\"] .hw-stretch')].map((x) => x.textContent).join(' | ')", name))
	}
	assert.Equal(t, "orders-0 leader · b1, epoch 0 | b2, epoch 1 | b1, epoch 2", strip("orders-0 leader"))
	assert.Equal(t, "orders-0 · ISR 1,2,3 | ISR 2,3 | ISR 1,2,3", strings.ReplaceAll(strip("orders-0"), "2,3,1", "1,2,3"))
	assert.Contains(t, strip("controller"), "C1, quorum epoch 1")

	// A stretch is a jump to what began it.
	b.click(`.hw-strip[aria-label="orders-0 leader"] .hw-stretch:nth-child(2)`)
	b.until("window.highwater.events().find((e) => e.n === window.highwater.state().n).ch.some(([k, v]) => k === 'meta/orders-0/leader' && v === 2)")
	eval[bool](b, `((s) => (s.value = 'part orders-0', s.dispatchEvent(new Event('change')), true))(document.querySelector('.hw-map select'))`)
	assert.Equal(t, 4, eval[int](b, "document.querySelectorAll('.hw-map-curves path').length"), "HW, and LEO on each broker")
	assert.Contains(t, b.text(".hw-map-legend"), "HW")

	b.still("group-rebalance")
	b.keys("m")
	b.until("document.querySelectorAll('.hw-strip .hw-stretch').length > 5")
	assert.Contains(t, strip("group-b"), "generation 2, Stable")
	b.quiet()
}

func TestRealTimeHasNoFolds(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	b.keys("r")
	b.until(`document.querySelector('[data-cmd="clock"]').getAttribute('aria-pressed') === 'true'`)
	assert.Equal(t, "1×", b.text(".hw-speed"))
	eval[bool](b, "(window.highwater.play(), true)")
	passed := eval[float64](b, "(() => { const t = window.highwater.state().t; for (let i = 0; i < 20; i++) window.highwater.tick(100); return window.highwater.state().t - t; })()")
	assert.InDelta(t, 2_000_000, passed, 2_000, "two seconds in two seconds")
	assert.Contains(t, b.text(".hw-factor"), "real speed")
	for range 6 {
		b.keys("<")
	}
	b.until("document.querySelector('.hw-speed').textContent === '1/1000×'")
	passed = eval[float64](b, "(() => { const t = window.highwater.state().t; for (let i = 0; i < 20; i++) window.highwater.tick(100); return window.highwater.state().t - t; })()")
	assert.InDelta(t, 2_000, passed, 20)
	b.keys("r")
	b.until("document.querySelector('.hw-speed').textContent === '1×'")
	b.quiet()
}
