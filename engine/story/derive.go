package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
)

// Derive computes the view's own keys, by event: the window of each partition's
// row, how far behind each replica is, where it fetches, the size of the ISR, and
// how far each consumer is behind. The journal stays as it is.
//
//	v/<part>/base               first offset of the log window that the replicas of a row share
//	v/<part>/isr                "ISR 2 of 3, min 2"
//	v/<part>/headroom           ISR size minus min.insync.replicas
//	v/<part>/epochs             "headroom 1 · leader epoch 2" | "headroom −2 · no leader"
//	v/<part>/more               "partition epoch 5 · ELR 2,3" | "partition epoch 7 · RECOVERING" | "partition epoch 8 · last led by 1"
//	v/<controller>/offsets         "LEO 196 · HW 194"
//	v/cut/<a>/<b>               "cut" | "half cut" (one way only) | "slow", between brokers and controllers; a before b
//	v/<broker>/<part>/sync      "in sync" | "1 behind, in sync" | "out of sync, 3 behind"; reassigned: "joins, 3 behind" | "in sync, leaves"
//	v/<broker>/<part>/status    "fetches from broker 1" | "✕ broker 1 is down" | "✕ link to broker 1 is cut" | "✕ paused"
//	v/<leader>/<part>/note      what the leader knows, who may lead besides the ISR, and whether it is reassigned: "2, 3 seen at 5 · ELR 2,3 · leaves"
//	v/<leader>/<part>/waiting   who waits in purgatory
//	v/<member>/<part>/lag       records that the member may read and has not
//	v/<member>/lag              "lag 2", over all its partitions
//	v/<producer>/{key,hash,result}   how its last key became a partition
func Derive(j *journal.Journal, rows []string, cells int) map[int][]journal.Change {
	d := deriver{vals: map[string]any{}, out: map[int][]journal.Change{}, sent: map[string]any{}, cells: int64(max(cells, 1)),
		shown: map[string][]string{}, readers: map[string][]string{}, lags: map[string]map[string]int64{}}
	for i := range j.Events {
		e := &j.Events[i]
		d.keyed(e)
		if len(e.Ch) == 0 {
			continue
		}
		touched := map[string]bool{}
		for _, c := range e.Ch {
			if _, log := c.Val.(journal.LogOp); !log {
				d.vals[c.Key] = c.Val
			}
			parts := strings.Split(c.Key, "/")
			if len(parts) == 2 && (parts[1] == "leo" || parts[1] == "commit") {
				d.controller(e.N, parts[0])
			}
			if parts[0] == "link" {
				d.link(e.N, parts[1], parts[2])
			}
			if parts[0] == "link" || len(parts) == 2 && parts[1] == "state" {
				for _, row := range rows {
					touched[row] = true
				}
			}
			if len(parts) > 2 && slices.Contains(rows, parts[1]) {
				touched[parts[1]] = true
				if parts[2] == "position" && !slices.Contains(d.readers[parts[1]], parts[0]) {
					d.readers[parts[1]] = append(d.readers[parts[1]], parts[0])
				}
			}
		}
		for _, row := range rows {
			if touched[row] {
				d.row(e.N, row)
				d.lag(e.N, row)
			}
		}
	}
	return d.out
}

type deriver struct {
	vals  map[string]any
	sent  map[string]any
	out   map[int][]journal.Change
	cells int64

	shown   map[string][]string         // replicas with keys of their own, by partition
	readers map[string][]string         // members that had a position, by partition
	lags    map[string]map[string]int64 // by member and partition
}

// controller sums up a controller's copy of the metadata log.
func (d *deriver) controller(n int, node string) {
	leo, ok := d.int(journal.NodeKey(node, "leo"))
	if !ok {
		return
	}
	text := fmt.Sprintf("LEO %d", leo)
	if hw, ok := d.int(journal.NodeKey(node, "commit")); ok {
		text += fmt.Sprintf(" · HW %d", hw)
	}
	d.set(n, "v/"+node+"/offsets", text)
}

