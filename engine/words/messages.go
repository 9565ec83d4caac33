package words

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// get reads a field of an event by name.
func get(f any, name string) any {
	if fs, ok := f.(journal.Fields); ok {
		return fs.Get(name)
	}
	v := reflect.Indirect(reflect.ValueOf(f))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			return v.Field(i).Interface()
		}
	}
	return nil
}

func requestSend(p *Phrases, e *journal.Event, _ func(string) string) string {
	from, to := upper(Node(e.From)), Node(e.To)
	switch q := e.F.(type) {
	case *wire.ProduceRequest:
		return fmt.Sprintf("%s sends Produce with acks=%s to %s: %s for %s.", from, acks(q.Acks), to, p.values(q.Parts[0].Batch.Records), q.Parts[0].Part)
	case *wire.FetchRequest:
		return fetchSend(from, to, q)
	case *wire.MetadataRequest:
		return fmt.Sprintf("%s asks %s for metadata: who leads which partition?", from, to)
	case *wire.InitProducerIDRequest:
		return fmt.Sprintf("%s asks %s for a producer id.", from, to)
	case *wire.AlterPartitionRequest:
		return fmt.Sprintf("%s asks the active controller to change the ISR of %s (AlterPartition).", from, q.Parts[0].Part)
	case *wire.BrokerHeartbeatRequest:
		return fmt.Sprintf("%s tells the active controller that it lives (BrokerHeartbeat).", from)
	case *wire.OffsetCommitRequest:
		return fmt.Sprintf("%s commits offsets of group %s at its coordinator, %s.", from, q.GroupID, to)
	case *wire.OffsetFetchRequest:
		return fmt.Sprintf("%s asks %s for the committed offsets of group %s.", from, to, q.GroupID)
	case *wire.FindCoordinatorRequest:
		return fmt.Sprintf("%s asks %s who coordinates %s.", from, to, strings.Join(q.Keys, ", "))
	case *wire.ListOffsetsRequest:
		return fmt.Sprintf("%s asks %s where %s starts or ends.", from, to, q.Parts[0].Part)
	case *wire.CreateTopicsRequest:
		return fmt.Sprintf("%s sends CreateTopics for %s to %s.", from, q.Topics[0].Name, to)
	}
	return fmt.Sprintf("%s sends %s to %s.", from, e.API, to)
}

func acks(n int16) string {
	if n == -1 {
		return "all"
	}
	return fmt.Sprint(n)
}

func fetchSend(from, to string, q *wire.FetchRequest) string {
	if len(q.Parts) == 0 {
		return fmt.Sprintf("%s asks %s for news of the same partitions, from the same offsets.", from, to)
	}
	p := q.Parts[0]
	switch {
	case p.Part == "__cluster_metadata-0":
		return fmt.Sprintf("%s asks %s for the metadata log from offset %d.", from, to, p.FetchOffset)
	case q.ReplicaID >= 0:
		return fmt.Sprintf("%s asks %s for %s from offset %d: the receipt for everything below it.", from, to, p.Part, p.FetchOffset)
	}
	return fmt.Sprintf("%s asks %s for %s from offset %d.", from, to, p.Part, p.FetchOffset)
}

func requestReceive(p *Phrases, e *journal.Event, _ func(string) string) string {
	if q, ok := p.request(e).(*wire.FetchRequest); ok && q.ReplicaID > 0 && len(q.Parts) > 0 && q.Parts[0].Part != "__cluster_metadata-0" {
		return fmt.Sprintf("%s now knows that %s has everything of %s below offset %d.", upper(Node(e.To)), Node(e.From), q.Parts[0].Part, q.Parts[0].FetchOffset)
	}
	return fmt.Sprintf("%s has the %s of %s.", upper(Node(e.To)), e.API, Node(e.From))
}

func (p *Phrases) request(e *journal.Event) any {
	if r := p.reqs[e.Msg]; r != nil {
		return r.F
	}
	return nil
}

func responseSend(p *Phrases, e *journal.Event, _ func(string) string) string {
	from, to := upper(Node(e.From)), Node(e.To)
	if code := failure(e.F); code != kafka.None {
		return fmt.Sprintf("%s refuses the %s of %s: %s.", from, e.API, to, code)
	}
	switch r := e.F.(type) {
	case *wire.ProduceResponse:
		return fmt.Sprintf("%s answers %s: %s is written, at offset %d.", from, to, r.Parts[0].Part, r.Parts[0].BaseOffset)
	case *wire.FetchResponse:
		return fetchAnswer(from, to, r)
	case *wire.AlterPartitionResponse:
		return fmt.Sprintf("%s confirms the ISR %s of %s to %s.", from, ints(r.Parts[0].ISR), r.Parts[0].Part, to)
	}
	return fmt.Sprintf("%s answers the %s of %s.", from, e.API, to)
}

