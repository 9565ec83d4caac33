package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/engine/cluster"
)

func TestSettingsAreThoseThatAreNotTheDefault(t *testing.T) {
	got := settingsOf(&Run{Scenario: &cluster.Scenario{
		Config:    map[string]string{"replica.lag.time.max.ms": "3000", "broker.session.timeout.ms": "9000"},
		Features:  map[string]int{"eligible.leader.replicas.version": 0},
		Nodes:     map[string]map[string]string{"b1": {"broker.rack": "a"}},
		Topics:    []cluster.Topic{{Name: "orders", Config: map[string]string{"min.insync.replicas": "2"}}, {Name: "plain"}},
		Producers: []cluster.Producer{{ID: "p", Config: map[string]string{"acks": "1", "linger.ms": "5"}}},
		Groups: []cluster.Group{{ID: "g", Config: map[string]string{"session.timeout.ms": "6000"},
			Members: []cluster.Member{{ID: "a", Config: map[string]string{"session.timeout.ms": "45000"}}, {ID: "b"}}}},
	}})
	keys := map[string][]string{}
	for who, list := range got {
		for _, s := range list {
			keys[who] = append(keys[who], s[0]+"="+s[1]+" instead of "+s[2])
			assert.NotEmpty(t, s[3], "%s has a meaning", s[0])
		}
	}
	assert.Equal(t, map[string][]string{
		"*":      {"replica.lag.time.max.ms=3000 instead of 30000", "eligible.leader.replicas.version=0 instead of 1"},
		"b1":     {"broker.rack=a instead of "},
		"orders": {"min.insync.replicas=2 instead of 1"},
		"p":      {"acks=1 instead of all"},
		"g":      {"session.timeout.ms=6000 instead of 45000"},
		"b":      {"session.timeout.ms=6000 instead of 45000"},
	}, keys)
	assert.Empty(t, settingsOf(&Run{}))
}
