package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const cardsInSight = "[...document.querySelectorAll('.menu-card')].filter((c) => c.checkVisibility()).length"

func TestTheMenuFiltersWhileOneTypes(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/")
	all := eval[int](b, cardsInSight)
	require.Greater(t, all, 1)
	b.tab("#menu-search")
	b.keys("in-sync")
	b.until(cardsInSight + " === 1")
	b.keys("zzz")
	b.until(cardsInSight + " === 0 && document.querySelector('.menu-empty').checkVisibility()")
	// The form is the way without scripts.
	b.keys(kb.Enter)
	b.until("location.search === '?q=in-synczzz' && document.querySelector('.menu-empty')?.checkVisibility()")
	assert.Equal(t, "in-synczzz", eval[string](b, "document.querySelector('#menu-search').value"))
	b.quiet()
}

func TestTheMenuGoesOnWhereOneWas(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual&pause#append")
	b.ready()
	b.until("window.highwater.state().n > 1")
	n := b.state().N
	// The address alone carries it …
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("a.home"))))
	b.until("location.pathname === '/' && document.querySelector('.menu-continue a')?.textContent === 'Continue: Producer write'")
	assert.Equal(t, "?at=producer-write&moment=append", eval[string](b, "location.search"))
	// … and where the address is plain, storage does.
	b.open("/")
	b.until("document.querySelector('.menu-continue').checkVisibility()")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".menu-continue a"))))
	b.ready()
	b.until("window.highwater.state().n > 1")
	assert.Equal(t, n, b.state().N)
	b.quiet()
}

func TestTheMenuByKeyboardAlone(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/")
	b.tab(`.menu-card a[href="/s/isr-deep-dive"]`)
	b.keys(kb.Enter)
	b.ready()
	assert.Equal(t, "/s/isr-deep-dive", eval[string](b, "location.pathname"))
	b.quiet()
}
