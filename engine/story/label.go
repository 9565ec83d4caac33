package story

import (
	"fmt"
	"sort"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// slack is how far an event may be from the end of a timer that it still counts
// as its effect: the handling of what the timer set off.
const slack = 10 * journal.Millisecond

// label says what a fold skips: the timer that ends it, else its length.
func (c *clock) label(from, until journal.Time) string {
	length := until - from
	events := c.j.Events
	first := sort.Search(len(events), func(i int) bool { return events[i].T >= until-slack })
	for i := first; i < len(events) && events[i].T <= until+slack; i++ {
		e := &events[i]
		// The decision to fence is replicated before it counts, so its event comes
		// after the messages that carry it.
		if e.T > until && e.Kind != journal.BrokerFence {
			continue
		}
		if !e.Chatter && e.T > from {
			if w := c.timer(e, until); w.name != "" {
				return w.text(length)
			}
		}
	}
	return seconds(length) + " idle"
}

// wait is what a fold waits for. Where exact is false, whole is how long the wait
// took in this run, which is not the timer's setting: the broker and the
// controller look at such limits only now and then.
type wait struct {
	name  string
	whole journal.Time // 0: unknown
	exact bool
}

// timer finds the timer behind an event. It follows the causes, as a send is
// often two or three steps after its timer.
func (c *clock) timer(e *journal.Event, until journal.Time) wait {
	for range 6 {
		switch e.Kind {
		case journal.TimerFire:
			if until-e.T <= slack {
				return wait{timerName(field(e, "timer")), journal.Millis(number(field(e, "afterMs"))), true}
			}
		case journal.ProducerRetry:
			d := journal.Millis(number(field(e, "backoffMs")))
			if end := e.T + d; d > 0 && end <= until+slack && end >= until-slack {
				return wait{"retry backoff", d, true}
			}
		case journal.PurgatoryExpire:
			if until-e.T <= slack {
				return wait{operationName(field(e, "operation")), c.since(e.Cause, e), true}
			}
		case journal.BrokerFence:
			if until <= e.T+slack {
				return wait{"broker session timeout", c.since(e.Missing, e), false}
			}
		case journal.ISRPropose:
			if until-e.T <= slack && field(e, "change") == "shrink" {
				return wait{"replica.lag.time.max.ms", c.since(e.Missing, e), false}
			}
		case journal.ResponseSend:
			if d := c.parked(e); d > 0 {
				return wait{"Fetch wait", d, true}
			}
		}
		if e = c.j.At(e.Cause); e == nil || until-e.T > 30*journal.Second {
			break
		}
	}
	return wait{}
}

// parked is MaxWaitMs of the Fetch that this response answers, if it waited so
// long at the broker; else 0.
func (c *clock) parked(e *journal.Event) journal.Time {
	if e.API != "Fetch" {
		return 0
	}
	for n := e.N - 1; n >= 1; n-- {
		r := &c.j.Events[n-1]
		if e.T-r.T > 10*journal.Second {
			break
		}
		if r.Msg == e.Msg && r.Kind == journal.RequestSend {
			q, ok := r.F.(*wire.FetchRequest)
			if !ok || r.Arrive == 0 {
				return 0
			}
			if d := journal.Millis(q.MaxWaitMs); d > 0 && e.T-r.Arrive >= d-slack && e.T-r.Arrive <= d+slack {
				return d
			}
			return 0
		}
	}
	return 0
}

// since is the time from event n, 0 if there is none, to e.
func (c *clock) since(n int, e *journal.Event) journal.Time {
	if from := c.j.At(n); from != nil {
		return e.T - from.T
	}
	return 0
}

// text gives the timer's own length only where the fold is most of it.
func (w wait) text(length journal.Time) string {
	switch {
	case w.whole > 0 && length < w.whole*9/10:
		return "last " + seconds(length) + " of " + w.name
	case w.exact && w.whole > 0 && length > w.whole*11/10:
		return seconds(length) + " until " + w.name
	case w.exact && w.whole > 0:
		length = w.whole
	}
	return w.name + ", " + seconds(length)
}

func timerName(v any) string {
	switch s, _ := v.(string); s {
	case "":
		return ""
	case "request.timeout.ms":
		return "request timeout"
	case "broker.session.timeout.ms":
		return "broker session timeout"
	default:
		return s
	}
}

func operationName(v any) string {
	switch s, _ := v.(string); s {
	case "DelayedFetch":
		return "Fetch wait"
	case "DelayedProduce":
		return "Produce wait"
	default:
		return s
	}
}

// field is a named value of an event that is not a message.
func field(e *journal.Event, name string) any {
	fs, _ := e.F.(journal.Fields)
	return fs.Get(name)
}

func number(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

func seconds(t journal.Time) string {
	if t < journal.Second {
		return fmt.Sprintf("%d ms", (t+journal.Millisecond/2)/journal.Millisecond)
	}
	tenths := (t + 50*journal.Millisecond) / (100 * journal.Millisecond)
	if t >= 20*journal.Second {
		tenths = (t + journal.Second/2) / journal.Second * 10
	}
	if tenths%10 == 0 {
		return fmt.Sprintf("%d s", tenths/10)
	}
	return fmt.Sprintf("%d.%d s", tenths/10, tenths%10)
}
