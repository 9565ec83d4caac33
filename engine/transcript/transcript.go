// Package transcript prints a run as what a wire and log observer of a real
// cluster would note: the metadata log by subject, each connection's answers in
// the order in which their requests arrived, what applications saw, and the
// state at rest. A recording of a real cluster in the same form can be compared
// line by line.
package transcript

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// Section is a headed list of lines.
type Section struct {
	Title string
	Lines []string
}

// exchange is a request with the answer that was sent to it; a Produce with
// acks=0 has none.
type exchange struct {
	api, from, to string
	req, resp     any
}

// Of makes the transcript of a run.
func Of(r *cluster.Result) []Section {
	xs := exchanges(r.Journal)
	out := []Section{{"metadata log, by subject", metadataLog(r.MetaLog)}, {"metadata log, records written as one batch, in order", operations(r.MetaLog)}}
	out = append(out, metadataAnswers(xs)...)
	out = append(out, connections(xs)...)
	out = append(out, applications(r.Journal)...)
	for _, s := range r.Rests {
		out = append(out, Section{"at rest: " + s.Label, restLines(s)})
	}
	return out
}

// Text prints sections.
func Text(title string, ss []Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title)
	for _, s := range ss {
		if len(s.Lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n== %s\n", s.Title)
		for _, l := range s.Lines {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

func exchanges(j *journal.Journal) []exchange {
	byMsg := map[int]*exchange{}
	var order []*exchange
	for i := range j.Events {
		e := &j.Events[i]
		switch e.Kind {
		case journal.RequestSend:
			byMsg[e.Msg] = &exchange{api: e.API, from: e.From, to: e.To, req: e.F}
		case journal.RequestReceive:
			if x := byMsg[e.Msg]; x != nil {
				order = append(order, x)
			}
		case journal.ResponseSend:
			if x := byMsg[e.Msg]; x != nil {
				x.resp = e.F
			}
		}
	}
	var out []exchange
	for _, x := range order {
		if q, ok := x.req.(*wire.ProduceRequest); ok && q.Acks == 0 || x.resp != nil {
			out = append(out, *x)
		}
	}
	return out
}

func ids(v []int32) string {
	if len(v) == 0 {
		return "-"
	}
	s := make([]string, len(v))
	for i, id := range v {
		s[i] = fmt.Sprint(id)
	}
	return strings.Join(s, ",")
}

// internal topics are not compared.
func internal(part string) bool {
	return strings.HasPrefix(part, "__")
}

func dedupe(ls []string) []string {
	var out []string
	for _, l := range ls {
		if l != "" && (len(out) == 0 || out[len(out)-1] != l) {
			out = append(out, l)
		}
	}
	return out
}

func metadataLog(log []wire.MetaBatch) []string {
	by := map[string][]string{}
	var subjects []string
	for _, b := range log {
		for _, r := range b.Records {
			subject, line := recordLine(r)
			if line == "" || internal(subject) {
				continue
			}
			if by[subject] == nil {
				subjects = append(subjects, subject)
			}
			by[subject] = append(by[subject], line)
		}
	}
	var out []string
	for _, s := range subjects {
		for _, l := range by[s] {
			out = append(out, s+": "+l)
		}
	}
	return out
}

// operations are those that change a broker's registration and something else:
// that they are written as one batch means that they happen together.
func operations(log []wire.MetaBatch) (lines []string) {
	for _, b := range log {
		for _, recs := range b.Operations() {
			var parts []string
			broker := false
			for _, r := range recs {
				subject, line := recordLine(r)
				if line == "" || internal(subject) {
					continue
				}
				parts = append(parts, subject+" "+line)
				broker = broker || r.Type == "BrokerRegistrationChangeRecord"
			}
			if broker && len(parts) > 1 {
				lines = append(lines, strings.Join(parts, " + "))
			}
		}
	}
	return lines
}

func recordLine(r wire.MetaRecord) (subject, line string) {
	switch r.Type {
	case "TopicRecord", "RemoveTopicRecord":
		return r.Name, r.Type
	case "ConfigRecord":
		if r.Part == "" {
			return "cluster", r.Type + " " + r.Name + "=" + r.Value
		}
		return r.Part, r.Type + " " + r.Name + "=" + r.Value
	case "ClearElrRecord":
		if r.Name == "" {
			return "cluster", r.Type
		}
		return r.Name, r.Type
	case "PartitionRecord":
		leader := int32(-1)
		if r.Leader != nil {
			leader = *r.Leader
		}
		return r.Part, fmt.Sprintf("PartitionRecord replicas %s isr %s leader %d leaderEpoch %d partitionEpoch %d", ids(r.Replicas), ids(r.ISR), leader, r.LeaderEpoch, r.PartitionEpoch)
	case "PartitionChangeRecord":
		return r.Part, changeLine(r)
	case "RegisterBrokerRecord":
		return fmt.Sprintf("b%d", r.BrokerID), fmt.Sprintf("RegisterBrokerRecord fenced %t", r.Fenced == 1)
	case "BrokerRegistrationChangeRecord":
		var s []string
		if r.Fenced == 1 {
			s = append(s, "FENCE")
		}
		if r.Fenced == -1 {
			s = append(s, "UNFENCE")
		}
		if r.Shutdown == 1 {
			s = append(s, "IN_CONTROLLED_SHUTDOWN")
		}
		if len(s) == 0 {
			return "", ""
		}
		return fmt.Sprintf("b%d", r.BrokerID), r.Type + " " + strings.Join(s, " ")
	case "LeaderChange":
		return "quorum", fmt.Sprintf("LeaderChange leader %d", r.LeaderID)
	}
	return "", ""
}

func changeLine(r wire.MetaRecord) string {
	s := "PartitionChangeRecord"
	if r.ISR != nil || r.ISRSet {
		s += " isr " + ids(r.ISR)
	}
	if r.Leader != nil {
		s += fmt.Sprintf(" leader %d", *r.Leader)
	}
	if r.Replicas != nil {
		s += " replicas " + ids(r.Replicas)
	}
	if r.RemovingSet {
		s += " removingReplicas " + ids(r.Removing)
	}
	if r.AddingSet {
		s += " addingReplicas " + ids(r.Adding)
	}
	if r.Recovery != nil {
		s += fmt.Sprintf(" leaderRecoveryState %d", *r.Recovery)
	}
	if r.ELR != nil || r.ELRSet {
		s += " eligibleLeaderReplicas " + ids(r.ELR)
	}
	if r.LastKnownELR != nil || r.LastKnownSet {
		s += " lastKnownElr " + ids(r.LastKnownELR)
	}
	return s
}

func metadataAnswers(xs []exchange) []Section {
	by := map[string][]string{}
	for _, x := range xs {
		r, ok := x.resp.(*wire.MetadataResponse)
		if !ok {
			continue
		}
		var ps []string
		for _, p := range sorted(r.Parts, func(p wire.MetadataPart) string { return p.Part }) {
			if internal(p.Part) {
				continue
			}
			s := fmt.Sprintf("%s %s leader %d epoch %d isr %s", p.Part, p.ErrorCode, p.LeaderID, p.LeaderEpoch, ids(p.IsrNodes))
			if len(p.OfflineReplicas) > 0 {
				s += " offline " + ids(p.OfflineReplicas)
			}
			ps = append(ps, s)
		}
		if len(ps) > 0 {
			by[x.from] = append(by[x.from], "Metadata -> "+strings.Join(ps, "; "))
		}
	}
	var out []Section
	for _, from := range keys(by) {
		out = append(out, Section{from + " > any broker: Metadata, unchanged answers once", dedupe(by[from])})
	}
	return out
}

func keys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

func sorted[T any](xs []T, key func(T) string) []T {
	out := append([]T(nil), xs...)
	sort.SliceStable(out, func(i, j int) bool { return key(out[i]) < key(out[j]) })
	return out
}

func applications(j *journal.Journal) []Section {
	by := map[string][]string{}
	for i := range j.Events {
		e := &j.Events[i]
		f, _ := e.F.(journal.Fields)
		if l := appLine(e, f); l != "" {
			by[e.Node] = append(by[e.Node], l)
		}
		recs, _ := f.Get("records").([]string)
		for k, id := range recs {
			r := j.Record(id)
			if r == nil {
				continue
			}
			switch e.Kind {
			case journal.ProducerAcked:
				base, _ := f.Get("baseOffset").(int64)
				if base >= 0 {
					base += int64(k)
				}
				by[e.Node] = append(by[e.Node], fmt.Sprintf("acked %s %s@%d", r.Value, e.Part, base))
			case journal.ProducerFailed:
				by[e.Node] = append(by[e.Node], fmt.Sprintf("failed %s %v", r.Value, f.Get("error")))
			case journal.ConsumerDeliver:
				base, _ := f.Get("offset").(int64)
				by[e.Node] = append(by[e.Node], fmt.Sprintf("read %s@%d %s", e.Part, base+int64(k), r.Value))
			}
		}
	}
	var out []Section
	for _, who := range keys(by) {
		out = append(out, Section{who + ", what the application saw", by[who]})
	}
	return out
}

// appLine is what a consumer's application was told besides records.
func appLine(e *journal.Event, f journal.Fields) string {
	join := func(name string) string {
		ps, _ := f.Get(name).([]string)
		return dash(strings.Join(slices.Sorted(slices.Values(ps)), ","))
	}
	switch e.Kind {
	case journal.ConsumerCallback:
		word := map[any]string{"onPartitionsAssigned": "assigned", "onPartitionsRevoked": "revoked", "onPartitionsLost": "lost"}[f.Get("callback")]
		return word + " " + join("parts")
	case journal.ConsumerCommitted:
		if err := f.Get("error"); err != nil {
			return fmt.Sprintf("commitError %v", err)
		}
		return "committed " + join("offsets")
	case journal.ConsumerStall:
		if err := f.Get("error"); err != nil {
			return fmt.Sprintf("error %v", err)
		}
	case journal.NodeStop:
		if e.Group != "" {
			return "closed"
		}
	}
	return ""
}

func restLines(s cluster.RestState) []string {
	var out []string
	for _, p := range s.Parts {
		isr := append([]int32(nil), p.ISR...)
		sort.Slice(isr, func(i, j int) bool { return isr[i] < isr[j] })
		end := "-"
		if p.ConsumersEnd >= 0 {
			end = fmt.Sprint(p.ConsumersEnd)
		}
		out = append(out, fmt.Sprintf("%s: leader %d isr %s elr %s lastKnownElr %s consumersEnd %s", p.Part, p.Leader, ids(isr), ids(p.ELR), ids(p.LastKnownELR), end))
	}
	for _, r := range s.Replicas {
		var bs []string
		for _, b := range r.Batches {
			last := b.Base + int64(len(b.IDs)) - 1
			t := fmt.Sprint(b.Base)
			if last != b.Base {
				t += fmt.Sprintf("-%d", last)
			}
			bs = append(bs, fmt.Sprintf("%s/e%d%s", t, b.Epoch, b.Flags))
		}
		out = append(out, fmt.Sprintf("%s/%s: leo %d epochs %s batches %s", r.Node, r.Part, r.LEO, dash(r.Epochs), dash(strings.Join(bs, " "))))
	}
	out = append(out, fmt.Sprintf("quorum: epoch %d", s.Quorum))
	for _, g := range s.Groups {
		out = append(out, groupLines(g)...)
	}
	return out
}

func groupLines(g cluster.RestGroup) []string {
	var offsets []string
	for _, p := range keys(g.Offsets) {
		offsets = append(offsets, fmt.Sprintf("%s@%d", p, g.Offsets[p]))
	}
	epoch := func(n int32) string {
		if n == 0 {
			return "-"
		}
		return fmt.Sprint(n)
	}
	out := []string{fmt.Sprintf("%s: %s %s assignor %s groupEpoch %s targetEpoch %s offsets %s", g.ID, g.Type, g.State, dash(g.Assignor), epoch(g.GroupEpoch),
		epoch(g.TargetEpoch), dash(strings.Join(offsets, " ")))}
	for _, m := range g.Members {
		l := fmt.Sprintf("%s %s: %s", g.ID, m.Client, dash(strings.Join(m.Assignment, ",")))
		if g.Type == "Consumer" {
			l += fmt.Sprintf(" target %s epoch %d", dash(strings.Join(m.Target, ",")), m.Epoch)
		}
		out = append(out, l)
	}
	return out
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
