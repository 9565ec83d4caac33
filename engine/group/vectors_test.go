package group

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

type vectorCase[I, E any] struct {
	ID       string
	Input    I
	Expected E
}

// vectors reads a file of inputs and outputs; want is the number of cases in the
// copy that belongs to this module.
func vectors[I, E any](t *testing.T, name string, want int) []vectorCase[I, E] {
	t.Helper()
	dir, own := os.Getenv("HIGHWATER_VECTORS"), false
	if dir == "" {
		dir, own = filepath.Join("..", "testdata", "vectors"), true
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	require.NoError(t, err)
	var f struct{ Cases []vectorCase[I, E] }
	require.NoError(t, json.Unmarshal(b, &f))
	if own {
		require.Len(t, f.Cases, want, "cases in %s", name)
	}
	return f.Cases
}

// constant is a state's name in the vectors: the one of Java's enum.
func constant(s State) string {
	var b strings.Builder
	for i, r := range string(s) {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

func protocols(names []string, version int) []wire.JoinProtocol {
	var ps []wire.JoinProtocol
	for _, n := range names {
		ps = append(ps, wire.JoinProtocol{Name: n, Metadata: wire.Subscription{Topics: []string{"orders"}, GenerationID: int32(version)}})
	}
	return ps
}

func TestClassicGroupRules(t *testing.T) {
	type in struct {
		Kind, From, To, State            string
		MemberProtocolsInPreferenceOrder [][]string
		MemberProtocols                  [][]string
		Joining                          []string
	}
	type out struct {
		Allowed, Supported bool
		Protocol           string
	}
	states := map[string]State{}
	for _, s := range []State{Empty, PreparingRebalance, CompletingRebalance, Stable, Dead} {
		states[constant(s)] = s
	}
	members := func(offers [][]string) *classic {
		c := newClassic()
		for i, o := range offers {
			c.protocolType = "consumer"
			c.add(&classicMember{id: fmt.Sprint("m", i), protocols: protocols(o, 1)})
		}
		return c
	}
	for _, v := range vectors[in, out](t, "classic_group_rules", 22) {
		t.Run(v.ID, func(t *testing.T) {
			switch v.Input.Kind {
			case "transition":
				assert.Equal(t, v.Expected.Allowed, slices.Contains(classicFrom[states[v.Input.To]], states[v.Input.From]))
			case "selectProtocol":
				assert.Equal(t, v.Expected.Protocol, members(v.Input.MemberProtocolsInPreferenceOrder).choose())
			case "supportsProtocols":
				assert.Equal(t, v.Expected.Supported, members(v.Input.MemberProtocols).supports("consumer", protocols(v.Input.Joining, 1)))
			default:
				t.Fatalf("unknown kind %s", v.Input.Kind)
			}
		})
	}
}

// bench drives a shard whose writes take no time.
type bench struct {
	s    *Shard
	at   func(Result)
	fail kafka.ErrorCode
}

func (b *bench) take(now journal.Time, r Result) {
	b.at(r)
	for _, w := range r.Writes {
		b.take(now, b.s.Written(now, w, b.fail))
	}
}

func (b *bench) until(now journal.Time) {
	for {
		at, ok := b.s.Deadline()
		if !ok || at > now {
			return
		}
		r, _, _ := b.s.Tick(at)
		b.take(at, r)
	}
}

type flowEvent struct {
	T          int64
	API, ID    string
	Known      *bool
	Sess, Reb  int64
	Protos     []string
	Meta       int
	Generation int32
}

type flowResponse struct {
	T                  int64
	API, Member, Error string
	Generation         int32
	Leader, Protocol   string
	Members            []string
}

type flowTransition struct {
	T          int64
	State      string
	Generation int32
}

type flowFinal struct {
	State, Leader string
	Generation    int32
	Members       []string
}

func TestClassicGroupFlow(t *testing.T) {
	type in struct {
		InitialRebalanceDelayMs, UntilMs int64
		Events                           []flowEvent
	}
	type out struct {
		Responses   []flowResponse
		Transitions []flowTransition
		Final       flowFinal
	}
	for _, v := range vectors[in, out](t, "classic_group_flow", 12) {
		t.Run(v.ID, func(t *testing.T) {
			var responses []flowResponse
			var transitions []flowTransition
			s := NewShard(Options{Config: kafka.NewConfig("broker", map[string]string{"group.initial.rebalance.delay.ms": fmt.Sprint(v.Input.InitialRebalanceDelayMs)}),
				NewID: func(client string) string { return client }})
			b := &bench{s: s}
			b.at = func(r Result) {
				now := int64(s.now / journal.Millisecond)
				for _, e := range r.Events {
					if f := e.F.(journal.Fields); e.Kind == journal.GroupState && f.Get("state") != string(Empty) {
						transitions = append(transitions, flowTransition{now, constant(State(f.Get("state").(string))), s.groups["g"].classic.generation})
					}
				}
				for _, a := range r.Answers {
					responses = append(responses, response(now, a))
				}
			}
			for _, e := range v.Input.Events {
				now := journal.Millis(e.T)
				b.until(now)
				b.take(now, ask(s, now, e))
				b.until(now)
			}
			b.until(journal.Millis(v.Input.UntilMs))
			assert.Equal(t, v.Expected.Responses, responses)
			assert.Equal(t, v.Expected.Transitions, transitions)
			c := s.groups["g"].classic
			assert.Equal(t, v.Expected.Final, flowFinal{constant(c.state), c.leader, c.generation, c.ids()})
		})
	}
}

func ask(s *Shard, now journal.Time, e flowEvent) Result {
	or := func(v, d int64) int64 {
		if v == 0 {
			return d
		}
		return v
	}
	to := e.ID
	switch e.API {
	case "join":
		q := &wire.JoinGroupRequest{GroupID: "g", MemberID: e.ID, ProtocolType: "consumer", SessionTimeoutMs: or(e.Sess, 45000), RebalanceTimeoutMs: or(e.Reb, 300000)}
		if e.Known != nil && !*e.Known {
			q.MemberID = ""
		}
		if e.Protos == nil {
			e.Protos = []string{"range"}
		}
		q.Protocols = protocols(e.Protos, e.Meta)
		return s.JoinGroup(now, q, e.ID, to)
	case "sync":
		q := &wire.SyncGroupRequest{GroupID: "g", MemberID: e.ID, GenerationID: e.Generation}
		if g := s.groups["g"]; g.classic.leader == e.ID {
			q.Assignments = []wire.MemberAssignment{{MemberID: e.ID}}
		}
		return s.SyncGroup(now, q, to)
	case "heartbeat":
		return s.Heartbeat(now, &wire.HeartbeatRequest{GroupID: "g", MemberID: e.ID, GenerationID: e.Generation}, to)
	case "leave":
		return s.LeaveGroup(now, &wire.LeaveGroupRequest{GroupID: "g", Members: []wire.LeaveMember{{MemberID: e.ID}}}, to)
	case "commit":
		return s.CommitOffsets(now, &wire.OffsetCommitRequest{GroupID: "g", MemberID: e.ID, Epoch: e.Generation, Parts: []wire.OffsetCommitPart{{Part: "orders-0"}}}, to)
	}
	panic("unknown api " + e.API)
}

func response(now int64, a Answer) flowResponse {
	r := flowResponse{T: now, Member: a.To.(string)}
	switch b := a.Body.(type) {
	case *wire.JoinGroupResponse:
		r.API, r.Error = "JoinGroup", b.ErrorCode.String()
		if b.ErrorCode == kafka.None {
			r.Generation, r.Leader, r.Protocol, r.Members = b.GenerationID, b.Leader, b.ProtocolName, []string{}
			for _, m := range b.Members {
				r.Members = append(r.Members, m.MemberID)
			}
		}
	case *wire.SyncGroupResponse:
		r.API, r.Error = "SyncGroup", b.ErrorCode.String()
	case *wire.HeartbeatResponse:
		r.API, r.Error = "Heartbeat", b.ErrorCode.String()
	case *wire.LeaveGroupResponse:
		r.API, r.Error = "LeaveGroup", b.Members[0].ErrorCode.String()
	case *wire.OffsetCommitResponse:
		r.API, r.Error = "OffsetCommit", b.Parts[0].ErrorCode.String()
	}
	return r
}

func TestConsumerGroupFlow(t *testing.T) {
	type beat struct {
		Member          string
		MemberEpoch     int32
		OwnedPartitions []int
	}
	type in struct {
		Topic         string
		NumPartitions int
		Assignor      string
		Heartbeats    []beat
	}
	type after struct {
		Response struct {
			Error       string
			MemberEpoch int32
			Assignment  []int
		}
		GroupEpoch, TargetAssignmentEpoch int32
		GroupState                        string
		MemberStates                      map[string]string
		Target                            map[string][]int
	}
	type out struct{ AfterEach []after }
	for _, v := range vectors[in, out](t, "consumer_group_flow", 6) {
		t.Run(v.ID, func(t *testing.T) {
			names := func(ps []int) []string {
				if ps == nil {
					return nil
				}
				out := []string{}
				for _, p := range ps {
					out = append(out, fmt.Sprint(v.Input.Topic, "-", p))
				}
				return out
			}
			s := NewShard(Options{Config: kafka.NewConfig("broker", map[string]string{"group.consumer.assignment.interval.ms": "0"}),
				Partitions: func(string) int { return v.Input.NumPartitions }, Assign: uniform})
			b := &bench{s: s}
			var got *wire.ConsumerGroupHeartbeatResponse
			b.at = func(r Result) {
				for _, a := range r.Answers {
					got = a.Body.(*wire.ConsumerGroupHeartbeatResponse)
				}
			}
			for i, h := range v.Input.Heartbeats {
				q := &wire.ConsumerGroupHeartbeatRequest{GroupID: "g", MemberID: h.Member, MemberEpoch: h.MemberEpoch, RebalanceTimeoutMs: -1, TopicPartitions: names(h.OwnedPartitions)}
				if h.MemberEpoch == 0 {
					q.RebalanceTimeoutMs, q.SubscribedTopicNames = 300000, []string{v.Input.Topic}
				}
				b.take(journal.Time(i), s.ConsumerGroupHeartbeat(journal.Time(i), q, h.Member, h.Member))
				want := v.Expected.AfterEach[i]
				if want.Response.Error != "" {
					assert.Equal(t, want.Response.Error, got.ErrorCode.String(), "heartbeat %d", i)
				} else {
					assert.Equal(t, want.Response.MemberEpoch, got.MemberEpoch, "epoch after heartbeat %d", i)
					assert.Equal(t, names(want.Response.Assignment), got.Assignment, "assignment in answer %d", i)
				}
				c := s.groups["g"].consumer
				assert.Equal(t, want.GroupEpoch, c.epoch, "group epoch after %d", i)
				assert.Equal(t, want.TargetAssignmentEpoch, c.targetEpoch, "target epoch after %d", i)
				assert.Equal(t, want.GroupState, constant(c.state()), "state after %d", i)
				states, target := map[string]string{}, map[string][]string{}
				for id, m := range c.members {
					states[id] = string(m.state)
				}
				for id, ps := range want.Target {
					target[id] = names(ps)
				}
				assert.Equal(t, want.MemberStates, states, "members after %d", i)
				assert.Equal(t, target, c.target, "target after %d", i)
			}
		})
	}
}

// epochs of partitions: a number for all, or exceptions to −1 by "topic/partition".
type epochs struct {
	all  int32
	some map[string]int32
}

func (e *epochs) UnmarshalJSON(b []byte) error {
	e.all = -1
	if b[0] != '{' {
		return json.Unmarshal(b, &e.all)
	}
	return json.Unmarshal(b, &e.some)
}

type byTopic map[string][]int

func (b byTopic) parts() []string {
	out := []string{}
	for _, topic := range slices.Sorted(maps.Keys(b)) {
		for _, p := range b[topic] {
			out = append(out, fmt.Sprint(topic, "-", p))
		}
	}
	return out
}

func TestConsumerGroupReconciliation(t *testing.T) {
	type member struct {
		State                            MemberState
		MemberEpoch, PreviousMemberEpoch int32
		Assigned, PendingRevocation      byTopic
	}
	type in struct {
		Member                member
		TargetAssignmentEpoch int32
		TargetAssignment      byTopic
		CurrentPartitionEpoch epochs
		OwnedPartitions       *byTopic
	}
	type out struct {
		Member member
		Error  string
	}
	for _, v := range vectors[in, out](t, "consumer_group_reconciliation", 14) {
		t.Run(v.ID, func(t *testing.T) {
			m := consumerMember{state: v.Input.Member.State, epoch: v.Input.Member.MemberEpoch, previous: v.Input.Member.PreviousMemberEpoch,
				assigned: map[string]int32{}, pending: map[string]int32{}}
			for _, p := range v.Input.Member.Assigned.parts() {
				m.assigned[p] = 1
			}
			for _, p := range v.Input.Member.PendingRevocation.parts() {
				m.pending[p] = 1
			}
			var owned []string
			if v.Input.OwnedPartitions != nil {
				owned = v.Input.OwnedPartitions.parts()
			}
			free := func(part string) bool {
				i := strings.LastIndexByte(part, '-')
				if e, ok := v.Input.CurrentPartitionEpoch.some[part[:i]+"/"+part[i+1:]]; ok {
					return e == -1
				}
				return v.Input.CurrentPartitionEpoch.all == -1
			}
			got, code := reconcile(m, v.Input.TargetAssignmentEpoch, v.Input.TargetAssignment.parts(), owned, free)
			if v.Expected.Error != "" {
				assert.Equal(t, v.Expected.Error, code.String())
				return
			}
			assert.Equal(t, kafka.None, code)
			want := v.Expected.Member
			assert.Equal(t, want.State, got.state)
			assert.Equal(t, want.MemberEpoch, got.epoch)
			assert.Equal(t, want.PreviousMemberEpoch, got.previous)
			assert.Equal(t, want.Assigned.parts(), sortParts(list(slices.Collect(maps.Keys(got.assigned)))))
			assert.Equal(t, want.PendingRevocation.parts(), sortParts(list(slices.Collect(maps.Keys(got.pending)))))
		})
	}
}

func uniform(name string, spec Spec) (map[string][]string, bool) {
	var free []string
	for _, t := range slices.Sorted(maps.Keys(spec.Topics)) {
		for p := range spec.Topics[t] {
			free = append(free, fmt.Sprint(t, "-", p))
		}
	}
	out := map[string][]string{}
	n := len(free)
	for _, m := range spec.Members {
		q := n / len(spec.Members)
		keep := m.Target[:min(len(m.Target), q)]
		out[m.ID] = slices.Clone(keep)
		free = slices.DeleteFunc(free, func(p string) bool { return slices.Contains(keep, p) })
	}
	for _, m := range spec.Members {
		for len(out[m.ID]) < n/len(spec.Members) {
			out[m.ID] = append(out[m.ID], free[0])
			free = free[1:]
		}
	}
	return out, true
}
