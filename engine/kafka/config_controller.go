package kafka

// controllerConfigs are defined in QuorumConfig and MetadataLogConfig.
var controllerConfigs = map[string]ConfigDef{
	"controller.quorum.append.linger.ms":        intKey("25", unbounded, "Milliseconds the active controller gathers records before it writes them."),
	"controller.quorum.election.backoff.max.ms": intKey("1000", unbounded, "Milliseconds that the wait before a new election grows to."),
	"controller.quorum.election.timeout.ms":     intKey("1000", unbounded, "Milliseconds a candidate waits for votes; drawn between once and twice this."),
	"controller.quorum.fetch.timeout.ms":        intKey("2000", unbounded, "Milliseconds without a successful Fetch after which a voter starts an election."),
	"controller.quorum.request.timeout.ms":      intKey("2000", unbounded, "Milliseconds a controller waits for an answer of the quorum."),
	"controller.quorum.retry.backoff.ms":        intKey("20", unbounded, "Milliseconds before a request of the quorum is sent again."),
	"metadata.log.max.snapshot.interval.ms":     longKey("3600000", 0, "Milliseconds between two snapshots of the metadata; 0 is never for this reason."),
	"metadata.max.idle.interval.ms":             intKey("500", 0, "Milliseconds without a record after which the active controller writes a NoOpRecord; 0 is never."),
	"metadata.max.retention.bytes":              longKey("104857600", unbounded, "Bytes of metadata log and snapshots before old ones are deleted."),
}
