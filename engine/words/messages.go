package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// metadataLog is the partition that controllers replicate.
const metadataLog = "__cluster_metadata-0"

// requests says what each request asks for. {x} is a field of the message or of
// its first partition; {from} and {to} are the nodes.
var requests = map[kafka.API]phrase{
	kafka.Produce:              produceRequest,
	kafka.Fetch:                fetchRequest,
	kafka.ListOffsets:          listOffsets,
	kafka.Metadata:             say("{from} asks {to} for metadata: who leads which partition?"),
	kafka.ApiVersions:          say("{from} asks {to} which APIs and versions it knows."),
	kafka.InitProducerID:       say("{from} asks {to} for a producer id."),
	kafka.AllocateProducerIDs:  say("{from} asks {to} for a block of producer ids to give away."),
	kafka.OffsetForLeaderEpoch: say("{from} asks {to} where leader epoch {leaderEpoch} of {part} ends."),

	kafka.AlterPartition:     alterPartition,
	kafka.BrokerHeartbeat:    brokerHeartbeat,
	kafka.BrokerRegistration: say("{from} registers with {to}; it stays fenced until it has caught up with the metadata log."),

	kafka.FindCoordinator:        say("{from} asks {to} which broker coordinates {coordinatorKeys}."),
	kafka.JoinGroup:              say("{from} asks {to} to join group {groupId|group}."),
	kafka.SyncGroup:              syncGroup,
	kafka.Heartbeat:              say("{from} tells {to} that it is alive in group {groupId|group} (Heartbeat)."),
	kafka.LeaveGroup:             say("{from} tells {to} that it leaves group {groupId|group}."),
	kafka.ConsumerGroupHeartbeat: consumerGroupHeartbeat,
	kafka.OffsetCommit:           offsetCommit,
	kafka.OffsetFetch:            say("{from} asks {to} for the committed offsets of group {groupId|group}."),

	kafka.AddPartitionsToTxn: say("{from} tells {to} which partitions its transaction writes to."),
	kafka.EndTxn:             endTxn,
	kafka.WriteTxnMarkers:    say("{from} asks {to} to write the markers of a transaction to its partitions."),
	kafka.TxnOffsetCommit:    say("{from} sends {to} the offsets of group {groupId|group} as part of its transaction."),

	kafka.CreateTopics:                say("{from} asks {to} to create topic {name}."),
	kafka.CreatePartitions:            say("{from} asks {to} for {count} partitions in all of topic {name}."),
	kafka.ElectLeaders:                electLeaders,
	kafka.IncrementalAlterConfigs:     alterConfigs,
	kafka.AlterPartitionReassignments: reassign,
	kafka.Envelope:                    say("{from} forwards a client's request to {to}."),

	kafka.Vote:             vote,
	kafka.BeginQuorumEpoch: say("{from} tells {to} that it is the leader of the quorum in quorum epoch {leaderEpoch|epoch}."),
	kafka.EndQuorumEpoch:   endQuorumEpoch,
	kafka.FetchSnapshot:    say("{from} asks {to} for the snapshot that {to} has named, instead of the log that it covers."),
}

