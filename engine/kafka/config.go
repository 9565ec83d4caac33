package kafka

import (
	"maps"
	"slices"
	"strconv"
)

// LookupConfig finds a key in a scope: producer, consumer, broker, controller or
// topic. Brokers and controllers share their keys.
func LookupConfig(scope, key string) (ConfigDef, bool) {
	for _, s := range scopes(scope) {
		if d, ok := configs[s][key]; ok {
			return d, true
		}
	}
	return ConfigDef{}, false
}

func scopes(scope string) []string {
	if scope == "broker" || scope == "controller" {
		return []string{"broker", "controller"}
	}
	return []string{scope}
}

// ConfigKeys lists the keys of a scope, sorted.
func ConfigKeys(scope string) []string {
	var ks []string
	for _, s := range scopes(scope) {
		for k := range configs[s] {
			ks = append(ks, k)
		}
	}
	slices.Sort(ks)
	return ks
}

// Config is a read-only view of the settings of one node, client or topic.
type Config struct {
	scope string
	over  map[string]string
}

// NewConfig makes the view of a scope with some keys set. The map is not copied.
func NewConfig(scope string, overrides map[string]string) *Config {
	return &Config{scope: scope, over: overrides}
}

// With is the view with further keys set, the later over the earlier.
func (c *Config) With(sets ...map[string]string) *Config {
	all := map[string]string{}
	maps.Copy(all, c.over)
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return NewConfig(c.scope, all)
}

// Overridden says whether a key was set.
func (c *Config) Overridden(key string) bool {
	_, ok := c.over[key]
	return ok
}

// String is the value of a key, "" where it is unset. It panics for a key that the
// scope does not have: an error of the program.
func (c *Config) String(key string) string {
	d, ok := LookupConfig(c.scope, key)
	if !ok {
		panic("unknown " + c.scope + " config " + key)
	}
	if v, ok := c.over[key]; ok {
		return v
	}
	return d.Default
}

// Int is a whole number, in the unit of the key; 0 where the value is none.
func (c *Config) Int(key string) int64 {
	n, _ := strconv.ParseInt(c.String(key), 10, 64)
	return n
}

// Millis is a duration in milliseconds.
func (c *Config) Millis(key string) int64 { return c.Int(key) }

// Bool is a truth value.
func (c *Config) Bool(key string) bool { return c.String(key) == "true" }
