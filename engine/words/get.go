package words

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// get reads a value out of an event's fields by a path of field names and, in
// lists, indexes; nil where there is none. Reading by name keeps the catalogue
// whole for messages that only some versions of the wire package have.
func get(f any, path ...string) any {
	for _, name := range path {
		if fs, ok := f.(journal.Fields); ok {
			f = fs.Get(name)
			continue
		}
		v := reflect.ValueOf(f)
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			f = member(v, name)
		case reflect.Slice:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= v.Len() {
				return nil
			}
			f = v.Index(i).Interface()
		default:
			return nil
		}
	}
	return f
}

func member(v reflect.Value, name string) any {
	t := v.Type()
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name && t.Field(i).IsExported() {
			return v.Field(i).Interface()
		}
	}
	return nil
}

// first reads a field of a message, or else of its first partition or topic.
func first(f any, name string) any {
	for _, path := range [][]string{{name}, {"parts", "0", name}, {"topics", "0", name}, {"results", "0", name}} {
		if v := get(f, path...); v != nil {
			return v
		}
	}
	return nil
}

// length is the length of a list.
func length(v any) int {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		return r.Len()
	}
	return 0
}

// num reads a whole number of any size; def where v is none.
func num(v any, def int64) int64 {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if r.CanInt() {
		return r.Int()
	}
	return def
}

// unknown stands for a value that an event does not have.
const unknown = "unknown"

// text prints a value as it stands in a sentence.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return unknown
	case string:
		return minus(v)
	case fmt.Stringer:
		return v.String()
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return unknown
		}
		return text(r.Elem().Interface())
	case reflect.Slice:
		sep := ","
		if r.Type().Elem().Kind() == reflect.String {
			sep = ", "
		}
		s := make([]string, r.Len())
		for i := range s {
			s[i] = text(r.Index(i).Interface())
		}
		return strings.Join(s, sep)
	}
	return minus(fmt.Sprint(v))
}

// minus prints a negative number with the sign that is as wide as a plus.
func minus(s string) string {
	if len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "0123456789") == "" {
		return "−" + s[1:]
	}
	return s
}

// failure is the first error code in a response.
func failure(f any) kafka.ErrorCode {
	if c := code(f); c != kafka.None {
		return c
	}
	for _, name := range []string{"parts", "coordinators", "topics", "results", "responses", "members"} {
		list := get(f, name)
		for i := range length(list) {
			if c := code(get(list, strconv.Itoa(i))); c != kafka.None {
				return c
			}
		}
	}
	return kafka.None
}

func code(f any) kafka.ErrorCode {
	c, _ := get(f, "errorCode").(kafka.ErrorCode)
	return c
}
