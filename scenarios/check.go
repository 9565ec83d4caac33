package scenarios

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/query"
)

// actions are those that can be simulated, with the fields that each takes
// besides at, on, after and do.
var actions = map[string][]string{
	"produce": {"by", "topic", "key", "value", "partition", "count", "every", "each", "keys", "values"},
	"pause":   {"node"},
	"resume":  {"node"},
	"cut":     {"from", "to", "both"},
	"connect": {"from", "to", "both"},
	"reset":   {"from", "to", "both"},
	"slow":    {"from", "to", "both", "latency", "jitter", "loss", "bandwidth", "node", "disk"},
	"kill":    {"member"},
	"crash":   {"node", "unflushed"},
	"vanish":  {"node"},
	"start":   {"node"},
	"stop":    {"node"},
	"commit":  {"member", "part", "offset", "offsets"},
	"seek":    {"member", "part", "offset"},

	"join":              {"member", "group", "config"},
	"leave":             {"member"},
	"stall":             {"member", "for"},
	"pause-partitions":  {"member", "parts"},
	"resume-partitions": {"member", "parts"},
	"subscribe":         {"member", "topics"},
	"assign":            {"member", "parts"},

	"create-topic":   {"topic", "partitions", "replication", "replicas", "config"},
	"add-partitions": {"topic", "to", "replicas"},
	"reassign":       {"to"},
	"elect":          {"type", "parts"},
	"config":         {"topic", "broker", "producer", "member", "key", "value"},
}

// planned are actions that the format has and the simulation has not yet.
var planned = []string{"begin", "send-offsets", "end"}

// features are the features of Kafka 4.4.
var features = []string{"eligible.leader.replicas.version", "group.version", "kraft.version", "metadata.version", "share.version",
	"streams.version", "transaction.version"}

// Sizes that keep a run and its picture within reason.
const (
	maxBrokers    = 12
	maxCtrls      = 9
	maxPartitions = 200
	maxClients    = 100
	maxRecords    = 100_000
	maxPreload    = 10_000
)

var (
	idPattern    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	fileID       = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	topicPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
	nodePattern  = regexp.MustCompile(`^[bc][0-9]+$`)
)

// reserved are words that keys of the state begin with or that expressions
// answer with.
var reserved = []string{"admin", "any", "none", "config", "meta", "session", "link", "v"}

// checker turns a decoded file into a scenario.
type checker struct {
	*reporter
	f         *file
	sc        cluster.Scenario
	ids       map[string]string // what has an id already
	nodes     []string
	producers []string
	groups    []string
	members   []string
	habits    map[string]cluster.Member // what the members of a group do unless they say otherwise
	topics    []string
	parts     []string // of the topics that the file declares
}

func (c *checker) scenario() *Scenario {
	f := c.f
	c.ids = map[string]string{}
	if f.ID.set && !fileID.MatchString(f.ID.s) {
		c.at(f.ID.at, "an id is lower case letters, digits and hyphens, not %q", f.ID.s)
	}
	if f.Title.set && strings.TrimSpace(f.Title.s) == "" {
		c.at(f.Title.at, "title is empty")
	}
	if f.Level.set && !slices.Contains([]string{"beginner", "practitioner", "expert"}, f.Level.s) {
		c.at(f.Level.at, "level is beginner, practitioner or expert, not %q", f.Level.s)
	}
	c.sc.ID, c.sc.Seed = f.ID.s, 1
	if f.Seed.set {
		c.positive(f.Seed, "seed", 0, maxNumber)
		c.sc.Seed = uint64(f.Seed.n)
	}
	switch f.Start.s {
	case "", "formed":
	case "empty":
		c.sc.Start = cluster.Empty
	default:
		c.at(f.Start.at, "start is formed or empty, not %q", f.Start.s)
	}
	c.cluster()
	c.model()
	for i := range f.Topics {
		c.topic(&f.Topics[i])
	}
	c.comingTopics()
	c.clients()
	for i := range f.Actions {
		c.action(&f.Actions[i])
	}
	c.sc.End = f.End.t
	for _, x := range f.Rest {
		c.sc.Rest = append(c.sc.Rest, cluster.Rest{At: x.At.t, Label: x.Label.s})
	}
	s := &Scenario{ID: f.ID.s, Title: f.Title.s, Summary: f.Summary.s, Track: f.Track.s, Level: f.Level.s, Next: f.Next.s, File: c.file}
	if c.positive(f.Lesson, "lesson", 1, 99) {
		s.Lesson = int(f.Lesson.n)
	}
	for _, x := range f.Explain.list {
		s.Explain = append(s.Explain, x.s)
	}
	c.story(s)
	if s.Still = f.Still.s; f.Still.set && !slices.ContainsFunc(s.Chapters, func(ch Chapter) bool { return ch.ID == s.Still }) {
		c.at(f.Still.at, "still names a chapter, and there is none of id %s", s.Still)
	}
	c.stage(s)
	s.Cluster = c.sc
	c.variants(s)
	return s
}