// responses says what each answer without an error brings.
var responses = map[kafka.API]phrase{
	kafka.Produce:              produceResponse,
	kafka.Fetch:                fetchResponse,
	kafka.ListOffsets:          say("{from} answers {to}: the offset of {part} is {offset}."),
	kafka.Metadata:             say("{from} answers {to} with the metadata that it knows."),
	kafka.InitProducerID:       say("{from} gives {to} producer id {producerId}, epoch {producerEpoch}."),
	kafka.AllocateProducerIDs:  say("{from} gives {to} {producerIdLen} producer ids, from {producerIdStart} on."),
	kafka.OffsetForLeaderEpoch: say("{from} answers {to}: that leader epoch of {part} ends at offset {endOffset}."),

	kafka.AlterPartition:     say("{from} confirms the ISR {isr} of {part} to {to}, partition epoch {partitionEpoch}."),
	kafka.BrokerHeartbeat:    heartbeatResponse,
	kafka.BrokerRegistration: say("{from} registers {to} with broker epoch {brokerEpoch}."),

	kafka.FindCoordinator: findCoordinatorResponse,
	kafka.JoinGroup:       say("{from} answers {to}: it is in generation {generationId} of group {group}."),
	kafka.SyncGroup:       say("{from} sends {to} its assignment in group {group}."),
	kafka.OffsetCommit:    say("{from} answers {to}: the offsets of group {group} are committed."),
	kafka.OffsetFetch:     offsetFetchResponse,
	kafka.CreateTopics:    say("{from} answers {to}: topic {name} is created."),

	kafka.CreatePartitions:            say("{from} answers {to}: topic {name} has its new partitions."),
	kafka.ElectLeaders:                say("{from} answers {to}: the elections are done."),
	kafka.IncrementalAlterConfigs:     say("{from} answers {to}: the configuration is changed."),
	kafka.AlterPartitionReassignments: say("{from} answers {to}: the reassignment has begun, or needs nothing more."),

	kafka.Vote:             voteResponse,
	kafka.BeginQuorumEpoch: say("{from} answers {to}: it follows, in quorum epoch {leaderEpoch}."),
	kafka.EndQuorumEpoch:   say("{from} answers {to}: it knows that quorum epoch {leaderEpoch} has no leader any more."),
	kafka.FetchSnapshot: func(_ *Phrases, e *journal.Event, f lookup) string {
		return fill("{from} sends {to} the snapshot of the metadata log that ends at offset "+text(get(e.F, "snapshotId", "endOffset"))+".", e, f)
	},
}

func requestSend(p *Phrases, e *journal.Event, f lookup) string {
	if ph, ok := requests[kafka.API(e.API)]; ok && e.F != nil {
		return ph(p, e, f)
	}
	return fill("{from} sends {api} to {to}.", e, f)
}

func responseSend(p *Phrases, e *journal.Event, f lookup) string {
	if c := failure(e.F); c != kafka.None {
		return fmt.Sprintf("%s answers the %s of %s with %s%s.", upper(Node(e.From)), e.API, Node(e.To), c, hint(e.F))
	}
	if ph, ok := responses[kafka.API(e.API)]; ok && e.F != nil {
		return ph(p, e, f)
	}
	return fill("{from} answers the {api} of {to}.", e, f)
}

// hint is the leader that an error names (KIP-951).
func hint(f any) string {
	id := num(get(first(f, "currentLeader"), "leaderId"), -1)
	if top := num(get(f, "leaderId"), -1); top > 0 {
		id = top
	}
	if id > 0 {
		return "; it names " + Node(kafka.NodeName(kafka.BrokerID(id))) + " as the leader"
	}
	return ""
}

func requestReceive(p *Phrases, e *journal.Event, f lookup) string {
	received := fill("{to} receives the {api} of {from}.", e, f)
	q, ok := body(p.reqs, e).(*wire.FetchRequest)
	if !ok || q.ReplicaID <= 0 || len(q.Parts) == 0 {
		return received
	}
	x := asked(q)
	if x.Part == metadataLog || p.takesNothing(e.Msg, x.Part) {
		return received
	}
	return fmt.Sprintf("%s now knows that %s has everything of %s below offset %d.", upper(Node(e.To)), Node(e.From), x.Part, x.FetchOffset)
}

// takesNothing says whether the leader learns nothing from what a Fetch asks of a
// partition: it refuses, or the follower's log is not a part of its own.
func (p *Phrases) takesNothing(msg int, part string) bool {
	s := p.resps[msg]
	if s == nil {
		return false
	}
	r, ok := s.F.(*wire.FetchResponse)
	if !ok {
		return false
	}
	return r.ErrorCode != kafka.None || slices.ContainsFunc(r.Parts, func(x wire.FetchResult) bool {
		return x.Part == part && (x.ErrorCode != kafka.None || x.DivergingEpoch != nil)
	})
}

func responseReceive(p *Phrases, e *journal.Event, f lookup) string {
	r := body(p.resps, e)
	start := fill("{node} has the answer of {from} to its {api}", e, f)
	if c := failure(r); c != kafka.None {
		return start + ": " + c.String() + "."
	}
	if b, ok := r.(*wire.FetchResponse); ok {
		if part, base, last, hw := carried(b); part != "" {
			return fmt.Sprintf("%s: %s of %s, and high watermark %d.", start, offsets(base, last), part, hw)
		}
		if x := diverging(b); x != nil {
			if x.Part == metadataLog {
				return fmt.Sprintf("%s: quorum epoch %d ends at offset %d there.", start, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset)
			}
			return fmt.Sprintf("%s: for %s, leader epoch %d ends at offset %d there.", start, x.Part, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset)
		}
	}
	return start + "."
}

