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

const falseScenario = `id: false-one
title: A false expectation
cluster: {brokers: 3, controllers: 3}
topics: [{name: orders, partitions: 1, replication: 3}]
producers: [{id: shop}]
actions: [{at: 500ms, do: produce, by: shop, topic: orders, key: order-17, value: created}]
expect: [{at: end, that: "leader('orders-0') == 'b2'", say: "Broker 2 leads."}]
`

func TestAFalseExpectationIsRedAndAFixedFileIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "false.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) }
	write(falseScenario)
	b := newBrowserWith(t, dir, 1280, 720)
	b.open("/s/false-one")
	b.ready()
	b.until("document.querySelector('.hw-verdict .bad')?.checkVisibility()")
	assert.Contains(t, eval[string](b, "document.querySelector('.hw-verdict').textContent"), "Broker 2 leads.")
	assert.Equal(t, 1, eval[int](b, "document.querySelectorAll('.hw-ticks .mark-failed').length"), "the timeline marks where")

	write(falseScenario + "colour: blue\n")
	b.open("/")
	assert.Contains(t, eval[string](b, "document.querySelector('.menu-problems').textContent"), "unknown key colour")

	write("# b1 leads: the first replica that is alive\n" + strings.Replace(falseScenario, "'b2'", "'b1'", 1))
	b.open("/")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`a[href*="/s/false-one"]`))))
	b.ready()
	b.until("document.querySelector('.hw-verdict details')")
	assert.False(t, eval[bool](b, "Boolean(document.querySelector('.hw-verdict .bad'))"), "the edited file was run again")
	assert.Zero(t, eval[int](b, "document.querySelectorAll('.hw-ticks .mark-failed').length"))
	b.quiet()
}
