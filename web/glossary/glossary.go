// Package glossary defines the words that captions, sentences and labels use:
// Kafka's nouns, its requests, its error codes, and its config keys, whose
// texts come from the engine's table of keys. Each has its source: a class of
// Kafka or a KIP.
package glossary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Term is a word and what it means.
type Term struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Kafka   string   `json:"kafka,omitempty"` // its name in Kafka's code, settings, tools or metrics
	Text    string   `json:"text"`
	Source  string   `json:"source"`
	Forms   []string `json:"forms"`            // how it stands in a sentence, singular
	Linked  bool     `json:"linked,omitempty"` // the concepts page has it under its id
	Concept bool     `json:"-"`                // … with a section of its own
}

// Concepts are the terms that the concepts page explains with a picture.
func Concepts() []Term {
	return slices.DeleteFunc(slices.Clone(general), func(t Term) bool { return !t.Concept })
}

// Nouns are Kafka's nouns, the concepts first.
func Nouns() []Term { return slices.Clone(general) }

// APIs are Kafka's requests.
func APIs() []Term { return apis() }

// Errors are Kafka's error codes.
func Errors() []Term { return errorTerms() }

// Configs are the config keys that have no text among the nouns.
func Configs() []Term { return configs() }

// All are the nouns, requests, errors and config keys. The concepts page has each
// of them.
func All() []Term {
	all := slices.Concat(general, apis(), errorTerms(), configs())
	for i := range all {
		all[i].Linked = true
	}
	return all
}

// In are the terms that occur in a text, config keys included, in the order of
// the catalogue.
func In(text string) []Term {
	lower := strings.ToLower(text)
	var found []Term
	for _, t := range All() {
		if slices.ContainsFunc(t.Forms, func(f string) bool {
			if fold(f) {
				return strings.Contains(lower, f)
			}
			return strings.Contains(text, f)
		}) {
			found = append(found, t)
		}
	}
	return found
}

// fold says whether a form may begin a sentence: it has no capitals of its own.
func fold(form string) bool { return form == strings.ToLower(form) }

// scopes are the scopes of config keys, with what their values belong to.
var scopes = []struct{ name, source string }{
	{"producer", "ProducerConfig"}, {"consumer", "ConsumerConfig"}, {"topic", "TopicConfig"}, {"broker", "KafkaConfig"},
}

// configs are the config keys that are no nouns with a text of their own, as acks is.
func configs() []Term {
	byKey := map[string]*Term{}
	var order []string
	for _, scope := range scopes {
		for _, key := range kafka.ConfigKeys(scope.name) {
			def, _ := kafka.LookupConfig(scope.name, key)
			if t := byKey[key]; t != nil {
				t.Source += ", " + scope.source
				continue
			}
			if !strings.Contains(key, ".") || slices.ContainsFunc(general, func(t Term) bool { return slices.Contains(t.Forms, key) }) {
				continue
			}
			text := def.Doc + " Default: " + def.Default + "."
			if def.Default == "" {
				text = def.Doc + " Not set by default."
			}
			byKey[key] = &Term{ID: key, Name: key, Text: text, Source: scope.source, Forms: []string{key}}
			order = append(order, key)
		}
	}
	terms := make([]Term, len(order))
	for i, key := range order {
		terms[i] = *byKey[key]
	}
	return terms
}

func apis() []Term {
	var out []Term
	for _, a := range apiTexts {
		out = append(out, Term{ID: "api-" + strings.ToLower(string(a.api)), Name: string(a.api) + " (request)", Text: a.text, Source: fmt.Sprintf("ApiKeys %d", a.api.Key()), Forms: []string{string(a.api)}})
	}
	return out
}

func errorTerms() []Term {
	var out []Term
	for _, e := range errorTexts {
		name := e.code.String()
		out = append(out, Term{ID: "error-" + strings.ToLower(name), Name: name, Text: e.text, Source: fmt.Sprintf("Errors %d", e.code), Forms: []string{name}})
	}
	return out
}
