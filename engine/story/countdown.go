package story

import (
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Countdown is a time-out that is started anew again and again: as long as it
// runs, something is taken to be alive.
type Countdown struct {
	// Key is session/<broker> for the session that the active controller keeps of a
	// broker, session/<member> for the one that a group coordinator keeps, and
	// poll/<member> for the time that a busy application has until it must poll again.
	Key string `json:"key"`
	// Starts are the moments at which it begins and ends anew: from, and due. A due
	// of 0 stops it.
	Starts [][2]journal.Time `json:"starts"`
}

// Countdowns are those of a run, in the order of their first start. session is
// broker.session.timeout.ms, poll the max.poll.interval.ms of a member. Heartbeats are background, so that events do not
// carry these.
func Countdowns(j *journal.Journal, session journal.Time, poll func(member string) journal.Time) []Countdown {
	c := counter{at: map[string]int{}, session: session, poll: poll, stalled: map[string]journal.Time{}, fenced: map[string]bool{}}
	for i := range j.Events {
		c.event(&j.Events[i])
	}
	return c.list
}

type counter struct {
	list    []Countdown
	at      map[string]int
	session journal.Time
	poll    func(string) journal.Time
	stalled map[string]journal.Time // since when an application does not poll
	active  string                  // the active controller
	fenced  map[string]bool
	brokers []string
}

func (c *counter) event(e *journal.Event) {
	for _, ch := range e.Ch {
		of := strings.Split(ch.Key, "/")
		switch {
		case of[0] == "session" && len(of) == 2:
			c.broker(e.T, of[1], ch.Val)
		case len(of) == 2 && of[1] == "role" && kafka.NodeID(of[0]) > 100:
			c.role(e.T, of[0], ch.Val == "leader")
		case len(of) == 2 && of[1] == "state" && of[0] == c.active && ch.Val != "running" && ch.Val != "paused":
			c.role(e.T, of[0], false)
		case len(of) == 3 && of[2] == "session":
			due, _ := ch.Val.(int64)
			c.start("session/"+of[1], e.T, journal.Time(due))
		}
	}
	if e.N == 1 && c.active != "" { // the run begins with a formed cluster
		for _, id := range c.brokers {
			if !c.fenced[id] {
				c.start("session/"+id, e.T, e.T+c.session)
			}
		}
	}
	c.polls(e)
	heard := e.Kind == journal.RequestReceive && e.API == string(kafka.BrokerHeartbeat)
	if heard && e.Node == c.active && !c.fenced[e.From] {
		c.start("session/"+e.From, e.T, e.T+c.session)
	}
}

// polls follows the applications whose work takes time: a poll that hands records
// over, or a stall, begins the time; what they do next ends it or begins it anew.
func (c *counter) polls(e *journal.Event) {
	key := "poll/" + e.Node
	switch e.Kind {
	case journal.ConsumerPoll:
		c.start(key, e.T, e.T+c.poll(e.Node))
	case journal.ConsumerStall:
		if f, ok := e.F.(journal.Fields); ok && f.Get("error") == nil {
			c.stalled[e.Node] = e.T
			c.start(key, e.T, e.T+c.poll(e.Node))
		}
	case journal.ConsumerDeliver, journal.ConsumerPosition:
		if _, ok := c.stalled[e.Node]; ok {
			delete(c.stalled, e.Node)
			c.start(key, e.T, 0)
		}
	case journal.ConsumerCallback, journal.NodeCrash, journal.NodeStop:
		delete(c.stalled, e.Node)
		c.start(key, e.T, 0)
	}
}

// broker notes what the committed metadata says of a broker.
func (c *counter) broker(t journal.Time, id string, state any) {
	if _, known := c.fenced[id]; !known {
		c.brokers = append(c.brokers, id)
	}
	was := c.fenced[id]
	c.fenced[id] = state == "fenced" || state == nil
	switch {
	case c.fenced[id]:
		c.start("session/"+id, t, 0)
	case was && c.active != "":
		c.start("session/"+id, t, t+c.session)
	}
}

// role follows who is the active controller. A new one gives each broker a fresh
// session; without one nobody counts.
func (c *counter) role(t journal.Time, node string, leads bool) {
	switch {
	case leads:
		c.active = node
	case node == c.active:
		c.active = ""
	default:
		return
	}
	for _, id := range c.brokers {
		switch {
		case c.fenced[id]:
		case leads:
			c.start("session/"+id, t, t+c.session)
		default:
			c.start("session/"+id, t, 0)
		}
	}
}

func (c *counter) start(key string, from, due journal.Time) {
	i, known := c.at[key]
	if !known {
		if due == 0 {
			return
		}
		i = len(c.list)
		c.at[key] = i
		c.list = append(c.list, Countdown{Key: key})
	}
	s := c.list[i].Starts
	if n := len(s); n > 0 && (s[n-1] == [2]journal.Time{from, due} || due == 0 && s[n-1][1] == 0) {
		return
	}
	c.list[i].Starts = append(s, [2]journal.Time{from, due})
}
