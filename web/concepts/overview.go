package concepts

import "github.com/highwater-kafka/highwater/web/stage"

// Part is a labelled piece of the overview; it opens the explanation of its term.
type Part struct {
	Term       string // id in the glossary
	Label      string
	Name       string // what it is called where the label is too short, "" for the label
	Note       string // a second line
	Class      string // "" for a plain box, else leader, follower, mark, chip
	X, Y, W, H int
}

// Mid is the x of its middle.
func (p Part) Mid() int { return p.X + p.W/2 }

// Shape is what stands around the parts: frames, records, lines and plain words.
type Shape struct {
	Kind       string // frame, cell, open, line, text
	X, Y, W, H int
	Text       string
	D          string // of a line
}

// Picture is the overview, placed.
type Picture struct {
	Name   string // wide or narrow
	W, H   int
	Shapes []Shape
	Parts  []Part
}

// Overview places "Kafka cluster architecture, core components": producers, the
// cluster with its controllers and brokers, one log in close-up, and two groups.
// It is drawn once for wide pages and once for a phone.
func Overview(narrow bool) *Picture {
	b := &builder{p: &Picture{Name: "wide", W: 1180}, narrow: narrow}
	if narrow {
		b.p.Name, b.p.W = "narrow", 320
		b.stacked()
	} else {
		b.sideBySide()
	}
	return b.p
}

type builder struct {
	p      *Picture
	narrow bool
}

func (b *builder) part(term, label string, x, y, w, h int) *Part {
	b.p.Parts = append(b.p.Parts, Part{Term: term, Label: label, X: x, Y: y, W: w, H: h})
	return &b.p.Parts[len(b.p.Parts)-1]
}

func (b *builder) shape(kind string, x, y, w, h int) {
	b.p.Shapes = append(b.p.Shapes, Shape{Kind: kind, X: x, Y: y, W: w, H: h})
}

// ground is a frame under everything else.
func (b *builder) ground(x, y, w, h int) {
	b.p.Shapes = append([]Shape{{Kind: "frame", X: x, Y: y, W: w, H: h}}, b.p.Shapes...)
}

func (b *builder) text(x, y int, s string) {
	b.p.Shapes = append(b.p.Shapes, Shape{Kind: "text", X: x, Y: y, Text: s})
}

func (b *builder) line(d string) {
	b.p.Shapes = append(b.p.Shapes, Shape{Kind: "line", D: d})
}

// arrow leads from one x to another.
func (b *builder) arrow(from, to, y int) {
	back := 5
	if to > from {
		back = -5
	}
	b.line(d("M", from, " ", y, "H", to, "m", back, " -4", "L", to, " ", y, "l", back, " 4"))
}

// chips stand in lines, as many in each as fit. It returns the y below them.
func (b *builder) chips(x, y, right int, chips [][2]string) int {
	const height, gap = 26, 6
	at := x
	for _, c := range chips {
		w := int(stage.Measure(c[1], 12, false)) + 22
		if at > x && at+w > right {
			at, y = x, y+height+gap
		}
		b.part(c[0], c[1], at, y, w, height).Class = "chip"
		at += w + gap
	}
	return y + height
}

var producers = []string{"order-service", "payment-service", "user-service"}

func (b *builder) sideBySide() {
	const left, right, inner = 256, 924, 644
	top := b.brokers(left+12, 132, 206, 13)
	b.part("cluster", "Cluster", left+12, 8, 82, 26)
	b.quorum(left+12, 40, 448, left+474, 170)
	b.part("heartbeat", "BrokerHeartbeat ↑", left+12, 98, 146, 26).Class = "chip"
	b.part("metadata", "↓ metadata", left+166, 98, 104, 26).Class = "chip"
	b.part("election", "elects leaders", left+278, 98, 104, 26).Class = "chip"
	end := b.closeUp(left+12, top+14, inner)
	b.ground(left, 0, right-left, end+12)

	b.text(8, 122, "Producers")
	for i, id := range producers {
		b.part("producer", id, 8, 132+i*46, 150, 38)
	}
	b.chips(8, 280, 170, [][2]string{{"record", "key, value"}, {"murmur2", "key → partition"}, {"batch", "batch"}, {"idempotence", "idempotent"}, {"acks", "acks=all"}})
	b.part("api-produce", "Produce →", 166, 175, 84, 28).Class = "chip"
	b.groups(1012, 132, 160, 0)
	b.part("api-fetch", "← Fetch", right+6, 175, 78, 28).Class = "chip"
	b.p.H = end + 14
}

func (b *builder) stacked() {
	b.text(4, 16, "Producers")
	for i, id := range []string{"order", "payment", "user"} {
		b.part("producer", id, i*108, 24, 104, 30)
	}
	y := b.chips(4, 62, 316, [][2]string{{"record", "key, value"}, {"murmur2", "key → partition"}, {"batch", "batch"}, {"idempotence", "idempotent"}, {"acks", "acks=all"}, {"api-produce", "Produce ↓"}}) + 12
	frame := y
	b.part("cluster", "Cluster", 10, y+8, 76, 26)
	b.quorum(10, y+40, 300, 10, 300)
	y = b.chips(10, y+128, 310, [][2]string{{"heartbeat", "BrokerHeartbeat ↑"}, {"metadata", "↓ metadata"}, {"election", "elects leaders"}})
	y = b.brokers(10, y+10, 96, 6)
	y = b.closeUp(10, y+12, 300)
	b.ground(0, frame, 320, y+10-frame)
	y = b.chips(4, y+20, 316, [][2]string{{"api-fetch", "Fetch ↑"}})
	b.p.H = b.groups(0, y+26, 154, 166) + 8
}