func (c *checker) positive(n number, name string, lo, hi int64) bool {
	if n.set && (n.n < lo || n.n > hi) {
		c.at(n.at, "%s is from %d to %d, not %d", name, lo, hi, n.n)
		return false
	}
	return true
}

// config checks settings against the keys of a scope.
func (c *checker) config(scope string, s settings) map[string]string {
	for _, x := range s.list {
		if why, near := checkSetting(scope, x.key.s, x.val.s); why != "" {
			p := x.val.at
			if near {
				p = x.key.at
			}
			c.at(p, "%s", why)
		}
	}
	return s.strings()
}

// checkSetting says what is wrong with a setting, "" for nothing, and whether it
// is the key that is wrong.
func checkSetting(scope, key, val string) (why string, badKey bool) {
	def, ok := kafka.LookupConfig(scope, key)
	if !ok {
		why = "unknown " + scope + " setting " + key
		if near := kafka.NearestKey(scope, key); near != "" {
			why += "; did you mean " + near + "?"
		}
		return why, true
	}
	if err := def.Check(val); err != nil {
		return key + ": " + err.Error(), false
	}
	return "", false
}

func (c *checker) cluster() {
	f := &c.f.Cluster
	brokers, ctrls := int64(0), int64(0)
	if f.Brokers.set && c.positive(f.Brokers, "brokers", 1, maxBrokers) {
		brokers = f.Brokers.n
	}
	if f.Controllers.set && c.positive(f.Controllers, "controllers", 1, maxCtrls) {
		ctrls = f.Controllers.n
	}
	c.sc.Brokers, c.sc.Ctrls = int(brokers), int(ctrls)
	c.nodes = nodeNames(&c.sc)
	c.sc.Config = c.config("broker", f.Config)
	for _, n := range f.Nodes.list {
		c.known(n.node, "node", c.nodes)
		if c.sc.Nodes == nil {
			c.sc.Nodes = map[string]map[string]string{}
		}
		c.sc.Nodes[n.node.s] = c.config("broker", n.set)
	}
	for _, x := range f.Features.list {
		c.known(x.key, "feature", features)
		n, err := strconv.Atoi(x.val.s)
		if err != nil || n < 0 {
			c.at(x.val.at, "the level of %s is a whole number, not %q", x.key.s, x.val.s)
			continue
		}
		if err := featureLevel(x.key.s, n); err != nil {
			c.at(x.val.at, "%s", err)
			continue
		}
		if c.sc.Features == nil {
			c.sc.Features = map[string]int{}
		}
		c.sc.Features[x.key.s] = n
	}
}

func nodeNames(sc *cluster.Scenario) []string {
	var ns []string
	for i := range sc.Brokers {
		ns = append(ns, "b"+strconv.Itoa(i+1))
	}
	for i := range sc.Ctrls {
		ns = append(ns, "c"+strconv.Itoa(i+1))
	}
	return ns
}

func (c *checker) model() {
	m, f := cluster.DefaultModel(), &c.f.Model
	for _, x := range []struct {
		from duration
		to   *journal.Time
	}{{f.NetBroker, &m.NetBroker}, {f.NetClient, &m.NetClient}, {f.Append, &m.Append}, {f.Handle, &m.Handle}, {f.Apply, &m.Apply}, {f.Boot, &m.Boot}} {
		if x.from.set {
			*x.to = x.from.t
		}
	}
	if f.Jitter.set {
		m.Jitter = f.Jitter.n
	}
	c.sc.Model = m
}

// known reports a word that is not in a list; an empty word is not looked at.
func (c *checker) known(t text, kind string, words []string) bool {
	if !t.set || slices.Contains(words, t.s) {
		return true
	}
	c.unknown(t.at, kind, t.s, words, "in this scenario")
	return false
}

// claim gives an id to its first owner.
func (c *checker) claim(t text, kind string) {
	if !t.set {
		return
	}
	switch {
	case nodePattern.MatchString(t.s) || slices.Contains(reserved, t.s):
		c.at(t.at, "the id %s is reserved: b1, c1 and so on are nodes, and %s have meanings of their own", t.s, strings.Join(reserved, ", "))
	case kind != "topic" && !idPattern.MatchString(t.s):
		c.at(t.at, "an id begins with a letter and has letters, digits, hyphens and underscores, not %q", t.s)
	case c.ids[t.s] != "":
		c.at(t.at, "the id %s is taken by a %s; ids of topics, producers, groups and members share one namespace", t.s, c.ids[t.s])
	default:
		c.ids[t.s] = kind
	}
}

