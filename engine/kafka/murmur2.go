package kafka

// Murmur2 is the 32-bit hash of Kafka's Java producer (Utils.murmur2).
func Murmur2(data []byte) int32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
		r    = 24
	)
	h := uint32(seed) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> r
		k *= m
		h = h*m ^ k
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(data[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return int32(h)
}

// ToPositive masks the sign bit (Utils.toPositive); it is not the absolute value.
func ToPositive(n int32) int32 { return n & 0x7fffffff }

// PartitionForKey is the partition of a record with a key; an empty key is a key
// (BuiltInPartitioner.partitionForKey). n is the topic's
// partition count, 1 or more, whether or not they have a leader.
func PartitionForKey(key []byte, n int32) int32 { return ToPositive(Murmur2(key)) % n }
