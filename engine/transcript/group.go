package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// instances are the instance ids of static members by member id: what a
// transcript calls them.
func instances(xs []exchange) map[string]string {
	by := map[string]string{}
	for _, x := range xs {
		if r, ok := x.resp.(*wire.JoinGroupResponse); ok && r.MemberID != "" {
			if q := x.req.(*wire.JoinGroupRequest); q.Instance != "" {
				by[r.MemberID] = q.Instance
			}
		}
	}
	return by
}

// groupOf is the group that a request to a coordinator is about, "" for another
// request.
func groupOf(req any) string {
	switch q := req.(type) {
	case *wire.OffsetCommitRequest:
		return q.GroupID
	case *wire.OffsetFetchRequest:
		return q.GroupID
	case *wire.JoinGroupRequest:
		return q.GroupID
	case *wire.SyncGroupRequest:
		return q.GroupID
	case *wire.HeartbeatRequest:
		return q.GroupID
	case *wire.LeaveGroupRequest:
		return q.GroupID
	case *wire.ConsumerGroupHeartbeatRequest:
		return q.GroupID
	}
	return ""
}

// groupLine is an answered request of a group protocol, "" for another.
func groupLine(x exchange, names map[string]string) string {
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return id
	}
	switch r := x.resp.(type) {
	case *wire.JoinGroupResponse:
		q := x.req.(*wire.JoinGroupRequest)
		member := "new"
		if q.MemberID != "" {
			member = name(q.MemberID)
		}
		if q.Instance != "" {
			member += " instance " + q.Instance
		}
		var ps []string
		for _, p := range q.Protocols {
			ps = append(ps, p.Name)
		}
		s := fmt.Sprintf("JoinGroup %s member %s protocols %s -> %s", q.GroupID, member, strings.Join(ps, ","), r.ErrorCode)
		if r.ErrorCode == kafka.None {
			s += fmt.Sprintf(" generation %d protocol %s leader %s members %d", r.GenerationID, r.ProtocolName, name(r.Leader), len(r.Members))
		}
		return s
	case *wire.SyncGroupResponse:
		q := x.req.(*wire.SyncGroupRequest)
		return fmt.Sprintf("SyncGroup %s generation %d assignments %d -> %s", q.GroupID, q.GenerationID, len(q.Assignments), r.ErrorCode)
	case *wire.HeartbeatResponse:
		q := x.req.(*wire.HeartbeatRequest)
		return fmt.Sprintf("Heartbeat %s generation %d -> %s", q.GroupID, q.GenerationID, r.ErrorCode)
	case *wire.LeaveGroupResponse:
		q := x.req.(*wire.LeaveGroupRequest)
		return fmt.Sprintf("LeaveGroup %s members %d -> %s", q.GroupID, len(q.Members), r.ErrorCode)
	case *wire.ConsumerGroupHeartbeatResponse:
		q := x.req.(*wire.ConsumerGroupHeartbeatRequest)
		s := fmt.Sprintf("ConsumerGroupHeartbeat %s epoch %d", q.GroupID, q.MemberEpoch)
		if q.InstanceID != "" {
			s += " instance " + q.InstanceID
		}
		if q.TopicPartitions != nil {
			s += " owned " + partList(q.TopicPartitions)
		}
		s += fmt.Sprintf(" -> %s epoch %d", r.ErrorCode, r.MemberEpoch)
		if r.Assignment != nil {
			s += " assignment " + partList(r.Assignment)
		}
		return s
	case *wire.OffsetForLeaderEpochResponse:
		q := x.req.(*wire.OffsetForLeaderEpochRequest)
		var ps, rs []string
		for _, p := range sorted(q.Parts, func(p wire.LeaderEpochPart) string { return p.Part }) {
			ps = append(ps, fmt.Sprintf("%s epoch %d", p.Part, p.LeaderEpoch))
		}
		for _, p := range sorted(r.Parts, func(p wire.LeaderEpochResult) string { return p.Part }) {
			rs = append(rs, fmt.Sprintf("%s %s epoch %d endOffset %d", p.Part, p.ErrorCode, p.LeaderEpoch, p.EndOffset))
		}
		return "OffsetForLeaderEpoch " + strings.Join(ps, "; ") + " -> " + strings.Join(rs, "; ")
	}
	return ""
}

func partList(ps []string) string { return dash(strings.Join(slices.Sorted(slices.Values(ps)), ",")) }
