package broker

import (
	"slices"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// stopReplica is ReplicaManager.stopPartitions for a partition that was taken
// away: nothing is fetched any more, whoever waits here is sent elsewhere, the log
// is deleted.
//
// Simplified: Kafka renames the log's directory at once and deletes it after
// file.delete.delay.ms; here it is gone with the renaming.
func (n *Node) stopReplica(part string) {
	h := n.replicas[part]
	for _, f := range n.fetchers {
		f.remove(part)
	}
	delete(n.replicas, part)
	n.parts = slices.DeleteFunc(n.parts, func(p string) bool { return p == part })
	h.diff() // a replica from before a restart has told nothing yet
	h.rep.Stop()
	ch := []journal.Change{{Key: h.keys.log}}
	for _, k := range sortedKeys(h.sent) {
		if h.sent[k] != nil {
			ch = append(ch, journal.Change{Key: k})
		}
	}
	h.gone = true
	e := n.w.Emit(journal.Event{Kind: journal.ReplicaStop, Node: n.name, Part: part, Ch: ch})
	n.w.Because(e, h.completeProduces)
	n.w.Because(e, h.completeFetches)
	n.coord.follows(part)
}
