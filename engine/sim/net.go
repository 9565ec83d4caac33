package sim

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Network holds the latencies of the links.
type Network struct {
	Broker journal.Time // one way, between brokers and controllers
	Client journal.Time // one way, with a client at one end
	Jitter int          // per cent, at most
	Handle journal.Time // a request handled

	cuts  map[[2]string]int // by [opener, acceptor]: the event that cut
	slows map[[2]string]Slow
}

// Slow is what a slow link adds, both ways.
type Slow struct {
	Latency   journal.Time
	Jitter    int   // per cent, over the network's
	Loss      int   // per cent of messages sent again after the retransmission time-out
	Bandwidth int64 // bytes a second, 0 unlimited
}

// rtoMin and rtoMax bound TCP's retransmission time-out.
const (
	rtoMin = 200 * journal.Millisecond
	rtoMax = 120 * journal.Second
)

// Outcome of a call that got no response.
type Outcome uint8

// The outcomes.
const (
	Answered     Outcome = iota
	Disconnected         // the connection broke
	TimedOut             // no answer within the time-out; the client closed the connection
)

// Result of a call.
type Result struct {
	Outcome Outcome
	Body    any
}

// Call is a request in flight, seen by the client.
type Call struct {
	API     kafka.API
	Body    any
	Part    string       // the partition it is about, for the journal
	Group   string       //
	Bytes   int          // for a slow link
	Timeout journal.Time // 0: none
	Missing func() int   // the fault to name when it times out, over the network's own knowledge
	Timer   string       // the setting behind Timeout
	Chatter bool         // says nothing new
	OneWay  bool         // acks=0: no response will come
	Done    func(Result) // nil with OneWay

	conn  *Conn
	corr  int
	msg   int
	sendN int
	timer *Timer
	held  int // the event that held or lost one of its messages
}

// Msg is the number that joins the events of this call.
func (c *Call) Msg() int { return c.msg }

// SendN is the event of its request.send.
func (c *Call) SendN() int { return c.sendN }

// Request is a request at the server.
type Request struct {
	*Call
	From  string
	RecvN int
	done  bool
}

// Conn is a TCP connection that From opened to To.
type Conn struct {
	w        *World
	From, To *Process
	Channel  string
	open     bool // for the client
	accepted bool // for the server
	closed   int  // the event that closed it
	corr     int
	calls    []*Call
	fwd      pipe
	back     pipe
	busy     *Request   // being served: Kafka mutes the channel meanwhile
	backlog  []*Request // arrived behind it
}

type packet struct {
	arrive journal.Time
	cause  int
	held   int
	fn     func() // at the receiver; the packet is delivered
	call   *Call
	back   bool
}

// pipe is one direction of a connection: in order, one head at a time.
type pipe struct {
	queue []*packet
	rto   journal.Time
}

// Open says whether the client may use the connection.
func (c *Conn) Open() bool { return c != nil && c.open }

// InFlight is the number of requests without response.
func (c *Conn) InFlight() int { return len(c.calls) }

// Connect makes an open connection without an event: part of a formed start.
func (w *World) Connect(from, to *Process, channel string) *Conn {
	c := &Conn{w: w, From: from, To: to, Channel: channel, open: true, accepted: true}
	from.conns = append(from.conns, c)
	to.conns = append(to.conns, c)
	return c
}

// Dial opens a connection: one round trip; refused where no process listens; a
// cut or a vanished host answers nothing until the time-out.
func (w *World) Dial(from, to *Process, channel string, timeout journal.Time, done func(*Conn)) {
	w.dial(from, to, channel, timeout, "no answer within socket.connection.setup.timeout.ms", false, done)
}

