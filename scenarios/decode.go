package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Limits of a file. Aliases are followed one by one, so that the number of nodes
// bounds what a file can grow to.
const (
	maxBytes  = 256 << 10
	maxNodes  = 50_000
	maxDepth  = 40
	maxTime   = 24 * 3600 * journal.Second
	maxNumber = 1 << 53 // what every reader of JSON holds exactly
)

// decoder fills the types of file.go. yaml's own decoder stops at kinds it
// dislikes, knows no nearest key, and forgets where values stood; a scenario's
// author is owed all three.
type decoder struct {
	*reporter
	nodes int
	bomb  bool
}

func at(n *yaml.Node) pos { return pos{n.Line, n.Column} }

// deref follows aliases, counts, and refuses what grows without end.
func (d *decoder) deref(n *yaml.Node, depth int) *yaml.Node {
	d.nodes++
	if d.bomb || d.nodes > maxNodes || depth > maxDepth {
		if !d.bomb {
			d.at(at(n), "the file is nested or repeated too deeply through aliases; write the values out")
		}
		d.bomb = true
		return nil
	}
	for range maxDepth {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// pairs calls fn with the key and value of each entry, once a key.
func (d *decoder) pairs(n *yaml.Node, depth int, fn func(k, v *yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := d.deref(n.Content[i], depth)
		if k == nil {
			return
		}
		if k.Kind != yaml.ScalarNode {
			d.at(at(k), "a key has to be a word")
			continue
		}
		if seen[k.Value] {
			d.at(at(k), "%s is given twice", k.Value)
			continue
		}
		seen[k.Value] = true
		fn(k, n.Content[i+1])
	}
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, name string, depth int) {
	place := at(n) // of the alias, not of what it stands for
	if n = d.deref(n, depth); n == nil {
		return
	}
	switch x := v.Addr().Interface().(type) {
	case *text:
		*x = d.text(n, name, place)
	case *number:
		if s := d.text(n, name, place); s.set {
			i, err := strconv.ParseInt(s.s, 10, 64)
			if err != nil || i > maxNumber || i < -maxNumber {
				d.at(place, "%s is a whole number, not %s", name, what(n))
				*x = number{at: place} // given, but of no use
				return
			}
			*x = number{i, place, true}
		}
	case *boolean:
		if s := d.text(n, name, place); s.set {
			if s.s != "true" && s.s != "false" {
				d.at(place, "%s is true or false, not %s", name, what(n))
				return
			}
			*x = boolean{s.s == "true", true}
		}
	case *percent:
		if s := d.text(n, name, place); s.set {
			i, err := parsePercent(s.s)
			if err != nil {
				d.at(place, "%s %v", name, err)
				return
			}
			*x = percent{i, place, true}
		}
	case *hundredths:
		if s := d.text(n, name, place); s.set {
			i, err := parseHundredths(s.s)
			if err != nil {
				d.at(place, "%s is a number such as 1.2, not %s", name, what(n))
				return
			}
			*x = hundredths{i, place, true}
		}
	case *duration:
		if s := d.text(n, name, place); s.set {
			t, err := parseDuration(s.s)
			if err != nil {
				d.at(place, "%s %v", name, err)
			}
			*x = duration{t, place, true}
		}
	case *moment:
		*x = d.moment(n, name, place, depth)
	case *texts:
		*x = texts{list: d.list(n, name, depth), at: place, set: true}
	case *target:
		x.at, x.set = place, true
		if n.Kind != yaml.MappingNode {
			x.list = d.list(n, name, depth)
			return
		}
		d.pairs(n, depth, func(k, v *yaml.Node) {
			p := at(v)
			if v = d.deref(v, depth+1); v != nil {
				x.moves = append(x.moves, moveFile{text{k.Value, at(k), true}, texts{d.list(v, k.Value, depth+1), p, true}})
			}
		})
	case *settings:
		*x = settings{list: d.settings(n, name, depth), at: place}
	case *nodeSettings:
		if !d.is(n, yaml.MappingNode, name, "a map") {
			return
		}
		d.pairs(n, depth, func(k, v *yaml.Node) {
			if w := d.deref(v, depth+1); w != nil {
				x.list = append(x.list, nodeSetting{text{k.Value, at(k), true}, settings{d.settings(w, k.Value, depth+1), at(w)}})
			}
		})
	case *offsetFile:
		for _, s := range d.settings(n, name, depth) {
			i, err := strconv.ParseInt(s.val.s, 10, 64)
			if err != nil {
				d.at(s.val.at, "the offset of %s is a whole number, not %q", s.key.s, s.val.s)
				continue
			}
			x.list = append(x.list, offsetEntry{s.key, number{i, s.val.at, true}})
		}
	case **anchor:
		*x = d.anchor(n, name, place, depth)
	case *keysFile:
		x.at = place
		if n.Kind == yaml.MappingNode {
			x.zipf = &zipfFile{}
			d.fields(n, reflect.ValueOf(x.zipf).Elem(), name, depth)
			return
		}
		x.list = d.list(n, name, depth)
	case *memberFile:
		if n.Kind == yaml.ScalarNode {
			x.ID = d.text(n, "a member", place)
			return
		}
		d.fields(n, v, name, depth)
	default:
		d.compound(n, v, name, depth)
	}
}

func (d *decoder) compound(n *yaml.Node, v reflect.Value, name string, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		d.fields(n, v, name, depth)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.fields(n, v.Elem(), name, depth)
	case reflect.Slice:
		if !d.is(n, yaml.SequenceNode, name, "a list") {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			d.value(c, v.Index(i), "an entry of "+name, depth+1)
		}
	}
}

func (d *decoder) is(n *yaml.Node, k yaml.Kind, name, want string) bool {
	if n.Kind == k {
		return true
	}
	d.at(at(n), "%s is %s, not %s", name, want, what(n))
	return false
}

// fields fills a struct from a map.
func (d *decoder) fields(n *yaml.Node, v reflect.Value, name string, depth int) {
	if f := v.FieldByName("at"); f.IsValid() && v.CanAddr() {
		setPos(v.Addr().Interface(), at(n))
	}
	if !d.is(n, yaml.MappingNode, name, "a map") {
		return
	}
	t := v.Type()
	index, required := map[string]int{}, []string{}
	var names []string
	for i := range t.NumField() {
		tag, opt, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if tag == "" {
			continue
		}
		index[tag] = i
		names = append(names, tag)
		if opt == "" {
			required = append(required, tag)
		}
	}
	given := map[string]bool{}
	d.pairs(n, depth, func(k, c *yaml.Node) {
		i, ok := index[k.Value]
		if !ok {
			d.unknown(at(k), "key", k.Value, names, "here")
			return
		}
		given[k.Value] = true
		d.value(c, v.Field(i), k.Value, depth+1)
	})
	for _, r := range required {
		if !given[r] && !d.bomb {
			d.at(at(n), "%s is missing", r)
		}
	}
}

// setPos keeps the place of a whole entry.
func setPos(x any, p pos) {
	switch x := x.(type) {
	case *preloadFile:
		x.at = p
	case *groupFile:
		x.at = p
	case *actionFile:
		x.at = p
	case *chapterFile:
		x.at = p
	case *variantFile:
		x.at = p
	}
}

// unknown reports a word that is none of a list, with the nearest that is.
func (d *reporter) unknown(p pos, kind, word string, words []string, where string) {
	// The nearest of very short words is chance: b4 is not a slip for b1.
	if near := kafka.Nearest(word, words); near != "" && len(word) > 3 {
		d.at(p, "unknown %s %s; did you mean %s?", kind, word, near)
		return
	}
	switch {
	case len(words) == 0:
		d.at(p, "unknown %s %s; there is none %s", kind, word, where)
	case len(words) > 24:
		d.at(p, "unknown %s %s", kind, word)
	default:
		d.at(p, "unknown %s %s; known %s: %s", kind, word, where, strings.Join(words, ", "))
	}
}

func (d *decoder) text(n *yaml.Node, name string, p pos) text {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.at(p, "%s is one value, not %s", name, what(n))
		return text{at: p}
	}
	return text{n.Value, p, true}
}

