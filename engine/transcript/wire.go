package transcript

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// connections lists what was answered on each connection: requests in one
// section, fetches in another.
func connections(xs []exchange) []Section {
	lines, names := map[string][]string{}, instances(xs)
	fetches := map[string][]exchange{}
	for _, x := range xs {
		title := heading(x)
		if x.api == string(kafka.Fetch) {
			fetches[title] = append(fetches[title], x)
			if lines[title] == nil {
				lines[title] = nil
			}
			continue
		}
		l := line(x)
		if l == "" {
			l = groupLine(x, names)
		}
		if l != "" {
			lines[title] = append(lines[title], l)
		}
	}
	titles := map[string]bool{}
	for t := range lines {
		titles[t] = true
	}
	for t := range fetches {
		titles[t] = true
	}
	var out []Section
	for _, t := range keys(titles) {
		out = append(out, Section{t, heartbeatsOnce(dedupe(lines[t]))})
		out = append(out, Section{t + ": Fetch", dedupe(fetchLines(fetches[t]))})
	}
	return out
}

// heading names the connection; what a client asks of a random broker goes to "any".
func heading(x exchange) string {
	to := x.to
	switch q := x.req.(type) {
	case *wire.FindCoordinatorRequest:
		to = "any"
	case *wire.InitProducerIDRequest:
		if q.TransactionalID == "" {
			to = "any"
		}
	}
	if g := groupOf(x.req); g != "" {
		to = "coordinator(" + g + ")"
	}
	if x.from == "admin" {
		to = "any"
	}
	return x.from + " > " + to
}

// heartbeatsOnce leaves out a heartbeat that says what the one before said.
func heartbeatsOnce(ls []string) []string {
	last := ""
	var out []string
	for _, l := range ls {
		if strings.HasPrefix(l, "BrokerHeartbeat ") {
			if l == last {
				continue
			}
			last = l
		}
		out = append(out, l)
	}
	return out
}

// line is one answered request; "" for what a transcript leaves out.
func line(x exchange) string {
	if _, ok := x.resp.(wire.AdminAnswer); ok && x.from != "admin" {
		return "" // forwarded by a broker
	}
	switch r := x.resp.(type) {
	case nil:
		return produceLine(x.req.(*wire.ProduceRequest), &wire.ProduceResponse{})
	case *wire.ProduceResponse:
		return produceLine(x.req.(*wire.ProduceRequest), r)
	case *wire.AlterPartitionResponse:
		return alterLine(x.req.(*wire.AlterPartitionRequest), r)
	case *wire.BrokerRegistrationResponse:
		return "BrokerRegistration -> " + r.ErrorCode.String()
	case *wire.BrokerHeartbeatResponse:
		q := x.req.(*wire.BrokerHeartbeatRequest)
		return fmt.Sprintf("BrokerHeartbeat wantFence %t wantShutDown %t -> %s isFenced %t shouldShutDown %t", q.WantFence, q.WantShutDown, r.ErrorCode, r.IsFenced, r.ShouldShutDown)
	case *wire.VoteResponse:
		q := x.req.(*wire.VoteRequest)
		return fmt.Sprintf("Vote replicaEpoch %d replicaId %d preVote %t -> %s voteGranted %t", q.ReplicaEpoch, q.ReplicaID, q.PreVote, quorum(r.ErrorCode, r.LeaderID, r.LeaderEpoch), r.VoteGranted)
	case *wire.BeginQuorumEpochResponse:
		q := x.req.(*wire.BeginQuorumEpochRequest)
		return fmt.Sprintf("BeginQuorumEpoch leaderId %d leaderEpoch %d -> %s", q.LeaderID, q.LeaderEpoch, quorum(r.ErrorCode, r.LeaderID, r.LeaderEpoch))
	case *wire.EndQuorumEpochResponse:
		q := x.req.(*wire.EndQuorumEpochRequest)
		return fmt.Sprintf("EndQuorumEpoch leaderId %d leaderEpoch %d preferredCandidates %v -> %s", q.LeaderID, q.LeaderEpoch, q.PreferredCandidates, quorum(r.ErrorCode, r.LeaderID, r.LeaderEpoch))
	case *wire.InitProducerIDResponse:
		if r.ErrorCode == kafka.CoordinatorLoadInProgress {
			return ""
		}
		return fmt.Sprintf("InitProducerId -> %s epoch %d", r.ErrorCode, r.ProducerEpoch)
	case *wire.FindCoordinatorResponse:
		var es []string
		for _, c := range r.Coordinators {
			es = append(es, c.ErrorCode.String())
		}
		return "FindCoordinator " + strings.Join(x.req.(*wire.FindCoordinatorRequest).Keys, ",") + " -> " + strings.Join(es, "; ")
	case *wire.OffsetCommitResponse:
		return commitLine(x.req.(*wire.OffsetCommitRequest), r)
	case *wire.OffsetFetchResponse:
		var ps []string
		for _, p := range sorted(r.Parts, func(p wire.OffsetFetchPart) string { return p.Part }) {
			s := fmt.Sprintf("%s@%d", p.Part, p.CommittedOffset)
			if p.ErrorCode != kafka.None {
				s += " " + p.ErrorCode.String()
			}
			ps = append(ps, s)
		}
		return fmt.Sprintf("OffsetFetch -> %s %s %s", r.GroupID, r.ErrorCode, strings.Join(ps, "; "))
	case *wire.ListOffsetsResponse:
		return listLine(x.req.(*wire.ListOffsetsRequest), r)
	case *wire.CreateTopicsResponse:
		return adminLine(x.api, r)
	case *wire.CreatePartitionsResponse:
		return adminLine(x.api, r)
	case *wire.IncrementalAlterConfigsResponse:
		return adminLine(x.api, r)
	case *wire.AlterPartitionReassignmentsResponse:
		return x.api + " -> " + r.ErrorCode.String()
	case *wire.ElectLeadersResponse:
		var ps []string
		for _, p := range r.Parts {
			ps = append(ps, p.Part+" "+p.ErrorCode.String())
		}
		return fmt.Sprintf("ElectLeaders type %d -> %s", x.req.(*wire.ElectLeadersRequest).ElectionType, strings.Join(ps, "; "))
	}
	return ""
}

