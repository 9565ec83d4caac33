package journal

import "strconv"

// The keys of the state. A key is a path; its parts are the names that
// expressions and links use ("b1", "orders-0", "a1"). Keys that start with "v/"
// are derived for the view and never read by the simulation.
//
//	<node>/state                     "running" | "starting" | "stopped" | "crashed" | "vanished" | "paused"
//	<broker>/epoch                   broker epoch
//	<broker>/metadata                metadata offset applied
//	<broker>/disk                    "slow"; absent when it is as fast as the model says
//	<broker>/<part>/role             "leader" | "follower" | "offline"
//	<broker>/<part>/leo              log end offset
//	<broker>/<part>/hw               high watermark as this replica knows it
//	<broker>/<part>/hwCheckpoint     high watermark on disk, with which a restart begins
//	<broker>/<part>/lso              last stable offset
//	<broker>/<part>/logStart         log start offset
//	<broker>/<part>/leaderEpoch      leader epoch
//	<broker>/<part>/epochs           leader-epoch cache, "0@0 1@5"
//	<broker>/<part>/log              LogOp
//	<broker>/<part>/waiting          operations in purgatory: ["DelayedProduce order-service", "DelayedFetch b2"]
//	<leader>/<part>/isr              the committed ISR that the leader works with
//	<leader>/<part>/maximalIsr       with a joining replica
//	<leader>/<part>/remote/<b>/leo       what the leader knows of a follower; -1 unknown
//	<leader>/<part>/remote/<b>/caughtUp  last caught-up time in microseconds, while it is behind
//	meta/<part>/{leader,leaderEpoch,partitionEpoch,replicas,isr,elr,lastKnownElr}  committed metadata
//	meta/<part>/leaderRecoveryState  1 (RECOVERING) after an election that may have lost records, until the ISR grows
//	meta/<part>/minIsr               min.insync.replicas as it counts for the partition
//	meta/<part>/{removing,adding}    replicas that a running reassignment takes away and brings
//	config/<topic>/<key>             a setting that was committed while the run went on; <broker> and * (all brokers) too
//	<controller>/{role,epoch,leo,commit,votedFor}
//	session/<broker>                 "fenced" | "active" | "shutdown"
//	<producer>/{id,epoch,status}     status: a short text
//	<producer>/<part>/{sequence,batch,inflight}
//	<group>/{state,protocol,generation,groupEpoch,targetEpoch,leader,coordinator}
//	<group>/<member>/{state,epoch,assignment,target,session,poll}
//	<group>/<part>/committed         committed offset
//	<member>/<part>/{position,delivered}
//	link/<a>/<b>                     "cut" | "slow"; absent when sound

// NodeKey is a key of a node.
func NodeKey(node, field string) string { return node + "/" + field }

// ReplicaKey is a key of a replica, or of a client's view of a partition.
func ReplicaKey(node, part, field string) string { return node + "/" + part + "/" + field }

// RemoteKey is a key of what a leader knows of a follower.
func RemoteKey(leader, part, follower, field string) string {
	return leader + "/" + part + "/remote/" + follower + "/" + field
}

// MetaKey is a key of the committed metadata of a partition.
func MetaKey(part, field string) string { return "meta/" + part + "/" + field }

// ConfigKey is a setting of a topic, of a broker, or of all brokers ("*").
func ConfigKey(who, key string) string { return "config/" + who + "/" + key }

// SessionKey is the controller's view of a broker.
func SessionKey(broker string) string { return "session/" + broker }

// LinkKey is the state of the connections that a opens to b.
func LinkKey(a, b string) string { return "link/" + a + "/" + b }

// RecordID is the id of the i-th record of a run, "r17".
func RecordID(i int) string { return "r" + strconv.Itoa(i) }
