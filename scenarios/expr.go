package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	exprfile "github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/query"
)

// Expr is a compiled expression over the functions of package query.
type Expr struct {
	Source string
	prog   *vm.Program
}

// Limits of an expression: what a visitor sends may be evaluated by a server.
const (
	maxExprBytes  = 2000
	maxExprNodes  = 500
	maxExprMemory = 100_000
)

// secs is virtual time as expressions see it.
func secs(t journal.Time) float64 { return float64(t) / float64(journal.Second) }

func micros(v any) (journal.Time, error) {
	f, ok := float(v)
	if !ok || math.IsNaN(f) || math.Abs(f) > 1e9 {
		return 0, fmt.Errorf("a time is a number of seconds, not %v", v)
	}
	return journal.Time(math.Round(f * float64(journal.Second))), nil
}

func float(v any) (float64, bool) {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// object makes an event readable. The time of an event that never came is no
// number: every comparison with it is false, so nothing is concluded from it.
func object(e *journal.Event) map[string]any {
	o := query.Object(e)
	o["t"] = math.NaN()
	if e != nil {
		o["t"] = secs(e.T)
	}
	return o
}

// filter reads the arguments of count, first and last.
func filter(kind string, more []map[string]any) (query.Filter, error) {
	f := query.Filter{Anchor: cluster.Anchor{Kind: journal.Kind(kind)}}
	for _, m := range more {
		for k, v := range m {
			s := fmt.Sprint(v)
			switch k {
			case "kind":
				f.Kind = journal.Kind(s)
			case "api":
				f.API = s
			case "node":
				f.Node = s
			case "part":
				f.Part = s
			case "group":
				f.Group = s
			case "from":
				f.From = s
			case "to":
				f.To = s
			case "record":
				f.Record = s
			case "nth":
				n, _ := float(v)
				f.Nth = int(n)
			case "after", "before":
				t, err := micros(v)
				if err != nil {
					return f, err
				}
				if k == "after" {
					f.After = &t
				} else {
					f.Before = &t
				}
			default:
				if f.F == nil {
					f.F = map[string]string{}
				}
				f.F[strings.TrimPrefix(k, "f.")] = s
			}
		}
	}
	return f, nil
}

func optional(offset int64) any {
	if offset < 0 {
		return nil
	}
	return int(offset)
}

// env are the functions of expressions, about the state that q asks at. At load
// q is nil: then only the types of the functions count.
func env(q *query.Q) map[string]any {
	seconds := func(t journal.Time, ok bool) float64 {
		if !ok {
			return math.NaN()
		}
		return secs(t)
	}
	return map[string]any{
		"leader":         func(part string) string { return q.Leader(part) },
		"epoch":          func(part string) int { return int(q.Epoch(part)) },
		"partitionEpoch": func(part string) int { return int(q.PartitionEpoch(part)) },
		"isr":            func(part string) []int { return q.ISR(part) },
		"elr":            func(part string) []int { return q.ELR(part) },
		"hw":             func(node, part string) int { return int(q.HW(node, part)) },
		"leo":            func(node, part string) int { return int(q.LEO(node, part)) },
		"lso":            func(part string) int { return int(q.LSO(part)) },
		"log":            func(node, part string) []string { return q.Log(node, part) },
		"committed":      func(group, part string) any { return optional(q.Committed(group, part)) },
		"position":       func(member, part string) any { return optional(q.Position(member, part)) },
		"lag": func(group, part string) any {
			if n, ok := q.Lag(group, part); ok {
				return int(n)
			}
			return nil
		},
		"owner":       func(group, part string) string { return q.Owner(group, part) },
		"assignment":  func(group string) map[string][]string { return q.Assignment(group) },
		"groupState":  func(group string) string { return q.GroupState(group) },
		"groupLeader": func(group string) string { return q.GroupLeader(group) },
		"generation":  func(group string) int { return int(q.Generation(group)) },
		"memberEpoch": func(member string) int { return int(q.MemberEpoch(member)) },
		"acked":       func() []string { return q.Acked() },
		"lost":        func() []string { return q.Lost() },
		"delivered":   func(record string) int { return q.Delivered(record) },
		"readable":    func(part string) int { return int(q.Readable(part)) },
		"errors":      func(client string) []string { return q.Errors(client) },
		"count": func(kind string, more ...map[string]any) (int, error) {
			f, err := filter(kind, more)
			if err != nil {
				return 0, err
			}
			return q.Count(f), nil
		},
		"first": func(kind string, more ...map[string]any) (map[string]any, error) {
			f, err := filter(kind, more)
			if err != nil {
				return nil, err
			}
			return object(q.First(f)), nil
		},
		"last": func(kind string, more ...map[string]any) (map[string]any, error) {
			f, err := filter(kind, more)
			if err != nil {
				return nil, err
			}
			return object(q.Last(f)), nil
		},
		"controller":  func() string { return q.Controller() },
		"quorumEpoch": func() int { return int(q.QuorumEpoch()) },
		"fenced":      func(node string) bool { return q.Fenced(node) },
		"coordinator": func(group string) string { return q.Coordinator(group) },
		"config": func(who, key string) (any, error) {
			v, def, ok := q.Config(who, key)
			if !ok {
				return nil, fmt.Errorf("%s has no setting %s", who, key)
			}
			switch def.Type {
			case kafka.Int:
				return strconv.Atoi(v)
			case kafka.Bool:
				return v == "true", nil
			}
			return v, nil
		},
		"feature":    func(name string) (int, error) { return q.Feature(name) },
		"partitions": func(topic string) int { return q.Partitions(topic) },
		"partition":  func(topic, key string) int { return q.Partition(topic, key) },
		"hash":       func(key string) int { return int(q.Hash(key)) },
		"rec": func(keyOrValue string, value ...string) (string, error) {
			switch len(value) {
			case 0:
				return q.Record(nil, keyOrValue), nil
			case 1:
				return q.Record(&keyOrValue, value[0]), nil
			}
			return "", errors.New("rec takes a value, or a key and a value")
		},
		"copies":   func(record, part string) int { return q.Copies(record, part) },
		"headroom": func(part string) int { return int(q.Headroom(part)) },
		"minIsr":   func(part string) int { return int(q.MinISR(part)) },
		"waited":   func(record string) float64 { return seconds(q.Waited(record)) },
		"longest": func(producer string, span ...any) (float64, error) {
			from, to, err := within(q, span)
			return secs(q.Longest(producer, from, to)), err
		},
		"twice":   func(group string) int { return q.Twice(group) },
		"never":   func(group string) int { return q.Never(group) },
		"revoked": func(group string) []string { return q.Revoked(group) },
		"moved":   func(group string) int { return q.Moved(group) },
		"paused": func(group string, span ...any) (float64, error) {
			from, to, err := within(q, span)
			return secs(q.Paused(group, from, to)), err
		},
		"gap":      func(group, part string) float64 { return secs(q.Gap(group, part)) },
		"work":     func(group string) float64 { return secs(q.Work(group)) },
		"ordered":  func(producer, part string) bool { return q.Ordered(producer, part) },
		"logStart": func(part string) int { return int(q.LogStart(part)) },
		"offline":  func(part string) float64 { return secs(q.Offline(part)) },
		"leaderAt": func(part string, at any) (string, error) {
			t, err := micros(at)
			if err != nil {
				return "", err
			}
			return q.LeaderAt(part, t), nil
		},
		"recovering": func(part string) bool { return q.Recovering(part) },
		"gone":       func(node, part string) int { return int(q.Gone(node, part)) },
	}
}

// within reads the times between which a function counts: none for the whole run.
func within(q *query.Q, span []any) (from, to journal.Time, err error) {
	if len(span) > 2 {
		return 0, 0, errors.New("it takes at most two times")
	}
	lim := [2]journal.Time{0, q.End()}
	for i, v := range span {
		if lim[i], err = micros(v); err != nil {
			return 0, 0, err
		}
	}
	return lim[0], lim[1], nil
}

var (
	envTypes  = env(nil)
	functions = sortedKeys(envTypes)
)

func compile(src string, opts ...expr.Option) (*Expr, error) {
	if len(src) > maxExprBytes {
		return nil, fmt.Errorf("the expression has more than %d characters", maxExprBytes)
	}
	prog, err := expr.Compile(src, append([]expr.Option{
		expr.Env(envTypes), expr.MaxNodes(maxExprNodes),
		// The clock and randomness would make a verdict depend on more than the run.
		expr.DisableBuiltin("now"), expr.DisableBuiltin("date"), expr.DisableBuiltin("timezone"), expr.DisableBuiltin("duration"),
	}, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Expr{src, prog}, nil
}

// place is the message of a failed compilation and its offset in characters.
func place(err error) (string, int) {
	var fe *exprfile.Error
	if !errors.As(err, &fe) {
		return err.Error(), 0
	}
	msg := fe.Message
	if name, ok := strings.CutPrefix(msg, "unknown name "); ok {
		msg = "unknown function or name " + name
		if near := kafka.Nearest(name, functions); near != "" {
			msg += "; did you mean " + near + "?"
		}
	}
	return msg, fe.From
}

// Eval runs an expression.
func (e *Expr) Eval(q *query.Q) (out any, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("%v", r)
		}
	}()
	m := vm.VM{MemoryBudget: maxExprMemory}
	out, err = m.Run(e.prog, env(q))
	if err != nil {
		msg, _ := place(err)
		return nil, errors.New(msg)
	}
	return out, nil
}

// Bool runs an expression that has to be true or false.
func (e *Expr) Bool(q *query.Q) (bool, error) {
	v, err := e.Eval(q)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s is %v, neither true nor false", e.Source, v)
	}
	return b, nil
}

