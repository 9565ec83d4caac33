package query

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func fieldInt(e *journal.Event, name string, def int64) int64 {
	v, ok := Field(e.F, name)
	if !ok {
		return def
	}
	if r := reflect.ValueOf(v); r.CanInt() {
		return r.Int()
	}
	return def
}

// errorCodes collects the codes of a response, its own and those of its parts.
func errorCodes(f any) []kafka.ErrorCode {
	var codes []kafka.ErrorCode
	var walk func(v reflect.Value, depth int)
	walk = func(v reflect.Value, depth int) {
		if depth > 4 {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem(), depth)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i), depth+1)
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), depth+1)
			}
		case reflect.Int16:
			if c, ok := v.Interface().(kafka.ErrorCode); ok && c != kafka.None {
				codes = append(codes, c)
			}
		}
	}
	if fs, ok := f.(journal.Fields); ok {
		for _, x := range fs {
			walk(reflect.ValueOf(x.Val), 1)
		}
		return codes
	}
	walk(reflect.ValueOf(f), 0)
	return codes
}

// Object gives an event to an expression: n, kind, node, part, group, api, from,
// to, and the fields of f both under f and by their own names. The time is left
// out: it is for the caller to put it in as it counts.
func Object(e *journal.Event) map[string]any {
	if e == nil {
		return map[string]any{"n": 0, "kind": "", "node": "", "part": "", "group": "", "api": "", "from": "", "to": "", "f": map[string]any{}}
	}
	fs, o := map[string]any{}, map[string]any{}
	each(e.F, func(name string, v any) {
		if c, ok := v.(kafka.ErrorCode); ok {
			v = c.String()
		}
		fs[name], o[name] = v, v
	})
	o["n"], o["kind"], o["f"] = e.N, string(e.Kind), fs
	for _, x := range [][2]string{{"node", e.Node}, {"part", e.Part}, {"group", e.Group}, {"api", e.API}, {"from", e.From}, {"to", e.To}} {
		// hw.advance and others have a from and a to of their own.
		if _, taken := o[x[0]]; !taken || x[1] != "" {
			o[x[0]] = x[1]
		}
	}
	return o
}