// link sums up both directions between two nodes.
func (d *deriver) link(n int, from, to string) {
	a, b := kafka.NodePair(from, to)
	there, back := d.vals[journal.LinkKey(a, b)], d.vals[journal.LinkKey(b, a)]
	state := there
	switch {
	case there == "cut" && back == "cut":
	case there == "cut" || back == "cut":
		state = "half cut"
	case state == nil:
		state = back
	}
	d.set(n, "v/cut/"+a+"/"+b, state)
}

// fetching is how a follower gets its records, or what keeps it from them; nil
// where the replica does not fetch at all, or leads on as it has not heard of
// another leader.
func (d *deriver) fetching(node, lead, part string) any {
	switch {
	case d.down(node) || d.vals[journal.ReplicaKey(node, part, "role")] == "leader":
		return nil
	case d.down(lead):
		return "✕ broker " + lead[1:] + " is down"
	case d.vals[journal.NodeKey(node, "state")] == "paused":
		return "✕ paused"
	case d.vals[journal.NodeKey(lead, "state")] == "paused":
		return "✕ broker " + lead[1:] + " is paused"
	case d.vals[journal.LinkKey(node, lead)] == "cut":
		return "✕ link to broker " + lead[1:] + " is cut"
	case d.vals[journal.LinkKey(node, lead)] == "slow":
		return "slow link to broker " + lead[1:]
	}
	return "fetches from broker " + lead[1:]
}

// down says whether a node's process is not there.
func (d *deriver) down(node string) bool {
	switch d.vals[journal.NodeKey(node, "state")] {
	case "crashed", "vanished", "stopped":
		return true
	}
	return false
}

// keyed shows at a producer how its last key became a partition.
func (d *deriver) keyed(e *journal.Event) {
	f, ok := e.F.(journal.Fields)
	if !ok || e.Kind != journal.ProducerPartition || f.Get("how") != "key" {
		return
	}
	at := func(field string) string { return "v/" + e.Node + "/" + field }
	d.set(e.N, at("key"), fmt.Sprintf("key %v → P%v", f.Get("key"), f.Get("partition")))
	d.set(e.N, at("hash"), "murmur2(key) & 0x7fffffff")
	d.set(e.N, at("result"), fmt.Sprintf("= %v mod %v = %v", f.Get("hash"), f.Get("partitions"), f.Get("partition")))
}

func (d *deriver) int(key string) (int64, bool) {
	switch v := d.vals[key].(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int:
		return int64(v), true
	}
	return 0, false
}

func (d *deriver) set(n int, key string, v any) {
	if old, ok := d.sent[key]; ok && old == v || !ok && v == nil {
		return
	}
	d.sent[key] = v
	d.out[n] = append(d.out[n], journal.Change{Key: key, Val: v})
}

