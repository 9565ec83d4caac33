// Package client is what applications run: the producer with its accumulator and
// sender, and a consumer that is assigned its partitions by hand.
//
// Simplified: a client's threads are one; a record takes 7 bytes besides its key and
// value in a batch; compression, interceptors, quotas, transactions, reading from
// followers and groups with members are left out. An application that waits in
// poll() gets records when they arrive; between two polls it pauses as long as it
// is told to.
package client

import (
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// bootMark begins the name of a link to a bootstrap address. Kafka gives those
// addresses negative node ids, so a client opens new connections to the nodes
// that its first Metadata names.
const bootMark = "~"

// processOf is the process that a link leads to.
func processOf(link string) string { return strings.TrimLeft(link, bootMark+coordMark) }

// netClient holds a client's connections and its metadata (NetworkClient,
// Metadata).
type netClient struct {
	w    *sim.World
	proc *sim.Process
	id   string
	cfg  *kafka.Config

	bootstrap []string
	known     []string // the nodes of the last Metadata; none: bootstrapping
	nodes     map[string]*nodeLink
	topics    []string
	meta      map[string]wire.MetadataPart
	parts     []string // of meta, in the order in which they became known
	partCount map[string]int

	wanted     bool // Metadata.requestUpdate
	asking     bool // a Metadata is on its way
	failures   int  // Metadata requests in a row without an answer
	equivalent int  // answers in a row that brought nothing new
	notBefore  journal.Time
	asked      *sim.Timer
	age        *sim.Timer

	maxInFlight int // 0: no limit that matters
	onMetadata  func()
	onReady     func() // a connection opened, failed, or may be tried again
	closed      bool
}

// nodeLink is a NodeConnectionState.
type nodeLink struct {
	conn       *sim.Conn
	opening    bool
	waiting    bool // a timer will try again
	failures   int
	setupFails int
	tried      journal.Time // the last attempt
	after      journal.Time // no attempt before
}

func newNetClient(w *sim.World, proc *sim.Process, id string, cfg *kafka.Config, brokers []string) netClient {
	return netClient{w: w, proc: proc, id: id, cfg: cfg, bootstrap: brokers, nodes: map[string]*nodeLink{},
		meta: map[string]wire.MetadataPart{}, partCount: map[string]int{}}
}

// listen notices lost connections, also idle ones: any of them asks for Metadata
// (NetworkClient.handleServerDisconnect).
func (c *netClient) listen() {
	c.w.Watch(func(e *journal.Event) {
		if e.Kind != journal.ConnClose || e.Node != c.id || c.closed {
			return
		}
		to := e.To
		c.proc.After(0, func() {
			for _, mark := range []string{"", bootMark, coordMark} {
				c.lost(mark + to)
			}
		})
	})
}

func (c *netClient) link(node string) *nodeLink {
	l := c.nodes[node]
	if l == nil {
		l = &nodeLink{}
		c.nodes[node] = l
	}
	return l
}

// backoff grows from base to most by powers of two, with 20 per cent jitter and
// never above most (ExponentialBackoff, KIP-580).
// Each purpose draws from its own stream.
func (c *netClient) backoff(stream, base, most string, attempts int) journal.Time {
	limit := journal.Millis(c.cfg.Millis(most))
	d := journal.Millis(c.cfg.Millis(base))
	for i := 0; i < attempts && d < limit; i++ {
		d *= 2
	}
	return min(journal.Time(c.w.Stream(c.id, stream).Around(int64(min(d, limit)), 20)), limit)
}

func (c *netClient) retryBackoff(attempts int) journal.Time {
	return c.backoff("backoff", "retry.backoff.ms", "retry.backoff.max.ms", attempts)
}

func (c *netClient) requestTimeout() journal.Time {
	return journal.Millis(c.cfg.Millis("request.timeout.ms"))
}

// call sends a request with request.timeout.ms: when that is over the client
// closes the connection and all that is in flight on it fails.
func (c *netClient) call(conn *sim.Conn, call *sim.Call) {
	call.Timeout, call.Timer = c.requestTimeout(), "request.timeout.ms"
	conn.Call(call)
}

// ready returns the open connection to a node, or begins to open one.
func (c *netClient) ready(node string) *sim.Conn {
	l := c.link(node)
	switch now := c.w.Now(); {
	case l.conn.Open():
		return l.conn
	case l.opening || l.waiting || c.closed:
		return nil
	case l.after > now:
		l.waiting = true
		c.proc.After(l.after-now, func() { l.waiting = false; c.tick() })
		return nil
	}
	l.opening, l.tried = true, c.w.Now()
	timeout := c.backoff("setup", "socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms", l.setupFails)
	c.w.Dial(c.proc, c.w.Process(processOf(node)), "client", timeout, func(conn *sim.Conn) {
		l.opening = false
		if conn == nil {
			l.setupFails++
			c.failed(l)
		} else {
			l.conn, l.failures, l.setupFails = conn, 0, 0
		}
		c.tick()
	})
	return nil
}

// tick goes on with what waited for a connection.
func (c *netClient) tick() {
	if c.closed {
		return
	}
	n := c.w.Cause()
	c.w.Because(n, c.pump)
	c.w.Because(n, c.onReady)
}

// failed backs off from a node (reconnect.backoff.ms) and asks for Metadata.
func (c *netClient) failed(l *nodeLink) {
	l.after = c.w.Now() + c.backoff("backoff", "reconnect.backoff.ms", "reconnect.backoff.max.ms", l.failures)
	l.failures++
	c.refresh()
}

// lost is a broken connection; it counts once, however many requests it fails.
func (c *netClient) lost(node string) {
	l := c.nodes[node]
	if l == nil || l.conn == nil || l.conn.Open() {
		return
	}
	l.conn = nil
	c.failed(l)
}

// refresh asks for a full Metadata of the topics in use: at once, unless the last
// one was a moment ago or brought nothing new (Metadata.timeToAllowUpdate).
func (c *netClient) refresh() {
	if c.wanted || c.closed {
		return
	}
	c.wanted = true
	c.schedulePump()
}

// refreshFor asks for a topic that was not in use; that does not wait.
func (c *netClient) refreshFor(topic string) {
	c.topics = append(c.topics, topic)
	c.notBefore, c.equivalent = 0, 0
	if c.wanted {
		c.schedulePump()
	}
	c.refresh()
}

func (c *netClient) schedulePump() {
	c.asked.Stop()
	c.asked = c.proc.After(max(c.notBefore-c.w.Now(), 0), c.pump)
}

// pump sends the Metadata that is wanted to the least loaded node.
func (c *netClient) pump() {
	if !c.wanted || c.asking || c.closed || c.w.Now() < c.notBefore {
		return
	}
	node, conn := c.leastLoaded()
	if conn == nil {
		return // tick calls again
	}
	c.wanted, c.asking = false, true
	c.call(conn, &sim.Call{API: kafka.Metadata, Body: &wire.MetadataRequest{Topics: slices.Clone(c.topics)}, Done: func(r sim.Result) {
		c.asking = false
		if r.Outcome != sim.Answered {
			c.equivalent = 0
			c.pace()
			c.failures++
			c.lost(node)
			c.refresh()
			return
		}
		c.failures = 0
		c.learn(r.Body.(*wire.MetadataResponse))
	}})
}

// pace sets the moment of the next Metadata: retry.backoff.ms after this one,
// later with each failure, and with each answer that brought nothing new.
func (c *netClient) pace() {
	draw := func(attempts int) journal.Time {
		return c.backoff("metadata", "retry.backoff.ms", "retry.backoff.max.ms", attempts)
	}
	wait := draw(max(c.failures-1, 0))
	if c.equivalent > 0 {
		wait = max(wait, draw(c.equivalent-1))
	}
	c.notBefore = c.w.Now() + wait
	if c.wanted {
		c.schedulePump()
	}
}

func (c *netClient) learn(r *wire.MetadataResponse) {
	c.equivalent++
	broken := false
	for _, p := range r.Parts {
		broken = broken || p.ErrorCode.InvalidMetadata()
		topic, i := image.Split(p.Part)
		if i < 0 {
			continue // the topic is not there
		}
		old, is := c.meta[p.Part]
		if is && p.LeaderEpoch < old.LeaderEpoch {
			continue // an older view than the client's own
		}
		if !is {
			c.parts = append(c.parts, p.Part)
		}
		if !is || p.LeaderEpoch > old.LeaderEpoch {
			c.equivalent = 0
		}
		c.meta[p.Part] = p
		c.partCount[topic] = max(c.partCount[topic], i+1)
	}
	c.known = c.bootstrap
	if len(r.Brokers) > 0 {
		c.known = nil
		for _, b := range r.Brokers {
			c.known = append(c.known, kafka.NodeName(kafka.BrokerID(b)))
		}
	}
	c.pace()
	if broken {
		c.refresh()
	}
	c.expire()
	c.onMetadata()
}

// expire asks again when the metadata is metadata.max.age.ms old: so a client
// learns of new partitions, which nobody tells it.
func (c *netClient) expire() {
	c.age.Stop()
	c.age = c.proc.After(journal.Millis(c.cfg.Millis("metadata.max.age.ms")), func() {
		c.equivalent = 0
		c.refresh()
	})
	c.age.Because(-1)
}

// leastLoaded is NetworkClient.leastLoadedNode: from a random place on, an idle
// connected node, else the connected one with the fewest requests in flight, else
// one that is being connected, else one to connect to. Where none is left the
// client begins again with its bootstrap addresses (KIP-899).
func (c *netClient) leastLoaded() (string, *sim.Conn) {
	names := c.known
	if len(names) == 0 {
		for _, n := range c.bootstrap {
			names = append(names, bootMark+n)
		}
	}
	limit := c.inFlightLimit()
	best, open, connecting := "", "", false
	start := int(c.w.Stream(c.id, "bootstrap").Intn(int64(len(names))))
	for i := range names {
		n := names[(start+i)%len(names)]
		l := c.link(n)
		switch {
		case l.conn.Open():
			if f := l.conn.InFlight(); f < limit && (best == "" || f < c.nodes[best].conn.InFlight()) {
				best = n
			}
		case l.opening:
			connecting = true
		case l.after <= c.w.Now() && (open == "" || l.tried < c.nodes[open].tried):
			open = n
		}
	}
	switch {
	case best != "":
		return best, c.nodes[best].conn
	case connecting:
	case open != "":
		c.ready(open)
	case len(c.known) > 0 && c.rebootstraps():
		c.known = nil
		return c.leastLoaded()
	default:
		for _, n := range names {
			c.ready(n) // its back-off ends with a tick
		}
	}
	return "", nil
}

func (c *netClient) rebootstraps() bool {
	return !c.cfg.Overridden("metadata.recovery.strategy") || c.cfg.String("metadata.recovery.strategy") == "rebootstrap"
}

// inFlightLimit is max.in.flight.requests.per.connection; consumers have none
// that matters (ConsumerUtils sets 100).
func (c *netClient) inFlightLimit() int {
	if c.maxInFlight > 0 {
		return c.maxInFlight
	}
	return 100
}

// hint applies the leader that came with an error if it is newer (KIP-951).
func (c *netClient) hint(part string, l *wire.CurrentLeader) {
	p, ok := c.meta[part]
	if ok && l != nil && l.LeaderID >= 0 && l.LeaderEpoch > p.LeaderEpoch {
		p.LeaderID, p.LeaderEpoch = l.LeaderID, l.LeaderEpoch
		c.meta[part] = p
	}
}

// leader is the node that leads a partition as far as the client knows, "" unknown.
func (c *netClient) leader(part string) string {
	p, ok := c.meta[part]
	if !ok || p.LeaderID < 0 {
		return ""
	}
	return kafka.NodeName(kafka.BrokerID(p.LeaderID))
}

// formed gives a resting client its metadata, and connections to the leaders.
func (c *netClient) formed(parts []wire.MetadataPart) {
	c.learn(&wire.MetadataResponse{Parts: parts})
	c.notBefore = 0
	for _, p := range parts {
		if topic, _ := image.Split(p.Part); !slices.Contains(c.topics, topic) {
			c.topics = append(c.topics, topic)
		}
		c.connect(c.leader(p.Part))
	}
}

func (c *netClient) connect(node string) {
	if node == "" {
		return
	}
	if l := c.link(node); !l.conn.Open() {
		l.conn = c.w.Connect(c.proc, c.w.Process(processOf(node)), "client")
	}
}

// shutdown closes the connections; nothing is sent afterwards.
func (c *netClient) shutdown() {
	if c.closed {
		return
	}
	c.closed = true
	c.asked.Stop()
	c.age.Stop()
	names := make([]string, 0, len(c.nodes))
	for n := range c.nodes {
		names = append(names, n)
	}
	slices.Sort(names)
	n := c.w.Cause()
	for _, name := range names {
		if conn := c.nodes[name].conn; conn.Open() {
			c.w.Because(n, func() { conn.Close("client closed") })
		}
	}
}
