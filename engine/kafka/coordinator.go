package kafka

import "unicode/utf16"

// JavaHash is java.lang.String.hashCode: over UTF-16 code units, wrapping at 32
// bits.
func JavaHash(s string) int32 {
	h := int32(0)
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// Abs is Kafka's Utils.abs: 0 for the smallest integer.
func Abs(n int32) int32 {
	if n == -1<<31 {
		return 0
	}
	return max(n, -n)
}

// PartitionFor is the partition of an internal topic that holds a group id or
// transactional id (GroupCoordinatorService.partitionFor,
// TransactionStateManager.partitionFor). n is the topic's partition count, 1 or
// more. Unlike a record's key it takes Abs, not ToPositive.
func PartitionFor(id string, n int32) int32 { return Abs(JavaHash(id)) % n }
