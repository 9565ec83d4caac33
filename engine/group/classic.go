package group

import (
	"maps"
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// State of a group by Kafka's name.
type State string

// The states of both protocols.
const (
	Empty               State = "Empty"
	PreparingRebalance  State = "PreparingRebalance"
	CompletingRebalance State = "CompletingRebalance"
	Assigning           State = "Assigning"
	Reconciling         State = "Reconciling"
	Stable              State = "Stable"
	Dead                State = "Dead"
)

// classicFrom lists the states from which a classic group may enter one
// (ClassicGroupState.validPreviousStates).
var classicFrom = map[State][]State{
	Empty:               {PreparingRebalance},
	PreparingRebalance:  {Stable, CompletingRebalance, Empty},
	CompletingRebalance: {PreparingRebalance},
	Stable:              {CompletingRebalance},
	Dead:                {Stable, PreparingRebalance, CompletingRebalance, Empty, Dead},
}

// newMemberJoinTimeout is how long a new member may wait in its first JoinGroup
// (classicGroupNewMemberJoinTimeoutMs).
const newMemberJoinTimeout = 5 * 60 * journal.Second

// classic is a group of the classic protocol (ClassicGroup).
type classic struct {
	state        State
	before       State // the state left last
	generation   int32
	protocolType string
	protocol     string // the assignor chosen, "" before the first generation
	leader       string
	members      map[string]*classicMember
	static       map[string]string // member id by instance
	pending      map[string]bool   // ids given out that have not joined yet
	unsynced     map[string]bool   // members whose SyncGroup is missing
	joined       int               // counts members, for the order in which they came
	newMember    bool              // somebody joined during the initial delay
}

// classicMember is ClassicGroupMember.
type classicMember struct {
	id, client, instance string
	order                int
	sessionTimeout       journal.Time
	rebalanceTimeout     journal.Time
	protocols            []wire.JoinProtocol
	assignment           []string
	join, sync           any // the request that waits, nil for none
	fresh                bool
}

func newClassic() *classic {
	return &classic{state: Empty, before: Dead, members: map[string]*classicMember{}, static: map[string]string{}, pending: map[string]bool{}, unsynced: map[string]bool{}}
}

func (c *classic) ids() []string { return slices.Sorted(maps.Keys(c.members)) }

func (c *classic) to(s State) {
	if !slices.Contains(classicFrom[s], c.state) {
		panic("a classic group may not go from " + string(c.state) + " to " + string(s))
	}
	c.before, c.state = c.state, s
}

// metadata is what a member said under a protocol.
func (m *classicMember) metadata(protocol string) wire.Subscription {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return wire.Subscription{}
}

func (m *classicMember) offers(protocol string) bool {
	return slices.ContainsFunc(m.protocols, func(p wire.JoinProtocol) bool { return p.Name == protocol })
}

// supports says whether somebody who offers these protocols may join
// (ClassicGroup.supportsProtocols).
func (c *classic) supports(protocolType string, offered []wire.JoinProtocol) bool {
	if protocolType == "" || len(offered) == 0 {
		return false
	}
	if len(c.members) == 0 {
		return true
	}
	return protocolType == c.protocolType && slices.ContainsFunc(offered, func(p wire.JoinProtocol) bool { return c.common(p.Name) })
}

func (c *classic) common(protocol string) bool {
	for _, m := range c.members {
		if !m.offers(protocol) {
			return false
		}
	}
	return true
}

// choose is ClassicGroup.selectProtocol: each member votes for the first of its
// protocols that all offer; on a tie the name that comes first wins.
func (c *classic) choose() string {
	votes := map[string]int{}
	for _, m := range c.members {
		for _, p := range m.protocols {
			if c.common(p.Name) {
				votes[p.Name]++
				break
			}
		}
	}
	best := ""
	for _, p := range slices.Sorted(maps.Keys(votes)) {
		if best == "" || votes[p] > votes[best] {
			best = p
		}
	}
	return best
}

func (c *classic) rebalanceTimeout() journal.Time {
	longest := journal.Time(0)
	for _, m := range c.members {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

func (c *classic) allJoined() bool {
	for _, m := range c.members {
		if m.join == nil {
			return false
		}
	}
	return len(c.pending) == 0
}

func (c *classic) add(m *classicMember) {
	if len(c.members) == 0 {
		c.leader = ""
	}
	if c.leader == "" {
		c.leader = m.id
	}
	c.joined++
	m.order = c.joined
	c.members[m.id] = m
	delete(c.pending, m.id)
	if m.instance != "" {
		c.static[m.instance] = m.id
	}
}

func (c *classic) remove(id string) {
	m := c.members[id]
	delete(c.members, id)
	delete(c.unsynced, id)
	if m.instance != "" && c.static[m.instance] == id {
		delete(c.static, m.instance)
	}
	if c.leader == id {
		c.leader = c.newest(func(*classicMember) bool { return true })
	}
}

// newest is the member that joined last among those that fit, "" for none.
func (c *classic) newest(fits func(*classicMember) bool) string {
	var best *classicMember
	for _, m := range c.members {
		if fits(m) && (best == nil || m.order > best.order) {
			best = m
		}
	}
	if best == nil {
		return ""
	}
	return best.id
}

// known checks who asks (ClassicGroup.validateMember).
func (c *classic) known(id, instance string) kafka.ErrorCode {
	if instance != "" {
		switch mapped, ok := c.static[instance]; {
		case !ok:
			return kafka.UnknownMemberID
		case mapped != id:
			return kafka.FencedInstanceID
		}
	}
	if c.members[id] == nil {
		return kafka.UnknownMemberID
	}
	return kafka.None
}

// setState is the one door through which a classic group changes its state.
func (s *Shard) setState(g *group, to State, reason string) {
	g.classic.to(to)
	if to == Empty {
		g.emptied = s.now
	}
	s.emit(g, journal.GroupState, journal.F("state", string(to), "reason", reason))
}

// keepAlive restarts a member's session timer.
func (s *Shard) keepAlive(g *group, m *classicMember) { s.watch(g, m, m.sessionTimeout) }

func (s *Shard) watch(g *group, m *classicMember, d journal.Time) {
	id := m.id
	s.later(d, g, session(id), func(g *group) { s.classicSilent(g, id) })
}

// classicSilent is the end of a session. A member whose JoinGroup or SyncGroup
// waits here is not silent; a new one gets newMemberJoinTimeout.
func (s *Shard) classicSilent(g *group, id string) {
	c := g.classic
	if c == nil {
		return
	}
	if c.pending[id] {
		delete(c.pending, id)
		s.maybeCompleteJoin(g)
		return
	}
	m := c.members[id]
	if m == nil || !m.fresh && (m.join != nil || m.sync != nil) {
		return
	}
	s.removeMember(g, id, "its session timed out after "+m.sessionTimeout.String())
}

// removeMember takes a member out and lets the group go on without it.
func (s *Shard) removeMember(g *group, id, reason string) {
	m := g.classic.members[id]
	s.fail(m, kafka.UnknownMemberID)
	g.classic.remove(id)
	s.timers.cancel(g.id, session(id))
	s.emit(g, journal.MemberFence, journal.F("member", m.client, "memberId", id, "reason", reason))
	s.rebalanceWithout(g, reason)
}

// rebalanceWithout is the group after somebody went.
func (s *Shard) rebalanceWithout(g *group, reason string) {
	switch g.classic.state {
	case Stable, CompletingRebalance:
		s.prepareRebalance(g, reason)
	case PreparingRebalance:
		s.maybeCompleteJoin(g)
	}
}

// fail answers what a member waits for.
func (s *Shard) fail(m *classicMember, code kafka.ErrorCode) {
	s.answer(m.join, &wire.JoinGroupResponse{ErrorCode: code, GenerationID: -1, MemberID: m.id})
	s.answer(m.sync, &wire.SyncGroupResponse{ErrorCode: code})
	m.join, m.sync = nil, nil
}