// dial is Dial with the reason for giving up; where the server was not there
// before, that it still is not says nothing new.
func (w *World) dial(from, to *Process, channel string, timeout journal.Time, late string, again bool, done func(*Conn)) {
	cause := w.cause
	deadline := w.now + timeout
	var syn func(wait journal.Time)
	syn = func(wait journal.Time) {
		fault, silent := w.cuts(from, to)
		if to.state == Vanished {
			fault, silent = to.fault, true
		}
		if silent {
			if w.now+wait >= deadline {
				from.After(deadline-w.now, func() {
					w.Emit(journal.Event{Kind: journal.ConnClose, Node: from.Name, From: from.Name, To: to.Name, Cause: cause, Missing: fault, Chatter: again,
						F: journal.F("reason", late)})
					done(nil)
				})
				return
			}
			from.After(wait, func() { syn(2 * wait) })
			return
		}
		rtt := w.latency(from, to, 0) + w.latency(to, from, 0)
		from.After(rtt, func() {
			if !to.listens() {
				w.Emit(journal.Event{Kind: journal.ConnClose, Node: from.Name, From: from.Name, To: to.Name, Missing: to.fault, Chatter: again,
					F: journal.F("reason", "connection refused")})
				done(nil)
				return
			}
			c := w.Connect(from, to, channel)
			w.Emit(journal.Event{Kind: journal.ConnOpen, Node: from.Name, From: from.Name, To: to.Name, F: journal.F("channel", channel)})
			done(c)
		})
	}
	syn(journal.Second)
}

func (w *World) cuts(from, to *Process) (fault int, cut bool) {
	fault, cut = w.net.cuts[[2]string{from.Name, to.Name}]
	return fault, cut
}

func (w *World) latency(from, to *Process, bytes int) journal.Time {
	base := w.net.Broker
	if from.client || to.client {
		base = w.net.Client
	}
	r := w.Stream(from.Name, "net")
	d := journal.Time(r.Around(int64(base), w.net.Jitter))
	s, ok := w.net.slows[[2]string{from.Name, to.Name}]
	if !ok {
		s, ok = w.net.slows[[2]string{to.Name, from.Name}]
	}
	if ok {
		d += journal.Time(r.Around(int64(s.Latency), s.Jitter))
		if s.Bandwidth > 0 {
			d += journal.Time(int64(bytes) * int64(journal.Second) / s.Bandwidth)
		}
		for s.Loss > 0 && r.Intn(100) < int64(s.Loss) {
			d += rtoMin
		}
	}
	return d
}

// Call sends a request. The connection must be open.
func (c *Conn) Call(call *Call) {
	w := c.w
	c.corr++
	w.msg++
	call.conn, call.corr, call.msg = c, c.corr, w.msg
	if !call.OneWay {
		c.calls = append(c.calls, call)
	}
	arrive := c.fwd.arrival(w.now + w.latency(c.From, c.To, call.Bytes))
	call.sendN = w.Emit(journal.Event{Kind: journal.RequestSend, Node: c.From.Name, Part: call.Part, Group: call.Group, Msg: call.msg,
		API: string(call.API), From: c.From.Name, To: c.To.Name, Corr: call.corr, Arrive: arrive, Chatter: call.Chatter, F: call.Body})
	if call.Timeout > 0 {
		call.timer = c.From.After(call.Timeout, func() { c.timedOut(call) })
	}
	c.push(&c.fwd, &packet{arrive: arrive, cause: call.sendN, call: call, fn: func() {
		r := &Request{Call: call, From: c.From.Name}
		if c.busy != nil {
			c.backlog = append(c.backlog, r)
			return
		}
		c.serve(r)
	}})
}

func (c *Conn) serve(r *Request) {
	w := c.w
	c.busy = r
	r.RecvN = w.Emit(journal.Event{Kind: journal.RequestReceive, Node: c.To.Name, Part: r.Part, Group: r.Group, Msg: r.msg, Cause: r.sendN,
		API: string(r.API), From: c.From.Name, To: c.To.Name, Corr: r.corr, Chatter: r.Chatter})
	h := c.To.h
	c.To.After(w.net.Handle, func() { h.Handle(r) })
}