// body is the message of the send that a receive belongs to.
func body(sends map[int]*journal.Event, e *journal.Event) any {
	if e.F != nil {
		return e.F
	}
	if s := sends[e.Msg]; s != nil {
		return s.F
	}
	return nil
}

// onItsWay names a message that is held or lost.
func onItsWay(e *journal.Event) string {
	if get(e.F, "response") == true {
		return fmt.Sprintf("The answer of %s to the %s of %s", Node(e.From), e.API, Node(e.To))
	}
	return fmt.Sprintf("The %s of %s to %s", e.API, Node(e.From), Node(e.To))
}

func produceRequest(p *Phrases, e *journal.Event, f lookup) string {
	q, ok := e.F.(*wire.ProduceRequest)
	if !ok || len(q.Parts) == 0 {
		return fill("{from} sends Produce to {to}.", e, f)
	}
	acks := minus(strconv.Itoa(int(q.Acks)))
	if q.Acks == -1 {
		acks = "all"
	}
	return fmt.Sprintf("%s sends Produce with acks=%s to %s: %s for %s%s.", upper(Node(e.From)), acks, Node(e.To), p.values(q.Parts[0].Batch.Records), q.Parts[0].Part, further(len(q.Parts)-1))
}

// further mentions the partitions that a sentence leaves out.
func further(n int) string {
	switch {
	case n < 1:
		return ""
	case n == 1:
		return ", and 1 further partition"
	}
	return fmt.Sprintf(", and %d further partitions", n)
}

func fetchRequest(_ *Phrases, e *journal.Event, f lookup) string {
	q, ok := e.F.(*wire.FetchRequest)
	if !ok {
		return fill("{from} sends Fetch to {to}.", e, f)
	}
	if len(q.Parts) == 0 {
		return fill("{from} asks {to} for news of the same partitions, from the same offsets.", e, f)
	}
	p, from, to := asked(q), Node(e.From), Node(e.To)
	switch {
	case p.Part == metadataLog:
		return fmt.Sprintf("%s asks %s for the metadata log from offset %d.", upper(from), to, p.FetchOffset)
	case q.ReplicaID > 0 && p.LastFetchedEpoch >= 0 && p.LastFetchedEpoch < p.CurrentLeaderEpoch:
		// Its log may go on where the leader's does not.
		return fmt.Sprintf("%s asks %s for %s from offset %d%s; its log has leader epochs up to %d.", upper(from), to, p.Part, p.FetchOffset, further(len(q.Parts)-1), p.LastFetchedEpoch)
	case q.ReplicaID > 0:
		return fmt.Sprintf("%s asks %s for %s from offset %d%s: this tells %s that %s has everything below %d.", upper(from), to, p.Part, p.FetchOffset, further(len(q.Parts)-1), to, from, p.FetchOffset)
	}
	return fmt.Sprintf("%s asks %s for %s from offset %d%s.", upper(from), to, p.Part, p.FetchOffset, further(len(q.Parts)-1))
}

// asked is the partition by which a Fetch is told: the first that is not internal,
// if there is one.
func asked(q *wire.FetchRequest) wire.FetchPart {
	for _, p := range q.Parts {
		if !strings.HasPrefix(p.Part, "__") {
			return p
		}
	}
	return q.Parts[0]
}

func listOffsets(_ *Phrases, e *journal.Event, f lookup) string {
	switch num(first(e.F, "timestamp"), 0) {
	case -1:
		return fill("{from} asks {to} for the end of {part}.", e, f)
	case -2:
		return fill("{from} asks {to} for the start of {part}.", e, f)
	}
	return fill("{from} asks {to} for an offset of {part} by timestamp.", e, f)
}

func alterPartition(_ *Phrases, e *journal.Event, f lookup) string {
	list := first(e.F, "newIsrWithEpochs")
	var isr []string
	for i := range length(list) {
		isr = append(isr, text(get(list, strconv.Itoa(i), "brokerId")))
	}
	return fill("{from} asks {to} to commit the ISR "+strings.Join(isr, ",")+" for {part} (AlterPartition).", e, f)
}

