package stage

import (
	"fmt"
	"slices"
	"strings"
)

// Box is a placed part of the stage.
type Box struct {
	ID         string
	X, Y, W, H int
	Title      string // the name as it fits
	Note       string // a line that no event changes
	Index      int
	Small      bool // one line of text where others have several
	Mid        bool // some of the lines
}

func (b Box) mid() int { return b.X + b.W/2 }

// Card is a replica: a partition on a broker.
type Card struct {
	Box
	Broker, Part string
	Full         bool // with the log, else in four lines
	Cells        int
	Pitch        int
	Slots        []int // x of the boundary before each offset of the window, and of the one after the last
	Labels       []int // centre of a label that stands beside a boundary, without leaving the card
	Ends         []int // the same for the label of the log end
	Groups       []Box // whose offsets are marked on the leader
}

// Lane is a strip between rows in which pills travel.
type Lane struct {
	Name   string
	Title  string
	Key    string // what else it says
	X, Y   int    // of the text
	X1, X2 int
	LineY  int

	More         []string // keys of further lines
	MoreX, MoreY int
	MoreDX       int // from one of them to the next; 0: they stand under each other
	Cuts         []Cut
}

// Cut is where a lane shows that two nodes do not reach each other.
type Cut struct {
	Key, Name string
	X, Y      int
}

// Path is the way of a pill.
type Path struct{ ID, D string }

// GroupPlan is a group's head and its members.
type GroupPlan struct {
	Box
	Members []Box
	Strip   []Box // a partition each, with its owner before and now
	StripY  int
}

// Plan is a stage with everything in its place.
type Plan struct {
	Spec
	W, H                  int
	Controllers, Brokers  []Box
	Producers             []Box
	ProducersX, ProducerY int
	Cards                 []Card
	Lanes                 []Lane
	Groups                []GroupPlan
	Paths                 []Path
	Side                  bool // producers and groups stand beside the brokers
}

// The measures of the parts, in px.
const (
	margin      = 14
	gap         = 8
	fullWidth   = 230 // a column at least this wide shows logs
	cardHeight  = 110
	tinyHeight  = 70
	laneHeight  = 28
	lineHeight  = 12 // of the words under a lane
	headHeight  = 27
	ctrlHeight  = 41
	memberSide  = 38
	groupHead   = 64
	stripHeight = 34
	memberStack = 38
)

// Place computes the plan of a spec.
func Place(s Spec) *Plan {
	if s.Cells == 0 {
		s.Cells = 8
	}
	p := &Plan{Spec: s, W: s.Layout.Width(), Side: s.Layout == Wide}
	left, right := margin, p.W-margin
	if p.Side {
		if len(s.Producers) > 0 {
			left += 160 + gap
		}
		if len(s.Groups) > 0 {
			right -= 176 + gap
		}
	}
	y := p.placeControllers(left, right)
	if !p.Side {
		y = p.stackProducers(y)
	}
	y = p.placeBrokers(left, right, y)
	if p.Side {
		p.sideProducers()
		p.sideGroups(right + gap)
	} else {
		y = p.stackGroups(y)
	}
	p.H = y + 4
	for _, b := range p.Producers {
		p.H = max(p.H, b.Y+b.H+4)
	}
	for _, g := range p.Groups {
		for _, m := range g.Members {
			p.H = max(p.H, m.Y+m.H+4)
		}
	}
	p.connect(left, right)
	p.cut()
	return p
}

func columns(left, right, n, atMost int) []Box {
	if n == 0 {
		return nil
	}
	w := (right - left - gap*(n-1)) / n
	if atMost > 0 {
		w = min(w, atMost)
	}
	x := left + (right-left-w*n-gap*(n-1))/2
	cols := make([]Box, n)
	for i := range cols {
		cols[i] = Box{X: x + i*(w+gap), W: w, Index: i}
	}
	return cols
}

