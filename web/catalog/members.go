package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/web"
)

// members derives what the stage shows of groups: which partitions a consumer
// reads, what it waits for, and how far its group is.
//
//	v/<member>/parts           "P0 P2", as long as it has a position there
//	v/<member>/status          "joining" | "waits for its assignment" | "stands by" | "generation 2" | "member epoch 3, revokes" | "onPartitionsRevoked"
//	v/<group>/note             "classic · range · generation 2" | "consumer · uniform · group epoch 3" | "partitions assigned by hand"
//	v/<group>/coordinator      "coordinator: broker 3"
//	v/<group>/<part>/position  where the group's reader of a partition is
//	v/<group>/<part>/{was,now} the owner before the last change and the present one; absent for none
//	v/<group>/<part>/change    "moved" | "stopped": how they differ
//	v/<group>/paused           partition-seconds without an owner so far, since each one's first
func members(r *web.Run) {
	v := memberView{run: r, groups: map[string]map[string]any{}, groupOf: map[string]string{}, at: map[string]map[string]any{}, hand: map[string]bool{}, held: map[string]*held{}, paused: map[string]journal.Time{}, calls: map[string]journal.Time{}, sent: map[string]any{}}
	for _, g := range r.Scenario.Groups {
		v.groups[g.ID] = map[string]any{}
		for _, m := range g.Members {
			v.groupOf[m.ID] = g.ID
			v.hand[g.ID] = v.hand[g.ID] || len(m.Assign) > 0
		}
	}
	for i := range r.Journal.Events {
		e := &r.Journal.Events[i]
		touched := ""
		for _, c := range e.Ch {
			if g := v.change(e.N, c); g != "" && g != touched {
				if touched != "" {
					v.group(e.N, touched)
				}
				touched = g
			}
		}
		// Only when all of an event is known: a state comes before its assignment.
		if touched != "" {
			v.group(e.N, touched)
		}
		v.callback(e)
	}
}

// callbackShown is how long a callback stands as what a member does.
const callbackShown = 100 * journal.Millisecond

// callback names the callback that a member runs, for a moment.
func (v *memberView) callback(e *journal.Event) {
	for _, m := range slices.Sorted(maps.Keys(v.calls)) {
		if !e.Chatter && e.T >= v.calls[m]+callbackShown {
			delete(v.calls, m)
			v.set(e.N, "v/"+m+"/status", orNil(status(v.groups[v.of(m)], m)))
		}
	}
	if f, ok := e.F.(journal.Fields); ok && e.Kind == journal.ConsumerCallback {
		v.calls[e.Node] = e.T
		v.set(e.N, "v/"+e.Node+"/status", f.Get("callback"))
	}
}

type memberView struct {
	run     *web.Run
	groups  map[string]map[string]any // values of a group, by the rest of their key
	groupOf map[string]string
	at      map[string]map[string]any // positions, by member and partition
	hand    map[string]bool           // groups whose members are assigned by hand
	held    map[string]*held          // by the start of the keys of a group's partition
	paused  map[string]journal.Time
	calls   map[string]journal.Time // callbacks that are shown, since when
	sent    map[string]any
}

// change takes note of a change and returns the group that it is about, if any.
func (v *memberView) change(n int, c journal.Change) string {
	owner, rest, _ := strings.Cut(c.Key, "/")
	if values, ok := v.groups[owner]; ok {
		if c.Val == nil {
			delete(values, rest)
		} else {
			values[rest] = c.Val
		}
		if m, field, found := strings.Cut(rest, "/"); found && field == "state" && v.groupOf[m] == "" {
			v.groupOf[m] = owner
		}
		return owner
	}
	part, field, found := strings.Cut(rest, "/")
	if !found || field != "position" {
		return ""
	}
	if v.at[owner] == nil {
		v.at[owner] = map[string]any{}
	}
	if c.Val == nil {
		delete(v.at[owner], part)
	} else {
		v.at[owner][part] = c.Val
	}
	v.set(n, "v/"+owner+"/parts", parts(slices.Collect(maps.Keys(v.at[owner]))))
	v.position(n, v.of(owner), part)
	return ""
}

// of is a member's group; one that came again, "a2#2", is in that of the first.
func (v *memberView) of(member string) string {
	if g := v.groupOf[member]; g != "" {
		return g
	}
	first, _, _ := strings.Cut(member, "#")
	return v.groupOf[first]
}

// position is where a group's reader of a partition is, nil without one.
func (v *memberView) position(n int, group, part string) {
	if group == "" {
		return
	}
	var pos any
	owner := ""
	for _, m := range slices.Sorted(maps.Keys(v.at)) {
		if p, ok := v.at[m][part]; ok && v.of(m) == group {
			pos, owner = p, m
		}
	}
	v.set(n, "v/"+group+"/"+part+"/position", pos)
	v.hands(n, group, part, owner)
}

