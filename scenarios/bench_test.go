package scenarios_test

import (
	"testing"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
)

// BenchmarkRun simulates each built-in scenario from start to end.
func BenchmarkRun(b *testing.B) {
	for _, sc := range scenarios.Builtin() {
		b.Run(sc.ID, func(b *testing.B) {
			events := 0
			for b.Loop() {
				res, err := cluster.Run(&sc.Cluster)
				if err != nil {
					b.Fatal(err)
				}
				events += len(res.Journal.Events)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportAllocs()
		})
	}
}

// BenchmarkIndex reads a journal into the index that answers for any moment.
func BenchmarkIndex(b *testing.B) {
	sc := scenarios.Lookup("isr-deep-dive")
	res, err := cluster.Run(&sc.Cluster)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		journal.NewIndex(res.Journal)
	}
}