func (c *checker) topic(f *topicFile) {
	t := cluster.Topic{Name: f.Name.s, Partitions: int(f.Partitions.n), Replication: int(f.Replication.n)}
	if f.Name.set && (!topicPattern.MatchString(f.Name.s) || f.Name.s == "." || f.Name.s == "..") {
		c.at(f.Name.at, "a topic's name has letters, digits, '.', '_' and '-', not %q", f.Name.s)
	}
	c.claim(f.Name, "topic")
	c.positive(f.Partitions, "partitions", 1, maxPartitions)
	if f.Replication.set && (f.Replication.n < 1 || f.Replication.n > int64(c.sc.Brokers)) {
		c.at(f.Replication.at, "replication is %d with %d brokers; it is from 1 to the number of brokers", f.Replication.n, c.sc.Brokers)
	}
	c.replicas(f, &t)
	t.Config = c.config("topic", f.Config)
	t.At = when(f.At)
	if f.Preload.Records.set {
		c.positive(f.Preload.Records, "records", 1, maxPreload)
		c.positive(f.Preload.From, "from", 0, maxNumber)
		if f.At.set {
			c.at(f.Preload.at, "a topic that is created later cannot be preloaded")
		}
		t.Preload = cluster.Preload{Records: int(f.Preload.Records.n), From: f.Preload.From.n, Keys: f.Preload.Keys.strings()}
	}
	c.sc.Topics = append(c.sc.Topics, t)
	c.topics = append(c.topics, t.Name)
	c.addParts(t.Name, query.Partitions(&cluster.Scenario{Topics: []cluster.Topic{t}}, t.Name))
}

// addParts names the partitions that a topic has at some time of the run.
func (c *checker) addParts(topic string, n int) {
	for _, part := range partNames(topic, min(n, maxPartitions)) {
		if !slices.Contains(c.parts, part) {
			c.parts = append(c.parts, part)
		}
	}
}

func partNames(topic string, n int) (ps []string) {
	for i := range n {
		ps = append(ps, topic+"-"+strconv.Itoa(i))
	}
	return ps
}

// fromStart says whether a partition exists when the run begins.
func (c *checker) fromStart(part string) bool {
	topic := query.TopicOf(part)
	i := slices.IndexFunc(c.sc.Topics, func(t cluster.Topic) bool { return t.Name == topic })
	return i >= 0 && c.sc.Topics[i].At == nil && !c.sc.Topics[i].Later && slices.Contains(partNames(topic, query.Partitions(&c.sc, topic)), part)
}

// mostParts is how many partitions a topic comes to have.
func (c *checker) mostParts(topic string) int {
	n := query.Partitions(&c.sc, topic)
	for slices.Contains(c.parts, topic+"-"+strconv.Itoa(n)) {
		n++
	}
	return n
}

func when(d duration) *journal.Time {
	if !d.set {
		return nil
	}
	t := d.t
	return &t
}

func (t texts) strings() []string {
	var ss []string
	for _, x := range t.list {
		ss = append(ss, x.s)
	}
	return ss
}

func (c *checker) replicas(f *topicFile, t *cluster.Topic) {
	if len(f.Replicas) > maxPartitions {
		c.at(f.Name.at, "%s has %d partitions; a topic has at most %d", f.Name.s, len(f.Replicas), maxPartitions)
		return
	}
	for _, rs := range f.Replicas {
		var ids []int
		for _, r := range rs {
			switch {
			case r.n < 1 || r.n > int64(c.sc.Brokers):
				c.at(r.at, "there is no broker %d; brokers are 1 to %d", r.n, c.sc.Brokers)
			case slices.Contains(ids, int(r.n)):
				c.at(r.at, "broker %d is listed twice for one partition", r.n)
			}
			ids = append(ids, int(r.n))
		}
		if len(ids) == 0 || len(ids) != len(f.Replicas[0]) {
			p := f.Name.at
			if len(rs) > 0 {
				p = rs[0].at
			}
			c.at(p, "every partition of %s needs equally many replicas", f.Name.s)
		}
		t.Replicas = append(t.Replicas, ids)
	}
	if n := len(f.Replicas); n > 0 {
		if f.Partitions.set && f.Partitions.n != int64(n) {
			c.at(f.Partitions.at, "partitions is %d, but replicas lists %d; leave partitions out", f.Partitions.n, n)
		}
		if f.Replication.set && int(f.Replication.n) != len(f.Replicas[0]) {
			c.at(f.Replication.at, "replication is %d, but replicas lists %d a partition; leave replication out", f.Replication.n, len(f.Replicas[0]))
		}
	}
}

