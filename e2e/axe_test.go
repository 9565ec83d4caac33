package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAxeFindsNothing runs axe-core, with all its rules, on every page, in both themes
// and with the panels open.
func TestAxeFindsNothing(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("js", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("HIGHWATER_REQUIRE") == "all" {
			t.Fatal("axe-core is required: run npm ci in e2e/js")
		}
		t.Skip("axe-core is not installed (npm ci in e2e/js): accessibility test skipped")
	}
	findings := func(b *browser) {
		b.t.Helper()
		_, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](string(axe)))
		require.NoError(b.t, err)
		found := eval[[]string](b, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations
			.map((v) => v.id + ': ' + v.nodes.length + ' × ' + v.nodes[0].html.slice(0, 160) + ' ' + (v.nodes[0].any[0]?.message ?? '')))`)
		assert.Empty(b.t, found)
	}
	b := newBrowser(t, 1280, 720)
	t.Run("narrow", func(t *testing.T) {
		b := newBrowser(t, 320, 700)
		b.still("group-rebalance")
		findings(b)
		b.keys("m")
		b.until("document.querySelectorAll('.hw-stretch').length > 4")
		findings(b)
		b.press("?")
		b.until("document.querySelector('.hw-help').open")
		findings(b)
	})
	for _, theme := range []string{"light", "dark"} {
		for _, path := range []string{"/", "/s/producer-write", "/s/isr-deep-dive", "/embed/producer-write", "/s/no-such", "/keys", "/concepts", "/s/producer-write?words=library"} {
			t.Run(theme+path, func(t *testing.T) {
				b.t = t
				sep := "?"
				if strings.Contains(path, "?") {
					sep = "&"
				}
				b.open(path + sep + "clock=manual&theme=" + theme)
				if strings.Contains(path, "producer-write") || strings.Contains(path, "isr") {
					b.ready()
					b.picture(14)
					for _, panel := range []string{"inspect", "table", "why", "checks", "lag"} {
						eval[bool](b, `(document.querySelector('[data-cmd=`+panel+`]')?.click(), window.highwater.tick(0), true)`)
						b.until(`document.querySelector('[data-panel="` + panel + `"]').childElementCount > 0`)
						if panel == "inspect" {
							b.inspect("b1/orders-0")
							eval[bool](b, `(document.querySelector('.hw-field').open = true)`)
						}
						findings(b)
					}
					eval[bool](b, `(document.querySelector(".hw-caption-text .term")?.click(), true)`)
					eval[bool](b, `(document.querySelector('[data-cmd=events]')?.click(), document.querySelector('[data-cmd=map]')?.click(), document.querySelector('[data-cmd=loop]')?.click(), window.highwater.tick(0), true)`)
				}
				findings(b)
			})
		}
	}
}
