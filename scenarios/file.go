package scenarios

import (
	"github.com/highwater-kafka/highwater/engine/journal"
)

// The types in this file are the YAML of a scenario. The JSON Schema is made
// from them, so every key has its one description here.

// text is a scalar with its place.
type text struct {
	s   string
	at  pos
	set bool
}

// duration is a Go duration.
type duration struct {
	t   journal.Time
	at  pos
	set bool
}

// moment is a duration, "end", or an anchor.
type moment struct {
	t      journal.Time
	end    bool
	anchor *anchor
	at     pos
	set    bool
}

// number is a whole number.
type number struct {
	n   int64
	at  pos
	set bool
}

// percent is "10%".
type percent struct {
	n   int
	at  pos
	set bool
}

// hundredths is a decimal number with at most two decimals.
type hundredths struct {
	n   int
	at  pos
	set bool
}

// texts is a list of scalars; one scalar stands for a list of one.
type texts struct {
	list []text
	at   pos
	set  bool
}

// settings maps keys to scalars, in the order of the file.
type settings struct {
	list []setting
	at   pos
}

type setting struct {
	key text
	val text
}

func (s settings) strings() map[string]string {
	if len(s.list) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, x := range s.list {
		m[x.key.s] = x.val.s
	}
	return m
}

// nodeSettings maps nodes to settings, in the order of the file.
type nodeSettings struct {
	list []nodeSetting
}

type nodeSetting struct {
	node text
	set  settings
}

// anchor is a map that matches events, or the kind alone.
type anchor struct {
	kind, api, node, part, group, from, to text
	f                                      []setting
	nth                                    number
	at                                     pos
}

type file struct {
	ID        text          `json:"id" jsonschema:"Name in links and on the command line; lower case letters, digits and hyphens."`
	Title     text          `json:"title" jsonschema:"Shown in the menu and above the stage."`
	Summary   text          `json:"summary,omitzero" jsonschema:"One sentence for the menu."`
	Lesson    number        `json:"lesson,omitzero" jsonschema:"Place among the first lessons, which head the menu."`
	Track     text          `json:"track,omitzero" jsonschema:"Section of the menu: Write path, Replication, Failure, Groups, Keys, Offsets, or a name of your own."`
	Level     text          `json:"level,omitzero" jsonschema:"For whom: beginner, practitioner or expert."`
	Explain   texts         `json:"explain,omitzero" jsonschema:"What people will be able to explain afterwards, a few words each."`
	Still     text          `json:"still,omitzero" jsonschema:"Id of the chapter whose first moment is the picture in the menu; the middle one unless given."`
	Next      text          `json:"next,omitzero" jsonschema:"Id of the scenario to see after this one."`
	Seed      number        `json:"seed,omitzero" jsonschema:"Seed of all randomness, 1 unless given."`
	Start     text          `json:"start,omitzero" jsonschema:"formed (a resting cluster) or empty (the real boot)."`
	Cluster   clusterFile   `json:"cluster" jsonschema:"Brokers, controllers and their server.properties."`
	Model     modelFile     `json:"model,omitzero" jsonschema:"Physical constants of the simulated machines."`
	Topics    []topicFile   `json:"topics" jsonschema:"Topics; internal ones may be listed to pin their replicas."`
	Producers []prodFile    `json:"producers,omitempty" jsonschema:"Producing clients."`
	Groups    []groupFile   `json:"groups,omitempty" jsonschema:"Consumer groups and their members."`
	Actions   []actionFile  `json:"actions,omitempty" jsonschema:"What the outside world does."`
	Chapters  []chapterFile `json:"chapters,omitempty" jsonschema:"The story, anchored to what happens."`
	Expect    []expectFile  `json:"expect,omitempty" jsonschema:"What must be true, also under every variant."`
	Variants  []variantFile `json:"variants,omitempty" jsonschema:"Settings under which it is checked too."`
	Rest      []restFile    `json:"rest,omitempty" jsonschema:"Moments whose state a transcript prints."`
	End       duration      `json:"end,omitzero" jsonschema:"When the run stops."`
	Stage     stageFile     `json:"stage,omitzero" jsonschema:"What the stage shows."`
}

type clusterFile struct {
	Brokers     number       `json:"brokers" jsonschema:"Number of brokers, b1 and on."`
	Controllers number       `json:"controllers" jsonschema:"Number of controllers, c1 and on."`
	Config      settings     `json:"config,omitzero" jsonschema:"server.properties of all nodes."`
	Nodes       nodeSettings `json:"nodes,omitzero" jsonschema:"server.properties by node, over config."`
	Features    settings     `json:"features,omitzero" jsonschema:"Finalized feature levels that differ from Kafka 4.4's."`
}