func (d *deriver) row(n int, part string) {
	replicas := ids(d.vals[journal.MetaKey(part, "replicas")])
	isr := ids(d.vals[journal.MetaKey(part, "isr")])
	adding, removing := ids(d.vals[journal.MetaKey(part, "adding")]), ids(d.vals[journal.MetaKey(part, "removing")])
	for _, r := range d.shown[part] {
		if !slices.Contains(replicas, r) { // reassigned away
			for _, field := range []string{"sync", "status", "note", "waiting"} {
				d.set(n, "v/b"+r+"/"+part+"/"+field, nil)
			}
		}
	}
	d.shown[part] = replicas
	lead := ""
	if id, ok := d.int(journal.MetaKey(part, "leader")); ok && id > 0 {
		lead = kafka.NodeName(kafka.BrokerID(id))
	}
	end, led := d.int(journal.ReplicaKey(lead, part, "leo"))
	top := int64(0)
	for _, r := range replicas {
		node := "b" + r
		leo, ok := d.int(journal.ReplicaKey(node, part, "leo"))
		if !ok {
			continue
		}
		top = max(top, leo)
		sync, status := any(nil), any(nil)
		if led {
			text := syncText(slices.Contains(isr, r), end-leo, node == lead)
			switch {
			case slices.Contains(adding, r):
				text = strings.Replace(text, "out of sync", "joins", 1)
			case slices.Contains(removing, r) && node != lead:
				text += ", leaves"
			}
			sync = text
		}
		if lead != "" && node != lead {
			status = d.fetching(node, lead, part)
		}
		d.set(n, "v/"+node+"/"+part+"/sync", sync)
		d.set(n, "v/"+node+"/"+part+"/status", status)
	}
	// One slot stays free, for the record that is to come. With the highest log end
	// at the edge, all that can be in view with it is in view: a low log end or
	// high watermark that is not would need a wider window.
	d.set(n, "v/"+part+"/base", max(top-d.cells+1, 0))
	need, _ := d.int(journal.MetaKey(part, "minIsr"))
	d.set(n, "v/"+part+"/isr", fmt.Sprintf("ISR %d of %d, min %d", len(isr), len(replicas), need))
	d.set(n, "v/"+part+"/headroom", int64(len(isr))-need)
	d.set(n, "v/"+part+"/epochs", d.epochs(part, lead, int64(len(isr))-need))
	d.set(n, "v/"+part+"/more", d.more(part, lead))
	for _, r := range replicas {
		note, wait := any(nil), any(nil)
		if "b"+r == lead {
			note, wait = d.seen(lead, part), d.waiting(lead, part)
			if elr, _ := d.vals[journal.MetaKey(part, "elr")].(string); elr != "" {
				note = strings.TrimPrefix(fmt.Sprint(note, " · ELR ", elr), "<nil> · ")
			}
			if slices.Contains(removing, r) {
				note = strings.TrimPrefix(fmt.Sprint(note, " · leaves"), "<nil> · ")
			}
		}
		d.set(n, "v/b"+r+"/"+part+"/note", note)
		d.set(n, "v/b"+r+"/"+part+"/waiting", wait)
	}
}

func (d *deriver) epochs(part, lead string, headroom int64) string {
	text := strings.Replace(fmt.Sprintf("headroom %d", headroom), "-", "−", 1)
	if epoch, ok := d.int(journal.MetaKey(part, "leaderEpoch")); ok && lead != "" {
		return text + fmt.Sprintf(" · leader epoch %d", epoch)
	}
	return text + " · no leader"
}

// more is what else the committed metadata says: who may lead besides the ISR,
// and whether the leader may lack records.
func (d *deriver) more(part, lead string) string {
	epoch, _ := d.int(journal.MetaKey(part, "partitionEpoch"))
	text := fmt.Sprintf("partition epoch %d", epoch)
	recovering, _ := d.int(journal.MetaKey(part, "leaderRecoveryState"))
	elr, _ := d.vals[journal.MetaKey(part, "elr")].(string)
	last, _ := d.vals[journal.MetaKey(part, "lastKnownElr")].(string)
	switch {
	case elr != "":
		text += " · ELR " + elr
	case recovering == 1:
		text += " · RECOVERING"
	case lead == "" && last != "":
		text += " · last led by " + last
	}
	return text
}

// lag is the leader's high watermark minus the position of each member that
// reads the partition (records-lag of a consumer that reads uncommitted).
func (d *deriver) lag(n int, part string) {
	id, _ := d.int(journal.MetaKey(part, "leader"))
	hw, ok := d.int(journal.ReplicaKey(kafka.NodeName(kafka.BrokerID(id)), part, "hw"))
	for _, m := range d.readers[part] {
		pos, has := d.int(journal.ReplicaKey(m, part, "position"))
		switch {
		case !has: // it reads the partition no longer
			delete(d.lags[m], part)
			d.set(n, "v/"+m+"/"+part+"/lag", nil)
		case !ok: // no leader, so nobody knows; the last value stands
			continue
		default:
			if d.lags[m] == nil {
				d.lags[m] = map[string]int64{}
			}
			// A new leader's high watermark may be behind for a moment.
			d.lags[m][part] = max(hw-pos, 0)
			d.set(n, "v/"+m+"/"+part+"/lag", d.lags[m][part])
		}
		sum := int64(0)
		for _, l := range d.lags[m] {
			sum += l
		}
		text := any(nil)
		if len(d.lags[m]) > 0 {
			text = fmt.Sprintf("lag %d", sum)
		}
		d.set(n, "v/"+m+"/lag", text)
	}
}