// Template is a text with {{expressions}}.
type Template struct {
	Source string
	parts  []part
}

type part struct {
	text string
	expr *Expr // nil: text
}

// split cuts a template into texts and expressions; odd entries are expressions.
// Braces inside an expression and quotes do not end it.
func split(s string) (pieces []string, offsets []int, err error) {
	pos := 0
	for {
		i := strings.Index(s[pos:], "{{")
		if i < 0 {
			return append(pieces, s[pos:]), append(offsets, pos), nil
		}
		pieces, offsets = append(pieces, s[pos:pos+i]), append(offsets, pos)
		pos += i + 2
		end := closing(s[pos:])
		if end < 0 {
			return nil, []int{pos - 2}, errors.New("{{ without }}")
		}
		pieces, offsets = append(pieces, s[pos:pos+end]), append(offsets, pos)
		pos += end + 2
	}
}

func closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && i+1 < len(s) && s[i+1] == '}':
			return i
		}
	}
	return -1
}

// Text fills a template in.
func (t *Template) Text(q *query.Q) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.expr == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := p.expr.Eval(q)
		if err != nil {
			return "", fmt.Errorf("{{%s}}: %w", p.expr.Source, err)
		}
		b.WriteString(show(v))
	}
	return b.String(), nil
}

// show writes a value into a sentence: a broker as its number, a controller as
// the stage draws it, a list with commas, a float with two to three digits.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		if id := kafka.NodeID(v); id > 100 {
			return strings.ToUpper(v)
		} else if id > 0 {
			return v[1:]
		}
		return v
	case float64:
		return showFloat(v)
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Slice {
		ss := make([]string, r.Len())
		for i := range ss {
			ss[i] = show(r.Index(i).Interface())
		}
		if len(ss) == 0 {
			return "none"
		}
		return strings.Join(ss, ", ")
	}
	return fmt.Sprint(v)
}

func showFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	digits := 2
	switch a := math.Abs(f); {
	case a >= 100:
		digits = 0
	case a >= 10:
		digits = 1
	case a < 0.1:
		digits = 3
	}
	s := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