// hands notes who has a partition, and who had it before.
func (v *memberView) hands(n int, group, part, owner string) {
	key := "v/" + group + "/" + part + "/"
	h := v.held[key]
	if h == nil {
		h = &held{}
		v.held[key] = h
	}
	if owner == h.now {
		return
	}
	t := v.run.Journal.Events[n-1].T
	switch {
	case owner == "":
		h.since = t
	case h.last != "":
		v.paused[group] += t - h.since
		v.set(n, "v/"+group+"/paused", strconv.FormatFloat(float64(v.paused[group])/1e6, 'g', 3, 64))
	}
	if owner != "" {
		h.was, h.last = h.last, owner
	}
	h.now = owner
	was, change := h.was, any(nil)
	switch {
	case owner == "":
		was, change = h.last, "stopped"
	case was != "" && was != owner:
		change = "moved"
	}
	v.set(n, key+"was", orNil(was))
	v.set(n, key+"now", orNil(owner))
	v.set(n, key+"change", change)
}

// held is who has a partition of a group.
type held struct {
	now, last, was string // last is the present or the latest owner, was the one before
	since          journal.Time
}

func (v *memberView) group(n int, id string) {
	g := v.groups[id]
	if v.hand[id] && g["protocol"] == nil {
		v.set(n, "v/"+id+"/note", "partitions assigned by hand")
		return
	}
	note := []string{}
	for _, field := range []string{"protocol", "assignor"} {
		if s, ok := g[field].(string); ok && s != "" {
			note = append(note, s)
		}
	}
	if x := g["generation"]; x != nil {
		note = append(note, fmt.Sprint("generation ", x))
	} else if x := g["groupEpoch"]; x != nil {
		note = append(note, fmt.Sprint("group epoch ", x))
	}
	v.set(n, "v/"+id+"/note", orNil(strings.Join(note, " · ")))
	coordinator, _ := g["coordinator"].(string)
	v.set(n, "v/"+id+"/coordinator", orNil(strings.Replace(coordinator, "b", "coordinator: broker ", 1)))
	for _, m := range slices.Sorted(maps.Keys(v.groupOf)) {
		if _, shown := v.calls[m]; v.groupOf[m] == id && !shown {
			v.set(n, "v/"+m+"/status", orNil(status(g, m)))
		}
	}
}

// status is what a group's coordinator knows of a member, "" where it knows none.
func status(g map[string]any, m string) string {
	state, _ := g[m+"/state"].(string)
	if state == "" {
		return ""
	}
	assignment, _ := g[m+"/assignment"].([]string)
	epoch := fmt.Sprint(g[m+"/epoch"])
	if g["protocol"] == "consumer" {
		text := "member epoch " + epoch
		switch {
		case strings.Contains(strings.ToLower(state), "unrevoked"):
			return text + ", revokes"
		case strings.Contains(strings.ToLower(state), "unreleased"):
			return text + ", waits"
		case len(assignment) == 0:
			return text + ", stands by"
		}
		return text
	}
	switch {
	case state == "joining":
		return "joining"
	case state == "syncing", len(assignment) == 0 && g["state"] != "Stable":
		return "waits for its assignment"
	case len(assignment) == 0:
		return "stands by"
	}
	return "generation " + epoch
}

func (v *memberView) set(n int, key string, val any) {
	old, ok := v.sent[key]
	if ok && reflect.DeepEqual(old, val) || !ok && val == nil {
		return
	}
	v.sent[key] = val
	v.run.View[n] = append(v.run.View[n], journal.Change{Key: key, Val: val})
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// parts names partitions: "P0 P2" where all are of one topic, else in full.
func parts(names []string) any {
	if len(names) == 0 {
		return nil
	}
	if len(names) > 4 {
		return fmt.Sprintf("%d partitions", len(names))
	}
	slices.SortFunc(names, func(a, b string) int {
		ta, na := topicOf(a)
		tb, nb := topicOf(b)
		if ta != tb {
			return strings.Compare(ta, tb)
		}
		return na - nb
	})
	topic, _ := topicOf(names[0])
	short := make([]string, len(names))
	for i, name := range names {
		t, p := topicOf(name)
		if t != topic {
			return strings.Join(names, " ")
		}
		short[i] = fmt.Sprint("P", p)
	}
	return strings.Join(short, " ")
}

func topicOf(part string) (string, int) {
	i := strings.LastIndexByte(part, '-')
	n, _ := strconv.Atoi(part[i+1:])
	return part[:max(i, 0)], n
}
