package kafka

import "math"

// configs are the keys that the simulation knows, by scope, with the types,
// defaults and ranges of Kafka 4.4. A controller reads broker keys too, and the
// other way round: both are server.properties.
var configs = map[string]map[string]ConfigDef{
	"producer":   producerConfigs,
	"consumer":   consumerConfigs,
	"broker":     brokerConfigs,
	"topic":      topicConfigs,
	"controller": controllerConfigs,
}

// unbounded is the least value of a number that Kafka gives no range.
const unbounded = math.MinInt64

func intKey(def string, least int64, doc string) ConfigDef {
	return ConfigDef{Type: Int, Default: def, Min: max(least, math.MinInt32), Max: math.MaxInt32, Doc: doc}
}

func longKey(def string, least int64, doc string) ConfigDef {
	return ConfigDef{Type: Int, Long: true, Default: def, Min: least, Max: math.MaxInt64, Doc: doc}
}

func shortKey(def string, least int64, doc string) ConfigDef {
	return ConfigDef{Type: Int, Default: def, Min: least, Max: math.MaxInt16, Doc: doc}
}

func boolKey(def, doc string) ConfigDef { return ConfigDef{Type: Bool, Default: def, Doc: doc} }

// ratioKey is a Double between 0 and 1, the only kind of Double in the table.
func ratioKey(def, doc string) ConfigDef { return ConfigDef{Type: Double, Default: def, Doc: doc} }