func (p *Plan) placeControllers(left, right int) int {
	y := 6
	if len(p.Spec.Controllers) == 0 {
		return y
	}
	p.Controllers = columns(left, right, len(p.Spec.Controllers), 230)
	for i, id := range p.Spec.Controllers {
		b := &p.Controllers[i]
		b.ID, b.Y, b.H = id, y, ctrlHeight
		b.Title = strings.ToUpper(id)
		b.Small, b.Mid = b.W < 205, b.W < 130
		if b.Mid {
			b.H += lineHeight
		}
		if !b.Small {
			b.Note = "· node " + id[1:]
			if n := strings.TrimLeft(id, "c"); len(n) == 1 {
				b.Note = "· node 10" + n
			}
		}
	}
	y += p.Controllers[0].H
	lane := Lane{Name: "controller", Title: "Controller lane", X: margin, X1: left, X2: right, LineY: y + laneHeight/2 + 1}
	lane.Y = lane.LineY + 4
	if !p.Side {
		lane.Title = ""
	}
	p.Lanes = append(p.Lanes, lane)
	return y + laneHeight
}

func (p *Plan) stackProducers(y int) int {
	n := len(p.Spec.Producers)
	if n == 0 {
		return y
	}
	perRow := min(n, p.W/150)
	for i := 0; i < n; i += perRow {
		for j, b := range columns(margin, p.W-margin, min(perRow, n-i), 0) {
			b.Y, b.H, b.Small = y, 40, true
			p.addProducer(b, i+j)
		}
		y += 40 + gap
	}
	return y
}

func (p *Plan) addProducer(b Box, i int) {
	pr := p.Spec.Producers[i]
	b.ID, b.Index = pr.ID, i
	b.Title = Fit(pr.ID, b.W-22, 13, true)
	b.Note = Fit(pr.Note, b.W-22, 11, false)
	p.Producers = append(p.Producers, b)
}

func (p *Plan) placeBrokers(left, right, y int) int {
	p.Brokers = columns(left, right, len(p.Spec.Brokers), 0)
	if len(p.Brokers) == 0 {
		return y
	}
	full := p.Brokers[0].W >= fullWidth
	top := y
	y += headHeight
	for _, r := range p.Rows {
		h := tinyHeight
		if full {
			h = cardHeight
		}
		for i, id := range p.Spec.Brokers {
			if slices.Contains(r.Replicas, id) {
				col := p.Brokers[i]
				p.Cards = append(p.Cards, p.card(Box{X: col.X + 6, Y: y, W: col.W - 12, H: h}, id, r.Part, full))
			}
		}
		y += h
		if !full {
			for _, id := range r.Replicas {
				if slices.Contains(p.Open, r.Part+"/"+id) {
					y += 6
					p.Cards = append(p.Cards, p.card(Box{X: left + 6, Y: y, W: right - left - 12, H: cardHeight}, id, r.Part, true))
					y += cardHeight
				}
			}
		}
		lane := Lane{Name: r.Part, Title: r.Part, Key: "v/" + r.Part + "/isr", X: margin, X1: left, X2: right, LineY: y + laneHeight/2}
		lane.Y = lane.LineY + 4
		lane.More = []string{"v/" + r.Part + "/epochs", "v/" + r.Part + "/more"}
		lane.MoreX = lane.X
		if p.wordsBeside(left) {
			lane.Y = y - 1
			lane.MoreY = lane.Y + lineHeight
			y += laneHeight
		} else {
			// The words stand on the lane itself, so its line begins after them, and
			// the further ones under it.
			lane.X = left + 8
			lane.X1 = lane.X + int(Measure(lane.Title, 11, true)) + 8 + int(Measure("ISR 3 of 3, min 2", 11, false)) + 8
			lane.MoreX, lane.MoreY = lane.X, y+laneHeight+lineHeight-1
			y += laneHeight + lineHeight + 2
			if right-left >= 500 {
				lane.MoreDX = 160
			} else {
				y += lineHeight
			}
		}
		p.Lanes = append(p.Lanes, lane)
	}
	for i, id := range p.Spec.Brokers {
		b := &p.Brokers[i]
		b.ID, b.Y, b.H, b.Small = id, top, y-top, b.W < 170
		b.Title = NodeName(id)
	}
	if p.GroupLane {
		lane := Lane{Name: "group", X: margin, X1: left, X2: right, LineY: y + laneHeight/2}
		lane.Y = lane.LineY + 4
		if p.wordsBeside(left) {
			lane.Title = "Group lane"
		}
		p.Lanes = append(p.Lanes, lane)
		y += laneHeight
	}
	return y
}

