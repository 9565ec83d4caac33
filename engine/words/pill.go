package words

import (
	"fmt"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// Pill is what a message on its way shows.
type Pill struct {
	Text  string
	Lane  string   // first partition with data, else first partition; "controller"; "group"
	More  int      // further partitions
	Tags  []string // records carried, at most maxTags
	Error bool     // an answer that refuses
}

// maxTags is how many records a pill has room for.
const maxTags = 6

// Pill makes the pill of a send; nil for other events.
func (p *Phrases) Pill(e *journal.Event) *Pill {
	if e.Kind != journal.RequestSend && e.Kind != journal.ResponseSend {
		return nil
	}
	arrow := short(e.From) + "→" + short(e.To)
	pill := &Pill{}
	var part string
	if e.Kind == journal.RequestSend {
		part = p.requestPill(pill, e, arrow)
	} else {
		part = p.responsePill(pill, e, arrow)
	}
	pill.Lane = lane(e, part)
	pill.More = max(pill.More, 0)
	pill.Tags = pill.Tags[:min(len(pill.Tags), maxTags)]
	return pill
}

// groupAPIs are what a consumer and its group coordinator say to each other.
var groupAPIs = map[kafka.API]bool{
	kafka.FindCoordinator: true, kafka.JoinGroup: true, kafka.SyncGroup: true, kafka.Heartbeat: true, kafka.LeaveGroup: true,
	kafka.ConsumerGroupHeartbeat: true, kafka.OffsetCommit: true, kafka.OffsetFetch: true, kafka.TxnOffsetCommit: true,
}

func lane(e *journal.Event, part string) string {
	switch {
	case groupAPIs[kafka.API(e.API)]:
		return "group"
	case controller(e.From) || controller(e.To) || part == "" || part == metadataLog:
		return "controller"
	}
	return part
}

func controller(node string) bool { return kafka.NodeID(node) > 100 }

// requestPill returns the partition whose lane the request takes.
func (p *Phrases) requestPill(pill *Pill, e *journal.Event, arrow string) string {
	pill.Text = e.API + " " + arrow
	pill.More = length(get(e.F, "parts")) - 1
	switch q := e.F.(type) {
	case *wire.FetchRequest:
		if len(q.Parts) == 0 {
			return e.Part
		}
		x := asked(q)
		pill.Text = fmt.Sprintf("Fetch %s from %d", arrow, x.FetchOffset)
		return x.Part
	case *wire.VoteRequest:
		if q.PreVote {
			pill.Text = "pre-vote " + arrow
		}
	case *wire.ProduceRequest:
		for _, x := range q.Parts {
			pill.Tags = append(pill.Tags, x.Batch.Records...)
		}
		if len(q.Parts) > 0 {
			pill.Text = "Produce " + p.carries(pill.Tags, arrow)
			return q.Parts[0].Part
		}
	}
	return e.Part
}

// carries names what a Produce carries by its key, as there is no room for more.
func (p *Phrases) carries(ids []string, arrow string) string {
	if len(ids) == 1 {
		if r := p.j.Record(ids[0]); r != nil && r.Key != nil && *r.Key != "" && len(*r.Key) <= 12 {
			return *r.Key
		}
	}
	return arrow
}

// responsePill returns the partition whose lane the response takes.
func (p *Phrases) responsePill(pill *Pill, e *journal.Event, arrow string) string {
	pill.Text = "resp " + arrow
	pill.More = length(get(e.F, "parts")) - 1
	if c := failure(e.F); c != kafka.None {
		pill.Text, pill.Error = arrow+" "+c.String(), true
		return e.Part
	}
	switch r := e.F.(type) {
	case *wire.ProduceResponse:
		if len(r.Parts) > 0 {
			pill.Text = fmt.Sprintf("ack %s offset %d", arrow, r.Parts[0].BaseOffset)
			return r.Parts[0].Part
		}
	case *wire.FetchResponse:
		return p.fetchPill(pill, e, r, arrow)
	case *wire.VoteResponse:
		pill.Text = "resp " + arrow + " refused"
		if r.VoteGranted {
			pill.Text = "resp " + arrow + " granted"
		}
	case *wire.AlterPartitionResponse:
		if len(r.Parts) > 0 {
			pill.Text = fmt.Sprintf("resp %s ISR %s", arrow, text(r.Parts[0].ISR))
		}
	}
	return e.Part
}

func (p *Phrases) fetchPill(pill *Pill, e *journal.Event, r *wire.FetchResponse, arrow string) string {
	if len(r.Parts) == 0 {
		return e.Part
	}
	for _, x := range r.Parts {
		for _, b := range x.Records {
			pill.Tags = append(pill.Tags, b.Records...)
		}
	}
	if x := diverging(r); x != nil {
		pill.Text = fmt.Sprintf("resp %s epoch %d ends at %d", arrow, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset)
		return x.Part
	}
	if part, base, last, hw := carried(r); part != "" {
		pill.Text = fmt.Sprintf("resp %s %s, HW %d", arrow, span(base, last), hw)
		return part
	}
	x := r.Parts[0]
	if n := len(x.Meta); n > 0 {
		pill.Text = fmt.Sprintf("resp %s %s", arrow, span(x.Meta[0].BaseOffset, x.Meta[n-1].Last()))
		return x.Part
	}
	pill.Text = fmt.Sprintf("resp %s HW %d", arrow, x.HighWatermark)
	return x.Part
}

// short is a node's name on a pill: 2, C1, or a client's id.
func short(name string) string {
	switch id := kafka.NodeID(name); {
	case id > 100:
		return strings.ToUpper(name)
	case id > 0:
		return name[1:]
	}
	return name
}

// span names offsets: "record 5", "records 5..7".
func span(first, last int64) string {
	if first == last {
		return fmt.Sprintf("record %d", first)
	}
	return fmt.Sprintf("records %d..%d", first, last)
}