func (c *checker) clients() {
	for i := range c.f.Producers {
		p := &c.f.Producers[i]
		c.claim(p.ID, "producer")
		cfg := c.config("producer", p.Config)
		if err := kafka.CheckProducer(kafka.NewConfig("producer", cfg)); err != nil {
			c.at(p.ID.at, "KafkaProducer refuses these settings: %v", err)
		}
		c.producers = append(c.producers, p.ID.s)
		c.sc.Producers = append(c.sc.Producers, cluster.Producer{ID: p.ID.s, Config: cfg, At: when(p.At)})
	}
	for i := range c.f.Groups {
		c.group(&c.f.Groups[i])
	}
	if n := len(c.producers) + len(c.members); n > maxClients {
		c.at(pos{}, "there are %d producers and members; a scenario has at most %d", n, maxClients)
	}
}

var commits = []string{"auto", "after", "before", "none"}

func (c *checker) group(f *groupFile) {
	c.claim(f.ID, "group")
	c.groups = append(c.groups, f.ID.s)
	for _, t := range f.Topics.list {
		c.known(t, "topic", c.topics)
	}
	c.known(f.Commit, "value of commit", commits)
	g := cluster.Group{ID: f.ID.s, Topics: f.Topics.strings(), Config: c.config("consumer", f.Config)}
	if c.habits == nil {
		c.habits = map[string]cluster.Member{}
	}
	c.habits[g.ID] = cluster.Member{Absent: true, Poll: f.Poll.t, Work: f.Work.t, Commit: firstText(f.Commit, f.Commit)}
	for i := range f.Members {
		m := &f.Members[i]
		c.claim(m.ID, "member")
		c.members = append(c.members, m.ID.s)
		c.known(m.Commit, "value of commit", commits)
		for _, p := range m.Assign.list {
			if c.part(p); !m.At.set && !c.fromStart(p.s) && slices.Contains(c.parts, p.s) {
				c.at(p.at, "%s is there from the start and %s comes later; give the member a time, at", m.ID.s, p.s)
			}
		}
		if len(m.Assign.list) == 0 && len(f.Topics.list) == 0 {
			c.at(m.ID.at, "%s has nothing to read: give its group topics, or partitions by assign", m.ID.s)
		}
		g.Members = append(g.Members, cluster.Member{ID: m.ID.s, At: when(m.At), Config: c.config("consumer", m.Config), Assign: m.Assign.strings(),
			Poll: first(m.Poll, f.Poll), Work: first(m.Work, f.Work), Commit: firstText(m.Commit, f.Commit)})
	}
	c.sc.Groups = append(c.sc.Groups, g)
}

func first(a, b duration) journal.Time {
	if a.set {
		return a.t
	}
	return b.t
}

func firstText(a, b text) string {
	if a.set {
		return a.s
	}
	return b.s
}

// part checks the name of a partition.
func (c *checker) part(t text) {
	if !t.set || slices.Contains(c.parts, t.s) || c.partOK(t.s) {
		return
	}
	topic := query.TopicOf(t.s)
	if n := c.mostParts(topic); n > 0 && topic != t.s {
		c.at(t.at, "there is no partition %s: %s has %d, from %s-0 to %s-%d", t.s, topic, n, topic, topic, n-1)
		return
	}
	c.unknown(t.at, "partition", t.s, c.parts, "in this scenario")
}

// partOK says whether a partition exists, also of the internal topics.
func (c *checker) partOK(name string) bool {
	topic := query.TopicOf(name)
	if topic == query.OffsetsTopic && len(c.f.Groups) == 0 || topic == name {
		return false
	}
	sc := c.sc
	if topic == query.OffsetsTopic && len(sc.Groups) == 0 {
		sc.Groups = make([]cluster.Group, 1) // the groups are still being read
	}
	i, err := strconv.Atoi(name[len(topic)+1:])
	return err == nil && i >= 0 && i < query.Partitions(&sc, topic)
}

func (c *checker) everyone() []string {
	return slices.Concat(c.nodes, c.producers, c.members, []string{"admin"})
}

// given lists the fields that an entry sets, with their places.
func given(v reflect.Value) map[string]pos {
	m := map[string]pos{}
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		x := v.Field(i)
		if tag == "" || x.IsZero() {
			continue
		}
		p := pos{}
		if x.Kind() == reflect.Struct {
			if a := x.FieldByName("at"); a.IsValid() {
				p = pos{int(a.Field(0).Int()), int(a.Field(1).Int())}
			}
		}
		m[tag] = p
	}
	return m
}

