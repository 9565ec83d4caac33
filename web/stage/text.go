package stage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// widths are the advances of the shipped sans-serif at 1000 units an em, for
// the characters from space to tilde. The system fonts that may stand in for it
// are at most a few per cent wider, which Fit allows for.
var widths = [95]int{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// Measure returns the width in px that a text may take at a size in px. Bold
// text is taken as 8 % wider.
func Measure(s string, size float64, bold bool) float64 {
	sum := 0
	for _, r := range s {
		if r >= ' ' && r <= '~' {
			sum += widths[r-' ']
		} else {
			sum += 1000 // arrows and signs are at most an em wide
		}
	}
	w := float64(sum) * size / 1000
	if bold {
		w *= 1.08
	}
	return w
}

// Fit cuts a text so that it fits into w px, with an ellipsis where it was cut.
func Fit(s string, w int, size float64, bold bool) string {
	room := float64(w) * 0.97
	if Measure(s, size, bold) <= room {
		return s
	}
	for s != "" {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		if Measure(s+"…", size, bold) <= room {
			return strings.TrimRight(s, " -·") + "…"
		}
	}
	return "…"
}

// Text writes a value as the page does: lists are joined by commas.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []string:
		return strings.Join(v, ",")
	case []int:
		return joinInts(v)
	case []int32:
		return joinInts(v)
	case []int64:
		return joinInts(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = Text(v[i])
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

func joinInts[T int | int32 | int64](v []T) string {
	parts := make([]string, len(v))
	for i := range v {
		parts[i] = strconv.FormatInt(int64(v[i]), 10)
	}
	return strings.Join(parts, ",")
}

// number reads a whole number out of a value.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case journal.Time:
		return int64(v), true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// NodeName is the spoken name of a node: "Broker 1", "Controller C1, node 101".
func NodeName(id string) string {
	n, err := strconv.Atoi(strings.TrimLeft(id, "bc"))
	switch {
	case err != nil || len(id) < 2:
		return id
	case id[0] == 'b':
		return "Broker " + strconv.Itoa(n)
	case id[0] == 'c':
		return fmt.Sprintf("Controller C%d, node %d", n, 100+n)
	}
	return id
}

// partName is the short name of a partition on its card: "P0" of "orders-0".
func partName(part string) string {
	if i := strings.LastIndexByte(part, '-'); i >= 0 {
		return "P" + part[i+1:]
	}
	return part
}

func px(v int) string { return strconv.Itoa(v) }
