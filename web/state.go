package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/web/stage"
)

// viewIndex is an index of the derived keys alone, so that the journal itself
// stays as the engine wrote it.
func viewIndex(view map[int][]journal.Change) *journal.Index {
	ns := make([]int, 0, len(view))
	for n := range view {
		ns = append(ns, n)
	}
	slices.Sort(ns)
	j := &journal.Journal{}
	for _, n := range ns {
		j.Events = append(j.Events, journal.Event{N: n, Ch: view[n]})
	}
	return journal.NewIndex(j)
}

// moment is the state of a run just after one event.
type moment struct {
	run       *Run
	view      *journal.Index
	producers map[string]int
	n         int
}

func (m moment) Get(key string) any {
	if strings.HasPrefix(key, "v/") {
		return m.view.Get(key, m.n)
	}
	return m.run.Index.Get(key, m.n)
}

func (m moment) Log(key string) journal.Log { return m.run.Index.LogAt(key, m.n) }

func (m moment) Producer(record string) int {
	r := m.run.Journal.Record(record)
	if r == nil {
		return -1
	}
	if i, ok := m.producers[r.Producer]; ok {
		return i
	}
	return -1
}

// producerColours numbers the producers of a scenario in their order.
func producerColours(s *cluster.Scenario) map[string]int {
	m := make(map[string]int, len(s.Producers))
	for i, p := range s.Producers {
		m[p.ID] = i
	}
	return m
}

// stageSpec says what the stage of a run has to show.
func stageSpec(r *Run, layout stage.Layout, open []string) stage.Spec {
	s := stage.Spec{Layout: layout, Title: r.Title, Cells: r.Cells, Open: open}
	for i := range r.Scenario.Ctrls {
		s.Controllers = append(s.Controllers, fmt.Sprintf("c%d", i+1))
	}
	s.Brokers = brokerNames(r)
	s.Rows = stageRows(r, s.Brokers)
	for _, p := range r.Scenario.Producers {
		s.Producers = append(s.Producers, stage.Producer{ID: p.ID, Note: producerNote(p)})
	}
	for _, g := range r.Scenario.Groups {
		s.Groups = append(s.Groups, stage.Group{ID: g.ID, Members: groupMembers(r, g), Parts: groupParts(r, g)})
	}
	s.Cuts, s.GroupLane = links(r), speaks(r)
	if layout != stage.Wide && len(open) == 0 {
		s.Open = leaders(r, s.Rows, 1)
	}
	return s
}

func brokerNames(r *Run) []string {
	var names []string
	for i := range r.Scenario.Brokers {
		names = append(names, fmt.Sprintf("b%d", i+1))
	}
	return names
}

// links are the pairs of brokers and controllers whose link is not sound at some
// time.
func links(r *Run) (pairs [][2]string) {
	for _, k := range r.Index.Keys() {
		if f := strings.Split(k, "/"); f[0] == "link" && len(f) == 3 && kafka.NodeID(f[1]) > 0 && kafka.NodeID(f[2]) > 0 {
			a, b := kafka.NodePair(f[1], f[2])
			if pair := [2]string{a, b}; !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(kafka.NodeID(a[0]), kafka.NodeID(b[0])), cmp.Compare(kafka.NodeID(a[1]), kafka.NodeID(b[1])))
	})
	return pairs
}

// speaks says whether any consumer has something to say to a group coordinator.
func speaks(r *Run) bool {
	return slices.ContainsFunc(r.Journal.Events, func(e journal.Event) bool { return e.Kind == journal.RequestSend && e.Group != "" })
}

// only leaves of a stage what is named: partitions, producers, members or their
// groups, and controllers. Brokers stay. Nothing named is everything.
func only(s stage.Spec, show []string) stage.Spec {
	if len(show) == 0 {
		return s
	}
	named := func(id string) bool { return slices.Contains(show, id) }
	s.Controllers = slices.DeleteFunc(slices.Clone(s.Controllers), func(id string) bool { return !named(id) })
	s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r stage.Row) bool { return !named(r.Part) })
	s.Producers = slices.DeleteFunc(slices.Clone(s.Producers), func(p stage.Producer) bool { return !named(p.ID) })
	s.Groups = slices.DeleteFunc(slices.Clone(s.Groups), func(g stage.Group) bool {
		return !named(g.ID) && !slices.ContainsFunc(g.Members, named)
	})
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(card string) bool {
		part, _, _ := strings.Cut(card, "/")
		return !named(part)
	})
	return s
}

