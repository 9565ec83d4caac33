package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// click presses what a selector finds, as a mouse does.
func (b *browser) click(selector string) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector))), selector)
}

// still opens a scenario that moves only when told.
func (b *browser) still(id string) {
	b.t.Helper()
	b.open("/s/" + id + "?clock=manual&pause")
	b.ready()
}

// firstOf is the number of the first event on the page for which a condition on e holds.
func (b *browser) firstOf(condition string) int {
	b.t.Helper()
	n := eval[int](b, fmt.Sprintf("window.highwater.events().find((e) => %s)?.n ?? 0", condition))
	require.Positive(b.t, n, condition)
	return n
}

func TestWhyLeadsFromAHighWatermarkToTheRecordThatWasSent(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("producer-write")
	n := b.firstOf("e.kind === 'hw.advance' && e.part === 'orders-0'")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", n))
	b.press("w")
	b.until("document.querySelectorAll('.hw-panel-why ol .hw-jump').length > 3")
	assert.Contains(t, b.text(".hw-why-say"), "moves the high watermark of orders-0 from 5 to 6")
	first := b.text(".hw-panel-why ol .hw-jump")
	assert.Contains(t, first, "has everything of orders-0 below offset 6", "the last fetch that it needed comes first")
	assert.Contains(t, b.text(".hw-panel-why ol li:last-child"), "sends a record to topic orders")
	assert.Contains(t, b.text(".hw-panel-why"), "the outside world did this")

	// Each reason is a jump, and the panel stays with its question.
	b.click(".hw-panel-why ol li:last-child .hw-jump")
	b.until(fmt.Sprintf("window.highwater.state().n < %d", n))
	assert.Equal(t, "true", eval[string](b, "document.querySelector('.hw-panel-why ol li:last-child .hw-jump').getAttribute('aria-current')"))
	assert.Contains(t, b.text(".hw-why-say"), "from 5 to 6")
	assert.Contains(t, b.text(".hw-panel-why ul"), "answers the waiting Produce", "what next")
	b.quiet()
}

func TestWhyWorksWithKeysAlone(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("producer-write")
	n := b.firstOf("e.kind === 'producer.acked'")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", n))
	b.press("w")
	b.until("document.querySelector('.hw-panel-why .hw-jump')")
	eval[bool](b, "(document.querySelector('.hw-panel-why .hw-jump').focus(), true)")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Enter)))
	b.until(fmt.Sprintf("window.highwater.state().n < %d", n))
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.ArrowDown)))
	b.until("document.activeElement.className === 'hw-ask-why'")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Escape)))
	b.until("document.querySelector('.hw-side').hidden && document.activeElement.className.includes('hw-player')")
	b.quiet()
}

func TestAPillAndAMarkExplainThemselves(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("producer-write")
	// Between two events, a message is on its way.
	n := b.firstOf("e.kind === 'request.send' && e.api === 'Produce'")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", n))
	b.click(fmt.Sprintf(".pills [data-send='%d']", n))
	b.until("document.querySelector('.hw-why-say')?.textContent.includes('sends Produce with acks=all')")
	hw := b.firstOf("e.kind === 'hw.advance' && e.part === 'orders-0'")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", hw+20))
	b.click("[data-text='b1/orders-0/hw']")
	b.until("document.querySelector('.hw-why-say').textContent.includes('moves the high watermark of orders-0 from 5 to 6')")
	b.quiet()
}

func TestTheLogFiltersSeeksAndCopies(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("isr-deep-dive")
	b.press("l")
	b.until("document.querySelectorAll('.hw-log-row').length > 5")
	all := eval[int](b, "window.highwater.events().length")
	assert.Equal(t, fmt.Sprintf("%d events", all), b.text(".hw-log-count"))
	assert.Less(t, eval[int](b, "document.querySelectorAll('.hw-log-row').length"), 40, "only the rows in sight exist")

	choose := func(label, value string) {
		eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('[aria-label="%s"]'); s.value = %q; s.dispatchEvent(new Event('change')); return s.value !== '' })()`, label, value))
	}
	choose("Only these kinds", "isr.commit")
	want := eval[int](b, "window.highwater.events().filter((e) => e.kind === 'isr.commit').length")
	assert.Equal(t, fmt.Sprintf("%d events of %d", want, all), b.text(".hw-log-count"))
	b.click(".hw-log-row button")
	b.until("window.highwater.state().n === " + fmt.Sprint(b.firstOf("e.kind === 'isr.commit'")))
	choose("Only these nodes", "b3")
	assert.Contains(t, b.text(".hw-log-count"), "events of")
	choose("Only these nodes", "")

	eval[bool](b, "(document.querySelector('.hw-log-fields summary').click(), true)")
	b.until("document.querySelector('.hw-fields')?.textContent.includes('partitionEpoch')")
	b.quiet()
}

func TestTheBackgroundComesByRangeWhenItIsAskedFor(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("isr-deep-dive")
	assert.Zero(t, eval[int](b, "window.highwater.work().background"))
	b.press("l")
	b.until("document.querySelectorAll('.hw-log-row').length > 5")
	b.click(".hw-log-filter label")
	b.until("document.querySelectorAll('.hw-log-row.is-background').length > 0")
	loaded := eval[int](b, "window.highwater.work().background")
	assert.Positive(t, loaded)
	assert.Less(t, loaded, 3000, "a range of them, not all")
	// Scrolling loads what is in sight.
	eval[bool](b, "(() => { const l = document.querySelector('.hw-log-list'); l.dispatchEvent(new WheelEvent('wheel')); l.scrollTop = l.scrollHeight; return true })()")
	b.until(fmt.Sprintf("window.highwater.work().background > %d", loaded))
	b.quiet()
}
