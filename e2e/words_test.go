package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const replicaRoles = "[...document.querySelectorAll('.replica:not(.compact) [data-text$=\"orders-0/role\"]')].map((e) => e.textContent).join()"

func TestTheSwitchRetellsTheSameMoment(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/isr-deep-dive?clock=manual&pause#cut-off")
	b.ready()
	b.until("document.querySelector('.hw-caption-text').textContent.startsWith('Broker 3')")
	n := b.state().N
	b.tab(".hw-words-switch")
	b.keys(kb.Enter)
	b.until("new URLSearchParams(location.search).get('words') === 'library' && window.highwater")
	b.ready()
	b.until("document.querySelector('.hw-caption-text').textContent.startsWith('Branch 3')")
	assert.Equal(t, n, b.state().N)
	assert.Equal(t, "#cut-off", eval[string](b, "location.hash"))
	assert.True(t, eval[bool](b, "document.activeElement.matches('.hw-words-switch')"), "the focus is where it was")
	assert.Contains(t, b.text(".hw-stage"), "Branch 1")
	assert.Contains(t, b.text(".hw-say"), "Broker", "the sentence of the event stays Kafka's")
	assert.Equal(t, "main,copy,copy", eval[string](b, replicaRoles))
	// What scripts write later is retold too.
	eval[bool](b, "(window.highwater.seekEvent(1), window.highwater.seekEvent("+eval[string](b, "String(window.highwater.state().last)")+"), true)")
	assert.Equal(t, "main,copy,copy", eval[string](b, replicaRoles))
	assert.Contains(t, b.text(".hw-stage"), "rope 5")
	assert.NotContains(t, b.text(".hw-stage .replicas"), "LEO")

	// A word of the picture leads back to Kafka's.
	eval[bool](b, "(location.hash = 'cut-off', true)")
	b.until("document.querySelector('.hw-caption-text [data-term=library-hw]')")
	b.at("document.querySelector('.hw-caption-text [data-term=library-hw]')")
	b.until(shown)
	assert.Contains(t, b.text("#hw-tip"), "In Kafka: HW.")

	// Where the picture ends is said without leaving it.
	b.tab(".hw-words-limits")
	b.keys(kb.Enter)
	b.until("document.querySelector('.hw-limits').open && document.activeElement.id === 'hw-limits-title'")
	assert.Contains(t, b.text(".hw-limits"), "cannot call readers")
	assert.Contains(t, b.text(".hw-limits"), "stay Kafka's")
	b.keys(kb.Escape)
	b.until("!document.querySelector('.hw-limits').open && document.activeElement.matches('.hw-words-limits')")

	// Another scenario is told in the same words, and back again.
	b.open("/s/producer-write?clock=manual&pause#append")
	b.until("new URLSearchParams(location.search).get('words') === 'library' && window.highwater")
	b.ready()
	b.until("document.querySelector('.hw-caption-title').textContent === 'The main copy grows first'")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".hw-words-switch"))))
	b.until("new URLSearchParams(location.search).get('words') === 'kafka' && window.highwater")
	b.until("document.querySelector('.hw-caption-title').textContent === 'The leader appends'")
	b.open("/s/producer-write?clock=manual&pause")
	b.ready()
	assert.NotContains(t, eval[string](b, "location.search"), "words")
	b.quiet()
}

func TestAFrameHasTheWordsOfItsAddress(t *testing.T) {
	b := newBrowser(t, 900, 600)
	b.open("/embed/producer-write?clock=manual&pause&words=library#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-title').textContent === 'The main copy grows first'")
	eval[bool](b, "(localStorage.setItem('highwater.words', 'library'), true)")
	b.open("/embed/producer-write?clock=manual&pause#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-title').textContent === 'The leader appends'")
	b.open("/s/producer-write?clock=manual&pause&words=kafka#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-title').textContent === 'The leader appends'")
	b.quiet()
}
