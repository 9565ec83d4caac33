package query

import (
	"reflect"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// Field reads a field of an event's F by the name that it has in JSON: of
// Fields, or of a message struct. Reading by reflection is slow next to a switch
// over all messages, but anchors and expressions ask for few fields.
func Field(f any, name string) (any, bool) {
	if fs, ok := f.(journal.Fields); ok {
		for _, x := range fs {
			if x.Name == name {
				return x.Val, true
			}
		}
		return nil, false
	}
	var val any
	found := false
	each(f, func(n string, v any) {
		if n == name && !found {
			val, found = v, true
		}
	})
	return val, found
}

// each calls fn with every named value of an event's F, in their order.
func each(f any, fn func(name string, val any)) {
	if fs, ok := f.(journal.Fields); ok {
		for _, x := range fs {
			fn(x.Name, x.Val)
		}
		return
	}
	v := reflect.ValueOf(f)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	t := v.Type()
	for i := range t.NumField() {
		tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if tag != "" && tag != "-" && t.Field(i).IsExported() {
			fn(tag, v.Field(i).Interface())
		}
	}
}
