package provider

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// raw is one JSON value as it was received. Servers put numbers into strings, objects where texts belong, and null
// anywhere; looking at values one by one bears all of it, and costs a fraction of decoding into structs.
//
// The walking methods rely on the value being valid: [parse] checks a document once.
type raw []byte

// parse checks that data is one JSON value.
func parse(data []byte) (raw, bool) {
	data = bytes.TrimSpace(data)
	return data, json.Valid(data)
}

func (r raw) kind() byte {
	if len(r) == 0 {
		return 'n'
	}
	return r[0]
}

func (r raw) null() bool { return r.kind() == 'n' }

// members gives the members of an object; nothing for other values.
func (r raw) members() iter.Seq2[string, raw] {
	return func(yield func(string, raw) bool) {
		if r.kind() != '{' {
			return
		}
		for i := skip(r, 1); r[i] != '}'; {
			k := valueEnd(r, i)
			key := raw(r[i:k])
			i = skip(r, skip(r, k)+1) // over the colon
			end := valueEnd(r, i)
			if !yield(key.name(), r[i:end]) {
				return
			}
			if i = skip(r, end); r[i] == ',' {
				i = skip(r, i+1)
			}
		}
	}
}

// elements gives the elements of an array; nothing for other values.
func (r raw) elements() iter.Seq[raw] {
	return func(yield func(raw) bool) {
		if r.kind() != '[' {
			return
		}
		for i := skip(r, 1); r[i] != ']'; {
			end := valueEnd(r, i)
			if !yield(r[i:end]) {
				return
			}
			if i = skip(r, end); r[i] == ',' {
				i = skip(r, i+1)
			}
		}
	}
}

// get gives a member of an object; nil if there is none. The last of equal names counts.
func (r raw) get(name string) (out raw) {
	for k, v := range r.members() {
		if k == name {
			out = v
		}
	}
	return out
}

// name gives the text of a member's name. The frequent ones cost no allocation.
func (r raw) name() string {
	s := r[1 : len(r)-1]
	switch string(s) {
	case "id":
		return "id"
	case "object":
		return "object"
	case "created":
		return "created"
	case "model":
		return "model"
	case "choices":
		return "choices"
	case "index":
		return "index"
	case "delta":
		return "delta"
	case "finish_reason":
		return "finish_reason"
	case "content":
		return "content"
	case "role":
		return "role"
	case "usage":
		return "usage"
	case "logprobs":
		return "logprobs"
	case "system_fingerprint":
		return "system_fingerprint"
	case "reasoning_content":
		return "reasoning_content"
	case "tool_calls":
		return "tool_calls"
	case "function":
		return "function"
	case "arguments":
		return "arguments"
	}
	return r.text()
}

// text gives the text of a string; "" for other values.
func (r raw) text() string {
	if r.kind() != '"' {
		return ""
	}
	var half rune
	b := unquote(nil, r, &half)
	if half != 0 {
		b = append(b, "\uFFFD"...)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// number gives an integral number, also one that stands in a string. ok is false for everything else.
func (r raw) number() (n int64, ok bool) {
	s := string(r)
	if r.kind() == '"' {
		s = strings.TrimSpace(r.text())
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func skip(r raw, i int) int {
	for i < len(r) && (r[i] == ' ' || r[i] == '\n' || r[i] == '\t' || r[i] == '\r') {
		i++
	}
	return i
}

// valueEnd gives the end of the value that begins at i.
func valueEnd(r raw, i int) int {
	switch r[i] {
	case '"':
		return stringEnd(r, i)
	case '{', '[':
		depth := 0
		for ; ; i++ {
			switch r[i] {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			case '"':
				i = stringEnd(r, i) - 1
			}
		}
	}
	for ; i < len(r); i++ {
		switch r[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

func stringEnd(r raw, i int) int {
	for i++; r[i] != '"'; i++ {
		if r[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote appends the text of the string r to b, bytes that are no UTF-8 included. half is the first half of a
// surrogate pair that the string before has left; one that this string leaves is put there: servers cut between them.
func unquote(b []byte, r raw, half *rune) []byte {
	s := r[1 : len(r)-1]
	for len(s) > 0 {
		i := bytes.IndexByte(s, '\\')
		if i != 0 && *half != 0 {
			b, *half = append(b, "\uFFFD"...), 0
		}
		if i < 0 {
			return append(b, s...)
		}
		b = append(b, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if c == 'u' {
			n, _ := strconv.ParseUint(string(s[:4]), 16, 32)
			s = s[4:]
			b = appendUnit(b, rune(n), half)
			continue
		}
		if *half != 0 {
			b, *half = append(b, "\uFFFD"...), 0
		}
		b = append(b, unescape(c))
	}
	return b
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}

// appendUnit appends a UTF-16 unit, with the half before it.
func appendUnit(b []byte, u rune, half *rune) []byte {
	if *half != 0 {
		pair := utf16.DecodeRune(*half, u)
		*half = 0
		if pair != utf8.RuneError {
			return utf8.AppendRune(b, pair)
		}
		b = append(b, "\uFFFD"...)
	}
	switch {
	case u >= 0xD800 && u < 0xDC00:
		*half = u
		return b
	case utf16.IsSurrogate(u):
		u = utf8.RuneError
	}
	return utf8.AppendRune(b, u)
}
