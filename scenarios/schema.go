package scenarios

import (
	_ "embed"
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed schema.json
var schemaJSON []byte

// Schema is the JSON Schema of scenario files, for editors.
func Schema() []byte { return schemaJSON }

// makeSchema generates the schema from the types that Load decodes into.
func makeSchema() ([]byte, error) {
	str := func(desc string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Description: desc} }
	scalar := &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}
	whole := &jsonschema.Schema{Type: "integer"}
	words := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{scalar, {Type: "array", Items: scalar}}}
	mapOf := func(s *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", AdditionalProperties: s}
	}
	closed := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	list := make([]any, len(kinds))
	for i, k := range kinds {
		list[i] = k
	}
	kind := &jsonschema.Schema{Type: "string", Enum: list}
	anchorMap := &jsonschema.Schema{Type: "object", AdditionalProperties: closed, MinProperties: jsonschema.Ptr(1),
		Properties:        map[string]*jsonschema.Schema{"kind": kind, "nth": {Type: "integer", Minimum: jsonschema.Ptr(1.0)}},
		PatternProperties: map[string]*jsonschema.Schema{`^f\..+`: scalar}}
	for _, k := range []string{"api", "node", "part", "group", "from", "to"} {
		anchorMap.Properties[k] = str("")
	}
	anchorSchema := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{kind, anchorMap}}
	dur := &jsonschema.Schema{Type: "string", Pattern: `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$|^0$`}
	durZero := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{dur, {Const: jsonschema.Ptr[any](0)}}}
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[text]():         scalar,
		reflect.TypeFor[number]():       whole,
		reflect.TypeFor[boolean]():      {Type: "boolean"},
		reflect.TypeFor[percent]():      {Type: "string", Pattern: `^[0-9]{1,3}%$`},
		reflect.TypeFor[hundredths]():   {Type: "number"},
		reflect.TypeFor[duration]():     durZero,
		reflect.TypeFor[moment]():       {AnyOf: []*jsonschema.Schema{durZero, {Const: jsonschema.Ptr[any]("end")}, anchorSchema}},
		reflect.TypeFor[texts]():        words,
		reflect.TypeFor[target]():       {AnyOf: []*jsonschema.Schema{words, mapOf(words)}},
		reflect.TypeFor[settings]():     mapOf(scalar),
		reflect.TypeFor[nodeSettings](): mapOf(mapOf(scalar)),
		reflect.TypeFor[offsetFile]():   mapOf(whole),
		reflect.TypeFor[anchor]():       anchorSchema,
	}
	opts := &jsonschema.ForOptions{TypeSchemas: types}
	zipf, err := jsonschema.For[zipfFile](opts)
	if err != nil {
		return nil, err
	}
	types[reflect.TypeFor[keysFile]()] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{words, zipf}}
	member, err := jsonschema.For[memberFile](opts)
	if err != nil {
		return nil, err
	}
	types[reflect.TypeFor[memberFile]()] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, member}}
	s, err := jsonschema.For[file](opts)
	if err != nil {
		return nil, err
	}
	notNull(s)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "Highwater scenario"
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// notNull takes null out again: For gives it to pointers and slices, but a file
// leaves such a key out.
func notNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 && s.Types[0] == "null" {
		s.Type, s.Types = "", s.Types[1:]
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		} else if len(s.Types) == 0 {
			s.Types = nil
		}
	}
	notNull(s.Items)
	for _, k := range sortedKeys(s.Properties) {
		notNull(s.Properties[k])
	}
}
