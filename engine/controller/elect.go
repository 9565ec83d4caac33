package controller

import (
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
	"github.com/highwater-kafka/highwater/engine/sim"
)

// maxElections is how many partitions one periodic check elects; the rest follow
// at once (QuorumController: MAX_ELECTIONS_PER_IMBALANCE).
const maxElections = 1000

// electLeaders answers ElectLeaders: the preferred leader (KIP-460), or for a
// partition without a leader whoever is alive. Asked about all partitions it is
// silent about those that need none.
func (n *Node) electLeaders(r *sim.Request, q *wire.ElectLeadersRequest) {
	resp := &wire.ElectLeadersResponse{}
	election := Preferred
	switch q.ElectionType {
	case 0:
	case 1:
		election = Unclean
	default:
		resp.ErrorCode = kafka.InvalidRequest
		r.Reply(resp, 0, false)
		return
	}
	parts := q.Parts
	if parts == nil {
		parts = n.img.Parts()
	}
	var recs []wire.MetaRecord
	for _, part := range parts {
		code, rec := n.electLeader(part, election)
		if rec != nil {
			recs = append(recs, *rec)
		}
		if q.Parts != nil || code != kafka.ElectionNotNeeded {
			resp.Parts = append(resp.Parts, wire.PartError{Part: part, ErrorCode: code})
		}
	}
	n.decided(r, recs, resp)
}

// electLeader is ReplicationControlManager.electLeader.
func (n *Node) electLeader(part string, election Election) (kafka.ErrorCode, *wire.MetaRecord) {
	p := n.img.Partition(part)
	switch {
	case p == nil:
		return kafka.UnknownTopicOrPartition, nil
	case election == Preferred && p.Leader == p.Replicas[0], election == Unclean && p.Leader != image.NoLeader:
		return kafka.ElectionNotNeeded, nil
	}
	c := NewPartitionChange(part, p, n.mayLead, n.img.MinISR(part), n.img.ELR())
	c.Election = election
	rec := c.Build()
	switch {
	case rec != nil:
		return kafka.None, rec
	case election == Preferred:
		return kafka.PreferredLeaderNotAvailable, nil
	}
	return kafka.EligibleLeadersNotAvailable, nil
}

// electPeriodically begins the two checks of the active controller: leadership
// goes back to preferred leaders, and where unclean elections are allowed a
// partition that nobody safe can lead gets a leader all the same. Switching
// unclean.leader.election.enable on waits for the second.
func (n *Node) electPeriodically() {
	if every := journal.Time(n.cfg.Int("leader.imbalance.check.interval.seconds")) * journal.Second; every > 0 && n.cfg.Bool("auto.leader.rebalance.enable") {
		n.check(every, every, func(p *image.Partition, _ string) (Election, bool) {
			return Preferred, p.Leader != p.Replicas[0]
		})
	}
	if every := journal.Millis(n.cfg.Millis("unclean.leader.election.interval.ms")); every > 0 {
		n.check(every, every, func(p *image.Partition, part string) (Election, bool) {
			return Unclean, p.Leader == image.NoLeader && n.uncleanAllowed(part)
		})
	}
}

// check looks at all partitions each interval and elects where wants says so.
func (n *Node) check(after, every journal.Time, wants func(p *image.Partition, part string) (Election, bool)) {
	n.later(after, func() {
		var recs []wire.MetaRecord
		for _, part := range n.img.Parts() {
			p := n.img.Partition(part)
			election, ok := wants(p, part)
			if !ok || len(recs) == maxElections {
				continue
			}
			// Where nobody better may lead nothing changes, and the next check tries again.
			if code, rec := n.electLeader(part, election); code == kafka.None {
				recs = append(recs, *rec)
			}
		}
		next := every
		if len(recs) == maxElections {
			next = 1
		}
		if len(recs) > 0 {
			n.write(recs, nil)
		}
		n.check(next, every, wants)
	})
}
