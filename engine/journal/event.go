// Package journal is the one truth of a run: an immutable list of timestamped
// events, and the tools to fold it into the state at any of them. A screen is a
// pure function of (journal, cursor); nothing else holds state.
//
// Messages carry Kafka's own request and response fields, without transport
// noise: cluster ids, listeners, ports, directory ids, throttle times and topic
// ids (a topic is named by its name) are left out.
package journal

import (
	"fmt"
	"strconv"
)

// Time is virtual time in microseconds since the start of the run.
type Time int64

// The units of virtual time.
const (
	Microsecond Time = 1
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Millis converts a Kafka duration in milliseconds.
func Millis(ms int64) Time { return Time(ms) * Millisecond }

// String gives seconds with as many digits as are needed, such as "1.5234s".
func (t Time) String() string {
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	frac := fmt.Sprintf("%06d", t%Second)
	end := len(frac)
	for end > 0 && frac[end-1] == '0' {
		end--
	}
	if end == 0 {
		return sign + strconv.FormatInt(int64(t/Second), 10) + "s"
	}
	return sign + strconv.FormatInt(int64(t/Second), 10) + "." + frac[:end] + "s"
}

// Event is one thing that happened. Events are immutable once emitted.
type Event struct {
	N       int      `json:"n"`                 // sequence number, from 1
	T       Time     `json:"t"`                 // several events may share one T; N orders them
	Kind    Kind     `json:"kind"`              //
	Node    string   `json:"node,omitempty"`    // who does it: the sender on a send, the receiver on a receive
	Part    string   `json:"part,omitempty"`    // partition, "orders-0"
	Group   string   `json:"group,omitempty"`   //
	Cause   int      `json:"cause,omitempty"`   // the event that enabled this one last; 0 for boot and periodic timers
	Missing int      `json:"missing,omitempty"` // on a timer that fired because something did not come: what kept it away
	Msg     int      `json:"msg,omitempty"`     // joins the events of one request and its response
	API     string   `json:"api,omitempty"`     // Kafka's API name
	From    string   `json:"from,omitempty"`    //
	To      string   `json:"to,omitempty"`      //
	Corr    int      `json:"corr,omitempty"`    // correlation id, counted per connection
	Arrive  Time     `json:"arrive,omitempty"`  // on sends: when it arrives if nothing stops it
	Chatter bool     `json:"chatter,omitempty"` // the background track: says nothing new
	F       any      `json:"f,omitempty"`       // Kafka's fields: a message struct of package kafka/wire, or Fields
	Ch      []Change `json:"ch,omitempty"`      // changed keys with new values
}

// Change sets one key of the state to a new value; nil removes the key.
// Values are scalars, short lists, or a LogOp.
type Change struct {
	Key string
	Val any
}

// LogOp changes a replica's log by a range.
type LogOp struct {
	Op    LogOpKind
	Base  int64    // LogAppend: offset of the first record; LogTruncate: the new end; LogStart: the new start
	Epoch int32    // LogAppend: leader epoch of the batch
	IDs   []string // LogAppend: record ids, one an offset
	Flags string   // LogAppend: "t" transactional, "c" control
}

// LogOpKind says what a LogOp does.
type LogOpKind uint8

// The three ways in which a log changes.
const (
	LogAppend LogOpKind = iota
	LogTruncate
	LogStart
)

// Field is one named value of an event that is not a message.
type Field struct {
	Name string
	Val  any
}

// Fields are the named values of an event that is not a message, in the order
// in which they are shown.
type Fields []Field

// F builds Fields from name, value pairs.
func F(pairs ...any) Fields {
	fs := make(Fields, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		fs = append(fs, Field{pairs[i].(string), pairs[i+1]})
	}
	return fs
}

// Get returns the value of a field, or nil.
func (fs Fields) Get(name string) any {
	for _, f := range fs {
		if f.Name == name {
			return f.Val
		}
	}
	return nil
}
