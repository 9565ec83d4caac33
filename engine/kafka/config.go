package kafka

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// ConfigType is the type of a configuration value.
type ConfigType uint8

// The types.
const (
	String ConfigType = iota
	Int
	Bool
	List
	Double
)

// ConfigDef describes a key.
type ConfigDef struct {
	Type    ConfigType
	Default string // as in server.properties
	Null    bool   // unset by default
}

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
	sort.Strings(ks)
	return ks
}

// NearestKey is the known key that is most like an unknown one, "" if none is near.
func NearestKey(scope, key string) string { return Nearest(key, ConfigKeys(scope)) }

// Nearest is the word most like another, "" if none is near.
func Nearest(word string, words []string) string {
	best, dist := "", len(word)/2+1
	for _, w := range words {
		if d := editDistance(word, w); d < dist {
			best, dist = w, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		diag := prev[0]
		prev[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, prev[j+1] = prev[j+1], min(prev[j+1]+1, prev[j]+1, diag+cost)
		}
	}
	return prev[len(b)]
}

// Check says in one sentence what is wrong with a value, nil if nothing.
func (d ConfigDef) Check(value string) error {
	switch d.Type {
	case Int:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number", value)
		}
	case Bool:
		if value != "true" && value != "false" {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	}
	return nil
}

// Config is a read-only view of the settings of one node or client.
type Config struct {
	scope string
	over  map[string]string
}

// NewConfig makes the view of a scope with some keys set.
func NewConfig(scope string, set map[string]string) *Config {
	return &Config{scope: scope, over: set}
}

// Overridden says whether a key was set.
func (c *Config) Overridden(key string) bool {
	_, ok := c.over[key]
	return ok
}

// String is the value of a key. An unknown key is an error of the program.
func (c *Config) String(key string) string {
	if v, ok := c.over[key]; ok {
		return v
	}
	d, ok := LookupConfig(c.scope, key)
	if !ok {
		panic("unknown " + c.scope + " config " + key)
	}
	return d.Default
}

// Int is a whole number; 0 where the value is none.
func (c *Config) Int(key string) int64 {
	n, _ := strconv.ParseInt(c.String(key), 10, 64)
	return n
}

// Millis is a duration in milliseconds.
func (c *Config) Millis(key string) int64 { return c.Int(key) }

// Bool is a truth value.
func (c *Config) Bool(key string) bool { return c.String(key) == "true" }

// Acks is the producer's acks as it is sent: −1 for all.
func (c *Config) Acks() int16 {
	switch c.String("acks") {
	case "0":
		return 0
	case "1":
		return 1
	}
	return -1
}

// IdempotenceEnabled follows ProducerConfig: on by default, silently off where
// acks or retries contradict it and the user did not ask for it (KIP-679).
func IdempotenceEnabled(c *Config) bool {
	if c.Overridden("enable.idempotence") {
		return c.Bool("enable.idempotence")
	}
	return c.Acks() == -1 && c.Int("retries") != 0
}

// CheckProducer finds settings that KafkaProducer refuses together.
func CheckProducer(c *Config) error {
	explicit := c.Overridden("enable.idempotence") && c.Bool("enable.idempotence")
	switch {
	case explicit && c.Acks() != -1:
		return fmt.Errorf("enable.idempotence=true needs acks=all")
	case explicit && c.Int("retries") == 0:
		return fmt.Errorf("enable.idempotence=true needs retries above 0")
	case IdempotenceEnabled(c) && c.Int("max.in.flight.requests.per.connection") > 5:
		return fmt.Errorf("max.in.flight.requests.per.connection is at most 5 with an idempotent producer; set it to 5 or enable.idempotence to false")
	case c.Overridden("delivery.timeout.ms") && c.Int("delivery.timeout.ms") < c.Int("linger.ms")+c.Int("request.timeout.ms"):
		return fmt.Errorf("delivery.timeout.ms must be at least linger.ms + request.timeout.ms")
	}
	switch a := strings.ToLower(c.String("acks")); a {
	case "all", "-1", "0", "1":
	default:
		return fmt.Errorf("acks is all, 1 or 0, not %q", a)
	}
	return nil
}