func brokerHeartbeat(_ *Phrases, e *journal.Event, f lookup) string {
	if get(e.F, "wantShutDown") == true {
		return fill("{from} asks {to} for leave to shut down (BrokerHeartbeat).", e, f)
	}
	if get(e.F, "wantFence") == true {
		return fill("{from} tells {to} that it is alive and wants to stay fenced (BrokerHeartbeat).", e, f)
	}
	return fill("{from} tells {to} that it is alive (BrokerHeartbeat).", e, f)
}

func heartbeatResponse(p *Phrases, e *journal.Event, f lookup) string {
	switch {
	case get(e.F, "shouldShutDown") == true:
		return fill("{from} lets {to} shut down.", e, f)
	case p.reqs[e.Msg] != nil && get(p.reqs[e.Msg].F, "wantShutDown") == true:
		return fill("{from} asks {to} to wait: its leaderships have to move first, and every broker has to know.", e, f)
	case get(e.F, "isFenced") == true:
		return fill("{from} answers the heartbeat of {to}: it is fenced.", e, f)
	}
	return fill("{from} answers the heartbeat of {to}: it is not fenced.", e, f)
}

func syncGroup(_ *Phrases, e *journal.Event, f lookup) string {
	if length(get(e.F, "assignments")) > 0 {
		return fill("{from}, the leader of group {groupId|group}, sends {to} the assignment of every member.", e, f)
	}
	return fill("{from} asks {to} for its assignment in group {groupId|group}.", e, f)
}

func consumerGroupHeartbeat(_ *Phrases, e *journal.Event, f lookup) string {
	switch epoch := num(get(e.F, "memberEpoch"), 1); {
	case epoch == 0:
		return fill("{from} asks {to} to join group {groupId|group} (ConsumerGroupHeartbeat, member epoch 0).", e, f)
	case epoch < 0:
		return fill("{from} tells {to} that it leaves group {groupId|group} (ConsumerGroupHeartbeat, member epoch {memberEpoch}).", e, f)
	}
	return fill("{from} tells {to} that it is alive in group {groupId|group}, member epoch {memberEpoch} (ConsumerGroupHeartbeat).", e, f)
}

func offsetCommit(_ *Phrases, e *journal.Event, f lookup) string {
	parts := get(e.F, "parts")
	if length(parts) == 0 {
		return fill("{from} asks {to} to commit offsets of group {groupId|group}.", e, f)
	}
	return fill("{from} asks {to} to commit offset {committedOffset} of {part} for group {groupId|group}"+further(length(parts)-1)+".", e, f)
}

func offsetFetchResponse(_ *Phrases, e *journal.Event, f lookup) string {
	parts := get(e.F, "parts")
	if length(parts) == 0 {
		return fill("{from} answers {to}: nothing is committed for group {groupId|group}.", e, f)
	}
	if num(get(parts, "0", "committedOffset"), -1) < 0 {
		return fill("{from} answers {to}: group {groupId|group} has committed nothing for {part}"+further(length(parts)-1)+".", e, f)
	}
	return fill("{from} answers {to}: group {groupId|group} has committed offset {committedOffset} of {part}"+further(length(parts)-1)+".", e, f)
}

func findCoordinatorResponse(_ *Phrases, e *journal.Event, _ lookup) string {
	who := get(e.F, "coordinators", "0")
	return fmt.Sprintf("%s answers %s: broker %s coordinates %s.", upper(Node(e.From)), Node(e.To), text(get(who, "nodeId")), text(get(who, "key")))
}

func endTxn(_ *Phrases, e *journal.Event, f lookup) string {
	if get(e.F, "committed") == true {
		return fill("{from} asks {to} to commit its transaction.", e, f)
	}
	return fill("{from} asks {to} to abort its transaction.", e, f)
}

func vote(_ *Phrases, e *journal.Event, f lookup) string {
	if first(e.F, "preVote") == true {
		return fill("{from} asks {to} whether it would vote for it in the next quorum epoch (pre-vote); nothing changes yet.", e, f)
	}
	return fill("{from} asks {to} for its vote in quorum epoch {replicaEpoch|epoch}.", e, f)
}

