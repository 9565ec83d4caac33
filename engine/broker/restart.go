package broker

import (
	"github.com/highwater-kafka/highwater/engine/broker/replica"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka/image"
)

// writeback is how long the operating system may keep dirty pages in memory
// (Linux: vm.dirty_expire_centisecs). Kafka itself leaves flushing to it unless
// log.flush.interval.messages says otherwise.
const writeback = 30 * journal.Second

// Disk is what outlives a broker's process: its logs, the copy of the metadata
// log as far as it was applied, and the file that a clean stop leaves.
type Disk struct {
	logs       map[string]*replica.Log
	img        *image.Image
	lastEpoch  int32
	leader     int32
	quorum     int32
	cleanEpoch int64 // broker epoch in the clean-shutdown file; −1 without it
}

// Formatted is a disk on which no process has run yet.
func Formatted() *Disk { return &Disk{img: image.New(), leader: unknown, cleanEpoch: -1} }

// Disk of a process that has ended.
func (n *Node) Disk() *Disk {
	d := &Disk{logs: map[string]*replica.Log{}, img: n.img, lastEpoch: n.observer.base, leader: n.observer.leader, quorum: n.observer.epoch, cleanEpoch: -1}
	if n.life.state == shuttingDown {
		d.cleanEpoch = n.epoch
	}
	for _, part := range n.parts {
		log := n.replicas[part].log
		if n.life.state == shuttingDown {
			log.Flush()
			log.SaveHW()
		}
		log.Restart()
		d.logs[part] = log
	}
	return d
}

// Boot starts the broker from its disk. It asks for the metadata, registers, and
// is fenced until it has caught up. Incarnation names the process.
func (n *Node) Boot(d *Disk, incarnation string) {
	n.img = d.img
	n.observer.resume(d)
	for part, log := range d.logs {
		n.hostLog(part, log)
	}
	n.proc.After(n.opt.Boot, func() {
		n.observer.fetch()
		n.life.boot(incarnation, d.cleanEpoch)
		n.background()
	})
}

// resume goes on after the last record applied. The high watermark of the
// metadata log is not on the disk: the first Fetch brings it.
func (o *observer) resume(d *Disk) {
	o.leader, o.epoch, o.base = d.leader, d.quorum, d.lastEpoch
	o.heard = o.n.w.Now()
	o.leo, o.hw = d.img.Offset+1, d.img.Offset+1
}

// firstPublish gives the replicas their roles when the metadata has caught up
// with the registration, and deletes those that were taken away meanwhile
// (BrokerMetadataPublisher.initializeManagers, LogManager.isStrayReplica).
func (n *Node) firstPublish() {
	n.published = true
	n.reconfigure()
	n.takeRoles(image.New(), n.img.Parts())
}

// LosePageCache is a power cut after the end of the process: what the operating
// system had not written yet is lost.
func (n *Node) LosePageCache() []journal.Change {
	var ch []journal.Change
	for _, part := range n.parts {
		h := n.replicas[part]
		from := h.log.LEO()
		h.log.LoseUnflushed()
		if h.log.LEO() < from {
			ch = h.diff(append(ch, journal.Change{Key: h.keys.log, Val: journal.LogOp{Op: journal.LogTruncate, Base: h.log.LEO()}})...)
		}
	}
	return ch
}

// background starts what the broker does by itself.
func (n *Node) background() {
	n.expireISR()
	n.checkpointHW()
	n.flushLogs()
}

func (n *Node) flushLogs() {
	n.proc.After(writeback, func() {
		for _, part := range n.parts {
			n.replicas[part].log.Flush()
		}
		n.flushLogs()
	}).Because(-1)
}

// Stop asks for a controlled shutdown; done runs when the process may end.
func (n *Node) Stop(done func()) { n.life.stop(done) }

// Forget is what the end of the process changes: only what is on the disk stays.
func (n *Node) Forget() []journal.Change {
	var ch []journal.Change
	for _, part := range n.parts {
		ch = n.replicas[part].diff(ch...)
	}
	ch = append(ch, n.coord.forget()...)
	return append(ch, journal.Change{Key: journal.NodeKey(n.name, "epoch")}, journal.Change{Key: journal.NodeKey(n.name, "metadata")})
}
