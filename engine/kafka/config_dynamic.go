package kafka

// dynamic are the broker keys that a running broker takes
// (DynamicBrokerConfig.AllDynamicConfigs, KIP-226); others are read-only.
var dynamic = map[string]bool{
	"log.index.size.max.bytes":                  true,
	"log.retention.bytes":                       true,
	"log.segment.bytes":                         true,
	"log.segment.delete.delay.ms":               true,
	"message.max.bytes":                         true,
	"min.insync.replicas":                       true,
	"num.replica.fetchers":                      true,
	"producer.id.expiration.ms":                 true,
	"transaction.partition.verification.enable": true,
	"unclean.leader.election.enable":            true,
}

// DynamicBrokerConfig says whether a running broker takes a new value of a key.
func DynamicBrokerConfig(key string) bool { return dynamic[key] }
