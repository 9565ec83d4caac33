package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
)

// inspect types a name into the inspector.
func (b *browser) inspect(id string) {
	b.t.Helper()
	b.until("document.querySelector('.hw-inspect-find input')")
	eval[bool](b, fmt.Sprintf("((i) => (i.value = %q, i.dispatchEvent(new Event('change')), true))(document.querySelector('.hw-inspect-find input'))", id))
}

// field is a value of what is inspected.
func (b *browser) field(name string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('.hw-field')].find((d) => d.querySelector('.hw-field-name').textContent === %q)?.querySelector('.hw-field-value').textContent ?? 'no such field'", name))
}

func TestTheInspectorFollowsABrokerThroughItsCrash(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("leader-failover")
	crash := b.firstOf("e.kind === 'node.crash'")
	b.keys("i")
	b.inspect("b1")
	assert.Equal(t, "running", b.field("Process"))
	assert.Equal(t, "active", b.field("Session at the active controller"))
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", crash))
	assert.Equal(t, "crashed", b.field("Process"))

	// The history of the value leads back to where it began, and on to the restart.
	eval[bool](b, "(document.querySelector('.hw-field').open = true)")
	b.until("document.querySelectorAll('.hw-history .hw-jump').length >= 3")
	assert.Contains(t, b.text(".hw-history [aria-current]"), "crashed")
	b.click(".hw-history li:first-child .hw-jump")
	b.until("window.highwater.state().n === 1")
	assert.Equal(t, "running", b.field("Process"))
	assert.Contains(t, b.text(".hw-history [aria-current]"), "running", "the mark moves along")

	// Settings that are not the default, with their meaning.
	assert.Contains(t, b.text(".hw-setting"), "default")
	assert.NotEmpty(t, b.text(".hw-setting p"))
	b.inspect("b9")
	b.until("document.querySelector('.hw-panel-inspect [role=status]').textContent.includes('Nothing in this run is called b9')")
	b.quiet()
}

func TestAPacketOpensAsARequestAndLeadsToItsPartner(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("producer-write")
	n := b.firstOf("e.kind === 'request.send' && e.api === 'Produce'")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", n))
	b.press("w")
	b.until("[...document.querySelectorAll('.hw-panel-why .hw-tools button')].some((x) => x.textContent === 'Open the request')")
	eval[bool](b, "([...document.querySelectorAll('.hw-panel-why .hw-tools button')].find((x) => x.textContent === 'Open the request').click(), true)")
	b.until("document.querySelector('.hw-thing h2')?.textContent === 'Produce request'")
	assert.Contains(t, b.text(".hw-thing"), "acks")
	assert.Contains(t, b.text(".hw-thing"), "baseSequence", "what is nested is shown too")
	assert.Contains(t, b.text(".hw-thing"), "Correlation id")

	b.tab(".hw-thing .hw-tools button:nth-child(3)")
	b.keys(kb.Enter)
	b.until("document.querySelector('.hw-thing h2').textContent === 'Produce response'")
	assert.Contains(t, b.text(".hw-thing"), "baseOffset")
	b.click(".hw-inspect-find button")
	b.until("document.querySelector('.hw-thing h2').textContent === 'Produce request'")
	b.quiet()
}

func TestACardOpensTheInspector(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.still("same-crash-acks-1")
	b.click(`.hw-stage [data-node="b2"][data-part="orders-0"] .card`)
	b.until("document.querySelector('.hw-thing h2')?.textContent === 'b2/orders-0'")
	assert.Equal(t, "follower", b.field("Role"))

	// The record that was acknowledged and erased says so.
	b.inspect("r4")
	b.until("document.querySelector('.hw-thing h2').textContent === 'r4'")
	b.keys(kb.End)
	b.until("document.querySelector('.hw-thing').textContent.includes('not there: offset 3 holds r5')")
	acked := b.firstOf("e.kind === 'producer.acked' && e.f.records?.includes('r4')")
	eval[bool](b, fmt.Sprintf("(window.highwater.seekEvent(%d), true)", acked))
	assert.Contains(t, b.text(".hw-thing"), "offset 3, leader epoch 0, on disk only")
	b.quiet()
}
