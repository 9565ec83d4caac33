package keys_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web/keys"
)

func read(t *testing.T, query string) keys.View {
	t.Helper()
	q, err := url.ParseQuery(query)
	require.NoError(t, err)
	return keys.Read(q)
}

func TestAKeyIsShownStepByStep(t *testing.T) {
	s := read(t, "key=order-17&n=12").Steps
	require.NotNil(t, s)
	assert.EqualValues(t, 1568318961, s.Positive)
	assert.EqualValues(t, 9, s.Partition)
	assert.Len(t, s.Chars, 8)
	assert.Equal(t, keys.Char{Text: "o", Hex: "6f"}, s.Chars[0])
	assert.Equal(t, "0x5d7aa5f1", keys.Bits(s.Hash))
	s = read(t, "key=21&n=12").Steps
	assert.EqualValues(t, -973932308, s.Hash)
	assert.EqualValues(t, 1173551340, s.Positive, "the mask clears the sign bit; it is not the absolute value")
}

func TestAnEmptyKeyIsAKeyAndNoKeyIsNone(t *testing.T) {
	empty := read(t, "key=&n=12")
	require.NotNil(t, empty.Steps)
	assert.Zero(t, empty.Steps.Length)
	assert.EqualValues(t, 275646681, empty.Steps.Positive) // murmur2 of no bytes
	assert.Nil(t, read(t, "key=order-17&null=1&n=12").Steps)
}

func TestCharactersBeyondASCIIAreUTF8(t *testing.T) {
	s := read(t, "key=%C3%B6%F0%9F%90%98+x&n=3").Steps
	require.NotNil(t, s)
	assert.Equal(t, []keys.Char{{Text: "ö", Hex: "c3 b6"}, {Text: "🐘", Hex: "f0 9f 90 98"}, {Text: "␣", Hex: "20"}, {Text: "x", Hex: "78"}}, s.Chars)
	assert.Equal(t, 8, s.Length)
	assert.Equal(t, "\ufffd", read(t, "key=%ff&n=3").Key)
}

func TestBadInputIsOneSentence(t *testing.T) {
	for _, n := range []string{"0", "-1", "1.5", "abc", "10001", "%2B5", "99999999999999999999", "1e3"} {
		v := read(t, "key=a&n="+n)
		assert.Equal(t, "The partition count has to be a whole number from 1 to 10,000, such as 12.", v.Problem, n)
		assert.Nil(t, v.Steps)
		assert.Nil(t, v.Spread)
	}
	assert.Contains(t, read(t, "n=3&key="+strings.Repeat("a", 5000)).Problem, "5,000 bytes")
	assert.Empty(t, read(t, "key=a&n=+10000+").Problem)
	assert.Empty(t, read(t, "key=a").Problem, "without a count there are 12")
}

func TestAListFallsIntoPartitions(t *testing.T) {
	var list strings.Builder
	for i := range 240 {
		fmt.Fprintf(&list, "order-%d\r\n\n", i+1)
	}
	s := read(t, url.Values{"n": {"12"}, "key": {"a"}, "list": {list.String()}}.Encode()).Spread
	require.NotNil(t, s)
	var counts []int
	for _, r := range s.Rows {
		counts = append(counts, r.Count)
	}
	assert.Equal(t, []int{19, 22, 17, 23, 13, 20, 28, 22, 16, 15, 25, 20}, counts)
	assert.Equal(t, 100, s.Rows[6].Width)
	assert.Len(t, s.Rows[6].Chips, 6)
	assert.Equal(t, 22, s.Rows[6].More)
	assert.Equal(t, "240 keys, 240 different, in 12 partitions. The fullest is 6 with 28: 11 % of all.", s.Summary)
}

func TestManyPartitionsShareRows(t *testing.T) {
	s := read(t, "n=10000&key=a&list=order-17").Spread
	require.NotNil(t, s)
	assert.LessOrEqual(t, len(s.Rows), 64)
	assert.Equal(t, "0–156", s.Rows[0].Name)
	assert.Equal(t, "9891–9999", s.Rows[len(s.Rows)-1].Name)
	assert.Equal(t, "1 key, 1 different, in 10,000 partitions. The fullest is 8961 with 1: 100 % of all. Empty: 9,999.", s.Summary)
}

func TestTheExampleIsWhole(t *testing.T) {
	v := read(t, "")
	assert.Empty(t, v.Problem)
	assert.NotNil(t, v.Steps)
	assert.NotNil(t, v.Spread)
}

var update = flag.Bool("update", false, "write the expected file anew")

// TestViewsForTheScript writes what static/js/murmur.js has to make of the same
// input; the script's own test reads the file.
func TestViewsForTheScript(t *testing.T) {
	type pair struct {
		Query string    `json:"query"`
		View  keys.View `json:"view"`
	}
	var pairs []pair
	for _, q := range []string{"", "key=order-17&n=3", "key=&n=1", "null=1&n=12&list=a%0Ab", "key=21&n=12", "key=%C3%B6%F0%9F%90%98+x%09&n=7&list=%C3%B6%0A%0A+%0A%F0%9F%90%98%0D%0A",
		"key=a&n=0", "key=a&n=1e3", "key=a&n=+10000+", "key=a&n=10001", "key=a&n=9999&list=order-1%0Aorder-2%0Aorder-1", "key=a&n=65&list=" + strings.Repeat("k%0A", 9),
		"key=" + strings.Repeat("long", 30) + "&n=5&list=" + strings.Repeat("long", 30), "n=3&key=" + strings.Repeat("a", 5000)} {
		pairs = append(pairs, pair{q, read(t, q)})
	}
	got, err := json.MarshalIndent(pairs, "", " ")
	require.NoError(t, err)
	file := filepath.Join("testdata", "views.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got)+"\n")
}
