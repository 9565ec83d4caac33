package cluster

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// Matches says whether an event is one that the anchor names; Nth is not looked at.
func (a *Anchor) Matches(e *journal.Event) bool {
	if a.Kind != "" && a.Kind != e.Kind || a.API != "" && a.API != e.API || a.Node != "" && a.Node != e.Node ||
		a.Group != "" && a.Group != e.Group || a.From != "" && a.From != e.From || a.To != "" && a.To != e.To {
		return false
	}
	if a.Part != "" && a.Part != e.Part {
		return false
	}
	for name, want := range a.F {
		if got, ok := FieldOf(e.F, name); !ok || text(got) != want {
			return false
		}
	}
	return true
}

// FieldOf reads a field of an event's F by its name: of Fields, or of a message
// struct by its JSON name.
func FieldOf(f any, name string) (any, bool) {
	switch v := f.(type) {
	case nil:
		return nil, false
	case journal.Fields:
		for _, x := range v {
			if x.Name == name {
				return x.Val, true
			}
		}
		return nil, false
	}
	v := reflect.Indirect(reflect.ValueOf(f))
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return v.Field(i).Interface(), true
		}
	}
	return nil, false
}

func text(v any) string {
	s := fmt.Sprint(v)
	return strings.Trim(s, "[]")
}