type modelFile struct {
	NetBroker duration `json:"net.broker,omitzero" jsonschema:"One-way latency between nodes, 2ms unless given."`
	NetClient duration `json:"net.client,omitzero" jsonschema:"One-way latency between a client and a broker, 3ms unless given."`
	Jitter    percent  `json:"net.jitter,omitzero" jsonschema:"Random part of the latency, 10% unless given."`
	Append    duration `json:"append,omitzero" jsonschema:"A batch written to a log, 50us unless given."`
	Handle    duration `json:"handle,omitzero" jsonschema:"A request handled, 100us unless given."`
	Apply     duration `json:"apply,omitzero" jsonschema:"A metadata delta published on a broker, 1ms unless given."`
	Boot      duration `json:"boot,omitzero" jsonschema:"From process start to BrokerRegistration, 1500ms unless given."`
}

type topicFile struct {
	Name        text        `json:"name"`
	Partitions  number      `json:"partitions,omitzero" jsonschema:"As many as replicas lists, or 1, unless given."`
	Replication number      `json:"replication,omitzero" jsonschema:"3, or all brokers where there are fewer, unless given."`
	Replicas    [][]number  `json:"replicas,omitempty" jsonschema:"Broker ids, one list a partition; the first is the preferred leader."`
	Config      settings    `json:"config,omitzero" jsonschema:"Topic settings by Kafka's names."`
	At          duration    `json:"at,omitzero" jsonschema:"Created then, by the admin client."`
	Preload     preloadFile `json:"preload,omitzero" jsonschema:"What every partition holds at the start."`
}

type preloadFile struct {
	Records number `json:"records" jsonschema:"In each partition."`
	From    number `json:"from,omitzero" jsonschema:"Offset of the first."`
	Keys    texts  `json:"keys,omitzero" jsonschema:"Keys in turn."`
	at      pos
}

type prodFile struct {
	ID     text     `json:"id"`
	Config settings `json:"config,omitzero" jsonschema:"Producer settings by Kafka's names."`
	At     duration `json:"at,omitzero" jsonschema:"Comes then, with its real first requests."`
}

type groupFile struct {
	ID      text         `json:"id"`
	Topics  texts        `json:"topics,omitzero" jsonschema:"What the members subscribe to."`
	Config  settings     `json:"config,omitzero" jsonschema:"Consumer settings of all members."`
	Poll    duration     `json:"poll,omitzero" jsonschema:"Pause between two polls of a member."`
	Work    duration     `json:"work,omitzero" jsonschema:"Processing time a record."`
	Commit  text         `json:"commit,omitzero" jsonschema:"auto, after, before or none."`
	Members []memberFile `json:"members" jsonschema:"Ids, or maps; the first is the group leader."`
	at      pos
}

type memberFile struct {
	ID     text     `json:"id"`
	At     duration `json:"at,omitzero" jsonschema:"Joins then."`
	Config settings `json:"config,omitzero" jsonschema:"Consumer settings, over the group's."`
	Assign texts    `json:"assign,omitzero" jsonschema:"Partitions assigned by hand: no group protocol."`
	Poll   duration `json:"poll,omitzero" jsonschema:"Pause between two polls."`
	Work   duration `json:"work,omitzero" jsonschema:"Processing time a record."`
	Commit text     `json:"commit,omitzero" jsonschema:"auto, after, before or none."`
}

type actionFile struct {
	At        duration   `json:"at,omitzero" jsonschema:"Virtual time."`
	On        *anchor    `json:"on,omitempty" jsonschema:"Instead of at: when this happens."`
	After     duration   `json:"after,omitzero" jsonschema:"So much later than on."`
	Do        text       `json:"do" jsonschema:"What happens."`
	By        text       `json:"by,omitzero" jsonschema:"Producer."`
	Member    text       `json:"member,omitzero" jsonschema:"Member, or for kill also a producer."`
	Group     text       `json:"group,omitzero" jsonschema:"Of a member that joins and is not listed."`
	For       duration   `json:"for,omitzero" jsonschema:"How long a member stalls."`
	Topics    texts      `json:"topics,omitzero" jsonschema:"What a member subscribes to."`
	Node      text       `json:"node,omitzero" jsonschema:"Node."`
	Topic     text       `json:"topic,omitzero"`
	Key       text       `json:"key,omitzero"`
	Value     text       `json:"value,omitzero"`
	Partition number     `json:"partition,omitzero" jsonschema:"Instead of the partitioner's choice."`
	Count     number     `json:"count,omitzero" jsonschema:"Records of a workload."`
	Every     duration   `json:"every,omitzero" jsonschema:"Pause between two records."`
	Each      text       `json:"each,omitzero" jsonschema:"acked or at once."`
	Keys      keysFile   `json:"keys,omitzero" jsonschema:"Keys in turn, or a skewed draw."`
	Values    texts      `json:"values,omitzero" jsonschema:"Values in turn."`
	From      texts      `json:"from,omitzero" jsonschema:"Nodes or clients that open the connections."`
	To        target     `json:"to,omitzero" jsonschema:"Nodes that they open them to; for add-partitions how many there should be in all; for reassign the brokers by partition, or cancel."`
	Both      boolean    `json:"both,omitzero" jsonschema:"Also the other way."`
	Unflushed text       `json:"unflushed,omitzero" jsonschema:"lost: a power cut."`
	Latency   duration   `json:"latency,omitzero"`
	Jitter    percent    `json:"jitter,omitzero"`
	Loss      percent    `json:"loss,omitzero" jsonschema:"Share of packets that are sent again after 200ms."`
	Bandwidth number     `json:"bandwidth,omitzero" jsonschema:"Bytes a second."`
	Disk      duration   `json:"disk,omitzero" jsonschema:"Added to every append of node."`
	Part      text       `json:"part,omitzero"`
	Offset    number     `json:"offset,omitzero"`
	Offsets   offsetFile `json:"offsets,omitzero" jsonschema:"Offset by partition."`
	Broker    text       `json:"broker,omitzero" jsonschema:"Of config: a broker, or * for all."`
	Producer  text       `json:"producer,omitzero" jsonschema:"Of config: a producer."`

	Partitions  number     `json:"partitions,omitzero" jsonschema:"Of a new topic."`
	Replication number     `json:"replication,omitzero" jsonschema:"Of a new topic."`
	Replicas    [][]number `json:"replicas,omitempty" jsonschema:"Broker ids, one list a new partition."`
	Config      settings   `json:"config,omitzero" jsonschema:"Settings of a new topic."`
	Type        text       `json:"type,omitzero" jsonschema:"Of elect: preferred or unclean."`
	Parts       texts      `json:"parts,omitzero" jsonschema:"Partitions; of elect all unless given."`
	at          pos
}