func endQuorumEpoch(_ *Phrases, e *journal.Event, f lookup) string {
	who := "anybody may stand for election at once."
	if q, ok := e.F.(*wire.EndQuorumEpochRequest); ok && len(q.PreferredCandidates) > 0 {
		var names []string
		for _, id := range q.PreferredCandidates {
			names = append(names, short(kafka.NodeName(kafka.BrokerID(id))))
		}
		who = "the first to stand for election is " + names[0] + ", who has the most of its log."
		if len(names) > 1 {
			who = strings.TrimSuffix(who, ".") + "; then " + strings.Join(names[1:], ", ") + "."
		}
	}
	return fill("{from} tells {to} that it leads no longer in quorum epoch {leaderEpoch}: "+who, e, f)
}

func voteResponse(p *Phrases, e *journal.Event, f lookup) string {
	what := "vote"
	if q := p.reqs[e.Msg]; q != nil && first(q.F, "preVote") == true {
		what = "pre-vote"
	}
	if first(e.F, "voteGranted") == true {
		return fill("{from} grants {to} its "+what+".", e, f)
	}
	return fill("{from} refuses {to} its "+what+".", e, f)
}

func produceResponse(_ *Phrases, e *journal.Event, f lookup) string {
	parts := get(e.F, "parts")
	return fill("{from} answers the Produce of {to}: written to {part} at offset {baseOffset}"+further(length(parts)-1)+".", e, f)
}

func fetchResponse(_ *Phrases, e *journal.Event, f lookup) string {
	r, ok := e.F.(*wire.FetchResponse)
	if !ok || len(r.Parts) == 0 {
		return fill("{from} answers the Fetch of {to}: nothing new.", e, f)
	}
	p, from, to := r.Parts[0], upper(Node(e.From)), Node(e.To)
	if x := diverging(r); x != nil && x.Part == metadataLog {
		return fmt.Sprintf("%s answers the Fetch of %s: their metadata logs differ; quorum epoch %d ends at offset %d here.", from, to, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset)
	} else if x != nil {
		return fmt.Sprintf("%s answers the Fetch of %s: their logs of %s differ; leader epoch %d ends at offset %d here.", from, to, x.Part, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset)
	}
	if part, base, last, hw := carried(r); part != "" {
		return fmt.Sprintf("%s answers the Fetch of %s with %s of %s, and its high watermark %d.", from, to, offsets(base, last), part, hw)
	}
	switch {
	case p.SnapshotID != nil:
		return fmt.Sprintf("%s answers the Fetch of %s: it has to take the snapshot that ends at offset %d first.", from, to, p.SnapshotID.EndOffset)
	case p.PreferredReadReplica != nil && *p.PreferredReadReplica >= 0:
		return fmt.Sprintf("%s answers the Fetch of %s without records: it should read %s from broker %d.", from, to, p.Part, *p.PreferredReadReplica)
	case len(p.Meta) > 0 && p.HighWatermark < 0:
		return fmt.Sprintf("%s sends %s the metadata log from offset %d on; nothing of its quorum epoch is committed yet.", from, to, p.Meta[0].BaseOffset)
	case len(p.Meta) > 0:
		return fmt.Sprintf("%s sends %s the metadata log from offset %d on, committed below %d.", from, to, p.Meta[0].BaseOffset, p.HighWatermark)
	case p.Part == metadataLog:
		return fmt.Sprintf("%s answers the Fetch of %s without records: the metadata log is committed below offset %d.", from, to, p.HighWatermark)
	}
	return fmt.Sprintf("%s answers the Fetch of %s without records: the high watermark of %s is %d.", from, to, p.Part, p.HighWatermark)
}

// diverging is the first partition for which the leader answers that the
// follower's log is not a part of its own, nil for none.
func diverging(r *wire.FetchResponse) *wire.FetchResult {
	for i := range r.Parts {
		if r.Parts[i].DivergingEpoch != nil {
			return &r.Parts[i]
		}
	}
	return nil
}

// carried is the first partition with records in a response, its first and last
// offset and its high watermark; "" if there is none.
func carried(r *wire.FetchResponse) (part string, base, last, hw int64) {
	for _, p := range r.Parts {
		if n := len(p.Records); n > 0 {
			return p.Part, p.Records[0].BaseOffset, p.Records[n-1].Last(), p.HighWatermark
		}
	}
	return "", 0, 0, 0
}

func offsets(base, last int64) string {
	if base == last {
		return fmt.Sprintf("offset %d", base)
	}
	return fmt.Sprintf("offsets %d to %d", base, last)
}
