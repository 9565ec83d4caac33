// Package client is what applications run: the producer with its accumulator and
// sender, and a consumer that is assigned its partitions by hand.
//
// Simplified: a client's threads are one; a record takes 70 bytes and its key and
// value in a batch; compression, interceptors, quotas, transactions and groups
// with members are left out. A consumer's next Fetch to a broker goes out as soon
// as the last answer is there, not when the application has polled it all.
package client

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// netClient holds a client's connections and its metadata (NetworkClient,
// Metadata).
type netClient struct {
	w    *sim.World
	proc *sim.Process
	id   string
	cfg  *kafka.Config

	bootstrap []string
	nodes     map[string]*nodeLink
	topics    []string
	meta      map[string]wire.MetadataPart
	partCount map[string]int

	refreshing bool
	attempts   int // Metadata requests in a row that brought nothing new
	wanted     bool
	onMetadata []func()
	onReady    func() // a connection opened
}

type nodeLink struct {
	conn     *sim.Conn
	opening  bool
	failures int
	after    journal.Time // no attempt before
}

func newNetClient(w *sim.World, proc *sim.Process, id string, cfg *kafka.Config, brokers []string) netClient {
	return netClient{w: w, proc: proc, id: id, cfg: cfg, bootstrap: brokers, nodes: map[string]*nodeLink{},
		meta: map[string]wire.MetadataPart{}, partCount: map[string]int{}}
}

func (c *netClient) link(node string) *nodeLink {
	l := c.nodes[node]
	if l == nil {
		l = &nodeLink{}
		c.nodes[node] = l
	}
	return l
}

// backoff grows from base to most by powers of two, with 20 per cent jitter
// (ExponentialBackoff, KIP-580).
func (c *netClient) backoff(base, most string, attempts int) journal.Time {
	d := c.cfg.Millis(base)
	for range attempts {
		d = min(2*d, c.cfg.Millis(most))
	}
	return journal.Time(c.w.Stream(c.id, "backoff").Around(d*1000, 20))
}

// ready returns the open connection to a node, or begins to open one.
func (c *netClient) ready(node string) *sim.Conn {
	l := c.link(node)
	if l.conn.Open() {
		return l.conn
	}
	if l.opening {
		return nil
	}
	if now := c.w.Now(); l.after > now {
		l.opening = true
		c.proc.After(l.after-now, func() { l.opening = false; c.ready(node) })
		return nil
	}
	l.opening = true
	timeout := journal.Time(c.w.Stream(c.id, "setup").Around(c.cfg.Millis("socket.connection.setup.timeout.ms")*1000, 20))
	c.w.Dial(c.proc, c.w.Process(node), "client", timeout, func(conn *sim.Conn) {
		l.opening = false
		if conn == nil {
			l.after = c.w.Now() + c.backoff("reconnect.backoff.ms", "reconnect.backoff.max.ms", l.failures)
			l.failures++
			c.refresh()
			c.onReady()
			return
		}
		l.conn, l.failures = conn, 0
		c.onReady()
		c.pump()
	})
	return nil
}

// lost is any broken connection: wait before the next attempt, and ask for
// metadata.
func (c *netClient) lost(node string) {
	l := c.link(node)
	if l.conn.Open() {
		return
	}
	l.after = c.w.Now() + c.backoff("reconnect.backoff.ms", "reconnect.backoff.max.ms", l.failures)
	l.failures++
	c.refresh()
}

// refresh asks for a full Metadata of the topics in use, with back-off while
// answers bring nothing new.
func (c *netClient) refresh() {
	if c.refreshing {
		return
	}
	c.refreshing = true
	c.proc.After(c.metadataDelay(), func() { c.wanted = true; c.pump() })
}

func (c *netClient) metadataDelay() journal.Time {
	if c.attempts == 0 {
		return 0
	}
	return c.backoff("retry.backoff.ms", "retry.backoff.max.ms", c.attempts-1)
}

// pump sends the Metadata that is wanted to the least loaded connected broker,
// else to a bootstrap broker drawn at random.
func (c *netClient) pump() {
	if !c.wanted {
		return
	}
	node := ""
	for _, n := range c.bootstrap {
		if l := c.nodes[n]; l != nil && l.conn.Open() && (node == "" || l.conn.InFlight() < c.nodes[node].conn.InFlight()) {
			node = n
		}
	}
	if node == "" {
		node = c.bootstrap[c.w.Stream(c.id, "bootstrap").Intn(int64(len(c.bootstrap)))]
		if c.ready(node) == nil {
			return
		}
	}
	c.wanted = false
	c.nodes[node].conn.Call(&sim.Call{API: kafka.Metadata, Body: &wire.MetadataRequest{Topics: c.topics},
		Timeout: journal.Millis(c.cfg.Millis("request.timeout.ms")), Timer: "request.timeout.ms", Done: func(r sim.Result) {
			c.refreshing = false
			if r.Outcome != sim.Answered {
				c.attempts++
				c.lost(node)
				return
			}
			c.learn(r.Body.(*wire.MetadataResponse))
		}})
}

func (c *netClient) learn(r *wire.MetadataResponse) {
	news, broken := false, false
	for _, p := range r.Parts {
		if p.ErrorCode.InvalidMetadata() {
			broken = true
		}
		topic, i := image.Split(p.Part)
		if i < 0 {
			continue
		}
		old, known := c.meta[p.Part]
		if known && p.LeaderEpoch < old.LeaderEpoch {
			continue
		}
		news = news || !known || old.LeaderEpoch != p.LeaderEpoch || old.LeaderID != p.LeaderID
		c.meta[p.Part] = p
		c.partCount[topic] = max(c.partCount[topic], i+1)
	}
	if news && !broken {
		c.attempts = 0
	} else {
		c.attempts++
	}
	if broken {
		c.refresh()
	}
	for _, fn := range c.onMetadata {
		fn()
	}
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

// formed gives a resting client its metadata and connections.
func (c *netClient) formed(parts []wire.MetadataPart) {
	c.learn(&wire.MetadataResponse{Parts: parts})
	c.attempts = 0
	for _, p := range parts {
		if topic, _ := image.Split(p.Part); !slices.Contains(c.topics, topic) {
			c.topics = append(c.topics, topic)
		}
		c.connect(c.leader(p.Part))
	}
}

func (c *netClient) connect(node string) {
	if l := c.link(node); node != "" && !l.conn.Open() {
		l.conn = c.w.Connect(c.proc, c.w.Process(node), "client")
	}
}

// anyNode is a broker drawn at random.
func (c *netClient) anyNode() string {
	return c.bootstrap[c.w.Stream(c.id, "any").Intn(int64(len(c.bootstrap)))]
}