// target is where an action leads: nodes, a number, or brokers by partition.
type target struct {
	texts
	moves []moveFile
}

type moveFile struct {
	part text
	to   texts
}

type boolean struct {
	b   bool
	set bool
}

type offsetFile struct {
	list []offsetEntry
}

type offsetEntry struct {
	part   text
	offset number
}

type keysFile struct {
	list []text
	zipf *zipfFile
	at   pos
}

type zipfFile struct {
	Zipf   hundredths `json:"zipf" jsonschema:"Exponent."`
	Of     number     `json:"of" jsonschema:"Number of keys."`
	Prefix text       `json:"prefix,omitzero"`
}

type chapterFile struct {
	ID    text     `json:"id"`
	Title text     `json:"title" jsonschema:"May hold {{expressions}}."`
	On    *anchor  `json:"on,omitempty" jsonschema:"What it hangs on, counted after the previous chapter."`
	Nth   number   `json:"nth,omitzero" jsonschema:"The nth such event after the previous chapter."`
	At    duration `json:"at,omitzero" jsonschema:"Instead of on: a virtual time."`
	Say   text     `json:"say" jsonschema:"May hold {{expressions}} about the state just after its event."`
	Focus texts    `json:"focus,omitzero" jsonschema:"Partitions, nodes and clients to look at."`
	Ask   *askFile `json:"ask,omitempty" jsonschema:"Predict, then reveal."`
	When  text     `json:"when,omitzero" jsonschema:"Expression over the settings: shown only if it is true."`
	Told  *retold  `json:"library,omitempty" jsonschema:"The same in library words; what is left out is translated word by word."`
	at    pos
}

// retold is a chapter in library words.
type retold struct {
	Title    text  `json:"title,omitzero" jsonschema:"May hold {{expressions}}."`
	Say      text  `json:"say,omitzero" jsonschema:"May hold {{expressions}}."`
	Question text  `json:"question,omitzero" jsonschema:"Of ask; may hold {{expressions}}."`
	Options  texts `json:"options,omitzero" jsonschema:"Of ask, as many and in the same order."`
	Because  text  `json:"because,omitzero" jsonschema:"Of ask; may hold {{expressions}}."`
	at       pos
}

type askFile struct {
	Question text   `json:"question" jsonschema:"May hold {{expressions}}."`
	Options  texts  `json:"options" jsonschema:"May hold {{expressions}}."`
	Answer   text   `json:"answer" jsonschema:"Expression: which option is right, from 0."`
	At       moment `json:"at,omitzero" jsonschema:"When the answer is read, the end unless given."`
	Because  text   `json:"because" jsonschema:"May hold {{expressions}}."`
}

type expectFile struct {
	At      moment  `json:"at,omitzero" jsonschema:"A time, end, or an anchor; the end unless given."`
	That    text    `json:"that" jsonschema:"Expression that must be true."`
	Say     text    `json:"say" jsonschema:"What it means, for people; may hold {{expressions}}."`
	Shipped boolean `json:"shipped,omitzero" jsonschema:"true: only in the shipped settings, not under variants."`
}

type variantFile struct {
	Set    settings     `json:"set" jsonschema:"Overrides."`
	Say    text         `json:"say,omitzero" jsonschema:"What changes, for people."`
	Expect []expectFile `json:"expect,omitempty" jsonschema:"What must be true besides."`
	at     pos
}

type restFile struct {
	At    duration `json:"at"`
	Label text     `json:"label"`
}

type stageFile struct {
	Rows  texts  `json:"rows,omitzero" jsonschema:"Topics and partitions, each with a row."`
	Cells number `json:"cells,omitzero" jsonschema:"Record cells a log window."`
}