// Reply answers a request. A response that says something makes its request
// part of the story too.
func (r *Request) Reply(body any, bytes int, chatter bool) {
	c, w := r.conn, r.conn.w
	if r.done {
		return
	}
	r.done = true
	r.Release()
	if r.OneWay {
		return
	}
	if !chatter && r.Chatter {
		r.unchatter()
	}
	if !c.accepted {
		c.replyToNobody(r, body, chatter)
		return
	}
	arrive := c.back.arrival(w.now + w.latency(c.To, c.From, bytes))
	n := w.Emit(journal.Event{Kind: journal.ResponseSend, Node: c.To.Name, Part: r.Part, Group: r.Group, Msg: r.msg, API: string(r.API),
		From: c.To.Name, To: c.From.Name, Corr: r.corr, Arrive: arrive, Chatter: chatter, F: body})
	c.push(&c.back, &packet{arrive: arrive, cause: n, call: r.Call, back: true, fn: func() {
		if !c.open {
			return
		}
		c.drop(r.Call)
		w.Emit(journal.Event{Kind: journal.ResponseReceive, Node: c.From.Name, Part: r.Part, Group: r.Group, Msg: r.msg, Cause: n, API: string(r.API),
			From: c.To.Name, To: c.From.Name, Corr: r.corr, Chatter: chatter})
		r.Done(Result{Answered, body})
	}})
}

// replyToNobody is an answer on a connection that its client has closed: a
// request that was parked meanwhile is answered all the same, and the answer is
// lost.
func (c *Conn) replyToNobody(r *Request, body any, chatter bool) {
	w := c.w
	arrive := w.now + w.latency(c.To, c.From, 0)
	n := w.Emit(journal.Event{Kind: journal.ResponseSend, Node: c.To.Name, Part: r.Part, Group: r.Group, Msg: r.msg, API: string(r.API),
		From: c.To.Name, To: c.From.Name, Corr: r.corr, Arrive: arrive, Chatter: chatter, F: body})
	w.At(arrive, func() {
		w.Emit(journal.Event{Kind: journal.MessageLost, Node: c.From.Name, Part: r.Part, Msg: r.msg, API: string(r.API), From: c.To.Name, To: c.From.Name,
			Corr: r.corr, Cause: n, Missing: c.closed, Chatter: chatter, F: journal.F("response", true)})
	})
}

// Release lets the server read the next request of the connection: Kafka mutes
// a channel until the response is written.
func (r *Request) Release() {
	c := r.conn
	if c.busy != r {
		return
	}
	c.busy = nil
	if len(c.backlog) > 0 && c.To.alive() {
		next := c.backlog[0]
		c.backlog = c.backlog[1:]
		c.To.After(0, func() { c.serve(next) })
	}
}

func (r *Request) unchatter() {
	r.Chatter = false
	ev := r.conn.w.J.Events
	ev[r.sendN-1].Chatter = false
	if r.RecvN > 0 {
		ev[r.RecvN-1].Chatter = false
	}
}

// Drop ends a request without an answer: the server closes the connection
// (acks=0 after an error).
func (r *Request) Drop(reason string) {
	r.done = true
	r.conn.closeBy(r.conn.To, reason)
}

func (c *Conn) drop(call *Call) {
	call.timer.Stop()
	for i, x := range c.calls {
		if x == call {
			c.calls = append(c.calls[:i], c.calls[i+1:]...)
			return
		}
	}
}

func (c *Conn) timedOut(call *Call) {
	fault := call.held
	if fault == 0 && call.Missing != nil {
		fault = call.Missing()
	}
	if fault == 0 {
		fault = c.To.fault
	}
	c.w.Emit(journal.Event{Kind: journal.TimerFire, Node: c.From.Name, Part: call.Part, Msg: call.msg, API: string(call.API), From: c.From.Name, To: c.To.Name,
		Cause: call.sendN, Missing: fault, F: journal.F("timer", call.Timer, "afterMs", int64(call.Timeout/journal.Millisecond))})
	c.close("request timed out", TimedOut)
}

// Close breaks the connection from the client's side: what is in flight is lost
// and all calls fail.
func (c *Conn) Close(reason string) { c.close(reason, Disconnected) }

