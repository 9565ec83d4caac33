// Package cluster turns a scenario into a journal: it builds the nodes, wires
// them to the network and the clock, lets the outside world act, and stops.
package cluster

import "github.com/highwater-kafka/highwater/engine/journal"

// Scenario is everything a run depends on. It is a plain struct: the loader
// fills it from a file, tests fill it by hand. Run treats it as read-only.
type Scenario struct {
	ID        string
	Seed      uint64
	Start     Start
	Brokers   int                          // ids 1…
	Ctrls     int                          // controllers, ids 101…
	Config    map[string]string            // server.properties of all brokers and controllers
	Nodes     map[string]map[string]string // by node, over Config
	Features  map[string]int               // finalized feature levels that differ from 4.4's
	Model     Model
	Topics    []Topic
	Producers []Producer
	Groups    []Group
	Actions   []Action
	End       journal.Time // 0: decided by the rest of the scenario
	Rest      []Rest
	Horizon   []journal.Time // further moments the run has to reach: chapters and expectations at a time
}

// Start says how the run begins.
type Start uint8

// The two beginnings.
const (
	Formed Start = iota // a resting cluster, built directly
	Empty               // formatted, unstarted disks: the real boot
)

// Model holds the physical constants of the simulated machines, in virtual time.
type Model struct {
	NetBroker journal.Time // one-way latency between brokers and controllers
	NetClient journal.Time // one-way latency between a client and a broker
	Jitter    int          // per cent of the latency, 0 to 100
	Append    journal.Time // a batch written to a log
	Handle    journal.Time // a request handled
	Apply     journal.Time // a metadata delta published on a broker
	Boot      journal.Time // process start to BrokerRegistration
}

// DefaultModel is a small data centre.
func DefaultModel() Model {
	return Model{
		NetBroker: 2 * journal.Millisecond, NetClient: 3 * journal.Millisecond, Jitter: 10,
		Append: 50, Handle: 100, Apply: journal.Millisecond, Boot: 1500 * journal.Millisecond,
	}
}

// Topic is created before the start, or at At by the admin client.
type Topic struct {
	Name        string
	Partitions  int // 0: len(Replicas), or 1
	Replication int
	Replicas    [][]int // explicit assignment, one list a partition
	Config      map[string]string
	At          *journal.Time
	Later       bool // created by an action
	Preload     Preload
}

// Preload is what a topic holds in every partition at a formed start.
type Preload struct {
	Records int
	From    int64 // offset of the first
	Keys    []string
}

// Producer is a producing client.
type Producer struct {
	ID     string
	Config map[string]string
	At     *journal.Time // nil: there from the start, with metadata and producer id
}

// Group is a set of consumers.
type Group struct {
	ID      string
	Topics  []string
	Config  map[string]string // defaults of its members
	Members []Member
}

// Member is one consumer.
type Member struct {
	ID     string
	At     *journal.Time
	Config map[string]string // over the group's
	Assign []string          // partitions assigned by hand: no group protocol
	Poll   journal.Time      // pause between polls; 0: the next at once
	Work   journal.Time      // processing time a record
	Commit string            // "auto", "after", "before" or "none"
	Absent bool              // is not there until an action joins
}

// Action is what the outside world does.
type Action struct {
	At    journal.Time // when On is nil
	On    *Anchor      // else: this event…
	After journal.Time // …and so much later
	Do    string       // one of Actions
	By    string       // producer or member
	Node  string
	Topic string
	Key   *string
	Value string
	// Partition is the explicit partition of a produce, nil for the partitioner's choice.
	Partition *int
	Count     int          // records of a workload, 0 as 1
	Every     journal.Time // pause between two of them
	Each      string       // "acked" or "at once"
	Keys      []string     // in turn
	Zipf      *Zipf
	Values    []string
	From, To  []string // nodes of cut, connect, reset, slow
	Both      bool
	Unflushed string // "lost": a crash that loses what was not flushed
	Slow      Slow
	Parts     []string
	Topics    []string // of subscribe
	Offset    int64
	Offsets   map[string]int64
	Config    map[string]string
	Replicas  [][]int
	For       journal.Time
	Type      string // of elect: "preferred" or "unclean"
	Moves     []Move
	// Partitions of a new topic, or that a topic should have in all; Replication of a
	// new topic.
	Partitions, Replication int
	Line                    int // of the scenario file, 0 if none
}

// Move is the target of a partition that is reassigned; nil cancels the
// reassignment that runs.
type Move struct {
	Part string
	To   []int
}

// Zipf draws keys prefix-1…prefix-of with weight 1/rank^S, S in hundredths.
type Zipf struct {
	S      int
	Of     int
	Prefix string
}

// Slow is what a slow link or disk adds.
type Slow struct {
	Latency   journal.Time
	Jitter    int   // per cent
	Loss      int   // per cent of packets, each sent again after 200 ms
	Bandwidth int64 // bytes a second, 0 unlimited
	Disk      journal.Time
}

// Anchor matches events; empty fields match anything.
type Anchor struct {
	Kind  journal.Kind
	API   string
	Node  string
	Part  string
	Group string
	From  string
	To    string
	F     map[string]string // field name to its text
	Nth   int               // 0 as 1
}

// Rest is a moment whose state a transcript prints.
type Rest struct {
	At    journal.Time
	Label string
}
