package scenarios

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
)

const tiny = `
id: tiny
title: Tiny
cluster: {brokers: 2, controllers: 1}
topics: [{name: t, partitions: 1}]
producers: [{id: p, config: {linger.ms: 7}}]
chapters:
  - {id: a, title: "At {{hw('b1', 't-0')}}", on: {kind: hw.advance, f.to: 1}, say: "Broker {{leader('t-0')}} of {{isr('t-0')}}, {{waited(rec('v')) * 1000}} ms."}
  - {id: hidden, title: x, on: boot, say: x, when: "config('p', 'linger.ms') > 7"}
  - {id: b, title: x, on: hw.advance, say: "{{ {'a': {'b': '}}'}}.a.b }}", ask: {question: q, options: ["{{leader('t-0')}}", none], answer: "leader('t-0') == 'b1' ? 0 : 1", at: 1ms, because: "{{last('hw.advance').to}}"}}
  - {id: never, title: x, on: node.crash, say: x}
expect:
  - {that: "first('node.crash').t < 5 || first('node.crash').t > 5", say: never true of what never came}
  - {at: 2ms, that: "hw('b1', 't-0') == 1", say: "HW was {{hw('b1', 't-0')}}."}
  - {at: hw.advance, that: "count('hw.advance') == 1", say: one}
  - {at: node.crash, that: "true", say: its moment never comes}
  - {that: "first('hw.advance').f.nothing > 1", say: an error at run time}
  - {that: "false", say: of the shipped settings, shipped: true}
variants:
  - {set: {seed: 3}, expect: [{that: "false", say: of the variant}]}
`

func tinyRun(t *testing.T) *Run {
	sc, ps := Load("tiny.yaml", []byte(tiny))
	require.NoError(t, ps.Err())
	ev := func(n int, t journal.Time, k journal.Kind, f journal.Fields, ch ...journal.Change) journal.Event {
		return journal.Event{N: n, T: t, Kind: k, F: f, Ch: ch}
	}
	j := &journal.Journal{Records: []journal.Record{{ID: "r1", Topic: "t", Value: "v"}}, Events: []journal.Event{
		ev(1, 0, journal.Boot, nil, journal.Change{Key: "meta/t-0/leader", Val: "b1"}, journal.Change{Key: "meta/t-0/isr", Val: []int{1, 2}}),
		ev(2, 1000, journal.ProducerPartition, journal.F("record", "r1")),
		ev(3, 2000, journal.HWAdvance, journal.F("from", 0, "to", 1), journal.Change{Key: "b1/t-0/hw", Val: int64(1)}),
		ev(4, 3500, journal.HWAdvance, journal.F("from", 1, "to", 2), journal.Change{Key: "b1/t-0/hw", Val: int64(2)}),
		ev(5, 4500, journal.ProducerAcked, journal.F("records", []string{"r1"}, "baseOffset", int64(0))),
	}}
	return &Run{Scenario: sc, Journal: j}
}

func TestChaptersOfARun(t *testing.T) {
	chs := Chapters(tinyRun(t))
	require.Len(t, chs, 2)
	assert.Equal(t, ResolvedChapter{ID: "a", Title: "At 1", N: 3, Say: "Broker 1 of 1, 2, 3.5 ms."}, chs[0])
	assert.Equal(t, 4, chs[1].N, "counted after the chapter before")
	assert.Equal(t, "}}", chs[1].Say)
	assert.Equal(t, &ResolvedAsk{Question: "q", Options: []string{"1", "none"}, Answer: 0, Because: "2"}, chs[1].Ask)
}

func TestVerdict(t *testing.T) {
	r := tinyRun(t)
	v := Check(r)
	assert.False(t, v.OK)
	assert.False(t, v.Differs)
	var oks []bool
	for _, x := range v.Expect {
		oks = append(oks, x.OK)
		assert.Equal(t, x.OK, x.Why == "" && x.N > 0, x)
	}
	assert.Equal(t, []bool{false, true, true, false, false, false, false}, oks)
	assert.Equal(t, "HW was 1.", v.Expect[1].Say)
	assert.Equal(t, 3, v.Expect[1].N)
	assert.Contains(t, v.Expect[6].Say, "chapter never")
	sc, err := Apply(r.Scenario, map[string]string{"seed": "3"})
	require.NoError(t, err)
	r.Scenario = sc
	v = Check(r)
	assert.True(t, v.Differs)
	require.Len(t, v.Expect, 6, "nothing of the shipped settings alone, what the variant expects, and no chapters")
	assert.Equal(t, "of the variant", v.Expect[5].Say)
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{{"b2", "2"}, {"c1", "C1"}, {"none", "none"}, {"bx", "bx"}, {[]int{}, "none"}, {[]string{"b1", "x"}, "1, x"}, {nil, "none"}, {3, "3"}, {true, "true"},
		{3.14159, "3.14"}, {31.4159, "31.4"}, {314.159, "314"}, {0.0123, "0.012"}, {30.0, "30"}, {math.NaN(), "–"}} {
		assert.Equal(t, c.want, show(c.v))
	}
}

func TestTheClockIsOutOfReach(t *testing.T) {
	for _, src := range []string{"now()", "date('2020-01-01')", "1 +", "nothing", "leader()", "leader(1)"} {
		_, err := compile(src)
		assert.Error(t, err, src)
	}
	e, err := compile("map(1..1000000, #)")
	require.NoError(t, err)
	_, err = e.Eval(nil)
	assert.Error(t, err, "memory is bounded")
}