// close fails all calls in flight, the oldest first; where one timed out they all
// count as timed out (NetworkClient.processTimeoutDisconnection).
func (c *Conn) close(reason string, why Outcome) {
	if !c.open {
		return
	}
	c.closed = c.w.Emit(journal.Event{Kind: journal.ConnClose, Node: c.From.Name, From: c.From.Name, To: c.To.Name, F: journal.F("reason", reason)})
	c.shut()
	c.accepted = false
	c.To.forget(c)
	c.fail(why)
}

func (c *Conn) closeBy(server *Process, reason string) {
	c.accepted = false
	server.forget(c)
	w := c.w
	n := w.cause
	arrive := c.back.arrival(w.now + w.latency(c.To, c.From, 0))
	c.push(&c.back, &packet{arrive: arrive, cause: n, back: true, fn: func() {
		if !c.open {
			return
		}
		w.Emit(journal.Event{Kind: journal.ConnClose, Node: c.From.Name, From: c.From.Name, To: c.To.Name, F: journal.F("reason", reason)})
		c.shut()
		c.fail(Disconnected)
	}})
}

func (c *Conn) shut() {
	c.open = false
	c.From.forget(c)
	fault := c.w.cause
	for _, p := range []*pipe{&c.fwd, &c.back} {
		q := p.queue
		p.queue = nil
		for _, k := range q {
			c.lose(k, fault)
		}
	}
}

func (c *Conn) lose(k *packet, fault int) {
	if k.call == nil {
		return
	}
	k.call.held = fault
	from, to := c.From.Name, c.To.Name
	if k.back {
		from, to = to, from
	}
	c.w.Emit(journal.Event{Kind: journal.MessageLost, Node: to, Part: k.call.Part, Msg: k.call.msg, API: string(k.call.API), From: from, To: to,
		Corr: k.call.corr, Cause: fault, Chatter: k.call.Chatter, F: journal.F("response", k.back)})
}

// fail ends all calls, in the order in which they were sent.
func (c *Conn) fail(why Outcome) {
	calls := c.calls
	c.calls = nil
	n := c.w.cause
	for _, call := range calls {
		call.timer.Stop()
		c.w.Because(n, func() { call.Done(Result{Outcome: why}) })
	}
}

func (p *Process) forget(c *Conn) {
	for i, x := range p.conns {
		if x == c {
			p.conns = append(p.conns[:i:i], p.conns[i+1:]...)
			return
		}
	}
}

// peerDied is the end of one side's process.
func (c *Conn) peerDied(p *Process, s State) {
	if p == c.From {
		c.open = false
		c.calls = nil
	}
	if s == Vanished {
		c.accepted = c.accepted && p == c.From
		return
	}
	if p == c.To {
		c.closeBy(p, "connection reset by peer")
		return
	}
	n := c.w.cause
	c.push(&c.fwd, &packet{arrive: c.fwd.arrival(c.w.now + c.w.latency(c.From, c.To, 0)), cause: n, fn: func() {
		c.w.Emit(journal.Event{Kind: journal.ConnClose, Node: c.To.Name, From: c.From.Name, To: c.To.Name, F: journal.F("reason", "connection reset by peer")})
		c.accepted = false
		c.To.forget(c)
	}})
}

func (p *pipe) arrival(t journal.Time) journal.Time {
	if n := len(p.queue); n > 0 {
		return max(t, p.queue[n-1].arrive)
	}
	return t
}

func (c *Conn) push(p *pipe, k *packet) {
	p.queue = append(p.queue, k)
	if len(p.queue) == 1 {
		c.schedule(p, k.arrive)
	}
}

func (c *Conn) schedule(p *pipe, at journal.Time) {
	head := p.queue[0]
	t := c.w.At(at, func() { c.deliver(p, head) })
	t.cause = head.cause
}

