package sim

// Rand is a seeded stream of pseudo-random numbers (splitmix64). Every node and
// purpose has its own, so adding a node does not disturb the draws of others.
type Rand struct{ state uint64 }

// NewRand makes the stream of a seed and a name.
func NewRand(seed uint64, name string) *Rand {
	// FNV-1a over the name, so that the stream depends on nothing else.
	h := uint64(14695981039346656037) ^ seed*0x9e3779b97f4a7c15
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return &Rand{h}
}

// Uint64 returns the next number.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Intn returns a number in [0, n); n must be positive.
func (r *Rand) Intn(n int64) int64 { return int64(r.Uint64() % uint64(n)) }

// Around returns v changed by at most percent up or down.
func (r *Rand) Around(v int64, percent int) int64 {
	spread := v * int64(percent) / 100
	if spread <= 0 {
		return v
	}
	return v - spread + r.Intn(2*spread+1)
}
