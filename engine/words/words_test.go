package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/words"
)

// kinds reads the closed list of kinds from its source, so that a new kind cannot
// be forgotten here.
func kinds(t *testing.T) (out []journal.Kind) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "journal", "kinds.go"), nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		lit, ok := v.Values[0].(*ast.BasicLit)
		require.True(t, ok)
		kind, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		out = append(out, journal.Kind(kind))
		return true
	})
	require.Greater(t, len(out), 60)
	return out
}

func TestEveryKindHasASentence(t *testing.T) {
	for _, kind := range kinds(t) {
		e := &journal.Event{N: 1, Kind: kind, Node: "b1", Part: "orders-0", From: "b2", To: "b1", API: "Fetch",
			F: journal.F("records", []string{"r1"}, "do", "pause", "how", "key")}
		say := words.New(&journal.Journal{Events: []journal.Event{*e}}).Say(e)
		assert.NotEqual(t, string(kind), say, "%s has a sentence", kind)
		assert.True(t, strings.HasSuffix(say, "."), "%s: %q ends", kind, say)
		assert.NotContains(t, say, "%!")
		assert.NotContains(t, say, "<nil>")
	}
}

// odd are fields that an event may come with when a part of the engine is older
// or newer than the catalogue.
var odd = []any{nil, journal.Fields(nil), journal.F("operation", 7, "records", 7, "leader", "b1"), &wire.FetchRequest{}, &wire.FetchResponse{},
	&wire.ProduceRequest{}, &wire.ProduceResponse{}, &wire.AlterPartitionRequest{}, &wire.AlterPartitionResponse{}, &wire.ListOffsetsRequest{}, &wire.CreateTopicsRequest{},
	&wire.CreatePartitionsRequest{}, &wire.CreatePartitionsResponse{}, &wire.ElectLeadersRequest{}, &wire.ElectLeadersResponse{}, &wire.IncrementalAlterConfigsRequest{},
	&wire.IncrementalAlterConfigsResponse{}, &wire.AlterPartitionReassignmentsRequest{}, &wire.AlterPartitionReassignmentsResponse{},
	&wire.FindCoordinatorResponse{}, &wire.OffsetFetchResponse{}, struct{ hidden int }{1}}

func TestNoFieldsBreakASentence(t *testing.T) {
	for _, kind := range kinds(t) {
		for _, api := range apis {
			for i, f := range odd {
				e := &journal.Event{N: 1, Kind: kind, API: string(api), F: f}
				p := words.New(&journal.Journal{Events: []journal.Event{*e}})
				say := p.Say(e)
				require.NotEmpty(t, say)
				require.NotContains(t, say, "%!", "%s %s %d", kind, api, i)
				require.NotContains(t, say, "<nil>", "%s %s %d", kind, api, i)
				require.NotContains(t, say, "{", "%s %s %d", kind, api, i)
				if pill := p.Pill(e); pill != nil {
					require.NotEmpty(t, pill.Lane)
					require.GreaterOrEqual(t, pill.More, 0)
				}
			}
		}
	}
}

var apis = []kafka.API{kafka.Produce, kafka.Fetch, kafka.ListOffsets, kafka.Metadata, kafka.ApiVersions, kafka.InitProducerID, kafka.AllocateProducerIDs,
	kafka.OffsetForLeaderEpoch, kafka.AlterPartition, kafka.BrokerHeartbeat, kafka.BrokerRegistration, kafka.FindCoordinator, kafka.JoinGroup, kafka.SyncGroup,
	kafka.Heartbeat, kafka.LeaveGroup, kafka.ConsumerGroupHeartbeat, kafka.OffsetCommit, kafka.OffsetFetch, kafka.AddPartitionsToTxn, kafka.EndTxn,
	kafka.WriteTxnMarkers, kafka.TxnOffsetCommit, kafka.CreateTopics, kafka.CreatePartitions, kafka.ElectLeaders, kafka.IncrementalAlterConfigs,
	kafka.AlterPartitionReassignments, kafka.Envelope, kafka.Vote, kafka.BeginQuorumEpoch, kafka.EndQuorumEpoch, kafka.FetchSnapshot}

