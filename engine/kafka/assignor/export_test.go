package assignor

import "github.com/highwater-kafka/highwater/engine/kafka"

// What tests in another package need.
var ByTopic = byTopic

func HashOrder(ids []string) []string { return hashOrder(ids, stringHash) }

func HashOrderPartitions(ps []kafka.TopicPartition) []kafka.TopicPartition {
	return hashOrder(ps, partitionHash)
}