// deliver decides a packet's fate at its arrival.
func (c *Conn) deliver(p *pipe, k *packet) {
	if len(p.queue) == 0 || p.queue[0] != k {
		return // lost with its connection
	}
	w := c.w
	fault, held := w.cuts(c.From, c.To)
	if !held && !k.back && c.To.state == Vanished && c.open {
		fault, held = c.To.fault, true // nobody acknowledges: TCP sends it again
	}
	if held {
		c.hold(k, fault)
		p.rto = min(max(2*p.rto, rtoMin), rtoMax)
		c.schedule(p, w.now+p.rto)
		return
	}
	p.rto = 0
	p.queue = p.queue[1:]
	if len(p.queue) > 0 {
		c.schedule(p, max(w.now, p.queue[0].arrive))
	}
	to := c.To
	if k.back {
		to = c.From
	}
	switch {
	case !to.alive():
		c.lose(k, to.fault)
	case to == c.To && !c.accepted:
		c.lose(k, w.cause) // another process by now: its kernel does not know the connection
		c.closeBy(to, "connection reset by peer")
	case to.state == Paused:
		c.hold(k, to.fault)
		to.deferred = append(to.deferred, &Timer{cause: k.cause, proc: to, epoch: to.incarnation, fn: k.fn})
	default:
		k.fn()
	}
}

func (c *Conn) hold(k *packet, fault int) {
	if k.held > 0 || k.call == nil {
		return
	}
	from, to := c.From.Name, c.To.Name
	if k.back {
		from, to = to, from
	}
	k.held = c.w.Emit(journal.Event{Kind: journal.MessageHeld, Node: to, Part: k.call.Part, Msg: k.call.msg, API: string(k.call.API), From: from, To: to,
		Corr: k.call.corr, Cause: k.cause, Missing: fault, Chatter: k.call.Chatter, F: journal.F("response", k.back)})
	k.call.held = k.held
	k.cause = k.held
}

// Cut holds the traffic of the connections that from opens to to.
func (w *World) Cut(from, to string, fault int) {
	if w.net.cuts == nil {
		w.net.cuts = map[[2]string]int{}
	}
	w.net.cuts[[2]string{from, to}] = fault
}

// Heal ends a cut; what is held comes with TCP's next attempt.
func (w *World) Heal(from, to string) { delete(w.net.cuts, [2]string{from, to}) }

// SetSlow makes the link between two nodes slow; the zero Slow makes it sound again.
func (w *World) SetSlow(a, b string, s Slow) {
	if w.net.slows == nil {
		w.net.slows = map[[2]string]Slow{}
	}
	if s == (Slow{}) {
		delete(w.net.slows, [2]string{a, b})
		return
	}
	w.net.slows[[2]string{a, b}] = s
}

// Reset breaks the open connections between two nodes.
func (w *World) Reset(a, b string) {
	p := w.procs[a]
	if p == nil {
		return
	}
	n := w.cause
	for _, c := range append([]*Conn(nil), p.conns...) {
		if c.From.Name == b || c.To.Name == b {
			w.cause = n
			c.Close("connection reset")
		}
	}
}

// Resting makes a request that was sent before the run and is being served at
// its start, without an event: event 1 (boot) is its send and its receipt.
func (c *Conn) Resting(call *Call) *Request {
	w := c.w
	c.corr++
	w.msg++
	call.conn, call.corr, call.msg, call.sendN = c, c.corr, w.msg, 1
	c.calls = append(c.calls, call)
	r := &Request{Call: call, From: c.From.Name, RecvN: 1}
	c.busy = r
	if call.Timeout > 0 {
		call.timer = c.From.After(call.Timeout, func() { c.timedOut(call) })
		call.timer.cause = 1
	}
	return r
}

// FaultBetween is the event of the cut, pause or death that keeps a's traffic
// to b away, 0 if none.
func (w *World) FaultBetween(a, b string) int {
	if n := w.net.cuts[[2]string{a, b}]; n > 0 {
		return n
	}
	if p := w.procs[a]; p != nil && p.state != Running {
		return p.fault
	}
	return 0
}

// Cuts lists the links that are cut or slow, sorted.
func (w *World) Cuts() [][2]string {
	var out [][2]string
	for l := range w.net.cuts {
		out = append(out, l)
	}
	for l := range w.net.slows {
		if _, both := w.net.cuts[l]; !both {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	return out
}
