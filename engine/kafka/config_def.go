package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ConfigType is the type of a configuration value (clients: ConfigDef.Type).
type ConfigType uint8

// The types. Int is every whole number; ConfigDef.Long tells Kafka's LONG from
// its INT, so that readers of a number need one case, not two.
const (
	String ConfigType = iota
	Int
	Bool
	List
	Double
	Class
)

// ConfigDef describes a key.
type ConfigDef struct {
	Type     ConfigType
	Long     bool     // an Int of 64 bits
	Default  string   // as in server.properties
	Null     bool     // unset by default
	NonEmpty bool     // "" is refused
	Min, Max int64    // range of an Int, both included; in the unit that Doc names
	Values   []string // all that a String, or an element of a List, may be; nil is anything
	Doc      string   // what it does, one sentence, with the unit
}

// Kind is Kafka's name of the type: int, long, bool, string, list, double or class.
func (d ConfigDef) Kind() string {
	if d.Long {
		return "long"
	}
	return [...]string{"string", "int", "bool", "list", "double", "class"}[d.Type]
}

// Check says in one sentence what is wrong with a value, nil if nothing. Kafka
// takes some enumerations in any case (ConfigDef.CaseInsensitiveValidString); here
// only the lower case is taken, which is what the rest of the engine compares with.
func (d ConfigDef) Check(value string) error {
	switch d.Type {
	case Int:
		return d.checkInt(value)
	case Bool:
		if value != "true" && value != "false" {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	case Double:
		if !isRatio(value) {
			return fmt.Errorf("%q is not a decimal number between 0 and 1", value)
		}
	case List:
		for _, v := range strings.Split(value, ",") {
			if v = strings.TrimSpace(v); v != "" {
				if err := d.checkValue(v); err != nil {
					return err
				}
			}
		}
	case String, Class:
		if d.NonEmpty && value == "" {
			return errors.New("the value must not be empty")
		}
		return d.checkValue(value)
	}
	return nil
}

func (d ConfigDef) checkInt(value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s does not fit into 64 bits", value)
	case err != nil:
		return fmt.Errorf("%q is not a whole number", value)
	case n < d.Min:
		return fmt.Errorf("%d is too small; Kafka takes %d or more", n, d.Min)
	case n > d.Max:
		return fmt.Errorf("%d is too large; Kafka takes %d or less", n, d.Max)
	}
	return nil
}

func (d ConfigDef) checkValue(value string) error {
	if d.Values == nil || slices.Contains(d.Values, value) {
		return nil
	}
	last := len(d.Values) - 1
	return fmt.Errorf("%q is not one of %s or %s", value, strings.Join(d.Values[:last], ", "), d.Values[last])
}

// isRatio reads the digits themselves: the engine has no floating-point numbers,
// whose rounding could differ between machines.
func isRatio(s string) bool {
	whole, frac, _ := strings.Cut(s, ".")
	if whole+frac == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return false
	}
	switch strings.TrimLeft(whole, "0") {
	case "":
		return true
	case "1":
		return strings.Trim(frac, "0") == ""
	}
	return false
}
