package journal

// Record is one record that a producer made. A replica's log maps an offset to
// the id of a record, so one offset may hold different records on two replicas.
type Record struct {
	ID       string  `json:"id"`
	Topic    string  `json:"topic"`
	Key      *string `json:"key"` // nil: no key
	Value    string  `json:"value"`
	Producer string  `json:"producer,omitempty"`
	Bytes    int     `json:"-"` // size in a batch
	At       Time    `json:"-"` // CreateTime
}

// Journal is the list of events of a run, and the records that they name.
type Journal struct {
	Events  []Event
	Records []Record // Records[i] has the id r<i+1>
}

// At returns the event with number n, or nil.
func (j *Journal) At(n int) *Event {
	if n < 1 || n > len(j.Events) {
		return nil
	}
	return &j.Events[n-1]
}

// Record returns the record with this id, or nil.
func (j *Journal) Record(id string) *Record {
	n := 0
	if len(id) < 2 || id[0] != 'r' {
		return nil
	}
	for _, c := range id[1:] {
		if c < '0' || c > '9' {
			return nil
		}
		n = n*10 + int(c-'0')
	}
	if n < 1 || n > len(j.Records) {
		return nil
	}
	return &j.Records[n-1]
}