// adminLine is an answer with a code for each thing asked for.
func adminLine(api string, r wire.AdminAnswer) string {
	seen := map[string]bool{}
	for _, x := range r.Refused() {
		seen[x.Code.String()] = true
	}
	if len(seen) == 0 {
		seen[kafka.None.String()] = true
	}
	return api + " -> " + strings.Join(keys(seen), ",")
}

// quorum is what an answer says of the quorum, after its error.
func quorum(code kafka.ErrorCode, leader, epoch int32) string {
	s := fmt.Sprintf("leaderId %d leaderEpoch %d", leader, epoch)
	if code != kafka.None {
		s = "errorCode " + code.String() + " " + s
	}
	return s
}

func produceLine(q *wire.ProduceRequest, r *wire.ProduceResponse) string {
	var ps, rs []string
	for _, p := range sorted(q.Parts, func(p wire.ProducePart) string { return p.Part }) {
		ps = append(ps, p.Part)
	}
	for _, p := range sorted(r.Parts, func(p wire.ProduceResult) string { return p.Part }) {
		s := p.Part + " " + p.ErrorCode.String()
		if p.ErrorCode == kafka.None {
			s += fmt.Sprintf(" baseOffset %d", p.BaseOffset)
		}
		rs = append(rs, s+hint(p.CurrentLeader))
	}
	if len(rs) == 0 {
		rs = []string{"(no response)"}
	}
	return fmt.Sprintf("Produce acks=%d %s -> %s", q.Acks, strings.Join(ps, "; "), strings.Join(rs, "; "))
}

func hint(c *wire.CurrentLeader) string {
	if c == nil || c.LeaderID < 0 {
		return ""
	}
	return fmt.Sprintf(" currentLeader %d epoch %d", c.LeaderID, c.LeaderEpoch)
}