// quorum is the controllers and, beside or under them, their log.
func (b *builder) quorum(x, y, w, logX, logW int) {
	b.part("controller", "Controllers: a KRaft quorum", x, y, w, 48).Note = "C1 active · C2, C3 replicate its log"
	logY, h := y, 48
	if b.narrow {
		logY, h = y+54, 28
	}
	p := b.part("metadata-log", "Metadata log", logX, logY, logW, h)
	if !b.narrow {
		p.Note = "__cluster_metadata"
	}
}

// brokers are three columns with the replicas of three partitions and of the
// partition in which group-a is kept. It returns the y below them.
func (b *builder) brokers(x, y, w, gap int) int {
	const row = 32
	long := !b.narrow
	for i, name := range []string{"Broker 1", "Broker 2", "Broker 3"} {
		cx := x + i*(w+gap)
		b.shape("frame", cx, y, w, 34+4*row+6)
		b.part("broker", name, cx+4, y+4, w-8, 26).Class = "head"
		for j, part := range []string{"P0", "P1", "P2"} {
			role := "follower"
			if i == j {
				role = "leader"
			}
			label := part + " " + role
			if long {
				label = "orders-" + part[1:] + " " + role
			}
			b.part(role, label, cx+6, y+34+j*row, w-12, 27).Class = role
		}
		// Followers come to their leader; neighbours are near enough to draw it.
		for j := range 3 {
			from, to := cx+6, cx-gap-6
			if i == 0 || i != j && i-1 != j {
				continue
			}
			if i == j { // the leader is on the right
				from, to = to, from
			}
			b.arrow(from, to, y+34+j*row+13)
		}
		at := b.part("consumer-offsets", "offsets-47", cx+6, y+34+3*row, w-12, 27)
		at.Class = "follower"
		if long {
			at.Label = "__consumer_offsets-47"
		}
		if i == 1 {
			at.Term, at.Label, at.Class = "coordinator", "coordinator", "leader"
			if long {
				at.Label = "coordinator of group-a"
			}
		}
	}
	return y + 34 + 4*row + 6
}

// closeUp is what belongs to one partition, and its log on one broker. It returns
// the y below it.
func (b *builder) closeUp(x, y, w int) int {
	y = b.chips(x, y, x+w, [][2]string{{"topic", "topic orders"}, {"partition", "partition orders-0"}, {"replica", "3 replicas"}, {"isr", "ISR 1,2,3"}, {"min-isr", "min.insync.replicas 2"}, {"leader-epoch", "leader epoch 0"}}) + 14
	b.text(x, y+4, "orders-0 on broker 1, in close-up")
	y += 44
	pitch := 44
	if b.narrow {
		pitch = 36
	}
	const cells, hw = 6, 4
	lx := x + 2
	for i := range cells {
		kind := "cell"
		if i >= hw {
			kind = "open"
		}
		b.shape(kind, lx+i*pitch+2, y, pitch-4, 30)
		b.text(lx+i*pitch+pitch/2-3, y+50, string(rune('0'+i)))
	}
	record := b.part("record", "r1", lx+2, y+1, pitch-4, 28)
	record.Class, record.Name = "mark", "record r1"
	b.part("offset", "offset", lx-2, y+58, 62, 26).Class = "chip"
	b.line(d("M", lx+hw*pitch, y-12, "V", y+36))
	b.part("hw", "HW 4", lx+hw*pitch-62, y-36, 56, 26).Class = "hw chip"
	b.line(d("M", lx+cells*pitch, y+34, "V", y+56))
	b.part("leo", "LEO 6", lx+cells*pitch-30, y+58, 62, 26).Class = "chip"
	b.part("purgatory", "waiting Produce", lx+2*pitch-18, y+58, 122, 26).Class = "chip"
	if b.narrow {
		waits := &b.p.Parts[len(b.p.Parts)-1]
		waits.Label, waits.Name, waits.X, waits.W = "waits", "waits: a Produce in purgatory", lx+2*pitch, 58
		return b.chips(x, y+94, x+w, [][2]string{{"log-start", "log start 0"}, {"follower", "a follower's next Fetch is its receipt"}})
	}
	b.chips(lx+cells*pitch+60, y-4, x+w, [][2]string{{"log-start", "log start 0"}, {"retention", "retention"}, {"truncation", "truncation"}, {"follower", "a follower's next Fetch is its receipt"}})
	return y + 88
}

// groups are two consumer groups, one under the other or side by side. It returns
// the y below them.
func (b *builder) groups(x, y, w, apart int) int {
	end := y
	for i, g := range []struct {
		id      string
		members []string
	}{{"group-a", []string{"a1 reads P0", "a2 reads P1", "a3 reads P2"}}, {"group-b", []string{"m1 reads P0, P1", "m2 reads P2"}}} {
		gx, gy := x+i*apart, y
		if apart == 0 {
			gy = end
		}
		b.part("group", "Consumer "+g.id, gx, gy, w, 28).Class = "head"
		gy += 32
		for _, m := range g.members {
			b.part("consumer", m, gx, gy, w, 28)
			gy += 33
		}
		end = max(end, gy+10)
	}
	return b.chips(x, end, x+max(w, 2*apart-12), [][2]string{{"position", "position, committed"}, {"lag", "lag"}, {"rebalance", "rebalance"}, {"assignor", "assignor"}})
}
