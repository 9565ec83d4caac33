package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
)

// Derive computes the view's own keys, by event: the window of each partition's
// row, how far behind each replica is, where it fetches, the size of the ISR.
// minISR is the effective min.insync.replicas of a partition.
func Derive(j *journal.Journal, rows []string, cells int, minISR func(part string) int) map[int][]journal.Change {
	d := deriver{vals: map[string]any{}, out: map[int][]journal.Change{}, sent: map[string]any{}, cells: int64(cells), minISR: minISR}
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
			for _, row := range rows {
				if strings.Contains(c.Key, row) {
					touched[row] = true
				}
			}
		}
		for _, row := range rows {
			if touched[row] {
				d.row(e.N, row)
			}
		}
	}
	return d.out
}

type deriver struct {
	vals   map[string]any
	sent   map[string]any
	out    map[int][]journal.Change
	cells  int64
	minISR func(string) int
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
	leader, _ := d.int(journal.MetaKey(part, "leader"))
	lead := fmt.Sprintf("b%d", leader)
	end, _ := d.int(journal.ReplicaKey(lead, part, "leo"))
	top := int64(0)
	for _, r := range replicas {
		node := "b" + r
		leo, ok := d.int(journal.ReplicaKey(node, part, "leo"))
		if !ok {
			continue
		}
		top = max(top, leo)
		d.set(n, "v/"+node+"/"+part+"/sync", syncText(slices.Contains(isr, r), end-leo, node == lead))
		status := any(nil)
		if node != lead && leader > 0 {
			status = fmt.Sprintf("fetches from broker %d", leader)
		}
		d.set(n, "v/"+node+"/"+part+"/status", status)
	}
	// The window moves in steps of two, so that it does not slide with every record.
	base := max(top-d.cells+1, 0)
	base += base % 2
	d.set(n, "v/"+part+"/base", base)
	need := d.minISR(part)
	d.set(n, "v/"+part+"/isr", fmt.Sprintf("ISR %d of %d, min %d", len(isr), len(replicas), need))
	d.set(n, "v/"+part+"/headroom", int64(len(isr)-need))
	for _, r := range replicas {
		note, wait := any(nil), any(nil)
		if "b"+r == lead {
			note, wait = d.seen(lead, part), d.waiting(lead, part)
		}
		d.set(n, "v/b"+r+"/"+part+"/note", note)
		d.set(n, "v/b"+r+"/"+part+"/waiting", wait)
	}
}

// waiting sums up the purgatories of a leader's replica: producers whose write
// waits for the high watermark, else who waits with a Fetch.
func (d *deriver) waiting(lead, part string) any {
	s, _ := d.vals[journal.ReplicaKey(lead, part, "waiting")].(string)
	var produce, fetch []string
	for _, op := range strings.Split(s, ", ") {
		if who, ok := strings.CutPrefix(op, "DelayedProduce "); ok {
			produce = append(produce, who)
		} else if who, ok := strings.CutPrefix(op, "DelayedFetch "); ok {
			fetch = append(fetch, strings.TrimPrefix(who, "b"))
		}
	}
	switch {
	case len(produce) == 1:
		return "DelayedProduce: " + produce[0]
	case len(produce) > 1:
		return fmt.Sprintf("DelayedProduce: %d waiting", len(produce))
	case len(fetch) > 0:
		return "DelayedFetch: " + strings.Join(fetch, ", ")
	}
	return nil
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

func ids(v any) []string {
	s, _ := v.(string)
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
