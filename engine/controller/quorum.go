package controller

import "slices"

// Role is the state of a node in the quorum, as it stands in <controller>/role.
type Role string

// The roles (the *State classes of QuorumState; KIP-595, KIP-996).
const (
	Unattached  Role = "unattached"  // knows an epoch and perhaps nothing else
	Prospective Role = "prospective" // asks whether it would be elected
	Candidate   Role = "candidate"   // asks for votes in a new epoch
	Follower    Role = "follower"
	Leader      Role = "leader"
	Resigned    Role = "resigned" // led in this epoch, and will not again
)

// nobody is an unknown leader, or a vote that was not given.
const nobody int32 = -1

// Quorum is what a voter knows of the quorum and how it answers. It has no clock
// and sends nothing (QuorumState).
type Quorum struct {
	ID     int32
	Voters []int32
	Role   Role
	Epoch  int32
	Leader int32 // −1: not known in this epoch
	Voted  int32 // −1: for nobody in this epoch
	// Fetched says that a follower has heard its leader: then it helps nobody else
	// to become one.
	Fetched bool

	votes map[int32]bool // answers of this round
}

// LogEnd is where a metadata log ends.
type LogEnd struct {
	Epoch  int32
	Offset int64
}

// UpToDate says whether a log that ends at e has everything that one that ends at
// own may have committed: the epoch counts before the offset.
func (e LogEnd) UpToDate(own LogEnd) bool {
	return e.Epoch > own.Epoch || e.Epoch == own.Epoch && e.Offset >= own.Offset
}

// CanGrantVote is canGrantVote of each state, for a request in the own epoch.
func (q *Quorum) CanGrantVote(candidate int32, upToDate, preVote bool) bool {
	switch q.Role {
	case Unattached, Prospective:
		switch {
		case preVote:
			return upToDate
		case q.Voted != nobody:
			return q.Voted == candidate
		}
		return q.Leader == nobody && upToDate
	case Follower:
		return preVote && upToDate && !q.Fetched
	case Candidate, Resigned:
		return preVote && upToDate
	}
	return false
}

// ElectionBackoffMs is how long a voter waits before it stands for election when
// its leader has resigned and named candidates in order of preference: the first
// not at all, those who are not named as long as all others
// (KafkaRaftClient.strictExponentialElectionBackoffMs).
func ElectionBackoffMs(limit int64, candidates, position int) int64 {
	switch {
	case position == 0:
		return 0
	case position >= candidates:
		return limit
	}
	return min(limit, limit>>(candidates-1)<<(position-1))
}

// unattached moves to an epoch in which no leader is known.
func (q *Quorum) unattached(epoch int32) { q.enter(Unattached, epoch, nobody) }

func (q *Quorum) prospective() {
	leader := q.Leader
	if leader == q.ID {
		leader = nobody
	}
	q.enter(Prospective, q.Epoch, leader)
	q.votes = map[int32]bool{q.ID: true}
}

func (q *Quorum) candidate() {
	q.enter(Candidate, q.Epoch+1, nobody)
	q.Voted = q.ID
	q.votes = map[int32]bool{q.ID: true}
}

func (q *Quorum) follower(epoch, leader int32) { q.enter(Follower, epoch, leader) }
func (q *Quorum) lead()                        { q.enter(Leader, q.Epoch, q.ID) }
func (q *Quorum) resign()                      { q.enter(Resigned, q.Epoch, q.ID) }

// enter is the one door to a role. A vote belongs to its epoch.
func (q *Quorum) enter(r Role, epoch, leader int32) {
	if epoch > q.Epoch {
		q.Voted = nobody
	}
	q.Role, q.Epoch, q.Leader, q.Fetched, q.votes = r, epoch, leader, false, nil
}

// majority of the voters.
func (q *Quorum) majority() int { return len(q.Voters)/2 + 1 }

// elected says whether a majority has granted its vote (EpochElection).
func (q *Quorum) elected() bool { return q.count(true) >= q.majority() }

// rejected says whether no majority can come together any more.
func (q *Quorum) rejected() bool { return len(q.Voters)-q.count(false) < q.majority() }

func (q *Quorum) count(granted bool) (n int) {
	for _, v := range q.votes {
		if v == granted {
			n++
		}
	}
	return n
}

// LeaderState is what the leader of an epoch knows of the others.
type LeaderState struct {
	id     int32
	voters []int32
	start  int64           // epoch start offset
	ends   map[int32]int64 // log end of each voter, as far as told
	hw     int64           // −1: not known in this epoch

	acknowledged map[int32]bool // by BeginQuorumEpoch, or by a Fetch
	fetched      map[int32]bool // since the last majority
}

// NewLeaderState begins an epoch at an offset.
func NewLeaderState(id int32, voters []int32, start int64) *LeaderState {
	return &LeaderState{id: id, voters: voters, start: start, ends: map[int32]int64{}, hw: -1, acknowledged: map[int32]bool{id: true}, fetched: map[int32]bool{}}
}

// HighWatermark of the epoch, −1 while it is not known.
func (l *LeaderState) HighWatermark() int64 { return l.hw }

// Update learns where a replica's log ends and says whether the high watermark
// moves: to the end that a majority of the voters has, once that includes a
// record of this epoch (LeaderState.maybeUpdateHighWatermark).
func (l *LeaderState) Update(replica int32, end int64) bool {
	if !slices.Contains(l.voters, replica) {
		return false
	}
	l.ends[replica] = end
	if len(l.ends) <= len(l.voters)/2 {
		return false
	}
	var ends []int64
	for _, v := range l.voters {
		if e, ok := l.ends[v]; ok {
			ends = append(ends, e)
		}
	}
	slices.Sort(ends)
	slices.Reverse(ends)
	hw := ends[len(l.voters)/2]
	if hw <= l.start || hw <= l.hw {
		return false
	}
	l.hw = hw
	return true
}

// heard notes a Fetch of a voter and says whether that makes a majority since
// the last one (LeaderState.updateCheckQuorumForFollowingVoter).
func (l *LeaderState) heard(replica int32) bool {
	if !slices.Contains(l.voters, replica) {
		return false
	}
	l.acknowledged[replica] = true
	l.fetched[replica] = true
	if len(l.fetched) < len(l.voters)/2 { // with the leader itself: a majority
		return false
	}
	clear(l.fetched)
	return true
}

// successors are the other voters by descending log end.
func (l *LeaderState) successors() []int32 {
	var out []int32
	for _, v := range l.voters {
		if v != l.id {
			out = append(out, v)
		}
	}
	end := func(id int32) int64 {
		if e, ok := l.ends[id]; ok {
			return e
		}
		return -1
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		switch x, y := end(a), end(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a - b)
	})
	return out
}