func alterLine(q *wire.AlterPartitionRequest, r *wire.AlterPartitionResponse) string {
	var ps, rs []string
	for _, p := range sorted(q.Parts, func(p wire.AlterPartitionPart) string { return p.Part }) {
		if internal(p.Part) {
			continue
		}
		var isr []int32
		for _, b := range p.NewISR {
			isr = append(isr, b.BrokerID)
		}
		ps = append(ps, fmt.Sprintf("%s leaderEpoch %d partitionEpoch %d newIsr %s", p.Part, p.LeaderEpoch, p.PartitionEpoch, ids(isr)))
	}
	for _, p := range sorted(r.Parts, func(p wire.AlterPartitionResult) string { return p.Part }) {
		switch {
		case internal(p.Part):
		case p.ErrorCode == kafka.None:
			rs = append(rs, fmt.Sprintf("%s isr %s partitionEpoch %d", p.ErrorCode, ids(p.ISR), p.PartitionEpoch))
		default:
			rs = append(rs, p.ErrorCode.String())
		}
	}
	if len(ps) == 0 {
		return ""
	}
	top := ""
	if r.ErrorCode != kafka.None {
		top = r.ErrorCode.String() + " "
	}
	return "AlterPartition " + strings.Join(ps, "; ") + " -> " + top + strings.Join(rs, "; ")
}

func commitLine(q *wire.OffsetCommitRequest, r *wire.OffsetCommitResponse) string {
	var ps, es []string
	for _, p := range sorted(q.Parts, func(p wire.OffsetCommitPart) string { return p.Part }) {
		ps = append(ps, fmt.Sprintf("%s@%d", p.Part, p.CommittedOffset))
	}
	seen := map[string]bool{}
	for _, p := range r.Parts {
		seen[p.ErrorCode.String()] = true
	}
	es = keys(seen)
	return fmt.Sprintf("OffsetCommit %s generation %d %s -> %s", q.GroupID, q.Epoch, strings.Join(ps, "; "), strings.Join(es, ","))
}

func listLine(q *wire.ListOffsetsRequest, r *wire.ListOffsetsResponse) string {
	var ps, rs []string
	for _, p := range sorted(q.Parts, func(p wire.ListOffsetsPart) string { return p.Part }) {
		ps = append(ps, fmt.Sprintf("%s timestamp %d", p.Part, p.Timestamp))
	}
	for _, p := range sorted(r.Parts, func(p wire.ListOffsetsResult) string { return p.Part }) {
		rs = append(rs, fmt.Sprintf("%s %s offset %d", p.Part, p.ErrorCode, p.Offset))
	}
	return "ListOffsets " + strings.Join(ps, "; ") + " -> " + strings.Join(rs, "; ")
}

// fetchLines shows what the answers of one connection brought; the position is
// what the session holds.
func fetchLines(xs []exchange) []string {
	type pos struct {
		offset int64
		epoch  int32
	}
	at, lastHW := map[string]pos{}, map[string]int64{}
	var out []string
	for _, x := range xs {
		if isMetadata(x) {
			continue
		}
		for _, p := range x.req.(*wire.FetchRequest).Parts {
			at[p.Part] = pos{p.FetchOffset, p.CurrentLeaderEpoch}
		}
		r := x.resp.(*wire.FetchResponse)
		if r.ErrorCode != kafka.None {
			out = append(out, "Fetch -> "+r.ErrorCode.String())
			continue
		}
		for _, p := range sorted(r.Parts, func(p wire.FetchResult) string { return p.Part }) {
			if internal(p.Part) {
				continue
			}
			o := at[p.Part]
			s := fmt.Sprintf("Fetch %s offset %d", p.Part, o.offset)
			if o.epoch >= 0 {
				s += fmt.Sprintf(" epoch %d", o.epoch)
			}
			s += " -> "
			switch {
			case p.ErrorCode != kafka.None:
				s += p.ErrorCode.String() + hint(p.CurrentLeader)
			case p.DivergingEpoch != nil:
				s += fmt.Sprintf("divergingEpoch %d endOffset %d", p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset)
			default:
				if last, ok := lastHW[p.Part]; ok && last == p.HighWatermark && len(p.Records) == 0 {
					continue
				}
				lastHW[p.Part] = p.HighWatermark
				if len(p.Records) > 0 {
					s += "records "
				}
				s += fmt.Sprintf("hw %d", p.HighWatermark)
			}
			out = append(out, s)
		}
	}
	return out
}

func isMetadata(x exchange) bool {
	q := x.req.(*wire.FetchRequest)
	return len(q.Parts) == 1 && q.Parts[0].Part == "__cluster_metadata-0"
}
