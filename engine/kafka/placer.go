package kafka

import "slices"

// Random is what the placer draws from; java.util.Random in Kafka. Shuffling is not
// part of it: Collections.shuffle is a fixed series of NextInt, so shuffle below
// makes the same draws on any Random.
type Random interface {
	// NextInt returns a number in [0, bound).
	NextInt(bound int) int
}

// UsableBroker is a broker that may hold replicas. Rack "" is no rack.
type UsableBroker struct {
	ID     int32
	Rack   string
	Fenced bool
}

// brokerList walks its brokers in a circle that starts one further in each round.
type brokerList struct {
	ids                  []int32
	epoch, index, offset int
}

func (l *brokerList) initialize(r Random) {
	slices.Sort(l.ids)
	if len(l.ids) > 0 {
		l.offset = r.NextInt(len(l.ids))
	}
}

func (l *brokerList) next(epoch int) int32 {
	if len(l.ids) == 0 {
		return -1
	}
	if l.epoch != epoch {
		l.epoch, l.index, l.offset = epoch, 0, (l.offset+1)%len(l.ids)
	}
	if l.index >= len(l.ids) {
		return -1
	}
	id := l.ids[(l.index+l.offset)%len(l.ids)]
	l.index++
	return id
}

// shuffle is java.util.Collections.shuffle.
func shuffle[T any](xs []T, r Random) {
	for i := len(xs); i > 1; i-- {
		j := r.NextInt(i)
		xs[i-1], xs[j] = xs[j], xs[i-1]
	}
}

type rack struct {
	name             string
	fenced, unfenced brokerList
}

func (k *rack) next(epoch int) int32 {
	if id := k.unfenced.next(epoch); id >= 0 {
		return id
	}
	return k.fenced.next(epoch)
}

// hashOrder is where a Java HashMap of 16 buckets keeps the rack: racks are
// initialized and shuffled in that order.
func (k *rack) hashOrder() uint32 {
	h := uint32(JavaHash(k.name))
	return (h ^ h>>16) & 15
}

// PlaceError says why no replicas can be placed: nonPositiveReplicationFactor,
// allFenced or tooFewBrokers (registered), the first that holds in this order.
type PlaceError struct{ Reason string }

func (e *PlaceError) Error() string { return "invalid replication factor: " + e.Reason }

// Code is the protocol's error code.
func (e *PlaceError) Code() ErrorCode { return InvalidReplicationFactor }

// Place is StripedReplicaPlacer: the replicas of each partition of a new topic,
// first the preferred leader. partitions and replication are counts; brokers are all
// that are registered and not in controlled shutdown, each id once. The error is a
// *PlaceError.
func Place(brokers []UsableBroker, partitions, replication int, r Random) ([][]int32, error) {
	var racks []*rack
	unfenced := 0
	for _, b := range brokers {
		i := slices.IndexFunc(racks, func(k *rack) bool { return k.name == b.Rack })
		if i < 0 {
			i = len(racks)
			racks = append(racks, &rack{name: b.Rack})
		}
		if b.Fenced {
			racks[i].fenced.ids = append(racks[i].fenced.ids, b.ID)
			continue
		}
		unfenced++
		racks[i].unfenced.ids = append(racks[i].unfenced.ids, b.ID)
	}
	switch {
	case replication <= 0:
		return nil, &PlaceError{"nonPositiveReplicationFactor"}
	case unfenced == 0:
		return nil, &PlaceError{"allFenced"}
	case len(brokers) < replication:
		return nil, &PlaceError{"tooFewBrokers"}
	}
	slices.SortStableFunc(racks, func(a, b *rack) int { return int(a.hashOrder()) - int(b.hashOrder()) })
	hashed := slices.Clone(racks)
	for _, k := range hashed {
		k.fenced.initialize(r)
		k.unfenced.initialize(r)
	}
	slices.SortFunc(racks, func(a, b *rack) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	offset, epoch := r.NextInt(len(racks)), 0
	var out [][]int32
	for range partitions {
		if epoch == unfenced && unfenced > 1 {
			shuffle(racks, r)
			for _, k := range hashed {
				shuffle(k.fenced.ids, r)
				shuffle(k.unfenced.ids, r)
			}
			epoch = 0
		}
		if offset == len(racks) {
			offset = 0
		}
		out = append(out, stripe(racks, offset, epoch, replication))
		epoch++
		offset++
	}
	return out, nil
}

// stripe places one partition: a leader from the rack at offset, or from the next
// that has an unfenced broker left, then the others rack by rack, passing the
// leader's once.
func stripe(racks []*rack, offset, epoch, replication int) []int32 {
	var ids []int32
	first := offset
	for {
		if id := racks[first].unfenced.next(epoch); id >= 0 {
			ids = append(ids, id)
			break
		}
		first = (first + 1) % len(racks)
	}
	for at := offset; len(ids) < replication; at = (at + 1) % len(racks) {
		if at == first {
			first = -1
			continue
		}
		if id := racks[at].next(epoch); id >= 0 {
			ids = append(ids, id)
		}
	}
	return ids
}