// wordsBeside says whether the words of a row's lane stand under its producer.
func (p *Plan) wordsBeside(left int) bool {
	return p.Side && left > margin && len(p.Spec.Producers) <= len(p.Rows)
}

func (p *Plan) card(b Box, broker, part string, full bool) Card {
	b.ID = broker + "-" + part
	c := Card{Box: b, Broker: broker, Part: part, Full: full, Cells: p.Cells}
	c.Title = partName(part)
	if !full {
		return c
	}
	const inset, endLabel = 12, 42
	c.Pitch = min(40, (b.W-inset-endLabel)/c.Cells)
	for i := 0; i <= c.Cells; i++ {
		x := inset + i*c.Pitch
		c.Slots = append(c.Slots, x)
		if i < 3 {
			c.Labels = append(c.Labels, x+34)
		} else {
			c.Labels = append(c.Labels, x-34)
		}
		c.Ends = append(c.Ends, min(x+8, b.W-42))
	}
	for i, g := range p.Spec.Groups {
		c.Groups = append(c.Groups, Box{ID: g.ID, Y: 72 + 6*min(i, 1), Index: i})
	}
	return c
}

func (p *Plan) rowsTop() int {
	if len(p.Brokers) == 0 {
		return margin
	}
	return p.Brokers[0].Y + headHeight
}

func (p *Plan) sideProducers() {
	y := p.rowsTop()
	p.ProducersX, p.ProducerY = margin, y-12
	n := len(p.Spec.Producers)
	if n <= len(p.Rows) {
		for i := range n {
			p.addProducer(Box{X: margin, Y: y, W: 160, H: cardHeight - lineHeight - 2}, i)
			y += cardHeight + laneHeight
		}
		return
	}
	// More producers than rows share the height of the rows, each with as many
	// lines as it has room for.
	h := max((len(p.Rows)*(cardHeight+laneHeight+lineHeight)-gap*(n-1))/max(n, 1), 40)
	for i := range n {
		p.addProducer(Box{X: margin, Y: y, W: 160, H: h, Small: h < 74, Mid: h >= 74 && h < cardHeight-lineHeight-2}, i)
		y += h + gap
	}
}

func (p *Plan) sideGroups(x int) {
	y := p.rowsTop() - headHeight
	for i, g := range p.Spec.Groups {
		gp := GroupPlan{Box: Box{ID: g.ID, X: x, Y: y, W: 176, H: groupHead, Index: i, Title: Fit(g.ID, 176, 13, true)}}
		if n := len(g.Parts); n > 0 && n <= 6 {
			const label = 26
			w := (176 - label) / n
			for k, part := range g.Parts {
				gp.Strip = append(gp.Strip, Box{ID: part, X: label + k*w, W: w - 2, Title: partName(part)})
			}
			gp.StripY, gp.H = groupHead, groupHead+stripHeight
		}
		y += gp.H
		for _, m := range g.Members {
			gp.Members = append(gp.Members, Box{ID: m, X: x, Y: y, W: 176, H: memberSide, Index: i, Title: Fit(m, 50, 13, true)})
			y += memberSide + 4
		}
		p.Groups = append(p.Groups, gp)
		y += 10
	}
}

func (p *Plan) stackGroups(y int) int {
	perRow := max(1, p.W/300)
	for i, g := range p.Spec.Groups {
		gp := GroupPlan{Box: Box{ID: g.ID, X: margin, Y: y, W: p.W - 2*margin, H: 40, Index: i, Small: true, Title: Fit(g.ID, 130, 13, true)}}
		y += 40
		for j := 0; j < len(g.Members); j += perRow {
			for k, b := range columns(margin, p.W-margin, perRow, 0) {
				if j+k >= len(g.Members) {
					break
				}
				m := g.Members[j+k]
				b.ID, b.Y, b.H, b.Index, b.Title = m, y, memberStack, i, Fit(m, 50, 13, true)
				gp.Members = append(gp.Members, b)
			}
			y += memberStack + 6
		}
		p.Groups = append(p.Groups, gp)
		y += 6
	}
	return y
}