// waiting sums up the purgatories of a leader's replica: producers whose write
// waits for the high watermark, else who waits with a Fetch.
func (d *deriver) waiting(lead, part string) any {
	var produce, fetch []string
	for _, op := range list(d.vals[journal.ReplicaKey(lead, part, "waiting")], ", ") {
		if who, ok := strings.CutPrefix(op, "DelayedProduce "); ok {
			produce = append(produce, who)
		} else if who, ok := strings.CutPrefix(op, "DelayedFetch "); ok {
			fetch = append(fetch, strings.TrimPrefix(who, "b"))
		}
	}
	switch {
	case len(produce) > 0:
		what := "DelayedProduce"
		if len(produce) > 1 {
			what = fmt.Sprintf("%d × DelayedProduce", len(produce))
		}
		if behind := d.behind(lead, part); len(behind) > 0 {
			return what + ": waits for " + strings.Join(behind, ", ")
		}
		return what + ": waits for HW"
	case len(fetch) > 0:
		return "DelayedFetch: " + strings.Join(fetch, ", ")
	}
	return nil
}

// behind are the followers that the high watermark waits for: in the maximal ISR
// and not known to have the whole log.
func (d *deriver) behind(lead, part string) (out []string) {
	end, _ := d.int(journal.ReplicaKey(lead, part, "leo"))
	for _, r := range ids(d.vals[journal.ReplicaKey(lead, part, "maximalIsr")]) {
		if leo, ok := d.int(journal.RemoteKey(lead, part, "b"+r, "leo")); ok && leo < end {
			out = append(out, r)
		}
	}
	return out
}

// seen is what the leader knows of its followers: "2, 3 seen at 5".
func (d *deriver) seen(lead, part string) any {
	at := map[int64][]string{}
	var order []int64
	for _, r := range ids(d.vals[journal.MetaKey(part, "replicas")]) {
		leo, ok := d.int(journal.RemoteKey(lead, part, "b"+r, "leo"))
		if "b"+r == lead || !ok || leo < 0 {
			continue
		}
		if at[leo] == nil {
			order = append(order, leo)
		}
		at[leo] = append(at[leo], r)
	}
	if len(order) == 0 {
		return nil
	}
	slices.Sort(order)
	var s []string
	for _, o := range order {
		s = append(s, fmt.Sprintf("%s seen at %d", strings.Join(at[o], ", "), o))
	}
	return strings.Join(s, "; ")
}

func syncText(in bool, behind int64, leader bool) string {
	switch {
	case leader:
		return ""
	case in && behind > 0:
		return fmt.Sprintf("%d behind, in sync", behind)
	case in:
		return "in sync"
	case behind > 0:
		return fmt.Sprintf("out of sync, %d behind", behind)
	}
	return "out of sync"
}

// ids reads a list of broker ids, which a key holds as "1,2,3" or as a list.
func ids(v any) []string { return list(v, ",") }

func list(v any, sep string) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return strings.Split(v, sep)
		}
	case []string:
		return v
	case []int32:
		return numbers(v)
	case []int:
		return numbers(v)
	}
	return nil
}

func numbers[T int | int32](v []T) []string {
	s := make([]string, len(v))
	for i, n := range v {
		s[i] = fmt.Sprint(n)
	}
	return s
}
