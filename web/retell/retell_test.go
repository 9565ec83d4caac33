package retell_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web/glossary"
	"github.com/highwater-kafka/highwater/web/retell"
)

func TestASentenceIsRetoldTermByTerm(t *testing.T) {
	for kafka, library := range map[string]string{
		"Broker 1 is back and follows broker 2.":                                "Branch 1 is back and follows branch 2.",
		"A follower has reached the high watermark.":                            "Another copy has reached the rope.",
		"The leader's HW moves; HW is 5.":                                       "The main copy's rope moves; the rope is before shelf 5.",
		"HW moves again. HW waits.":                                             "The rope moves again. The rope waits.",
		"Only broker 1 is in the ISR.":                                          "Only branch 1 is on the up-to-date list.",
		"It asks the controller for a smaller ISR (AlterPartition).":            "It asks the head office for a smaller up-to-date list (AlterPartition).",
		"Broker 2 leads in leader epoch 1.":                                     "Branch 2 has the main copy in leader epoch 1.",
		"The record is at offset 3 of orders-0, written by order-service.":      "The book is on shelf 3 of orders-0, written by order-service.",
		"Each partition has one owner in the group.":                            "Each section has one owner in the reading group.",
		"Group-a and group-b read on from their committed offsets.":             "Group-a and group-b read on from their bookmarks.",
		"The coordinator of group-a leads __consumer_offsets-47.":               "The librarian of group-a has the main copy of __consumer_offsets-47.",
		"replica.lag.time.max.ms, acks=all and NOT_ENOUGH_REPLICAS stay.":       "replica.lag.time.max.ms, acks=all and NOT_ENOUGH_REPLICAS stay.",
		"The metadata log and the partition epoch stay, the log does not.":      "The metadata log and the partition epoch stay, the row does not.",
		"Broker 1 leads again, and two of three controllers replicate it.":      "Branch 1 has the main copy again, and two of three nodes of head office copy it.",
		"Leader epochs are 0 and 1. Does it lead?":                              "Leader epochs are 0 and 1. Does it have the main copy?",
		"A key picks it. group-d rebalances; the groups notice, and rebalance.": "An author picks it. group-d deals its sections out again; the reading groups notice, and deal the sections out again.",
		"Consumer protocol: records-lag, the log start and a rebalance.":        "Consumer protocol: records-lag, the first shelf and a new dealing of sections.",
		`The record "a record" of a broker`:                                     `The book "a record" of a branch`,
		"order-service has no leader. payment-service waits for the topic.":     "order-service has no main copy. payment-service waits for the subject.",
	} {
		assert.Equal(t, library, retell.Sentence(kafka))
	}
}

func TestALabelIsShort(t *testing.T) {
	for kafka, library := range map[string]string{
		"HW 5": "rope 5", "LEO 6": "free 6", "ISR 3 of 3, min 2": "list 3 of 3, min 2", "leader": "main", "follower": "copy", "lag 2": "2 to read",
		"1 behind, in sync": "1 behind, up to date", "fetches from broker 2": "fetches from branch 2", "✕ link to broker 1 is cut": "✕ link to branch 1 is cut",
		"leader epoch 0": "leader epoch 0", "DelayedProduce: waits for 2, 3": "DelayedProduce: waits for 2, 3", "key order-17 → P0": "author order-17 → P0", "r16": "r16", "": "",
	} {
		assert.Equal(t, library, retell.Label(kafka))
	}
}

func TestAStageIsRetold(t *testing.T) {
	svg := `<svg aria-label="ISR deep dive"><g aria-label="Broker 1, orders-0"><text class="h3" x="1">Broker 1</text><text data-text="b1/orders-0/hw" data-prefix="HW ">HW 5</text>` +
		`<text data-text="b2/orders-0/role">follower</text><text data-text="c2/role">follower</text><text data-text="c1/commit" data-prefix="HW ">HW 80</text><text data-text="v/c1/log">LEO 9 · HW 8</text></g>`
	want := `<svg aria-label="ISR deep dive"><g aria-label="Branch 1, orders-0"><text class="h3" x="1">Branch 1</text><text data-text="b1/orders-0/hw" data-prefix="rope ">rope 5</text>` +
		`<text data-text="b2/orders-0/role" data-say="leader=main;follower=copy">copy</text><text data-text="c2/role">follower</text><text data-text="c1/commit" data-prefix="HW ">HW 80</text><text data-text="v/c1/log">LEO 9 · HW 8</text></g>`
	assert.Equal(t, want, retell.SVG(svg))
}

func TestTheTableIsWhole(t *testing.T) {
	ids := map[string]bool{}
	forms := map[string]bool{}
	for _, term := range append(glossary.All(), retell.Terms()...) {
		require.False(t, ids[term.ID], term.ID)
		ids[term.ID] = true
	}
	for _, r := range retell.Table {
		assert.Regexp(t, `^[A-Z].*\.$`, r.Limit, r.Kafka)
		assert.Regexp(t, regexp.MustCompile(`^library-[a-z-]+$`), r.ID())
		for _, f := range r.Forms {
			assert.False(t, forms[f], f)
			forms[f] = true
			assert.Equal(t, strings.ToLower(f), f)
		}
	}
}
