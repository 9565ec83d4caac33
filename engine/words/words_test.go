package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/words"
)

// TestEveryKindHasASentence reads the closed list of kinds from its source, so
// that a new kind cannot be forgotten here.
func TestEveryKindHasASentence(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "journal", "kinds.go"), nil, 0)
	require.NoError(t, err)
	count := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		lit, ok := v.Values[0].(*ast.BasicLit)
		require.True(t, ok)
		kind, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		count++
		e := &journal.Event{N: 1, Kind: journal.Kind(kind), Node: "b1", Part: "orders-0", From: "b2", To: "b1", API: "Fetch",
			F: journal.F("records", []string{"r1"}, "do", "pause", "how", "key")}
		say := words.New(&journal.Journal{Events: []journal.Event{*e}}).Say(e)
		assert.NotEqual(t, kind, say, "%s has a sentence", kind)
		assert.True(t, strings.HasSuffix(say, "."), "%s: %q ends", kind, say)
		assert.NotContains(t, say, "%!")
		assert.NotContains(t, say, "<nil>")
		return true
	})
	assert.Greater(t, count, 60)
}

func TestSentencesSayWhatHappensInKafkasWords(t *testing.T) {
	j := &journal.Journal{
		Records: []journal.Record{{ID: "r1", Value: "created"}},
		Events: []journal.Event{
			{N: 1, Kind: journal.RequestSend, Msg: 1, API: "Fetch", From: "b2", To: "b1", Node: "b2", F: &wire.FetchRequest{ReplicaID: 2, Parts: []wire.FetchPart{{Part: "orders-0", FetchOffset: 6}}}},
			{N: 2, Kind: journal.RequestReceive, Msg: 1, API: "Fetch", From: "b2", To: "b1", Node: "b1"},
			{N: 3, Kind: journal.ReplicaAppend, Node: "b1", Part: "orders-0", F: journal.F("baseOffset", int64(5), "epoch", int32(0), "records", []string{"r1"})},
			{N: 4, Kind: journal.HWAdvance, Node: "b1", Part: "orders-0", F: journal.F("from", int64(5), "to", int64(6))},
			{N: 5, Kind: journal.ProducerAcked, Node: "order-service", Part: "orders-0", F: journal.F("records", []string{"r1"}, "baseOffset", int64(-1))},
			{N: 6, Kind: journal.PurgatoryWait, Node: "b1", Part: "orders-0", F: journal.F("requiredOffset", int64(6), "waitsFor", []string{"b2", "b3"})},
		},
	}
	p := words.New(j)
	for i, want := range []string{
		"Broker 2 asks broker 1 for orders-0 from offset 6: the receipt for everything below it.",
		"Broker 1 now knows that broker 2 has everything of orders-0 below offset 6.",
		"Broker 1 appends record “created” to orders-0 at offset 5, leader epoch 0.",
		"Broker 1 moves the high watermark of orders-0 from 5 to 6: all that count have everything below 6.",
		"order-service reports success as soon as the bytes are sent, with offset −1: nobody answers acks=0.",
		"Broker 1 parks the Produce for orders-0 until the high watermark reaches 6; it waits for b2, b3.",
	} {
		assert.Equal(t, want, p.Say(&j.Events[i]))
	}
	assert.Equal(t, &words.Pill{Text: "Fetch 2→1 from 6", Lane: "orders-0"}, p.Pill(&journal.Event{Kind: journal.RequestSend, API: "Fetch", From: "b2", To: "b1", Part: "orders-0", F: j.Events[0].F}))
}