func (c *checker) action(f *actionFile) {
	a := cluster.Action{After: f.After.t, Do: f.Do.s, Line: f.at.line}
	switch {
	case f.At.set && f.On != nil:
		c.at(f.at, "an action has at or on, not both")
	case !f.At.set && f.On == nil:
		c.at(f.at, "an action needs at (a time) or on (an event)")
	case f.After.set && f.On == nil:
		c.at(f.After.at, "after belongs to on; with a time, add it to at")
	}
	a.At, a.On = f.At.t, c.anchor(f.On)
	if c.f.End.set && f.At.set && f.At.t > c.f.End.t {
		c.at(f.At.at, "the run ends at %s, before this action", c.f.End.t)
	}
	if !f.Do.set {
		return
	}
	allowed, ok := actions[f.Do.s]
	if !ok {
		if slices.Contains(planned, f.Do.s) {
			c.at(f.Do.at, "the action %s cannot be simulated yet", f.Do.s)
		} else {
			c.unknown(f.Do.at, "action", f.Do.s, append(sortedKeys(actions), planned...), "here")
		}
		return
	}
	has := given(reflect.ValueOf(*f))
	for _, k := range sortedKeys(has) {
		if !slices.Contains(allowed, k) && !slices.Contains([]string{"at", "on", "after", "do"}, k) {
			p := has[k]
			if p.line == 0 {
				p = f.at
			}
			c.at(p, "%s has no %s; it takes %s", f.Do.s, k, strings.Join(allowed, ", "))
		}
	}
	c.fill(f, &a, has)
	c.sc.Actions = append(c.sc.Actions, a)
}

func (c *checker) need(f *actionFile, has map[string]pos, keys ...string) {
	for _, k := range keys {
		if _, ok := has[k]; !ok {
			c.at(f.Do.at, "%s needs %s", f.Do.s, k)
		}
	}
}

func (c *checker) fill(f *actionFile, a *cluster.Action, has map[string]pos) {
	switch f.Do.s {
	case "produce":
		c.need(f, has, "by", "topic")
		c.produce(f, a)
	case "crash", "vanish", "start", "stop":
		c.need(f, has, "node")
		c.known(f.Node, "node", c.nodes)
		if f.Unflushed.set && f.Unflushed.s != "lost" {
			c.at(f.Unflushed.at, "unflushed is lost or left out, not %q", f.Unflushed.s)
		}
		a.Node, a.Unflushed = f.Node.s, f.Unflushed.s
	case "pause", "resume":
		c.need(f, has, "node")
		c.known(f.Node, "node", c.everyone())
		a.Node = f.Node.s
	case "cut", "connect", "reset", "slow":
		c.link(f, a, has)
	case "kill":
		c.need(f, has, "member")
		c.known(f.Member, "member or producer", slices.Concat(c.members, c.producers))
		a.Node = f.Member.s
	case "commit", "seek":
		c.need(f, has, "member")
		c.known(f.Member, "member", c.members)
		a.By = f.Member.s
		c.offsets(f, a, has)
	case "join":
		c.need(f, has, "member")
		c.join(f, a)
	case "leave", "stall", "pause-partitions", "resume-partitions", "subscribe", "assign":
		c.need(f, has, actions[f.Do.s]...)
		c.known(f.Member, "member", c.members)
		for _, p := range f.Parts.list {
			c.part(p)
		}
		for _, t := range f.Topics.list {
			c.known(t, "topic", c.topics)
		}
		a.By, a.For, a.Parts, a.Topics = f.Member.s, f.For.t, f.Parts.strings(), f.Topics.strings()
	case "create-topic", "add-partitions", "reassign", "elect", "config":
		c.admin(f, a, has)
	}
}

// join brings a member back, or a new one into a group.
func (c *checker) join(f *actionFile, a *cluster.Action) {
	a.By, a.Config = f.Member.s, c.config("consumer", f.Config)
	i := slices.IndexFunc(c.sc.Groups, func(g cluster.Group) bool { return g.ID == f.Group.s })
	if f.Group.set {
		c.known(f.Group, "group", c.groups)
	}
	switch {
	case !f.Member.set, slices.Contains(c.members, f.Member.s):
	case !f.Group.set:
		c.at(f.Member.at, "%s is no member yet: name its group", f.Member.s)
	case i >= 0:
		c.claim(f.Member, "member")
		c.members = append(c.members, f.Member.s)
		m := c.habits[f.Group.s]
		m.ID = f.Member.s
		c.sc.Groups[i].Members = append(c.sc.Groups[i].Members, m)
	}
}

