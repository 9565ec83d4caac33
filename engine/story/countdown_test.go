package story_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/story"
)

// TestCountdowns follows the session of broker 1 through heartbeats, a change of
// the active controller, the fence and the unfence.
func TestCountdowns(t *testing.T) {
	const s = journal.Second
	set := func(t journal.Time, key string, v any) journal.Event {
		return journal.Event{N: 2, T: t, Ch: []journal.Change{{Key: key, Val: v}}}
	}
	beat := func(t journal.Time, at string) journal.Event {
		return journal.Event{N: 2, T: t, Kind: journal.RequestReceive, API: "BrokerHeartbeat", Node: at, From: "b1"}
	}
	j := &journal.Journal{Events: []journal.Event{
		{N: 1, Ch: []journal.Change{{Key: "c1/role", Val: "leader"}, {Key: "c2/role", Val: "follower"}, {Key: "session/b1", Val: "active"}}},
		beat(2*s, "c1"), beat(4*s, "c2"), // one that is not active does not count
		set(5*s, "c1/state", "crashed"), beat(6*s, "c1"),
		set(7*s, "c2/role", "leader"),
		set(20*s, "session/b1", "fenced"), beat(21*s, "c2"),
		set(30*s, "session/b1", "active"), beat(32*s, "c2"),
		set(33*s, "session/b1", "shutdown"),
		set(40*s, "group-a/a1/session", int64(85*s)), set(50*s, "group-a/a1/session", nil),
		{N: 3, T: 60 * s, Kind: journal.ConsumerPoll, Node: "a1"}, {N: 4, T: 65 * s, Kind: journal.ConsumerPoll, Node: "a1"},
		{N: 5, T: 70 * s, Kind: journal.ConsumerCallback, Node: "a1"}, {N: 6, T: 80 * s, Kind: journal.ConsumerStall, Node: "a1", F: journal.F("forMs", int64(2000))},
		{N: 7, T: 82 * s, Kind: journal.ConsumerDeliver, Node: "a1"}, {N: 8, T: 83 * s, Kind: journal.ConsumerDeliver, Node: "a1"},
	}}
	poll := func(string) journal.Time { return 300 * s }
	assert.Equal(t, []story.Countdown{
		{Key: "session/b1", Starts: [][2]journal.Time{{0, 9 * s}, {2 * s, 11 * s}, {5 * s, 0}, {7 * s, 16 * s}, {20 * s, 0}, {30 * s, 39 * s}, {32 * s, 41 * s}}},
		{Key: "session/a1", Starts: [][2]journal.Time{{40 * s, 85 * s}, {50 * s, 0}}},
		{Key: "poll/a1", Starts: [][2]journal.Time{{60 * s, 360 * s}, {65 * s, 365 * s}, {70 * s, 0}, {80 * s, 380 * s}, {82 * s, 0}}},
	}, story.Countdowns(j, 9*s, poll))
	assert.Empty(t, story.Countdowns(&journal.Journal{}, 9*s, poll))
}
