package journal

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON writes ["key", value].
func (c Change) MarshalJSON() ([]byte, error) { return marshal([2]any{c.Key, c.Val}) }

// MarshalJSON writes {"append":[base, epoch, [ids], flags]}, {"truncate":to} or {"start":offset}.
func (op LogOp) MarshalJSON() ([]byte, error) {
	switch op.Op {
	case LogTruncate:
		return marshal(map[string]int64{"truncate": op.Base})
	case LogStart:
		return marshal(map[string]int64{"start": op.Base})
	default:
		ids := op.IDs
		if ids == nil {
			ids = []string{}
		}
		return marshal(map[string]any{"append": []any{op.Base, op.Epoch, ids, op.Flags}})
	}
}

// MarshalJSON writes an object whose members keep the order of fs.
func (fs Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fs {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(f.Name)
		if err != nil {
			return nil, err
		}
		val, err := marshal(f.Val)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(val)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without the escaping of <, > and &, so that texts
// read the same in the journal and on the page.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Marshal writes an event as one line of JSON, the same bytes on every machine.
func Marshal(e *Event) ([]byte, error) { return marshal(e) }
