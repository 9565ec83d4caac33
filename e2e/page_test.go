// Package e2e_test uses the pages like a person, in headless Chromium.
package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

// browser is a tab on a running server, and what its console said.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string
	mu   sync.Mutex
	bad  []string
}

// newBrowser skips, with a reason, where there is no Chromium and it is not
// required.
func newBrowser(t *testing.T, width, height int64) *browser {
	t.Helper()
	return newBrowserWith(t, "", width, height)
}

// newBrowserWith serves a directory of scenarios too.
func newBrowserWith(t *testing.T, dir string, width, height int64) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("HIGHWATER_REQUIRE") == "all" {
			t.Fatal("chromium is required and not on the PATH")
		}
		t.Skip("no chromium on the PATH: browser tests skipped")
	}
	srv := httptest.NewServer(web.New(catalog.New(dir), web.DefaultLimits()))
	t.Cleanup(srv.Close)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, base: srv.URL}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.IsException() {
				b.mu.Lock()
				b.bad = append(b.bad, m.String()+" "+m.URL)
				b.mu.Unlock()
			}
		}
	}()
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	return b
}

func (b *browser) open(path string) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Navigate(b.base+path)))
}

// quiet says that nothing on the pages complained.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.bad, "the console has no errors")
}

// eval runs a script, awaits its promise and returns its value.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, script)
	return v
}

// ready waits until the whole run is on the page.
func (b *browser) ready() {
	b.t.Helper()
	b.until("typeof window.highwater === 'object' && window.highwater.state().complete")
}

// until polls a condition up to a deadline; a page that is just being left
// answers with an error and is asked again.
func (b *browser) until(condition string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("Boolean(%s)", condition)))
		return err == nil && ok
	}, 20*time.Second, 30*time.Millisecond, "never: %s", condition)
}

// stage is the stage as text where it stands: what is visible, with attributes and
// classes in alphabetical order, since their order shows nothing. Hidden pills
// wait to be used again and keep what they last said, so they are left out.
func (b *browser) stage() string {
	b.t.Helper()
	return eval[string](b, `(() => {
		const text = (e) => {
			if (e.nodeType === 3) return e.data.trim()
			if (e.nodeType !== 1 || e.getAttribute('display') === 'none') return ''
			const names = e.getAttributeNames().sort()
			const value = (n) => n === 'class' ? [...e.classList].sort().join(' ') : e.getAttribute(n)
			return '<' + e.localName + names.map((n) => ' ' + n + '=' + value(n)).join('') + '>\n' + [...e.childNodes].map(text).filter(Boolean).join('\n')
		}
		return text(document.querySelector('.hw-stage svg'))
	})()`)
}

// picture is the stage at a story time.
func (b *browser) picture(s float64) string {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("(window.highwater.seek(%g), window.highwater.tick(0), true)", s))
	return b.stage()
}

func TestFromTheMenuToAMovingCluster(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`a[href*="/s/producer-write"]`))))
	b.ready()
	if !eval[bool](b, "window.highwater.state().playing") {
		eval[bool](b, "(window.highwater.play(), true)")
	}
	from := eval[float64](b, "window.highwater.state().s")
	b.until(fmt.Sprintf("window.highwater.state().s > %g", from+0.5))
	b.until("document.querySelectorAll('#pills .pill, .pills .pill').length > 0")
	b.quiet()
}

func TestBackwardsEqualsForwards(t *testing.T) {
	for _, id := range []string{"producer-write", "isr-deep-dive"} {
		t.Run(id, func(t *testing.T) {
			b := newBrowser(t, 1280, 720)
			b.open("/s/" + id + "?clock=manual")
			b.ready()
			eval[bool](b, "(window.highwater.pause(), true)")
			var pictures []string
			for i := range 25 {
				pictures = append(pictures, b.picture(float64(i)*2.3))
			}
			for i := 24; i >= 0; i-- {
				assert.Equal(t, pictures[i], b.picture(float64(i)*2.3), "story second %g", float64(i)*2.3)
			}
			assert.NotEqual(t, pictures[0], pictures[10], "the stage changes")
			b.quiet()
		})
	}
}

func TestKeysStepAndChaptersSeek(t *testing.T) {
	b := newBrowser(t, 1280, 720)
	b.open("/s/producer-write?clock=manual")
	b.ready()
	eval[bool](b, "(window.highwater.pause(), document.querySelector('.hw-player').focus(), true)")
	before := eval[int](b, "window.highwater.state().n")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("]")))
	b.until(fmt.Sprintf("(window.highwater.tick(0), window.highwater.state().n > %d)", before))
	at := eval[int](b, "window.highwater.state().n")
	eval[bool](b, "(window.highwater.step(1), window.highwater.tick(0), true)")
	assert.Greater(t, eval[int](b, "window.highwater.state().n"), at, "a step goes to the next event")
	eval[bool](b, "(window.highwater.step(-1), window.highwater.tick(0), true)")
	assert.Equal(t, at, eval[int](b, "window.highwater.state().n"), "and back")
	b.quiet()
}

func TestTheEmbedPlaysInFrames(t *testing.T) {
	for name, attr := range map[string]string{"plain": "", "sandboxed": `sandbox="allow-scripts"`} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, 1000, 700)
			parent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, `<!doctype html><title>course</title><iframe width="900" height="600" %s src="%s/embed/producer-write"></iframe>`, attr, b.base)
			}))
			t.Cleanup(parent.Close)
			require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(parent.URL)))
			frame := func() string {
				png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
				require.NoError(t, err)
				return string(png)
			}
			first := frame()
			assert.Eventually(t, func() bool { return frame() != first }, 20*time.Second, 200*time.Millisecond, "the picture moves")
			b.quiet()
		})
	}
}

// TestScreenshots writes pictures to look at: HIGHWATER_SHOTS=1 go test ./e2e -run Screenshots.
func TestScreenshots(t *testing.T) {
	if os.Getenv("HIGHWATER_SHOTS") == "" {
		t.Skip("HIGHWATER_SHOTS is not set: no pictures wanted")
	}
	require.NoError(t, os.MkdirAll("artifacts", 0o755))
	for _, size := range [][2]int64{{1280, 720}, {800, 500}, {375, 700}} {
		b := newBrowser(t, size[0], size[1])
		for _, id := range []string{"producer-write", "isr-deep-dive", "leader-failover", "who-takes-over", "same-crash-acks-1", "controllers-gone"} {
			for _, theme := range []string{"light", "dark"} {
				b.open("/s/" + id + "?clock=manual&theme=" + theme)
				b.ready()
				for _, s := range []float64{0, 8, 20, 45} {
					b.picture(s)
					png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
					require.NoError(t, err)
					name := fmt.Sprintf("%s-%s-%d-%g.png", id, theme, size[0], s)
					require.NoError(t, os.WriteFile(filepath.Join("artifacts", name), png, 0o644))
				}
			}
		}
		b.quiet()
	}
}
