package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type clip struct {
	Ready bool    `json:"ready"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	S     float64 `json:"s"`
	Phase string  `json:"phase"`
}

func (b *browser) clip(id string) clip {
	b.t.Helper()
	return eval[clip](b, "window.highwaterClip('"+id+"')")
}

func TestAMomentPlaysFromItsBeginningToItsEnd(t *testing.T) {
	b := newBrowser(t, 1280, 900)
	b.open("/concepts#leo")
	assert.False(t, b.clip("acks").Ready, "what is not in view is not loaded")
	b.until("window.highwaterClip('leo')?.ready")
	c := b.clip("leo")
	assert.Equal(t, c.From, c.S)
	before := b.text("#leo .clip-stage")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#leo [data-clip=play]"))))
	b.until("window.highwaterClip('leo').phase === 'playing' && document.querySelector('#leo [data-clip=play]').textContent === 'Pause'")
	b.until("window.highwaterClip('leo').phase === 'paused'")
	assert.Equal(t, c.To, b.clip("leo").S, "it stops by itself")
	assert.NotEqual(t, before, b.text("#leo .clip-stage"))
	assert.Contains(t, b.text("#leo .clip-stage"), "LEO 6")
	assert.Equal(t, "Play again", b.text("#leo [data-clip=play]"))
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#leo [data-clip=back]"))))
	assert.Less(t, b.clip("leo").S, c.To)
	b.quiet()
}

func TestAMomentByKeyboardAndWithoutMotion(t *testing.T) {
	b := newBrowser(t, 320, 800)
	b.open("/concepts#follower")
	b.until("window.highwaterClip('follower')?.ready")
	b.tab("#follower [data-clip=forward]")
	s := b.clip("follower").S
	b.keys(kb.Enter)
	b.until("window.highwaterClip('follower').s > " + strconv.FormatFloat(s, 'f', -1, 64))
	assert.NotEmpty(t, b.text("#follower .clip-say"))
	assert.Equal(t, "narrow", eval[string](b, "document.querySelector('#follower svg.stage').dataset.layout"))
	assert.True(t, eval[bool](b, "document.documentElement.scrollWidth <= 320"), "nothing sticks out")
	b.quiet()
}

func TestEveryPartOfTheOverviewOpensItsExplanation(t *testing.T) {
	for _, width := range []int64{1280, 320} {
		b := newBrowser(t, width, 900)
		b.open("/concepts")
		const parts = "[...document.querySelectorAll('[data-part-term]')].filter((p) => p.checkVisibility())"
		n := eval[int](b, parts+".length")
		require.Greater(t, n, 30)
		wrong := eval[[]string](b, parts+`.filter((p) => {
			p.focus();
			p.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
			const more = document.querySelector('#overview-panel a')?.getAttribute('href');
			return document.activeElement !== p || more !== '#' + p.dataset.partTerm || !document.querySelector(more) || p.getAttribute('aria-current') !== 'true';
		}).map((p) => p.textContent)`)
		assert.Empty(t, wrong)
		b.quiet()
	}
}

func TestTheOverviewByKeyboard(t *testing.T) {
	b := newBrowser(t, 1280, 900)
	b.open("/concepts")
	b.tab(".wide [data-part-term=isr]")
	b.keys(kb.Enter)
	b.until("document.querySelector('#overview-panel').checkVisibility()")
	assert.Contains(t, b.text("#overview-panel"), "In Kafka: Isr.")
	b.tab("#overview-panel a")
	b.keys(kb.Enter)
	b.until("location.hash === '#isr'")
	b.quiet()
}

func TestADefinitionLeadsToItsConcept(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual#append")
	b.ready()
	b.until("document.querySelector('.hw-caption-text [data-term=leo]')")
	b.tab(".hw-caption-text [data-term=leo]")
	b.keys(kb.Enter)
	b.until(shown)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#hw-tip a"))))
	b.until("location.pathname === '/concepts' && location.hash === '#leo' && document.querySelector('#leo:target')")
	b.quiet()
}

// TestPagesOfTextHaveNoFindingAtAll runs every rule of axe-core, whatever its impact.
func TestPagesOfTextHaveNoFindingAtAll(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("js", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("HIGHWATER_REQUIRE") == "all" {
			t.Fatal("axe-core is required: run npm ci in e2e/js")
		}
		t.Skip("axe-core is not installed (npm ci in e2e/js): accessibility test skipped")
	}
	for _, width := range []int64{1280, 320} {
		b := newBrowser(t, width, 800)
		for _, path := range []string{"/concepts?theme=light", "/concepts?theme=dark#isr", "/?theme=light", "/?theme=dark&q=zzz"} {
			b.open(path)
			eval[bool](b, `(document.querySelector("[data-part-term=hw]")?.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})), true)`)
			_, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](string(axe)))
			require.NoError(t, err)
			assert.Empty(t, eval[[]string](b, `axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.length + ' × ' + v.nodes[0].html.slice(0, 160)))`), path)
		}
	}
}
