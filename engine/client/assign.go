package client

import (
	"github.com/highwater-kafka/highwater/engine/kafka"
	"github.com/highwater-kafka/highwater/engine/kafka/assignor"
	"github.com/highwater-kafka/highwater/engine/kafka/wire"
)

// assign runs a client-side assignor, as the leader of a group does it.
func assign(name string, members []wire.JoinMember, topics map[string]int) map[string][]string {
	f, ok := assignor.Client(name)
	if !ok {
		return map[string][]string{}
	}
	in := assignor.Input{Topics: map[string]int32{}}
	for t, n := range topics {
		in.Topics[t] = int32(n)
	}
	for _, m := range members {
		s := m.Metadata
		x := assignor.Member{ID: m.MemberID, Instance: m.Instance, Rack: s.RackID, Topics: s.Topics, Generation: s.GenerationID}
		owned := s.OwnedPartitions
		if name == "sticky" {
			// It revokes all before it joins; the user data remember what it had.
			owned, x.Generation = nil, -1
			if s.UserData != nil {
				owned, x.Generation = s.UserData.PreviousAssignment, s.UserData.Generation
			}
		}
		for _, o := range owned {
			if p, ok := kafka.ParseTopicPartition(o); ok {
				x.Owned = append(x.Owned, p)
			}
		}
		in.Members = append(in.Members, x)
	}
	return f(in).Names()
}