// connect lays the ways of pills. A lane has two tracks, so that
// messages of neighbours do not cover those of clients.
func (p *Plan) connect(left, right int) {
	const track = 8
	way := func(lane, a, b string, xa, xb, y int) {
		p.Paths = append(p.Paths,
			Path{"lane/" + lane + "/" + a + "/" + b, fmt.Sprintf("M%d %dH%d", xa, y, xb)},
			Path{"lane/" + lane + "/" + b + "/" + a, fmt.Sprintf("M%d %dH%d", xb, y, xa)})
	}
	clientX := map[string]int{"admin": left + 12}
	for _, b := range p.Producers {
		clientX[b.ID] = left + 12
		if !p.Side {
			clientX[b.ID] = b.mid()
		}
	}
	var clients []string
	for _, b := range p.Producers {
		clients = append(clients, b.ID)
	}
	clients = append(clients, "admin")
	for _, g := range p.Groups {
		for _, m := range g.Members {
			clients = append(clients, m.ID)
			clientX[m.ID] = right - 12
			if !p.Side {
				clientX[m.ID] = m.mid()
			}
		}
	}
	for _, lane := range p.Lanes {
		y := lane.LineY
		for i, a := range p.Brokers {
			for j, b := range p.Brokers[i+1:] {
				// Next neighbours go above, others below: a leader answers two followers at once.
				way(lane.Name, a.ID, b.ID, a.mid(), b.mid(), y-track+2*track*(j%2))
			}
			for _, c := range clients {
				x := p.apart(clientX[c], a.mid())
				way(lane.Name, c, a.ID, clientX[c], x, y+track)
			}
		}
		if lane.Name != "controller" {
			continue
		}
		// Controllers among themselves share the upper track with brokers: none of them waits below.
		for i, a := range p.Controllers {
			for _, b := range p.Controllers[i+1:] {
				way(lane.Name, a.ID, b.ID, a.mid(), b.mid(), y-track)
			}
			for _, b := range p.Brokers {
				way(lane.Name, b.ID, a.ID, b.mid(), p.apart(b.mid(), a.mid()), y+track)
			}
			for _, c := range clients {
				way(lane.Name, c, a.ID, clientX[c], p.apart(clientX[c], a.mid()), y+track)
			}
		}
	}
}

// cut places the marks of broken links: on a row's lane half way between two
// brokers, on the controller lane above the broker that does not reach a
// controller.
func (p *Plan) cut() {
	box := map[string]Box{}
	for _, b := range slices.Concat(p.Brokers, p.Controllers) {
		box[b.ID] = b
	}
	for i := range p.Lanes {
		l := &p.Lanes[i]
		beside := map[string]int{}
		for _, pair := range p.Spec.Cuts {
			a, aok := box[pair[0]]
			b, bok := box[pair[1]]
			ctrls := strings.HasPrefix(pair[0], "c") || strings.HasPrefix(pair[1], "c")
			if !aok || !bok || l.Name == "group" || ctrls != (l.Name == "controller") {
				continue
			}
			c := Cut{Key: "v/cut/" + pair[0] + "/" + pair[1], Name: "no way between " + NodeName(pair[0]) + " and " + NodeName(pair[1]), X: (a.mid() + b.mid()) / 2, Y: l.LineY}
			switch {
			case strings.HasPrefix(pair[0], "b") && ctrls:
				c.X = a.mid() - 24 + 16*beside[a.ID]
				beside[a.ID]++
			case b.Index > a.Index+1:
				c.X, c.Y = c.X+a.W/4, l.LineY+9
			}
			l.Cuts = append(l.Cuts, c)
		}
	}
}

// apart moves the end of a way so that the way is long enough to be seen, and
// stays within the stage.
func (p *Plan) apart(from, to int) int {
	const least = 70
	switch d := to - from; {
	case d >= least || d <= -least:
		return to
	case d >= 0 && from+least < p.W-margin || from-least < margin:
		return from + least
	}
	return from - least
}