func TestEveryRequestHasASentenceOfItsOwn(t *testing.T) {
	seen := map[string]kafka.API{}
	for _, api := range apis {
		e := &journal.Event{N: 1, Kind: journal.RequestSend, API: string(api), From: "b2", To: "b1", Group: "group-a", F: journal.F("acks", 1)}
		say := words.New(&journal.Journal{Events: []journal.Event{*e}}).Say(e)
		assert.Empty(t, seen[say], "%s says the same: %s", api, say)
		assert.True(t, strings.HasSuffix(say, ".") || strings.HasSuffix(say, "?"), say)
		seen[say] = api
		if api != kafka.Produce && api != kafka.Fetch {
			assert.NotEqual(t, "Broker 2 sends "+string(api)+" to broker 1.", say)
		}
	}
}

// TestSentencesAreASCII: the arrow and the minus are the only signs beyond it.
func TestSentencesAreASCII(t *testing.T) {
	for _, file := range []string{"phrases.go", "messages.go", "admin.go", "pill.go", "get.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				for _, r := range lit.Value {
					assert.True(t, r < 128 || r == '→' || r == '−', "%s: %s", file, lit.Value)
				}
			}
			return true
		})
	}
}

func TestSentencesSayWhatHappensInKafkasWords(t *testing.T) {
	key := "order-17"
	produce := &wire.ProduceRequest{Acks: -1, Parts: []wire.ProducePart{{Part: "orders-0", Batch: wire.Batch{Records: []string{"r1"}}}, {Part: "orders-1"}}}
	records := []wire.Batch{{BaseOffset: 5, Records: []string{"r1"}}}
	older := &wire.FetchRequest{ReplicaID: 1, Parts: []wire.FetchPart{{Part: "__consumer_offsets-0"}, {Part: "orders-0", FetchOffset: 4, CurrentLeaderEpoch: 1}}}
	differ := &wire.FetchResponse{Parts: []wire.FetchResult{{Part: "orders-0", DivergingEpoch: &wire.EpochEnd{EndOffset: 3}}}}
	two := int32(2)
	for _, c := range []struct {
		e    journal.Event
		want string
		pill *words.Pill
	}{
		{journal.Event{Kind: journal.RequestSend, Msg: 1, API: "Fetch", From: "b2", To: "b1", F: &wire.FetchRequest{ReplicaID: 2, Parts: []wire.FetchPart{{Part: "orders-0", FetchOffset: 6}}}},
			"Broker 2 asks broker 1 for orders-0 from offset 6: this tells broker 1 that broker 2 has everything below 6.", &words.Pill{Text: "Fetch 2→1 from 6", Lane: "orders-0"}},
		{journal.Event{Kind: journal.RequestReceive, Msg: 1, API: "Fetch", From: "b2", To: "b1"}, "Broker 1 now knows that broker 2 has everything of orders-0 below offset 6.", nil},
		{journal.Event{Kind: journal.ResponseSend, Msg: 1, API: "Fetch", From: "b1", To: "b2", F: &wire.FetchResponse{Parts: []wire.FetchResult{{Part: "orders-1", HighWatermark: 3}, {Part: "orders-0", HighWatermark: 5, Records: records}}}},
			"Broker 1 answers the Fetch of broker 2 with offset 5 of orders-0, and its high watermark 5.", &words.Pill{Text: "resp 1→2 record 5, HW 5", Lane: "orders-0", More: 1, Tags: []string{"r1"}}},
		{journal.Event{Kind: journal.ResponseReceive, Node: "b2", Msg: 1, API: "Fetch", From: "b1", To: "b2"}, "Broker 2 has the answer of broker 1 to its Fetch: offset 5 of orders-0, and high watermark 5.", nil},
		{journal.Event{Kind: journal.RequestSend, Chatter: true, API: "Fetch", From: "a1", To: "b1", Part: "orders-0", F: &wire.FetchRequest{ReplicaID: -1}},
			"a1 asks broker 1 for news of the same partitions, from the same offsets.", &words.Pill{Text: "Fetch a1→1", Lane: "orders-0"}},
		{journal.Event{Kind: journal.RequestSend, API: "Fetch", From: "c2", To: "c1", F: &wire.FetchRequest{ReplicaID: 102, Parts: []wire.FetchPart{{Part: "__cluster_metadata-0", FetchOffset: 40}}}},
			"Controller C2 asks controller C1 for the metadata log from offset 40.", &words.Pill{Text: "Fetch C2→C1 from 40", Lane: "controller"}},
		{journal.Event{Kind: journal.RequestSend, API: "Produce", From: "order-service", To: "b1", F: produce},
			`order-service sends Produce with acks=all to broker 1: record r1 ("created") for orders-0, and 1 further partition.`, &words.Pill{Text: "Produce order-17", Lane: "orders-0", More: 1, Tags: []string{"r1"}}},
		{journal.Event{Kind: journal.ResponseSend, API: "Produce", From: "b1", To: "order-service", Part: "orders-0", F: &wire.ProduceResponse{Parts: []wire.ProduceResult{{Part: "orders-0", ErrorCode: kafka.NotLeaderOrFollower, CurrentLeader: &wire.CurrentLeader{LeaderID: 2}}}}},
			"Broker 1 answers the Produce of order-service with NOT_LEADER_OR_FOLLOWER; it names broker 2 as the leader.", &words.Pill{Text: "1→order-service NOT_LEADER_OR_FOLLOWER", Lane: "orders-0", Error: true}},
		{journal.Event{Kind: journal.ResponseSend, API: "Produce", From: "b1", To: "order-service", F: &wire.ProduceResponse{Parts: []wire.ProduceResult{{Part: "orders-0", BaseOffset: 5}}}},
			"Broker 1 answers the Produce of order-service: written to orders-0 at offset 5.", &words.Pill{Text: "ack 1→order-service offset 5", Lane: "orders-0"}},
		{journal.Event{Kind: journal.ResponseSend, API: "Fetch", From: "b1", To: "a1", F: &wire.FetchResponse{Parts: []wire.FetchResult{{Part: "orders-0", PreferredReadReplica: &two}}}},
			"Broker 1 answers the Fetch of a1 without records: it should read orders-0 from broker 2.", &words.Pill{Text: "resp 1→a1 HW 0", Lane: "orders-0"}},
		{journal.Event{Kind: journal.ResponseSend, API: "Fetch", From: "b2", To: "b1", F: differ},
			"Broker 2 answers the Fetch of broker 1: their logs of orders-0 differ; leader epoch 0 ends at offset 3 here.", &words.Pill{Text: "resp 2→1 epoch 0 ends at 3", Lane: "orders-0"}},
		{journal.Event{Kind: journal.RequestSend, Msg: 2, API: "Fetch", From: "b1", To: "b2", F: older},
			"Broker 1 asks broker 2 for orders-0 from offset 4, and 1 further partition; its log has leader epochs up to 0.", &words.Pill{Text: "Fetch 1→2 from 4", Lane: "orders-0", More: 1}},
		{journal.Event{Kind: journal.RequestReceive, Msg: 2, API: "Fetch", From: "b1", To: "b2"}, "Broker 2 receives the Fetch of broker 1.", nil},
		{journal.Event{Kind: journal.ResponseReceive, Node: "b1", Msg: 2, API: "Fetch", From: "b2", To: "b1"}, "Broker 1 has the answer of broker 2 to its Fetch: for orders-0, leader epoch 0 ends at offset 3 there.", nil},
		{journal.Event{Kind: journal.MetadataAppend, Node: "c1", F: journal.F("records", []string{"PartitionChangeRecord orders-0 isr 2,3 leader 2", "NoOpRecord", "BrokerRegistrationChangeRecord broker 1 FENCE"})},
			"Controller C1 writes one batch to the metadata log: PartitionChangeRecord orders-0 isr 2,3 leader 2; BrokerRegistrationChangeRecord broker 1 FENCE.", nil},
		{journal.Event{Kind: journal.RequestSend, API: "AlterPartition", From: "b1", To: "c1", Part: "orders-0", F: &wire.AlterPartitionRequest{Parts: []wire.AlterPartitionPart{{Part: "orders-0", NewISR: []wire.BrokerEpoch{{BrokerID: 1}, {BrokerID: 2}}}}}},
			"Broker 1 asks controller C1 to commit the ISR 1,2 for orders-0 (AlterPartition).", &words.Pill{Text: "AlterPartition 1→C1", Lane: "controller"}},
		{journal.Event{Kind: journal.RequestSend, API: "OffsetCommit", From: "a1", To: "b2", Group: "group-a", F: &wire.OffsetCommitRequest{GroupID: "group-a", Parts: []wire.OffsetCommitPart{{Part: "orders-0", CommittedOffset: 6}}}},
			"a1 asks broker 2 to commit offset 6 of orders-0 for group group-a.", &words.Pill{Text: "OffsetCommit a1→2", Lane: "group"}},
		{journal.Event{Kind: journal.RequestSend, API: "Vote", From: "c2", To: "c3", F: journal.F("preVote", true)},
			"Controller C2 asks controller C3 whether it would vote for it in the next quorum epoch (pre-vote); nothing changes yet.", &words.Pill{Text: "Vote C2→C3", Lane: "controller"}},
		{journal.Event{Kind: journal.RequestSend, API: "BeginQuorumEpoch", From: "c2", To: "c3", F: journal.F("leaderEpoch", 2)},
			"Controller C2 tells controller C3 that it is the leader of the quorum in quorum epoch 2.", &words.Pill{Text: "BeginQuorumEpoch C2→C3", Lane: "controller"}},
		{journal.Event{Kind: journal.MessageLost, API: "Produce", From: "b1", To: "order-service", F: journal.F("response", true)}, "The answer of broker 1 to the Produce of order-service is lost: its connection is gone.", nil},
		{journal.Event{Kind: journal.MessageHeld, API: "Fetch", From: "b3", To: "b1", F: journal.F("response", false)}, "The Fetch of broker 3 to broker 1 is held on its way; it comes later or its connection breaks.", nil},
		{journal.Event{Kind: journal.ReplicaAppend, Node: "b1", Part: "orders-0", F: journal.F("baseOffset", int64(5), "epoch", int32(0), "records", []string{"r1"})}, `Broker 1 appends record r1 ("created") to orders-0 at offset 5, leader epoch 0.`, nil},
		{journal.Event{Kind: journal.HWAdvance, Node: "b1", Part: "orders-0", F: journal.F("from", int64(5), "to", int64(6))}, "Broker 1 moves the high watermark of orders-0 from 5 to 6: every replica in the ISR has everything below 6.", nil},
		{journal.Event{Kind: journal.ProducerAcked, Node: "order-service", Part: "orders-0", F: journal.F("records", []string{"r1"}, "baseOffset", int64(-1))}, "order-service reports success as soon as the bytes are sent, with offset −1: nobody answers acks=0.", nil},
		{journal.Event{Kind: journal.PurgatoryWait, Node: "b1", Part: "orders-0", F: journal.F("operation", "DelayedProduce", "requiredOffset", int64(6), "waitsFor", []string{"b2", "b3"})}, "Broker 1 parks the Produce for orders-0 until the high watermark reaches 6; it waits for broker 2 and broker 3.", nil},
		{journal.Event{Kind: journal.Action, F: journal.F("do", "cut", "from", []string{"b2", "b3"}, "to", []string{"b1"})}, "From outside: the link from broker 2 and broker 3 to broker 1 is cut.", nil},
		{journal.Event{Kind: journal.GroupState, Group: "group-a", Ch: []journal.Change{{Key: "group-a/state", Val: "Stable"}}}, "Group group-a is Stable.", nil},
		{journal.Event{Kind: journal.NodeCrash, Node: "a1"}, "a1 is killed: what it had in memory is gone.", nil},
	} {
		j := &journal.Journal{Records: []journal.Record{{ID: "r1", Key: &key, Value: "created"}}, Events: []journal.Event{
			{N: 1, Kind: journal.RequestSend, Msg: 1, API: "Fetch", From: "b2", To: "b1", F: &wire.FetchRequest{ReplicaID: 2, Parts: []wire.FetchPart{{Part: "orders-0", FetchOffset: 6}}}},
			{N: 2, Kind: journal.ResponseSend, Msg: 1, API: "Fetch", From: "b1", To: "b2", F: &wire.FetchResponse{Parts: []wire.FetchResult{{Part: "orders-0", HighWatermark: 5, Records: records}}}},
			{N: 3, Kind: journal.RequestSend, Msg: 2, API: "Fetch", From: "b1", To: "b2", F: older},
			{N: 4, Kind: journal.ResponseSend, Msg: 2, API: "Fetch", From: "b2", To: "b1", F: differ},
		}}
		p := words.New(j)
		assert.Equal(t, c.want, p.Say(&c.e))
		assert.Equal(t, c.pill, p.Pill(&c.e), c.want)
	}
}
