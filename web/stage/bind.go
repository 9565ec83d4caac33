package stage

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/highwater-kafka/highwater/engine/journal"
)

// Pen draws values of one moment into elements, together with the attributes by
// which the page's scripts will keep them up to date.
type Pen struct{ State State }

// Text is what a data-text element says.
func (p Pen) Text(key, prefix, suffix, none string) string {
	v := p.State.Get(key)
	if v == nil || v == "" {
		return none
	}
	return prefix + Text(v) + suffix
}

func textAttrs(key, prefix, suffix, none string) templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "data-text", Value: key}}
	for _, o := range [][2]string{{"data-prefix", prefix}, {"data-suffix", suffix}, {"data-none", none}} {
		if o[1] != "" {
			a = append(a, templ.KeyValue[string, any]{Key: o[0], Value: o[1]})
		}
	}
	return a
}

// Class is the class that a data-class element has, after its own.
func (p Pen) Class(own, key string) string {
	if v := Text(p.State.Get(key)); v != "" {
		return own + " is-" + strings.ReplaceAll(v, " ", "-")
	}
	return own
}

// When shows an element where a key has a value, Is where it has this one, and
// Unless where it has not.
func (p Pen) When(key string) templ.OrderedAttributes { return p.show(key, "", false) }

// Is shows an element where a key has this value.
func (p Pen) Is(key, v string) templ.OrderedAttributes { return p.show(key, v, false) }

// Unless shows an element where a key has another value or none.
func (p Pen) Unless(key, v string) templ.OrderedAttributes { return p.show(key, v, true) }

func (p Pen) show(key, is string, not bool) templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "data-show", Value: key}}
	if is != "" {
		a = append(a, templ.KeyValue[string, any]{Key: "data-is", Value: is})
	}
	if not {
		a = append(a, templ.KeyValue[string, any]{Key: "data-not", Value: "1"})
	}
	v := Text(p.State.Get(key))
	on := v != "" && v != "false"
	if is != "" {
		on = v == is
	}
	if on == not {
		a = append(a, templ.KeyValue[string, any]{Key: "display", Value: "none"})
	}
	return a
}

// Slot places an element at the slot that a key's value has in the window.
func (p Pen) Slot(key, part string, slots []int) templ.OrderedAttributes {
	base := baseKey(part)
	list := make([]string, len(slots))
	for i, x := range slots {
		list[i] = strconv.Itoa(x)
	}
	a := templ.OrderedAttributes{
		{Key: "data-slot", Value: key}, {Key: "data-base", Value: base}, {Key: "data-slots", Value: strings.Join(list, " ")},
	}
	v, ok := number(p.State.Get(key))
	i := v - p.base(part)
	if !ok || i < 0 || i >= int64(len(slots)) {
		return append(a, templ.KeyValue[string, any]{Key: "display", Value: "none"})
	}
	return append(a, templ.KeyValue[string, any]{Key: "transform", Value: "translate(" + strconv.Itoa(slots[i]) + " 0)"})
}

func baseKey(part string) string { return "v/" + part + "/base" }

func (p Pen) base(part string) int64 {
	b, _ := number(p.State.Get(baseKey(part)))
	return b
}

// Label is the accessible name of an element; it follows a derived key where the
// run has one, else it stays what Go says.
func (p Pen) Label(key, otherwise string) templ.OrderedAttributes {
	if v := Text(p.State.Get(key)); v != "" {
		return templ.OrderedAttributes{{Key: "aria-label", Value: v}, {Key: "data-label", Value: key}}
	}
	return templ.OrderedAttributes{{Key: "aria-label", Value: otherwise}}
}

// cell is one slot of a log window at one moment.
type cell struct {
	I, X, W            int
	Class, Tag, Offset string
	EpochClass         string
}

// cells reads the slots of a card's window out of the replica's log.
func (p Pen) cells(c Card) []cell {
	key := journal.ReplicaKey(c.Broker, c.Part, "")
	log := p.State.Log(key + "log")
	hw, knows := number(p.State.Get(key + "hw"))
	base := p.base(c.Part)
	cs := make([]cell, c.Cells)
	for i := range cs {
		cs[i] = cell{I: i, X: c.Slots[i] + 1, W: c.Pitch - 2, Class: "cell empty", EpochClass: "cell-epoch"}
		o := base + int64(i)
		if o < log.Start || o >= log.End() {
			continue
		}
		e := log.Entries[o-log.Start]
		class := "cell"
		if n := p.State.Producer(e.ID); n >= 0 {
			class = "cell p" + strconv.Itoa(n%6)
		}
		if knows && o >= hw {
			class += " above-hw"
		}
		for _, f := range e.Flags {
			class += " " + string(f)
		}
		cs[i].Class, cs[i].Tag, cs[i].Offset = class, e.ID, strconv.FormatInt(o, 10)
		cs[i].EpochClass = "cell-epoch e" + strconv.Itoa(int(e.Epoch)%3)
	}
	return cs
}
