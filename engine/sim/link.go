package sim

import "github.com/highwater-kafka/highwater/engine/journal"

// Link is a client's one connection to a server: opened when it is needed, one
// request at a time. A server that refuses is left alone for a while, longer each
// time, within which requests fail without leaving (NetworkClient's reconnect
// backoff).
type Link struct {
	from     *Process
	to       string
	channel  string
	min, max journal.Time // reconnect backoff

	conn    *Conn
	busy    bool
	refused int // connections in a row that came to nothing
	until   journal.Time
}

// NewLink makes a link that is not open. The backoff grows from min to max.
func NewLink(from *Process, to, channel string, min, max journal.Time) *Link {
	return &Link{from: from, to: to, channel: channel, min: min, max: max}
}

// Ready says whether a request may be sent now.
func (l *Link) Ready() bool { return !l.busy && l.from.w.now >= l.until }

// Busy says whether a request is being answered.
func (l *Link) Busy() bool { return l.busy }

// Wait is how long the backoff lasts from now.
func (l *Link) Wait() journal.Time { return max(l.until-l.from.w.now, 0) }

// Backoff keeps the link unused for d.
func (l *Link) Backoff(d journal.Time) { l.until = max(l.until, l.from.w.now+d) }

// Close ends the connection, if it is open.
func (l *Link) Close(reason string) {
	if l.conn.Open() {
		l.conn.Close(reason)
	}
	l.conn = nil
}

// Send sends a request, on a new connection where none is open; setup is how long
// that may take. Done hears of a connection that came to nothing as of one that
// broke.
func (l *Link) Send(call *Call, setup journal.Time) {
	w := l.from.w
	l.wrap(call)
	if l.conn.Open() {
		l.conn.Call(call)
		return
	}
	w.dial(l.from, w.Process(l.to), l.channel, setup, "no answer in time", l.refused > 0, func(c *Conn) {
		if c == nil {
			wait := min(l.min<<min(l.refused, 16), l.max)
			l.refused++
			l.until = w.now + journal.Time(w.Stream(l.from.Name, "reconnect").Around(int64(wait), 20))
			call.Done(Result{Outcome: Disconnected})
			return
		}
		l.conn, l.refused = c, 0
		c.Call(call)
	})
}

// Resting is Conn.Resting on a connection that is open from the start.
func (l *Link) Resting(call *Call) *Request {
	l.Connect()
	l.wrap(call)
	return l.conn.Resting(call)
}

// Connect opens the connection without an event: part of a formed start.
func (l *Link) Connect() { l.conn = l.from.w.Connect(l.from, l.from.w.Process(l.to), l.channel) }

func (l *Link) wrap(call *Call) {
	l.busy = true
	done := call.Done
	call.Done = func(r Result) {
		l.busy = false
		if r.Outcome != Answered {
			l.conn = nil
		}
		done(r)
	}
}
