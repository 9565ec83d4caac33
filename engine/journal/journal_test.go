package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/engine/journal"
)

func app(base int64, epoch int32, ids ...string) journal.Change {
	return journal.Change{Key: "b1/orders-0/log", Val: journal.LogOp{Op: journal.LogAppend, Base: base, Epoch: epoch, IDs: ids}}
}

func TestEveryMomentOfAKeyAndOfALog(t *testing.T) {
	j := &journal.Journal{Events: []journal.Event{
		{N: 1, Ch: []journal.Change{{Key: "b1/orders-0/leo", Val: int64(2)}, app(0, 0, "r1", "r2")}},
		{N: 2, Ch: []journal.Change{app(2, 0, "r3"), {Key: "b1/orders-0/leo", Val: int64(3)}}},
		{N: 3},
		{N: 4, Ch: []journal.Change{{Key: "b1/orders-0/log", Val: journal.LogOp{Op: journal.LogTruncate, Base: 1}}, {Key: "b1/orders-0/leo", Val: int64(1)}}},
		{N: 5, Ch: []journal.Change{app(1, 1, "r9"), {Key: "b1/orders-0/leo", Val: nil}}},
		{N: 6, Ch: []journal.Change{{Key: "b1/orders-0/log", Val: journal.LogOp{Op: journal.LogStart, Base: 1}}}},
	}}
	x := journal.NewIndex(j)
	for n, want := range map[int]any{0: nil, 1: int64(2), 2: int64(3), 3: int64(3), 4: int64(1), 5: nil, 99: nil} {
		assert.Equal(t, want, x.Get("b1/orders-0/leo", n), "event %d", n)
	}
	assert.Equal(t, int64(-1), x.Int("b1/orders-0/leo", 5, -1))
	ids := func(n int) (out []string) {
		for _, e := range x.LogAt("b1/orders-0/log", n).Entries {
			out = append(out, e.ID)
		}
		return out
	}
	assert.Equal(t, []string{"r1", "r2", "r3"}, ids(3))
	assert.Equal(t, []string{"r1"}, ids(4))
	assert.Equal(t, []string{"r1", "r9"}, ids(5), "one offset holds another record after truncation")
	assert.Equal(t, []string{"r9"}, ids(6))
	assert.Equal(t, int64(2), x.LogAt("b1/orders-0/log", 6).End())
	assert.Equal(t, []string{"r1", "r2", "r3"}, ids(3), "an earlier moment is what it was")
	assert.Equal(t, []int{1, 2, 4, 5}, x.Changes("b1/orders-0/leo"))
}

func TestTheWireForm(t *testing.T) {
	e := &journal.Event{N: 412, T: 1523400, Kind: journal.ReplicaAppend, Node: "b2", Part: "orders-0", Cause: 409,
		F:  journal.F("baseOffset", 5, "epoch", 3, "note", "a < b"),
		Ch: []journal.Change{{Key: "b2/orders-0/leo", Val: 6}, {Key: "x", Val: nil}, app(5, 3, "r17")}}
	b, err := journal.Marshal(e)
	require.NoError(t, err)
	assert.Equal(t, `{"n":412,"t":1523400,"kind":"replica.append","node":"b2","part":"orders-0","cause":409,`+
		`"f":{"baseOffset":5,"epoch":3,"note":"a < b"},`+
		`"ch":[["b2/orders-0/leo",6],["x",null],["b1/orders-0/log",{"append":[5,3,["r17"],""]}]]}`, string(b))
}

func TestTimesPrintAsSeconds(t *testing.T) {
	for want, v := range map[string]journal.Time{"0s": 0, "1.5234s": 1523400, "30s": 30 * journal.Second, "-0.5s": -500 * journal.Millisecond, "0.000001s": 1} {
		assert.Equal(t, want, v.String())
	}
}

func TestRecordsAreFoundByID(t *testing.T) {
	j := &journal.Journal{Records: []journal.Record{{ID: "r1", Value: "a"}, {ID: "r2", Value: "b"}}}
	assert.Equal(t, "b", j.Record("r2").Value)
	for _, id := range []string{"", "r", "r0", "r3", "rx", "2"} {
		assert.Nil(t, j.Record(id), id)
	}
}
