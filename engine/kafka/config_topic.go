package kafka

// topicConfigs are defined in LogConfig.
var topicConfigs = map[string]ConfigDef{
	"cleanup.policy":                 {Type: List, Default: "delete", Values: []string{"compact", "delete"}, Doc: "What happens to old segments: delete, compact or both."},
	"compression.type":               {Type: String, Default: "producer", Values: []string{"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"}, Doc: "How batches are stored; producer keeps them as they came."},
	"delete.retention.ms":            longKey("86400000", 0, "Milliseconds that a tombstone of a compacted topic is kept."),
	"local.retention.ms":             longKey("-2", -2, "Milliseconds of data kept on the broker with tiered storage; -2 is retention.ms."),
	"max.compaction.lag.ms":          longKey("9223372036854775807", 1, "Milliseconds after which a record is compacted for certain."),
	"max.message.bytes":              intKey("1048588", 0, "Bytes of the largest batch."),
	"min.cleanable.dirty.ratio":      ratioKey("0.5", "Which share of the log is not yet compacted when compaction starts."),
	"min.insync.replicas":            intKey("1", 1, "In-sync replicas without which a write with acks=all is refused."),
	"remote.storage.enable":          boolKey("false", "Whether segments are copied to remote storage (KIP-405)."),
	"retention.bytes":                longKey("-1", unbounded, "Bytes of a partition before old segments are deleted; -1 is no limit."),
	"retention.ms":                   longKey("604800000", -1, "Milliseconds before old segments are deleted; -1 is no limit."),
	"segment.bytes":                  intKey("1073741824", 1048576, "Bytes of a segment; at least 1 MiB since 4.0 (KIP-1030)."),
	"segment.ms":                     longKey("604800000", 1, "Milliseconds after which a segment is closed."),
	"unclean.leader.election.enable": boolKey("false", "Whether a replica outside the ISR may lead when no other is left; acknowledged records can be lost."),
}