func fetchAnswer(from, to string, r *wire.FetchResponse) string {
	for _, p := range r.Parts {
		if len(p.Records) > 0 {
			last := p.Records[len(p.Records)-1].Last()
			if last == p.Records[0].BaseOffset {
				return fmt.Sprintf("%s answers the Fetch of %s with offset %d of %s, and its high watermark %d.", from, to, last, p.Part, p.HighWatermark)
			}
			return fmt.Sprintf("%s answers the Fetch of %s with offsets %d to %d of %s, and its high watermark %d.", from, to, p.Records[0].BaseOffset, last, p.Part, p.HighWatermark)
		}
	}
	if len(r.Parts) == 0 {
		return fmt.Sprintf("%s answers the Fetch of %s: nothing new.", from, to)
	}
	p := r.Parts[0]
	if len(p.Meta) > 0 {
		return fmt.Sprintf("%s sends %s the metadata log from offset %d on, committed below %d.", from, to, p.Meta[0].BaseOffset, p.HighWatermark)
	}
	return fmt.Sprintf("%s answers the Fetch of %s without records: the high watermark of %s is %d.", from, to, p.Part, p.HighWatermark)
}

func ints(ids []int32) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")
}

// failure is the first error code in a response.
func failure(f any) kafka.ErrorCode {
	if c, ok := get(f, "errorCode").(kafka.ErrorCode); ok && c != kafka.None {
		return c
	}
	for _, name := range []string{"parts", "coordinators", "topics"} {
		v := reflect.ValueOf(get(f, name))
		if v.Kind() != reflect.Slice {
			continue
		}
		for i := range v.Len() {
			if c, ok := get(v.Index(i).Interface(), "errorCode").(kafka.ErrorCode); ok && c != kafka.None {
				return c
			}
		}
	}
	return kafka.None
}

// Pill is what a message on its way shows.
type Pill struct {
	Text string
	Lane string
	More int      // further partitions
	Tags []string // records carried
}

// Pill makes the pill of a send; nil for other events.
func (p *Phrases) Pill(e *journal.Event) *Pill {
	arrow := short(e.From) + "→" + short(e.To)
	switch e.Kind {
	case journal.RequestSend:
		return p.requestPill(e, arrow)
	case journal.ResponseSend:
		return p.responsePill(e, arrow)
	}
	return nil
}

func lane(e *journal.Event, part string) string {
	if e.Group != "" || e.API == string(kafka.FindCoordinator) {
		return "group"
	}
	if strings.HasPrefix(e.From, "c") && kafka.NodeID(e.From) > 0 || strings.HasPrefix(e.To, "c") && kafka.NodeID(e.To) > 0 {
		return "controller"
	}
	if part == "" {
		return "controller"
	}
	return part
}

func (p *Phrases) requestPill(e *journal.Event, arrow string) *Pill {
	pill := &Pill{Text: e.API + " " + arrow, Lane: lane(e, e.Part)}
	switch q := e.F.(type) {
	case *wire.FetchRequest:
		if len(q.Parts) > 0 {
			pill.Text = fmt.Sprintf("Fetch %s from %d", arrow, q.Parts[0].FetchOffset)
			pill.More = len(q.Parts) - 1
		}
	case *wire.ProduceRequest:
		pill.Text = "Produce " + short(e.From) + "→" + short(e.To)
		pill.More = len(q.Parts) - 1
		for _, x := range q.Parts {
			pill.Tags = append(pill.Tags, x.Batch.Records...)
		}
	}
	pill.Tags = pill.Tags[:min(len(pill.Tags), 6)]
	return pill
}

func (p *Phrases) responsePill(e *journal.Event, arrow string) *Pill {
	pill := &Pill{Text: "resp " + arrow, Lane: lane(e, e.Part)}
	if code := failure(e.F); code != kafka.None {
		pill.Text = arrow + " " + code.String()
		return pill
	}
	switch r := e.F.(type) {
	case *wire.ProduceResponse:
		pill.Text = fmt.Sprintf("ack %s offset %d", arrow, r.Parts[0].BaseOffset)
	case *wire.FetchResponse:
		for _, x := range r.Parts {
			if len(x.Records) > 0 {
				pill.More++
				for _, b := range x.Records {
					pill.Tags = append(pill.Tags, b.Records...)
				}
			}
		}
		pill.More = max(pill.More-1, 0)
		if len(r.Parts) > 0 {
			x := r.Parts[0]
			for _, y := range r.Parts {
				if len(y.Records) > 0 {
					x = y
					break
				}
			}
			if n := len(x.Records); n > 0 {
				pill.Text = fmt.Sprintf("resp %s records %d..%d, HW %d", arrow, x.Records[0].BaseOffset, x.Records[n-1].Last(), x.HighWatermark)
			} else {
				pill.Text = fmt.Sprintf("resp %s HW %d", arrow, x.HighWatermark)
			}
		}
	case *wire.AlterPartitionResponse:
		pill.Text = fmt.Sprintf("resp %s ISR %s", arrow, ints(r.Parts[0].ISR))
	}
	pill.Tags = pill.Tags[:min(len(pill.Tags), 6)]
	return pill
}