func (c *checker) produce(f *actionFile, a *cluster.Action) {
	c.known(f.By, "producer", c.producers)
	c.known(f.Topic, "topic", c.topics)
	c.positive(f.Count, "count", 1, maxRecords)
	if n := c.mostParts(f.Topic.s); f.Partition.set && n > 0 && (f.Partition.n < 0 || f.Partition.n >= int64(n)) {
		c.at(f.Partition.at, "%s has no partition %d; they are 0 to %d", f.Topic.s, f.Partition.n, n-1)
	}
	if f.Each.set && f.Each.s != "acked" && f.Each.s != "at once" {
		c.at(f.Each.at, "each is acked or at once, not %q", f.Each.s)
	}
	if f.Key.set && f.Keys.at.line > 0 {
		c.at(f.Keys.at, "key and keys exclude each other")
	}
	if f.Value.set && f.Values.set {
		c.at(f.Values.at, "value and values exclude each other")
	}
	a.By, a.Topic, a.Value, a.Values = f.By.s, f.Topic.s, f.Value.s, f.Values.strings()
	a.Count, a.Every, a.Each = int(f.Count.n), f.Every.t, f.Each.s
	if f.Key.set {
		key := f.Key.s
		a.Key = &key
	}
	if f.Partition.set {
		p := int(f.Partition.n)
		a.Partition = &p
	}
	a.Keys = texts{list: f.Keys.list}.strings()
	if z := f.Keys.zipf; z != nil {
		if z.Zipf.set && (z.Zipf.n < 1 || z.Zipf.n > 500) {
			c.at(z.Zipf.at, "zipf is an exponent from 0.01 to 5")
		}
		c.positive(z.Of, "of", 1, 10_000)
		a.Zipf = &cluster.Zipf{S: z.Zipf.n, Of: int(z.Of.n), Prefix: z.Prefix.s}
	}
}

func (c *checker) link(f *actionFile, a *cluster.Action, has map[string]pos) {
	for _, t := range slices.Concat(f.From.list, f.To.list) {
		c.known(t, "node or client", c.everyone())
	}
	_, from := has["from"]
	_, to := has["to"]
	switch {
	case f.Do.s == "slow" && f.Node.set:
		if c.known(f.Node, "node", c.nodes); strings.HasPrefix(f.Node.s, "c") {
			c.at(f.Node.at, "the disk of a broker can be slow; that of a controller cannot in this simulation")
		}
		c.need(f, has, "disk")
		if from || to {
			c.at(f.Node.at, "slow has node and disk, or from and to")
		}
	case f.Do.s == "connect" && !from && !to: // heals all
	default:
		c.need(f, has, "from", "to")
	}
	a.Node, a.From, a.To, a.Both = f.Node.s, f.From.strings(), f.To.strings(), f.Both.b
	a.Slow = cluster.Slow{Latency: f.Latency.t, Jitter: f.Jitter.n, Loss: f.Loss.n, Bandwidth: f.Bandwidth.n, Disk: f.Disk.t}
}

func (c *checker) offsets(f *actionFile, a *cluster.Action, has map[string]pos) {
	put := func(part text, n number) {
		c.part(part)
		c.positive(n, "offset", 0, maxNumber)
		if f.Do.s == "commit" {
			if a.Offsets == nil {
				a.Offsets = map[string]int64{}
			}
			a.Offsets[part.s] = n.n
		}
	}
	for _, o := range f.Offsets.list {
		put(o.part, o.offset)
	}
	if len(f.Offsets.list) > 0 {
		if f.Part.set {
			c.at(f.Part.at, "commit has part and offset, or offsets")
		}
		return
	}
	if f.Do.s == "commit" && !f.Part.set && !f.Offset.set {
		return // its positions
	}
	c.need(f, has, "part", "offset")
	if f.Part.set {
		put(f.Part, f.Offset)
		if f.Do.s == "seek" {
			a.Parts, a.Offset = []string{f.Part.s}, f.Offset.n
		}
	}
}

func (c *checker) anchor(f *anchor) *cluster.Anchor {
	if f == nil {
		return nil
	}
	a := &cluster.Anchor{Kind: journal.Kind(f.kind.s), API: f.api.s, Node: f.node.s, Part: f.part.s, Group: f.group.s, From: f.from.s, To: f.to.s, Nth: int(f.nth.n)}
	if !f.kind.set && !f.api.set && !f.node.set && !f.part.set && !f.group.set && !f.from.set && !f.to.set && len(f.f) == 0 {
		c.at(f.at, "an anchor that matches every event; name at least its kind")
	}
	for _, t := range []text{f.node, f.from, f.to} {
		c.known(t, "node or client", c.everyone())
	}
	c.known(f.group, "group", c.groups)
	c.part(f.part)
	for _, x := range f.f {
		if a.F == nil {
			a.F = map[string]string{}
		}
		a.F[x.key.s] = x.val.s
	}
	return a
}

// story reads chapters and expectations; the run has to reach their times.
func (c *checker) story(s *Scenario) {
	seen := map[string]bool{}
	for i := range c.f.Chapters {
		f := &c.f.Chapters[i]
		if f.ID.set && !fileID.MatchString(f.ID.s) {
			c.at(f.ID.at, "a chapter's id is lower case letters, digits and hyphens, not %q", f.ID.s)
		}
		if seen[f.ID.s] && f.ID.set {
			c.at(f.ID.at, "two chapters have the id %s", f.ID.s)
		}
		seen[f.ID.s] = true
		s.Chapters = append(s.Chapters, c.chapter(f))
	}
	for i := range c.f.Expect {
		s.Expect = append(s.Expect, c.expect(&c.f.Expect[i]))
	}
}

