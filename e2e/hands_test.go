package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// state is what the page says of its player.
type state struct {
	N       int     `json:"n"`
	S       float64 `json:"s"`
	Playing bool    `json:"playing"`
	Last    int     `json:"last"`
}

func (b *browser) state() state {
	b.t.Helper()
	return eval[state](b, "window.highwater.state()")
}

// press focuses the player first: keys go to what has the focus.
func (b *browser) press(key string) {
	b.t.Helper()
	eval[bool](b, "(document.querySelector('.hw-player').focus(), true)")
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
}

func TestSpacePlaysAndPauses(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?pause")
	b.ready()
	from := b.state()
	require.False(t, from.Playing)
	b.press(" ")
	b.until(fmt.Sprintf("window.highwater.state().playing && window.highwater.state().s > %g", from.S+0.5))
	b.press(" ")
	b.until("!window.highwater.state().playing")
	b.quiet()
}

func TestArrowsStepEvents(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual&pause")
	b.ready()
	eval[bool](b, "(window.highwater.seekEvent(40), true)")
	at := b.state().N
	b.press(kb.ArrowRight)
	b.until(fmt.Sprintf("window.highwater.state().n > %d", at))
	b.press(kb.ArrowLeft)
	b.until(fmt.Sprintf("window.highwater.state().n === %d", at))
	b.quiet()
}

func TestAChapterButtonSeeks(t *testing.T) {
	for _, id := range []string{"producer-write", "isr-deep-dive"} {
		t.Run(id, func(t *testing.T) {
			b := newBrowser(t, 1280, 720)
			b.open("/s/" + id + "?clock=manual&pause")
			b.ready()
			from := b.state()
			require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".hw-chapters button:nth-child(3)"))))
			b.until(fmt.Sprintf("window.highwater.state().n > %d", from.N))
			at := b.state()
			// The chapter keys are another way there.
			eval[bool](b, "(window.highwater.seekEvent(1), true)")
			for range 3 {
				if b.state().N < at.N {
					before := b.state().N
					b.press("]")
					b.until(fmt.Sprintf("window.highwater.state().n > %d", before))
				}
			}
			assert.Equal(t, at.N, b.state().N, "the button and the key lead to the same event")
			b.quiet()
		})
	}
}

func TestTheEmbedPlays(t *testing.T) {
	b := newBrowser(t, 900, 600)
	b.open("/embed/producer-write")
	b.ready()
	eval[bool](b, "(window.highwater.play(), true)")
	from := b.state().S
	b.until(fmt.Sprintf("window.highwater.state().s > %g", from+0.5))
	b.quiet()
}

func TestALinkOpensExactlyItsEvent(t *testing.T) {
	for _, id := range []string{"producer-write", "isr-deep-dive"} {
		t.Run(id, func(t *testing.T) {
			b := newBrowser(t, 1280, 720)
			b.open("/s/" + id + "?clock=manual&pause")
			b.ready()
			// Not every number is an event that the page shows, so the page names one.
			eval[bool](b, "(window.highwater.seekEvent(100), true)")
			n := b.state().N
			require.Greater(t, n, 1)
			b.open("/")
			b.open(fmt.Sprintf("/s/%s#e%d", id, n))
			b.ready()
			b.until(fmt.Sprintf("window.highwater.state().n === %d", n))
			assert.False(t, b.state().Playing, "a linked moment stays")
			b.quiet()
		})
	}
}

// TestStepsBackShowWhatStepsForwardShowed goes event by event, so that events
// that share a story time are told apart, as seeking cannot.
func TestStepsBackShowWhatStepsForwardShowed(t *testing.T) {
	for _, id := range []string{"producer-write", "isr-deep-dive"} {
		t.Run(id, func(t *testing.T) {
			b := newBrowser(t, 1280, 720)
			b.open("/s/" + id + "?clock=manual&pause")
			b.ready()
			step := func(by int) { eval[bool](b, fmt.Sprintf("(window.highwater.step(%d), true)", by)) }
			eval[bool](b, "(window.highwater.seekEvent(60), true)")
			var events []int
			var stages []string
			for range 30 {
				events = append(events, b.state().N)
				stages = append(stages, b.stage())
				step(1)
			}
			for i := 29; i >= 0; i-- {
				step(-1)
				require.Equal(t, events[i], b.state().N)
				// The stage is too long for a printed difference.
				assert.True(t, stages[i] == b.stage(), "event %d looks the same from both sides", events[i])
			}
			assert.NotEqual(t, stages[0], stages[29], "the stage changes")
			b.quiet()
		})
	}
}
