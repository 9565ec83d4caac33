package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const shown = "document.querySelector('#hw-tip')?.checkVisibility()"

// at moves the pointer to the middle of an element.
func (b *browser) at(element string) {
	b.t.Helper()
	p := eval[[2]float64](b, "((r) => [r.x + r.width / 2, r.y + r.height / 2])("+element+".getBoundingClientRect())")
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, p[0], p[1])))
}

func TestAWordIsExplainedToThePointerAndTheKeyboard(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-text .term')")

	b.at(`document.querySelector('.hw-caption-text [data-term="leo"]')`)
	b.until(shown)
	assert.Contains(t, b.text("#hw-tip"), "The offset the next appended record will get")
	assert.Contains(t, b.text("#hw-tip"), "UnifiedLog.logEndOffset", "with its source")
	b.at("document.querySelector('#hw-tip')")
	assert.True(t, eval[bool](b, "new Promise((done) => setTimeout(() => done("+shown+"), 600))"), "it stays while the pointer is on it")
	b.at("document.querySelector('.hw-clock')")
	b.until("!" + shown)

	b.tab(".hw-caption-text .term")
	b.until(shown)
	assert.Equal(t, "hw-tip", eval[string](b, "document.activeElement.getAttribute('aria-describedby')"))
	b.keys(kb.Escape)
	b.until("!" + shown)
	assert.True(t, eval[bool](b, "document.activeElement.matches('.term')"), "the focus stays")
	b.keys(kb.Enter)
	b.until(shown + " && document.activeElement.id === 'hw-tip'")
	b.keys(kb.Escape)
	b.until("!" + shown + " && document.activeElement.matches('.term')")
	b.quiet()
}

func TestALabelOfTheStageIsExplained(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual&pause")
	b.ready()
	b.at(`[...document.querySelectorAll('.hw-stage text')].find((e) => e.textContent.startsWith('HW '))`)
	b.until(shown)
	assert.Contains(t, b.text("#hw-tip"), "The first offset not known to be committed")
	b.quiet()
}

func TestAWordThatIsGoneTakesItsMeaningAlong(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-text .term')")
	b.tab(".hw-caption-text .term")
	b.until(shown)
	eval[bool](b, "(window.highwater.seek(40), true)")
	b.until("!" + shown + " && document.activeElement.matches('.hw-player')")
	b.quiet()
}
