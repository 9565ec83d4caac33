package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keys types on the keyboard, to whatever has the focus.
func (b *browser) keys(text string) {
	b.t.Helper()
	for _, r := range text {
		require.NoError(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(string(r))))
	}
}

// tab goes on with the Tab key until a selector has the focus.
func (b *browser) tab(selector string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, "Boolean(document.activeElement?.matches('"+selector+"'))") {
			return
		}
		b.keys(kb.Tab)
	}
	require.Fail(b.t, "the Tab key never comes to "+selector)
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return eval[string](b, "document.querySelector('"+selector+"').textContent")
}

func TestTheKeyExplorerFromTheMenuByKeyboardAlone(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/")
	b.tab(`a[href="/keys"]`)
	b.keys(kb.Enter)
	b.until("document.querySelector('main.keys')?.dataset.ready === 'true'")
	assert.Equal(t, "9", b.text(`[data-out="partition"]`), "order-17 of 12, before anything is typed")
	b.tab("#keys-key")
	b.keys("user-2") // what had the focus first was selected, as in every form
	b.until(`document.querySelector('[data-out="partition"]').textContent === '8'`)
	b.tab("#keys-n")
	b.keys("3")
	b.until(`document.querySelector('[data-out="partition"]').textContent === '2'`)
	b.until("location.search.includes('key=user-2&n=3')")
	address := eval[string](b, "location.pathname + location.search")

	b.open("/")
	b.open(address)
	assert.Equal(t, "2", b.text(`[data-out="partition"]`), "the link opens what was typed")
	b.quiet()
}

func TestTheKeyExplorerSaysWhatIsWrong(t *testing.T) {
	b := newBrowser(t, 800, 600)
	b.open("/keys?key=a&n=12")
	b.until("document.querySelector('main.keys').dataset.ready === 'true'")
	set := func(selector, value string) {
		eval[bool](b, "((el) => (el.value = '"+value+"', el.dispatchEvent(new Event('input', {bubbles: true}))))(document.querySelector('"+selector+"'))")
	}
	set("#keys-n", "0")
	b.until("document.querySelector('#keys-problem').checkVisibility()")
	assert.Contains(t, b.text("#keys-problem"), "from 1 to 10,000")
	assert.False(t, eval[bool](b, "document.querySelector('.keys-steps').checkVisibility()"), "no stale answer stands under it")
	set("#keys-n", "10000")
	b.until("!document.querySelector('#keys-problem').checkVisibility()")

	// No key and an empty key are two things.
	b.tab(`input[name="null"]`)
	b.keys(" ")
	b.until("document.querySelector('.keys-null').checkVisibility() && !document.querySelector('.keys-steps').checkVisibility()")
	b.keys(" ")
	set("#keys-key", "")
	b.until(`document.querySelector('[data-out="positive"]').textContent === '275646681'`)

	// A list that is too long for a link still is computed.
	eval[bool](b, `((el) => (el.value = Array.from({length: 20000}, (_, i) => 'käy-' + i).join('\n'), el.dispatchEvent(new Event('input', {bubbles: true}))))(document.querySelector('#keys-list'))`)
	b.until("document.querySelector('.keys-summary').textContent.startsWith('20,000 keys, 20,000 different, in 10,000 partitions.')")
	assert.Contains(t, b.text(".keys-long"), "too long for a link")
	assert.Less(t, eval[int](b, "location.search.length"), 200)
	b.quiet()
}
