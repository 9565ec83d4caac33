// Package keys shows how the Java producer's built-in partitioner chooses a
// partition: for one key step by step, and for a list of keys as a spread over
// all partitions (BuiltInPartitioner.partitionForKey, Utils.murmur2, KIP-480,
// KIP-794). Left out are custom partitioners, partitioner.ignore.keys=true and
// the hashes of other clients.
package keys

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// The bounds of the page. static/js/murmur.js has the same.
const (
	MaxPartitions = 10_000
	maxRows       = 64   // rows of the spread; more partitions share rows
	maxChips      = 6    // keys named in a row
	maxChars      = 48   // characters of a key shown with their bytes
	maxName       = 28   // characters of a key in a row
	maxKey        = 4096 // bytes of the one key
	maxList       = 1 << 20
)

// View is the page.
type View struct {
	Key     string  `json:"key"`
	Null    bool    `json:"null"`    // the record has no key
	Count   string  `json:"count"`   // the partition count as it was typed
	List    string  `json:"list"`    // keys, one a line
	Problem string  `json:"problem"` // what is wrong with the input, one sentence
	Steps   *Steps  `json:"steps"`
	Spread  *Spread `json:"spread"`
}

// Steps is the way from a key to its partition.
type Steps struct {
	Chars     []Char `json:"chars"`
	MoreBytes int    `json:"moreBytes"` // beyond the characters shown
	Length    int    `json:"length"`    // bytes of the whole key
	Hash      int32  `json:"hash"`
	Positive  int32  `json:"positive"`
	N         int32  `json:"n"`
	Partition int32  `json:"partition"`
}

// Char is a character of a key and its UTF-8 bytes, "c3 b6".
type Char struct {
	Text string `json:"text"`
	Hex  string `json:"hex"`
}

// Bits prints a hash as 32 bits in hex.
func Bits(h int32) string { return fmt.Sprintf("0x%08x", uint32(h)) }

// Mask says what the mask does to a hash.
func Mask(h int32) string {
	if h < 0 {
		return "the sign bit was set and is cleared"
	}
	return "the sign bit was clear: nothing changes"
}

// Spread is how a list of keys falls into partitions.
type Spread struct {
	Rows    []Row  `json:"rows"`
	Summary string `json:"summary"`
}

// Row is a partition, or a run of them where there are many.
type Row struct {
	Name  string   `json:"name"`
	Count int      `json:"count"`
	Width int      `json:"width"` // of its bar, 0 to 100: the share of the fullest row
	Chips []string `json:"chips"`
	More  int      `json:"more"` // distinct keys that are not named
}

// Example is what the page shows before anything is typed.
func Example() View {
	var list []string
	for i := range 60 {
		list = append(list, fmt.Sprintf("order-%d", i+1))
	}
	return View{Key: "order-17", Count: "12", List: strings.Join(list, "\n")}.solve()
}

// Read makes the page that an address names: key or null, n, and list.
func Read(q url.Values) View {
	if !q.Has("key") && !q.Has("null") && !q.Has("n") && !q.Has("list") {
		return Example()
	}
	v := View{Key: strings.ToValidUTF8(q.Get("key"), "\ufffd"), Null: q.Has("null"), Count: q.Get("n"), List: strings.ToValidUTF8(q.Get("list"), "\ufffd")}
	if v.Count == "" {
		v.Count = "12"
	}
	return v.solve()
}

func (v View) solve() View {
	n, problem := partitions(v.Count)
	switch {
	case problem != "":
		v.Problem = problem
		return v
	case len(v.Key) > maxKey:
		v.Problem = fmt.Sprintf("The key has %s bytes; this page takes up to %s. Shorten it.", thousands(len(v.Key)), thousands(maxKey))
		return v
	case len(v.List) > maxList:
		v.Problem = "The list is longer than 1 MiB; take a part of it."
		return v
	}
	if !v.Null {
		v.Steps = steps(v.Key, int32(n))
	}
	v.Spread = spread(split(v.List), n)
	return v
}

func partitions(s string) (int, string) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 || n > MaxPartitions || strings.HasPrefix(strings.TrimSpace(s), "+") {
		return 0, "The partition count has to be a whole number from 1 to " + thousands(MaxPartitions) + ", such as 12."
	}
	return n, ""
}

func steps(key string, n int32) *Steps {
	h := kafka.Murmur2([]byte(key))
	s := &Steps{Length: len(key), Hash: h, Positive: kafka.ToPositive(h), N: n, Partition: kafka.PartitionForKey([]byte(key), n), MoreBytes: len(key), Chars: []Char{}}
	for _, r := range key {
		if len(s.Chars) == maxChars {
			break
		}
		c := string(r)
		s.Chars = append(s.Chars, Char{visible(c), strings.TrimSpace(fmt.Sprintf("% x", c))})
		s.MoreBytes -= len(c)
	}
	return s
}

// visible replaces characters that leave no mark.
func visible(c string) string {
	switch c {
	case " ":
		return "␣"
	case "\t":
		return "⇥"
	}
	return c
}

// split reads one key a line. Empty lines are left out; blanks are part of a key.
func split(list string) []string {
	var out []string
	for line := range strings.SplitSeq(list, "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func spread(list []string, n int) *Spread {
	if len(list) == 0 {
		return nil
	}
	per := (n + maxRows - 1) / maxRows
	s := &Spread{Rows: make([]Row, (n+per-1)/per)}
	for i := range s.Rows {
		s.Rows[i].Chips = []string{}
	}
	seen := map[string]bool{}
	counts := make([]int, n)
	for _, key := range list {
		p := int(kafka.PartitionForKey([]byte(key), int32(n)))
		counts[p]++
		row := &s.Rows[p/per]
		row.Count++
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(row.Chips) < maxChips {
			row.Chips = append(row.Chips, name(key))
		} else {
			row.More++
		}
	}
	top := slices.MaxFunc(s.Rows, func(a, b Row) int { return cmp.Compare(a.Count, b.Count) }).Count
	for i := range s.Rows {
		r := &s.Rows[i]
		r.Name = strconv.Itoa(i * per)
		if last := min((i+1)*per, n) - 1; last > i*per {
			r.Name += "–" + strconv.Itoa(last)
		}
		r.Width = r.Count * 100 / top
		if r.Count > 0 {
			r.Width = max(r.Width, 1)
		}
	}
	s.Summary = summary(len(list), len(seen), counts)
	return s
}

func summary(keys, distinct int, counts []int) string {
	high := slices.Max(counts)
	empty := 0
	for _, c := range counts {
		if c == 0 {
			empty++
		}
	}
	text := fmt.Sprintf("%s, %s different, in %s. The fullest is %d with %s: %d %% of all.",
		plural(keys, "key"), thousands(distinct), plural(len(counts), "partition"), slices.Index(counts, high), thousands(high), high*100/keys)
	if empty > 0 {
		text += fmt.Sprintf(" Empty: %s.", thousands(empty))
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func name(key string) string {
	if utf8.RuneCountInString(key) <= maxName {
		return key
	}
	return string([]rune(key)[:maxName-1]) + "…"
}
