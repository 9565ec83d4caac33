package kafka_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/kafka"
)

// everyCode finds the codes by their names: a code without one prints as unknown.
func everyCode() (all []kafka.ErrorCode) {
	for c := kafka.ErrorCode(-1); c < 200; c++ {
		if _, ok := kafka.ParseErrorCode(c.String()); ok {
			all = append(all, c)
		}
	}
	return all
}

func TestErrorNamesAndCodesAreInverse(t *testing.T) {
	codes := everyCode()
	require.Len(t, codes, 71)
	for _, c := range codes {
		back, ok := kafka.ParseErrorCode(c.String())
		assert.True(t, ok)
		assert.Equal(t, c, back)
	}
	_, ok := kafka.ParseErrorCode("NO_SUCH_ERROR")
	assert.False(t, ok)
}

func TestErrorsAreWrittenAsNames(t *testing.T) {
	b, err := json.Marshal(map[string]kafka.ErrorCode{"e": kafka.NotLeaderOrFollower})
	require.NoError(t, err)
	assert.JSONEq(t, `{"e": "NOT_LEADER_OR_FOLLOWER"}`, string(b))
}

// The two lists are the subclasses in org.apache.kafka.common.errors.
func TestErrorClasses(t *testing.T) {
	refresh := []kafka.ErrorCode{kafka.UnknownTopicOrPartition, kafka.LeaderNotAvailable, kafka.NotLeaderOrFollower,
		kafka.ReplicaNotAvailable, kafka.Network, kafka.KafkaStorageError, kafka.FencedLeaderEpoch,
		kafka.PreferredLeaderNotAvailable, kafka.EligibleLeadersNotAvailable, kafka.ElectionNotNeeded, kafka.UnknownTopicID}
	retry := append([]kafka.ErrorCode{kafka.CorruptMessage, kafka.RequestTimedOut, kafka.CoordinatorLoadInProgress,
		kafka.CoordinatorNotAvailable, kafka.NotCoordinator, kafka.NotEnoughReplicas, kafka.NotEnoughReplicasAfterAppend,
		kafka.NotController, kafka.ConcurrentTransactions, kafka.FetchSessionIDNotFound, kafka.InvalidFetchSessionEpoch,
		kafka.UnknownLeaderEpoch, kafka.OffsetNotAvailable, kafka.UnstableOffsetCommit}, refresh...)
	var gotRefresh, gotRetry []kafka.ErrorCode
	for _, c := range everyCode() {
		if c.InvalidMetadata() {
			gotRefresh = append(gotRefresh, c)
		}
		if c.Retriable() {
			gotRetry = append(gotRetry, c)
		}
	}
	assert.ElementsMatch(t, refresh, gotRefresh, "subclasses of InvalidMetadataException")
	assert.ElementsMatch(t, retry, gotRetry, "subclasses of RetriableException")
}

func TestAPIKeys(t *testing.T) {
	assert.Equal(t, int16(0), kafka.Produce.Key())
	assert.Equal(t, int16(18), kafka.Fetch.Version())
	assert.Equal(t, int16(79), kafka.ShareAcknowledge.Key())
	assert.Equal(t, int16(-1), kafka.API("Nothing").Key())
	assert.Equal(t, int16(-1), kafka.API("Nothing").Version())
}