func (d *decoder) list(n *yaml.Node, name string, depth int) []text {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return []text{d.text(n, name, at(n))}
	}
	var ts []text
	if !d.is(n, yaml.SequenceNode, name, "a list") {
		return nil
	}
	for _, c := range n.Content {
		p := at(c)
		if c = d.deref(c, depth+1); c != nil {
			if t := d.text(c, "an entry of "+name, p); t.set {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

func (d *decoder) settings(n *yaml.Node, name string, depth int) []setting {
	if !d.is(n, yaml.MappingNode, name, "a map") {
		return nil
	}
	var ss []setting
	d.pairs(n, depth, func(k, v *yaml.Node) {
		p := at(v)
		if v = d.deref(v, depth+1); v != nil {
			if t := d.text(v, k.Value, p); t.set {
				ss = append(ss, setting{text{k.Value, at(k), true}, t})
			}
		}
	})
	return ss
}

func (d *decoder) moment(n *yaml.Node, name string, p pos, depth int) moment {
	if n.Kind == yaml.MappingNode {
		return moment{anchor: d.anchor(n, name, p, depth), at: p, set: true}
	}
	s := d.text(n, name, p)
	if !s.set || s.s == "end" {
		return moment{end: true, at: p, set: s.set}
	}
	t, err := parseDuration(s.s)
	if err != nil {
		if kindKnown(s.s) {
			return moment{anchor: &anchor{kind: s, at: p}, at: p, set: true}
		}
		d.at(p, "%s %v; a moment is such a time, end, or an anchor", name, err)
	}
	return moment{t: t, at: p, set: true}
}

var anchorKeys = []string{"kind", "api", "node", "part", "group", "from", "to", "nth"}

func (d *decoder) anchor(n *yaml.Node, name string, p pos, depth int) *anchor {
	a := &anchor{at: p}
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		a.kind = d.text(n, name, p)
	} else {
		for _, s := range d.settings(n, name, depth) {
			slot := map[string]*text{"kind": &a.kind, "api": &a.api, "node": &a.node, "part": &a.part, "group": &a.group, "from": &a.from, "to": &a.to}[s.key.s]
			switch {
			case slot != nil:
				*slot = s.val
			case s.key.s == "nth":
				i, err := strconv.Atoi(s.val.s)
				if err != nil || i < 1 {
					d.at(s.val.at, "nth counts from 1, not %q", s.val.s)
				}
				a.nth = number{int64(i), s.val.at, true}
			case strings.HasPrefix(s.key.s, "f.") && len(s.key.s) > 2:
				a.f = append(a.f, setting{text{s.key.s[2:], s.key.at, true}, s.val})
			default:
				d.unknown(s.key.at, "anchor key", s.key.s, append(anchorKeys, "f.<field>"), "in an anchor")
			}
		}
	}
	if a.kind.set && !kindKnown(a.kind.s) {
		d.unknown(a.kind.at, "kind of event", a.kind.s, kinds, "")
	}
	return a
}

func parseDuration(s string) (journal.Time, error) {
	t, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("is a duration such as 500ms or 2.5s, not %q", s)
	case t < 0:
		return 0, fmt.Errorf("is not negative, as %s is", s)
	case t%time.Microsecond != 0:
		return 0, fmt.Errorf("is a whole number of microseconds, which %s is not", s)
	case journal.Time(t/time.Microsecond) > maxTime:
		return 0, fmt.Errorf("is at most 24h, less than %s", s)
	}
	return journal.Time(t / time.Microsecond), nil
}

func parsePercent(s string) (int, error) {
	i, err := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if err != nil || !strings.HasSuffix(s, "%") || i < 0 || i > 100 {
		return 0, fmt.Errorf("is a percentage from 0%% to 100%%, not %q", s)
	}
	return i, nil
}

// parseHundredths reads 1.25 as 125 without a float, which could round.
func parseHundredths(s string) (int, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > 2 || len(whole) > 4 {
		return 0, fmt.Errorf("too long")
	}
	i, err := strconv.ParseUint(whole+(frac + "00")[:2], 10, 32)
	return int(i), err
}
