package journal

// Kind says what happened. The list is closed: a new kind is added here, with
// its line, and to the phrase catalogue.
type Kind string

// The kinds of events.
const (
	Boot   Kind = "boot"   // the resting cluster; Ch is the whole state, f.parked the requests in flight
	Action Kind = "action" // something the outside world does: f.do and the action's fields

	NodeStart  Kind = "node.start" // the process begins, with what is on its disk
	NodeReady  Kind = "node.ready" // its start is over: it accepts connections
	NodeStop   Kind = "node.stop"
	NodeCrash  Kind = "node.crash"
	NodeVanish Kind = "node.vanish"
	NodePause  Kind = "node.pause"
	NodeResume Kind = "node.resume"
	NodeDisk   Kind = "node.disk" // f.disk: what each append takes longer

	NetCut    Kind = "net.cut"    // f.from, f.to
	NetHeal   Kind = "net.heal"   // f.from, f.to
	NetSlow   Kind = "net.slow"   // f.from, f.to and what is slow
	ConnOpen  Kind = "conn.open"  // from, to
	ConnClose Kind = "conn.close" // from, to; f.reason

	RequestSend     Kind = "request.send"
	RequestReceive  Kind = "request.receive"
	ResponseSend    Kind = "response.send"
	ResponseReceive Kind = "response.receive"
	MessageHeld     Kind = "message.held" // at a cut or a paused node; comes later
	MessageLost     Kind = "message.lost" // its connection broke
	TimerFire       Kind = "timer.fire"   // f.timer names it

	ProducerPartition Kind = "producer.partition" // f.record, f.key, f.hash, f.partition
	ProducerBatch     Kind = "producer.batch"     // a record joined a batch: f.record, f.count
	ProducerDrain     Kind = "producer.drain"     // a batch leaves: f.records, f.baseSequence
	ProducerAcked     Kind = "producer.acked"     // f.records, f.baseOffset (−1 with acks=0)
	ProducerRetry     Kind = "producer.retry"     // f.records, f.error, f.backoffMs
	ProducerFailed    Kind = "producer.failed"    // f.records, f.error
	ProducerID        Kind = "producer.id"        // f.producerId, f.producerEpoch

	ReplicaAppend     Kind = "replica.append"     // f.baseOffset, f.count, f.epoch
	ReplicaTruncate   Kind = "replica.truncate"   // f.to, f.from
	ReplicaLeader     Kind = "replica.leader"     // f.leaderEpoch, f.startOffset
	ReplicaFollower   Kind = "replica.follower"   // f.leader, f.leaderEpoch
	ReplicaOffline    Kind = "replica.offline"    //
	ReplicaStop       Kind = "replica.stop"       // the partition has no replica here any more: its log is deleted
	HWAdvance         Kind = "hw.advance"         // the leader moves its high watermark: f.from, f.to
	HWLearn           Kind = "hw.learn"           // a follower copies it: f.from, f.to
	HWCheckpoint      Kind = "hw.checkpoint"      // node writes its high watermarks to disk: what a restart begins with
	LogStartAdvance   Kind = "logstart.advance"   // f.from, f.to
	ISRPropose        Kind = "isr.propose"        // f.isr, f.change (shrink, expand)
	ISRCommit         Kind = "isr.commit"         // the ISR a leader works with changed: f.isr, f.partitionEpoch
	PurgatoryWait     Kind = "purgatory.wait"     // f.operation (DelayedProduce, DelayedFetch), f.waitsFor
	PurgatoryComplete Kind = "purgatory.complete" // f.operation
	PurgatoryExpire   Kind = "purgatory.expire"   // f.operation
	ProducerDuplicate Kind = "producer.duplicate" // a batch the log already has: f.baseOffset

	MetadataAppend   Kind = "metadata.append"    // f.baseOffset, f.records
	MetadataCommit   Kind = "metadata.commit"    // f.highWatermark; Ch has the committed meta/… keys
	MetadataApply    Kind = "metadata.apply"     // a broker applied up to f.offset
	MetadataTruncate Kind = "metadata.truncate"  // f.to, f.from
	MetadataSnapshot Kind = "metadata.snapshot"  // the committed state on disk: f.endOffset, f.epoch
	LeaderElect      Kind = "leader.elect"       // f.leader, f.leaderEpoch, f.isr
	BrokerFence      Kind = "broker.fence"       // node is the broker
	BrokerUnfence    Kind = "broker.unfence"     // node is the broker
	BrokerShutdown   Kind = "broker.shutdown"    // in controlled shutdown
	QuorumUnattached Kind = "quorum.unattached"  // f.epoch
	QuorumProspect   Kind = "quorum.prospective" // f.epoch
	QuorumCandidate  Kind = "quorum.candidate"   // f.epoch
	QuorumLeader     Kind = "quorum.leader"      // f.epoch
	QuorumFollower   Kind = "quorum.follower"    // f.epoch, f.leader
	QuorumResign     Kind = "quorum.resign"      // f.epoch
	QuorumVote       Kind = "quorum.vote"        // f.candidate, f.granted, f.preVote

	GroupState        Kind = "group.state"
	GroupGeneration   Kind = "group.generation"
	GroupTarget       Kind = "group.target"
	GroupAssign       Kind = "group.assign"
	MemberJoin        Kind = "member.join"
	MemberLeave       Kind = "member.leave"
	MemberFence       Kind = "member.fence"
	CoordinatorLoad   Kind = "coordinator.load"
	CoordinatorUnload Kind = "coordinator.unload"
	OffsetCommit      Kind = "offset.commit" // f.offset
	OffsetExpire      Kind = "offset.expire"

	AdminFailed Kind = "admin.failed" // an admin request was refused, or got no answer: f.request (its API), f.what, f.error

	ConsumerPoll      Kind = "consumer.poll"
	ConsumerDeliver   Kind = "consumer.deliver" // f.records, f.offset
	ConsumerCallback  Kind = "consumer.callback"
	ConsumerPosition  Kind = "consumer.position"  // f.offset
	ConsumerReset     Kind = "consumer.reset"     // f.offset, f.policy
	ConsumerCommit    Kind = "consumer.commit"    // f.parts, their number
	ConsumerCommitted Kind = "consumer.committed" // commitSync and committed() returned: f.offsets, or f.error
	ConsumerStall     Kind = "consumer.stall"

	TxnState  Kind = "txn.state"
	TxnMarker Kind = "txn.marker"

	CheckExpect    Kind = "check.expect"
	CheckInvariant Kind = "check.invariant"
)