func (c *checker) chapter(f *chapterFile) Chapter {
	ch := Chapter{ID: f.ID.s, Title: c.template(f.Title), Say: c.template(f.Say), At: f.At.t, On: c.anchor(f.On)}
	switch {
	case f.On != nil && f.At.set:
		c.at(f.at, "a chapter has on or at, not both")
	case f.On == nil && !f.At.set:
		c.at(f.at, "a chapter needs on (an event) or at (a time)")
	case f.At.set:
		c.sc.Horizon = append(c.sc.Horizon, f.At.t)
	}
	if f.Nth.set {
		switch {
		case f.On == nil:
			c.at(f.Nth.at, "nth belongs to on")
		case f.On.nth.set:
			c.at(f.Nth.at, "nth is given twice, also inside on")
		case c.positive(f.Nth, "nth", 1, maxNumber):
			ch.On.Nth = int(f.Nth.n)
		}
	}
	for _, t := range f.Focus.list {
		if !slices.Contains(c.parts, t.s) && !c.partOK(t.s) {
			c.known(t, "partition, node, client or group", slices.Concat(c.nodes, c.producers, c.members, c.groups, c.topics, c.parts))
		}
		ch.Focus = append(ch.Focus, t.s)
	}
	if f.When.set {
		ch.When = c.expr(f.When, f.When.s, 0, expr.AsBool())
	}
	if a := f.Ask; a != nil {
		ch.Ask = &Ask{Question: c.template(a.Question), Because: c.template(a.Because), At: c.moment(a.At)}
		if a.Answer.set {
			ch.Ask.Answer = c.expr(a.Answer, a.Answer.s, 0)
		}
		if n := len(a.Options.list); a.Options.set && (n < 2 || n > 6) {
			c.at(a.Options.at, "a question has 2 to 6 options, not %d", n)
		}
		for _, o := range a.Options.list {
			ch.Ask.Options = append(ch.Ask.Options, c.template(o))
		}
	}
	ch.Told = c.told(f)
	return ch
}

func (c *checker) moment(f moment) Moment {
	m := Moment{End: f.end || !f.set, At: f.t, On: c.anchor(f.anchor)}
	if f.set && !f.end && f.anchor == nil {
		c.sc.Horizon = append(c.sc.Horizon, f.t)
	}
	return m
}

func (c *checker) expect(f *expectFile) Expect {
	e := Expect{At: c.moment(f.At), Say: c.template(f.Say), Shipped: f.Shipped.b, Line: f.That.at.line}
	if f.That.set {
		e.That = c.expr(f.That, f.That.s, 0, expr.AsBool())
	}
	return e
}

func (c *checker) stage(s *Scenario) {
	for _, t := range c.f.Stage.Rows.list {
		if !slices.Contains(c.topics, t.s) && t.s != query.OffsetsTopic {
			c.part(t)
		}
	}
	c.positive(c.f.Stage.Cells, "cells", 3, 40)
	s.Stage = Stage{Rows: c.f.Stage.Rows.strings(), Cells: int(c.f.Stage.Cells.n)}
}

func (c *checker) variants(s *Scenario) {
	sound := len(c.ps) == 0 // overrides are read against a sound scenario
	for i := range c.f.Variants {
		f := &c.f.Variants[i]
		v := Variant{Set: f.Set.strings()}
		if f.Say.set {
			v.Say = c.template(f.Say)
		}
		for k := range f.Expect {
			v.Expect = append(v.Expect, c.expect(&f.Expect[k]))
		}
		s.Variants = append(s.Variants, v)
		if len(f.Set.list) == 0 {
			c.at(f.at, "a variant sets something")
		}
		if !sound {
			continue
		}
		for _, x := range f.Set.list {
			if _, err := Apply(s, map[string]string{x.key.s: x.val.s}); err != nil {
				c.at(x.key.at, "%v", err)
			}
		}
	}
	// Moments of variants may have moved the horizon.
	s.Cluster.Horizon = c.sc.Horizon
}

// template compiles a text with {{expressions}}.
func (c *checker) template(t text) *Template {
	tpl := &Template{Source: t.s}
	pieces, offsets, err := split(t.s)
	if err != nil {
		c.at(c.locate(t, t.s, offsets[0]), "%v", err)
		return tpl
	}
	for i, p := range pieces {
		if i%2 == 0 {
			if p != "" {
				tpl.parts = append(tpl.parts, part{text: p})
			}
			continue
		}
		if e := c.expr(t, p, offsets[i]); e != nil {
			tpl.parts = append(tpl.parts, part{expr: e})
		}
	}
	return tpl
}

