package concepts

// content is what each concept has besides its definition.
var content = map[string]Concept{
	"topic": {
		Said:  "A message is taken out of the topic when it is read.",
		Watch: "Three records go to three logs of one topic. Consumer a1 reads them, and every record stays where it is.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "append", Lead: 1, Seconds: 14, Show: []string{"orders-0", "orders-1", "orders-2", "group-a"}},
	},
	"partition": {
		Said:  "The partition is hash(key) % partitions.",
		More:  []string{"The hash is murmur2 over the serialized key, with the sign bit masked. Other clients may hash in another way; then one key has two partitions.", "More partitions later: the same key may go elsewhere, and no old record moves."},
		Watch: "Each producer turns its key into a number and sends its record to one partition's leader.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "key", Seconds: 6, Show: []string{"orders-0", "orders-1", "orders-2", "order-service", "payment-service", "user-service"}},
		See:   &See{"/keys", "Try a key of your own in the key explorer"},
	},
	"broker": {
		Said:  "Each broker hosts all partitions.",
		Watch: "Broker 1 is down. The leader's frame moves to another column; nothing is copied for it, because the copy was there.",
		Clip:  &Clip{Scenario: "who-takes-over", Chapter: "elected", Lead: 3, Seconds: 8, Show: []string{"orders-0", "c1"}},
	},
	"replica": {
		Said:  "All copies of a partition are the same at any time.",
		Watch: "Broker 3 cannot fetch, so its copy is shorter. Each replica has a log end and a high watermark of its own.",
		Clip:  &Clip{Scenario: "isr-deep-dive", Chapter: "cut-off", Lead: 2, Seconds: 7, Show: []string{"orders-0", "order-service"}},
	},
	"leader": {
		Said:  "The leader handles all reads and writes.",
		More:  []string{"Reads may go to a follower in the consumer's own rack (KIP-392); such a consumer sees records a moment later, up to the follower's HW."},
		Watch: "The Produce ends at the broker with the leader's frame, and the answer comes from there.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "acks-1", Seconds: 7, Show: []string{"orders-0", "fast-service"}},
	},
	"follower": {
		Said:  "The leader mirrors every message to its followers at once.",
		Watch: "Brokers 2 and 3 get the record as the answer to a Fetch, append it, and ask for the next offset. That next Fetch is the receipt.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "fetch", Seconds: 7, Show: []string{"orders-0"}},
	},
	"isr": {
		Said:  "The replicas that are fully caught up with the leader.",
		More:  []string{"In the ISR means: caught up recently. A follower in it may lack what the leader appended in the last 30 s.", "How many records are missing does not count; only time does. A fenced broker is taken out at once."},
		Watch: "Broker 3 is records behind and still in the ISR. When its time is over, broker 1 proposes the smaller ISR, the controller commits it, and HW moves.",
		Clip:  &Clip{Scenario: "isr-deep-dive", Chapter: "expelled", Lead: 3, Seconds: 9, Show: []string{"orders-0", "c1"}},
	},
	"leo": {
		Said:  "The offset of the last message in a replica's log.",
		More:  []string{"LEO is the next offset. With records 0 to 4 it is 5, and in an empty log it is the log start. HW and LSO are counted in the same way."},
		Watch: "The caret stands behind the last record, not on it. It steps when broker 1 appends; the followers' carets step later.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "append", Lead: 1, Seconds: 7, Show: []string{"orders-0", "order-service"}},
	},
	"hw": {
		Said: "The offset up to which all in-sync replicas have replicated.",
		More: []string{
			"It is the first offset that is not known to be committed, so the record at HW cannot be read yet.",
			"It needs min ISR: with fewer replicas in sync than min.insync.replicas it stands still (since 3.7).",
			"It reaches followers late: HW travels only in Fetch responses, so a follower hears of it one fetch after the leader has moved it.",
		},
		Watch: "Both followers ask for the next offset; then the blue line of the leader moves, and the waiting Produce is answered. The followers' lines move a round later.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "high-watermark", Lead: 3, Seconds: 10, Show: []string{"orders-0", "order-service"}},
	},
	"lso": {
		Said: "Consumers read up to the high watermark.",
		More: []string{"That is right for isolation.level read_uncommitted, the default. With read_committed the end is LSO, so one transaction that stays open holds back everything behind it."},
		Drawn: []Frame{
			{Say: "A transaction, t, is open since offset 3. HW has moved on; LSO waits at 3.", Cells: []string{"", "", "", "t", "", "t"}, Marks: []Mark{{"LSO", 3}, {"HW", 6}}},
			{Say: "Its marker, at offset 6, says committed. LSO is where HW is.", Cells: []string{"", "", "", "t", "", "t", "✓"}, Marks: []Mark{{"LSO = HW", 7}}},
		},
		Note: "A drawing: Highwater does not simulate transactions.",
	},
	"leader-epoch": {
		Said:  "A replica that returns cuts its log at the high watermark.",
		More:  []string{"The partition epoch is another number: it grows with every change, the ISR's too.", "The leader epoch goes by elections, so two records at one offset can be told apart: they have different leader epochs."},
		Watch: "Broker 1 is back. Its last record has another underline, an older leader epoch, than the record at the same offset on broker 2: it is cut off.",
		Clip:  &Clip{Scenario: "same-crash-acks-1", Chapter: "asks", Lead: 1, Seconds: 8, Show: []string{"orders-0"}},
	},
	"controller": {
		Said: "KRaft replaces ZooKeeper, which is deprecated since Kafka 3.3.",
		More: []string{
			"Three dates: KRaft was ready for production in 3.3 (October 2022); ZooKeeper was deprecated in 3.5 (June 2023) and removed in 4.0 (March 2025).",
			"Controllers are not on the way of records: when all are down, reading and writing go on, and only changes have to wait.",
		},
		Watch: "A leader asks for a smaller ISR. The active controller writes a record, a second controller fetches it, and it is committed; then the brokers fetch it too.",
		Clip:  &Clip{Scenario: "isr-deep-dive", Chapter: "expelled", Seconds: 8, Show: []string{"orders-0", "c1", "c2", "c3"}},
	},
	"acks": {
		Said:  "acks=all waits for all replicas, or for min.insync.replicas of them.",
		More:  []string{"It waits for the replicas that are in the ISR now: all of them, and no others. min.insync.replicas is a floor, not a quorum."},
		Watch: "With acks=1 the answer leaves as soon as broker 1 has appended. With acks=0, later, the client waits for no answer at all. With acks=all it waits for HW; that is the picture at HW above.",
		Clip:  &Clip{Scenario: "producer-write", Chapter: "acks-1", Seconds: 18, Show: []string{"orders-0", "fast-service", "blind-service"}},
	},
	"group": {
		Said:  "With more consumers a topic is read faster.",
		More:  []string{"Only up to the number of partitions: a fourth consumer on three partitions has nothing to read. (Share groups, KIP-932, are the exception.)"},
		Watch: "A fourth member comes. When the new generation is there, three of them have a partition each and one stands by.",
		Clip:  &Clip{Scenario: "newcomer", Chapter: "stand-by", Lead: 4, Seconds: 18, Show: []string{"orders-0", "group-a", "a1", "a2", "a3", "a4"}},
	},
	"coordinator": {
		Said:  "The broker of a partition knows how far each group has read.",
		More:  []string{"Whoever leads the records' partition knows nothing of groups. A group's offsets are in __consumer_offsets, and only as far as its members have committed."},
		Watch: "A newcomer asks one broker who coordinates the group, and is sent to another. There it asks to join.",
		Clip:  &Clip{Scenario: "newcomer", Chapter: "ask", Lead: 1, Seconds: 6, Show: []string{"orders-0", "group-a", "a3"}},
	},
	"generation": {
		Said:  "A commit that comes late still counts.",
		More:  []string{"It counts only in the current generation, or with a current member epoch. A member that was away for a rebalance is refused, joins anew, and may find that another has its partitions."},
		Watch: "All members have joined: the coordinator counts one generation more, and each hears of it with its assignment.",
		Clip:  &Clip{Scenario: "newcomer", Chapter: "generation", Lead: 2, Seconds: 18, Show: []string{"orders-0", "group-a", "a1", "a2", "a3"}},
	},
	"rebalance": {
		Said:  "All consumers stop, commit their offsets, receive new partitions and resume.",
		More:  []string{"That is the eager way, and the commit comes only from auto-commit or from the application. The coordinator cannot call anybody: members hear of a rebalance with their next heartbeat."},
		Watch: "The members that were there give up all they have, and ask to join anew. For a moment nobody reads; then three members have a partition each.",
		Clip:  &Clip{Scenario: "newcomer", Chapter: "revoke", Lead: 2, Seconds: 24, Show: []string{"orders-0", "group-a", "a1", "a2", "a3"}},
	},
	"position": {
		Said:  "The committed offset is the last message that was processed.",
		More:  []string{"It is the next one to read. Whether what lies before it has been processed, only the application knows."},
		Watch: "The ring under the leader's log is the position of a1, the square the committed offset. A commit brings the square to the ring; the next record moves only the ring.",
		Clip:  &Clip{Scenario: "newcomer", Chapter: "commit", Lead: 3, Seconds: 14, Show: []string{"orders-0", "group-a", "a1"}},
	},
	"lag": {
		Said:  "Lag is the log end offset minus the committed offset.",
		More:  []string{"The column LOG-END-OFFSET of kafka-consumer-groups.sh shows the high watermark, in spite of its name."},
		Watch: "Records stand above HW, and the lag of a1 is 0: what cannot be read is not lag. Then HW moves, and a1 has something to read.",
		Clip:  &Clip{Scenario: "below-min-isr", Chapter: "second-replica", Lead: 3, Seconds: 9, Show: []string{"orders-0", "group-a"}},
	},
	"retention": {
		Said: "A message is deleted when it has been read, or exactly after seven days.",
		More: []string{"Nothing is deleted above HW, and reading is never asked for. A consumer whose position has been deleted goes by auto.offset.reset."},
		Drawn: []Frame{
			{Say: "Three segments. The oldest record of the first is eight days old, its newest five: it stays.", Cells: []string{"1", "1", "1", "2", "2", "2", "3"}, Marks: []Mark{{"log start", 0}}},
			{Say: "Now its newest record is older than seven days: the whole segment goes, read or not.", Cells: []string{"-", "-", "-", "2", "2", "2", "3"}, Marks: []Mark{{"log start", 3}}},
		},
		Note: "A drawing: Highwater does not simulate segments and retention.",
	},
}