// stageRows are the partitions asked for, else all of topics that are not
// internal, with the brokers that ever hold a replica.
func stageRows(r *Run, brokers []string) []stage.Row {
	parts := map[string]map[string]bool{}
	for _, k := range r.Index.Keys() {
		f := strings.Split(k, "/")
		if len(f) != 3 || f[2] != "role" || !slices.Contains(brokers, f[0]) {
			continue
		}
		if parts[f[1]] == nil {
			parts[f[1]] = map[string]bool{}
		}
		parts[f[1]][f[0]] = true
	}
	names := r.Rows
	if names == nil {
		for p := range parts {
			if !strings.HasPrefix(p, "__") {
				names = append(names, p)
			}
		}
		slices.SortFunc(names, comparePartitions)
	}
	var rows []stage.Row
	for _, p := range names {
		row := stage.Row{Part: p}
		for _, b := range brokers {
			if parts[p][b] {
				row.Replicas = append(row.Replicas, b)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// comparePartitions orders by topic, then by number, so that orders-10 comes after orders-9.
func comparePartitions(a, b string) int {
	cut := func(s string) (string, string) {
		i := strings.LastIndexByte(s, '-')
		return s[:i+1], s[i+1:]
	}
	ta, na := cut(a)
	tb, nb := cut(b)
	if c := strings.Compare(ta, tb); c != 0 {
		return c
	}
	if c := len(na) - len(nb); c != 0 {
		return c
	}
	return strings.Compare(na, nb)
}

// leaders are the cards that compact layouts open: each row's leader at an event.
func leaders(r *Run, rows []stage.Row, n int) []string {
	var open []string
	for _, row := range rows {
		for _, b := range row.Replicas {
			if r.Index.Str(journal.ReplicaKey(b, row.Part, "role"), n) == "leader" {
				open = append(open, row.Part+"/"+b)
			}
		}
	}
	return open
}

func producerNote(p cluster.Producer) string {
	acks := p.Config["acks"]
	if acks == "" || acks == "-1" {
		acks = "all"
	}
	note := "acks=" + acks
	switch {
	case p.Config["transactional.id"] != "":
		note += " · transactional"
	case acks == "all" && p.Config["enable.idempotence"] != "false":
		note += " · idempotent"
	}
	return note
}

// groupMembers are a group's members of the scenario, then those that came
// under another id, such as "a2#2".
func groupInfos(r *Run) []groupInfo {
	infos := []groupInfo{}
	for _, g := range r.Scenario.Groups {
		topics := slices.Clone(g.Topics)
		for _, m := range g.Members {
			for _, p := range m.Assign {
				if i := strings.LastIndexByte(p, '-'); i > 0 && !slices.Contains(topics, p[:i]) {
					topics = append(topics, p[:i])
				}
			}
		}
		infos = append(infos, groupInfo{g.ID, orEmpty(groupMembers(r, g)), orEmpty(partsOf(r, topics))})
	}
	return infos
}

// groupParts are the partitions that the members of a group share by a protocol.
func groupParts(r *Run, g cluster.Group) []string {
	if slices.ContainsFunc(g.Members, func(m cluster.Member) bool { return len(m.Assign) > 0 }) {
		return nil
	}
	return partsOf(r, g.Topics)
}

// partsOf are all partitions that topics ever have, in order.
func partsOf(r *Run, topics []string) (parts []string) {
	for _, k := range r.Index.Keys() {
		f := strings.Split(k, "/")
		if len(f) != 3 || f[0] != "meta" || f[2] != "leader" {
			continue
		}
		if i := strings.LastIndexByte(f[1], '-'); i > 0 && slices.Contains(topics, f[1][:i]) {
			parts = append(parts, f[1])
		}
	}
	slices.SortFunc(parts, comparePartitions)
	return parts
}

func groupMembers(r *Run, g cluster.Group) []string {
	var ids []string
	for _, m := range g.Members {
		ids = append(ids, m.ID)
	}
	for _, k := range r.Index.Keys() {
		f := strings.Split(k, "/")
		if len(f) == 3 && f[0] == g.ID && f[2] == "state" && !slices.Contains(ids, f[1]) {
			ids = append(ids, f[1])
		}
	}
	return ids
}
