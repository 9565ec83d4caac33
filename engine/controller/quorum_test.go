package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/controller"
)

// TestTheQuorumDecidesAsKafka runs the cases of Kafka's own quorum classes.
func TestTheQuorumDecidesAsKafka(t *testing.T) {
	type end struct {
		Epoch  int32
		Offset int64
	}
	type in struct {
		Kind string

		EpochStartOffset int64
		Voters           []int32
		Updates          []struct {
			Replica      int32
			LogEndOffset int64
		}

		State                             string
		KnowsLeader, CandidateLogUpToDate bool
		PreVote                           bool
		VotedFor                          *string
		HasFetchedFromLeader              *bool

		Local, Candidate end

		ElectionBackoffMaxMs             int64
		NumPreferredCandidates, Position int
	}
	type out struct {
		HighWatermarkAfterEach []*int64
		Granted, UpToDate      bool
		BackoffMs              int64
	}
	kinds := map[string]int{}
	roles := map[string]controller.Role{"Unattached": controller.Unattached, "Prospective": controller.Prospective, "Candidate": controller.Candidate,
		"Follower": controller.Follower, "Leader": controller.Leader, "Resigned": controller.Resigned}
	for _, c := range vectors[in, out](t, "raft", 28) {
		kinds[c.Input.Kind]++
		t.Run(c.ID, func(t *testing.T) {
			i := c.Input
			switch i.Kind {
			case "highWatermark":
				l := controller.NewLeaderState(i.Voters[0], i.Voters, i.EpochStartOffset)
				for k, u := range i.Updates {
					l.Update(u.Replica, u.LogEndOffset)
					want := int64(-1)
					if hw := c.Expected.HighWatermarkAfterEach[k]; hw != nil {
						want = *hw
					}
					assert.Equal(t, want, l.HighWatermark(), "after update %d", k)
				}
			case "canGrantVote":
				q := controller.Quorum{ID: 1, Voters: []int32{1, 2, 3}, Role: roles[i.State], Epoch: 5, Leader: -1, Voted: -1}
				require.NotEmpty(t, q.Role)
				if i.KnowsLeader {
					q.Leader = 3
				}
				if i.VotedFor != nil {
					q.Voted = map[string]int32{"candidate": 2, "other": 3}[*i.VotedFor]
				}
				q.Fetched = i.HasFetchedFromLeader != nil && *i.HasFetchedFromLeader
				assert.Equal(t, c.Expected.Granted, q.CanGrantVote(2, i.CandidateLogUpToDate, i.PreVote))
			case "logUpToDate":
				assert.Equal(t, c.Expected.UpToDate, controller.LogEnd(i.Candidate).UpToDate(controller.LogEnd(i.Local)))
			case "endQuorumBackoff":
				assert.Equal(t, c.Expected.BackoffMs, controller.ElectionBackoffMs(i.ElectionBackoffMaxMs, i.NumPreferredCandidates, i.Position))
			default:
				t.Fatalf("unknown kind %q", i.Kind)
			}
		})
	}
	assert.Len(t, kinds, 4)
}
