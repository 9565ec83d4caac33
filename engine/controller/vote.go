package controller

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// ask sends what the role asks of the voters that have not answered it.
func (n *Node) ask() {
	cause, turn := n.w.Cause(), n.turn
	for _, id := range n.q.Voters {
		if p := n.peers[id]; p != nil && n.turn == turn {
			n.w.Because(cause, func() { n.askOne(p) })
		}
	}
}

// askOne asks one voter, again until it answers. Only BeginQuorumEpoch has a
// rhythm of its own.
func (n *Node) askOne(p *peer) {
	call, heard := n.question(p.id)
	if call == nil {
		return
	}
	if !p.Ready() {
		if !p.Busy() && n.q.Role != Leader {
			p.whenReady(func() { n.askOne(p) })
		}
		return
	}
	p.send(call, func(body any) {
		if body != nil {
			heard(body)
			return
		}
		if n.q.Role != Leader {
			p.whenReady(func() { n.askOne(p) })
		}
	})
}

// question is what the role wants to know from a voter, nil if nothing.
func (n *Node) question(voter int32) (call *sim.Call, heard func(any)) {
	switch n.q.Role {
	case Prospective, Candidate:
		if _, answered := n.q.votes[voter]; answered || n.q.rejected() {
			return nil, nil
		}
		end, role, epoch := n.log.end(), n.q.Role, n.q.Epoch
		return &sim.Call{API: kafka.Vote, Body: &wire.VoteRequest{VoterID: voter, ReplicaEpoch: n.q.Epoch, ReplicaID: n.id,
				LastOffsetEpoch: end.Epoch, LastOffset: end.Offset, PreVote: n.q.Role == Prospective}}, func(b any) {
				r := b.(*wire.VoteResponse)
				// A pre-vote is no vote: an answer counts in its own round only.
				if !n.hear(r.ErrorCode, r.LeaderEpoch, r.LeaderID) && n.q.Role == role && n.q.Epoch == epoch {
					n.voted(voter, r)
				}
			}
	case Leader:
		if n.lead.acknowledged[voter] {
			return nil, nil
		}
		return &sim.Call{API: kafka.BeginQuorumEpoch, Body: &wire.BeginQuorumEpochRequest{VoterID: voter, LeaderID: n.id, LeaderEpoch: n.q.Epoch}}, func(b any) {
			if r := b.(*wire.BeginQuorumEpochResponse); !n.hear(r.ErrorCode, r.LeaderEpoch, r.LeaderID) {
				n.lead.acknowledged[voter] = true
			}
		}
	case Resigned:
		if n.q.votes[voter] {
			return nil, nil
		}
		return &sim.Call{API: kafka.EndQuorumEpoch, Body: &wire.EndQuorumEpochRequest{LeaderID: n.id, LeaderEpoch: n.q.Epoch,
				PreferredCandidates: n.successors}}, func(b any) {
				if r := b.(*wire.EndQuorumEpochResponse); !n.hear(r.ErrorCode, r.LeaderEpoch, r.LeaderID) {
					n.q.votes[voter] = true
				}
			}
	}
	return nil, nil
}

// free is a peer that an earlier role was still waiting for.
func (n *Node) free(p *peer) {
	switch n.q.Role {
	case Follower, Unattached:
		n.fetch()
	default:
		n.askOne(p)
	}
}

// voted counts an answer.
func (n *Node) voted(voter int32, r *wire.VoteResponse) {
	n.q.votes[voter] = r.VoteGranted
	prospective := n.q.Role == Prospective
	switch {
	case n.q.elected() && prospective:
		n.becomeCandidate()
	case n.q.elected():
		n.becomeLeader()
	case n.q.rejected() && prospective:
		n.lose()
	}
	// A candidate that has lost waits for the end of its time: then the others are
	// done too, and have drawn another time.
}

// handleVote answers Vote (KafkaRaftClient.handleVoteRequest).
func (n *Node) handleVote(r *sim.Request, q *wire.VoteRequest) {
	res := func(code kafka.ErrorCode, granted bool) *wire.VoteResponse {
		return &wire.VoteResponse{ErrorCode: code, LeaderID: n.q.Leader, LeaderEpoch: n.q.Epoch, VoteGranted: granted}
	}
	if q.ReplicaEpoch < n.q.Epoch {
		r.Reply(res(kafka.FencedLeaderEpoch, false), 0, false)
		return
	}
	if q.ReplicaEpoch > n.q.Epoch {
		n.newEpoch(q.ReplicaEpoch)
	}
	granted := n.q.CanGrantVote(q.ReplicaID, LogEnd{q.LastOffsetEpoch, q.LastOffset}.UpToDate(n.log.end()), q.PreVote)
	if granted && !q.PreVote {
		n.q.Voted = q.ReplicaID
		if n.q.Role == Unattached {
			n.expect(n.electionTimeout()) // the candidate is as good as this node would be
		}
	}
	n.w.Emit(journal.Event{Kind: journal.QuorumVote, Node: n.name, F: journal.F("candidate", q.ReplicaID, "granted", granted, "preVote", q.PreVote), Ch: n.diff()})
	r.Reply(res(kafka.None, granted), 0, false)
}

// handleBegin follows a new leader.
func (n *Node) handleBegin(r *sim.Request, q *wire.BeginQuorumEpochRequest) {
	code := kafka.None
	if q.LeaderEpoch < n.q.Epoch {
		code = kafka.FencedLeaderEpoch
	} else {
		n.follow(q.LeaderEpoch, q.LeaderID)
	}
	r.Reply(&wire.BeginQuorumEpochResponse{ErrorCode: code, LeaderID: n.q.Leader, LeaderEpoch: n.q.Epoch}, 0, false)
}

// handleEnd hears that the leader resigns: this voter stands for election, the
// sooner the more the leader prefers it.
func (n *Node) handleEnd(r *sim.Request, q *wire.EndQuorumEpochRequest) {
	code := kafka.None
	if q.LeaderEpoch < n.q.Epoch {
		code = kafka.FencedLeaderEpoch
	} else {
		n.follow(q.LeaderEpoch, q.LeaderID)
	}
	r.Reply(&wire.EndQuorumEpochResponse{ErrorCode: code, LeaderID: n.q.Leader, LeaderEpoch: n.q.Epoch}, 0, false)
	if code != kafka.None || n.q.Role != Follower || n.q.Leader != q.LeaderID {
		return
	}
	at := slices.Index(q.PreferredCandidates, n.id)
	if at < 0 {
		at = len(q.PreferredCandidates)
	}
	wait := ElectionBackoffMs(n.cfg.Millis("controller.quorum.election.backoff.max.ms"), len(q.PreferredCandidates), at)
	n.expect(journal.Millis(wait))
	n.timer.Because(n.w.Cause())
}
