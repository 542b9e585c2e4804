package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// LongText is the length in bytes from which a text of a payload is stored as a blob of its own.
const LongText = 4096

// ref stands in stored JSON for a text that is kept elsewhere. The key can't clash with a payload's: no payload field
// begins with "$".
type ref struct {
	Blob int64 `json:"$blob"`
}

// Encode gives the stored form of p: compact JSON in which mask has been applied to every text and every key, and each text from
// [LongText] bytes on is replaced by the number that keep gave for it. Nil functions: nothing is masked, nothing is
// taken out. Numbers and key order stay as they were.
//
// What a server has sealed together with a text is left out where masking changes either: it would be refused as forged.
func Encode(p Payload, mask func(string) string, keep func(text []byte) (int64, error)) ([]byte, error) {
	if m, ok := p.(MessageAdded); ok && mask != nil {
		p = m.unsealed(mask)
	}
	data, err := marshal(p)
	if err != nil || mask == nil && keep == nil {
		return data, err
	}
	if mask == nil {
		mask = func(s string) string { return s }
	}
	return mapStrings(data, mask, func(s string) (any, error) {
		if keep == nil || len(s) < LongText {
			return s, nil
		}
		id, err := keep([]byte(s))
		return ref{id}, err
	})
}

// unsealed is the message without what is sealed and would not come back as it was.
func (m MessageAdded) unsealed(mask func(string) string) MessageAdded {
	blocks := m.Blocks
	for i, b := range m.Blocks {
		if len(b.Opaque) == 0 || mask(b.Text) == b.Text && mask(string(b.Opaque)) == string(b.Opaque) {
			continue
		}
		if &blocks[0] == &m.Blocks[0] {
			blocks = slices.Clone(m.Blocks)
		}
		blocks[i].Opaque = nil
	}
	m.Blocks = blocks
	return m
}

// Decode reads a stored payload of version v. load gives a text that was kept elsewhere; nil: there are none.
// A kind that is not known comes back as [Unknown] without an error.
func Decode(kind Kind, v int, data []byte, load func(id int64) ([]byte, error)) (Payload, error) {
	if load != nil && bytes.Contains(data, []byte(`{"$blob":`)) {
		var err error
		if data, err = inline(data, load); err != nil {
			return nil, fmt.Errorf("payload of %s: %w", kind, err)
		}
	}
	d, ok := decoders[kind]
	if !ok || v > kind.Version() {
		return Unknown{K: kind, Raw: data}, nil
	}
	return d(data)
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mapStrings rewrites each string of a JSON document: all with mask, then the values with f.
func mapStrings(data []byte, mask func(string) string, f func(string) (any, error)) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(data))
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out.WriteByte(data[i])
			i++
			continue
		}
		j := stringEnd(data, i)
		var s string
		if err := json.Unmarshal(data[i:j], &s); err != nil {
			return nil, err
		}
		var v any = mask(s)
		key := j < len(data) && data[j] == ':' // the document is compact
		if !key {
			var err error
			if v, err = f(mask(s)); err != nil {
				return nil, err
			}
		}
		enc, err := marshal(v)
		if err != nil {
			return nil, err
		}
		if key && string(enc) == `"$blob"` {
			enc = []byte(`"\u0024blob"`) // the same key, yet no reference: raw JSON may come from anyone
		}
		out.Write(enc)
		i = j
	}
	return out.Bytes(), nil
}

// stringEnd is the index after the string that begins at i, or the end of data where it is not closed.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// Blobs gives the numbers of the texts that a stored payload refers to.
func Blobs(data []byte) (ids []int64, err error) {
	_, err = inline(data, func(id int64) ([]byte, error) {
		ids = append(ids, id)
		return nil, nil
	})
	return ids, err
}

// inline puts texts back in the place of their references.
func inline(data []byte, load func(id int64) ([]byte, error)) ([]byte, error) {
	var out bytes.Buffer
	for i := 0; i < len(data); {
		switch {
		case data[i] == '"':
			j := stringEnd(data, i)
			out.Write(data[i:j])
			i = j
		case bytes.HasPrefix(data[i:], []byte(`{"$blob":`)):
			end := bytes.IndexByte(data[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("unclosed reference")
			}
			var r ref
			if err := json.Unmarshal(data[i:i+end+1], &r); err != nil {
				return nil, err
			}
			text, err := load(r.Blob)
			if err != nil {
				return nil, err
			}
			enc, err := marshal(string(text))
			if err != nil {
				return nil, err
			}
			out.Write(enc)
			i += end + 1
		default:
			out.WriteByte(data[i])
			i++
		}
	}
	return out.Bytes(), nil
}
