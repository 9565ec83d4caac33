package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs the command as main does.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestListNamesTheScenarios(t *testing.T) {
	code, out, _ := call(t, "list")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "producer-write")
	assert.Contains(t, out, "isr-deep-dive")
}

func TestRunPrintsSentencesEventsAndTranscripts(t *testing.T) {
	for format, want := range map[string]string{
		"text":       "Broker 1 moves the high watermark of orders-0 from 5 to 6",
		"ndjson":     `"kind":"hw.advance"`,
		"transcript": "Fetch orders-0 offset 6 epoch 0 -> hw 6",
	} {
		code, out, errs := call(t, "run", "producer-write", "-format", format)
		assert.Equal(t, 0, code, errs)
		assert.Contains(t, out, want, format)
	}
}

func TestRunEndsWhereItIsTold(t *testing.T) {
	code, out, _ := call(t, "run", "producer-write", "-until", "400ms")
	assert.Equal(t, 0, code)
	assert.NotContains(t, out, "murmur2")
}

func TestBadInputGetsOneSentence(t *testing.T) {
	for _, args := range [][]string{
		{"frobnicate"}, {"run"}, {"run", "no-such"}, {"run", "producer-write", "-set", "x"}, {"run", "producer-write", "-set", "producer.order-service.ack=1"},
		{"check", "no-such"}, {"serve", "extra"}, {"serve", "-scenarios", "no-such-dir"}, {"health", "-addr", "nonsense"},
	} {
		code, out, errs := call(t, args...)
		assert.Equal(t, 2, code, "%v", args)
		assert.Empty(t, out, "%v: nothing is written", args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "%v: one line: %s", args, errs)
	}
}

func TestAFalseExpectationIsRedAndExitsWith1(t *testing.T) {
	file := filepath.Join(t.TempDir(), "false.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`id: false
title: A false expectation
cluster: {brokers: 3, controllers: 3}
topics: [{name: orders, partitions: 1, replication: 3}]
producers: [{id: shop}]
actions: [{at: 500ms, do: produce, by: shop, topic: orders, key: order-17, value: created}]
expect: [{at: end, that: "leader('orders-0') == 'b2'", say: "Broker 2 leads."}]
`), 0o644))
	code, out, errs := call(t, "check", file)
	assert.Equal(t, 1, code, errs)
	assert.Contains(t, out, "FAIL")
	assert.Contains(t, out, "Broker 2 leads.")
}