// expr compiles an expression that begins at a byte offset of a scalar.
func (c *checker) expr(t text, src string, offset int, opts ...expr.Option) *Expr {
	e, err := compile(src, opts...)
	if err != nil {
		msg, from := place(err)
		c.at(c.locate(t, t.s, offset+byteOffset(src, from)), "%s", msg)
		return nil
	}
	node := e.prog.Node()
	ast.Walk(&node, visitor(func(n ast.Node) {
		call, ok := n.(*ast.CallNode)
		if !ok {
			return
		}
		c.arguments(call, func(n ast.Node) pos {
			return c.locate(t, t.s, offset+byteOffset(src, n.Location().From))
		})
	}))
	return e
}

type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

func byteOffset(s string, runes int) int {
	for i := range s {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(s)
}

// locate finds where a byte of a scalar's value stands in the file. Quotes,
// folded lines and escapes move it, so the word there is looked for from the
// beginning of the scalar on; where that fails the scalar's own place is given.
func (c *checker) locate(t text, s string, offset int) pos {
	offset = min(offset, len(s))
	// The longest run of the value around the byte that stands on one line.
	from := strings.LastIndexAny(s[:offset], "\n") + 1
	to := len(s)
	if i := strings.IndexByte(s[offset:], '\n'); i >= 0 {
		to = offset + i
	}
	for width := to - from; width > 0; width /= 2 {
		a, b := max(from, offset-width), min(to, offset+width)
		for line := t.at.line; line <= len(c.lines) && line < t.at.line+60; line++ {
			text := c.lines[line-1]
			skip := 0
			if line == t.at.line {
				skip = byteOffset(text, t.at.col-1)
			}
			if i := strings.Index(text[skip:], s[a:b]); i >= 0 {
				return pos{line, len([]rune(text[:skip+i+offset-a])) + 1}
			}
		}
	}
	return t.at
}

// argument kinds of the functions whose words can be checked at load.
var argumentKinds = map[string]string{
	"leader": "p", "epoch": "p", "partitionEpoch": "p", "isr": "p", "elr": "p", "hw": "np", "leo": "np", "lso": "p", "log": "np",
	"committed": "gp", "position": "mp", "lag": "gp", "owner": "gp", "assignment": "g", "groupState": "g", "groupLeader": "g", "generation": "g",
	"memberEpoch": "m", "readable": "p", "errors": "x", "count": "k", "first": "k", "last": "k", "fenced": "n", "coordinator": "g", "config": "wc",
	"partitions": "t", "partition": "t", "copies": "-p", "headroom": "p", "minIsr": "p", "longest": "x", "offline": "p", "leaderAt": "p",
	"recovering": "p", "gone": "np", "feature": "f", "twice": "g", "never": "g", "revoked": "g", "moved": "g", "paused": "g", "gap": "gp", "work": "g",
	"ordered": "xp", "logStart": "p",
}

// arguments checks the words in a call against what the scenario declares.
func (c *checker) arguments(call *ast.CallNode, where func(ast.Node) pos) {
	id, ok := call.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	for i, kind := range argumentKinds[id.Value] {
		if i >= len(call.Arguments) {
			return
		}
		s, ok := call.Arguments[i].(*ast.StringNode)
		if !ok {
			continue
		}
		t := text{s.Value, where(s), true}
		switch kind {
		case 'p':
			c.part(t)
		case 'n':
			c.known(t, "node", c.nodes)
		case 'g':
			c.known(t, "group", c.groups)
		case 'm':
			c.known(t, "member", c.members)
		case 'x':
			c.known(t, "node or client", c.everyone())
		case 't':
			if t.s != query.OffsetsTopic {
				c.known(t, "topic", c.topics)
			}
		case 'k':
			if !kindKnown(t.s) {
				c.unknown(t.at, "kind of event", t.s, kinds, "")
			}
		case 'f':
			c.known(t, "feature", features)
		case 'w':
			c.known(t, "node, topic or client", slices.Concat(c.nodes, c.producers, c.members, c.groups, c.topics))
		case 'c':
			c.configKey(call, t)
		}
	}
}

func (c *checker) configKey(call *ast.CallNode, key text) {
	who, ok := call.Arguments[0].(*ast.StringNode)
	if !ok {
		return
	}
	if _, _, ok := query.Config(&c.sc, who.Value, key.s); ok {
		return
	}
	for _, scope := range []string{"producer", "consumer", "broker", "topic"} {
		if _, ok := kafka.LookupConfig(scope, key.s); ok {
			c.at(key.at, "%s is a %s setting, which %s has not", key.s, scope, who.Value)
			return
		}
	}
	c.at(key.at, "unknown setting %s", key.s)
}
