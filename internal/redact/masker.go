// Package redact takes known secret values out of text that is about to be kept or shown.
//
// Begin with [New] and [Masker.Add]; then [Masker.String] and [Masker.Bytes] mask what is whole, and a [Stream] masks
// what arrives in pieces. Each value is found as it is, as it stands in JSON (once and twice escaped, also by encoders
// that keep to ASCII), URL query-escaped and in standard base64. What is found becomes "[masked:NAME]"; values that overlap become one placeholder.
//
// The package knows values, not shapes: a secret that nobody added is not found, nor is one that was split, reversed or
// encoded in another way. It does not know where text goes.
//
// A Masker may be used by several goroutines; a Stream belongs to one.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// minLength is the length in bytes from which a value is masked: a shorter one would be found in innocent text.
	minLength = 12
	// minSecret is that of a value which is certainly a secret.
	minSecret = 6

	prefix = "[masked:"
)

// Masker replaces known values. Make one with [New].
type Masker struct {
	mu  sync.Mutex // held by Add
	set atomic.Pointer[set]
}

// set is what a masker knows; it never changes once it is published.
type set struct {
	values  map[string]bool
	needles []needle  // longest first
	first   [256]bool // the bytes that a needle begins with
}

// needle is one written form of a value.
type needle struct {
	text  string
	bytes []byte
	mask  string
}

// New returns a masker that knows nothing.
func New() *Masker {
	m := &Masker{}
	m.set.Store(&set{})
	return m
}

// Add makes value known by a name, which stands in its place from now on. It tells whether the value is masked: one
// shorter than minLength is not, nor is one that looks like a placeholder itself or stands in its own. A value that was known keeps its
// first name.
func (m *Masker) Add(name, value string) bool { return m.add(name, value, minLength) }

// AddShort is [Masker.Add] for what is certainly a secret, as the key in use: it masks from 6 bytes on. It leaves out
// the words that people give to servers which want no key: they stand in innocent text.
func (m *Masker) AddShort(name, value string) bool {
	return !dummy(value) && m.add(name, value, minSecret)
}

// dummy tells whether a value is one that documents of local servers suggest as a key.
func dummy(value string) bool {
	switch strings.ToLower(value) {
	case "api-key", "api_key", "apikey", "anything", "default", "dummy-key", "llama.cpp", "lm-studio", "lmstudio",
		"no-key", "no_key", "not-needed", "not-required", "nothing", "ollama", "openai", "optional", "placeholder", "sk-no-key-required":
		return true
	}
	return false
}

func (m *Masker) add(name, value string, least int) bool {
	if mask := prefix + name + "]"; len(value) < least || strings.Contains(value, prefix) || strings.Contains(mask, value) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.set.Load()
	if old.values[value] {
		return true
	}
	s := &set{values: map[string]bool{value: true}, needles: slices.Clone(old.needles)}
	for v := range old.values {
		s.values[v] = true
	}
	for _, text := range forms(value) {
		if !slices.ContainsFunc(s.needles, func(n needle) bool { return n.text == text }) {
			s.needles = append(s.needles, needle{text, []byte(text), prefix + name + "]"})
		}
	}
	slices.SortStableFunc(s.needles, func(a, b needle) int { return cmp.Compare(len(b.text), len(a.text)) })
	for _, n := range s.needles {
		s.first[n.text[0]] = true
	}
	m.set.Store(s)
	return true
}

// Epoch counts the values that are known. Text that was masked at an earlier epoch may have to be masked again.
func (m *Masker) Epoch() int { return len(m.set.Load().values) }

// String returns s with every known value replaced.
func (m *Masker) String(s string) string {
	set := m.set.Load()
	if !set.inString(s) {
		return s
	}
	out, _ := set.mask([]byte(s))
	return string(out)
}

// Bytes returns b with every known value replaced, and how many replacements there were. Without any it returns b itself.
func (m *Masker) Bytes(b []byte) ([]byte, int) {
	set := m.set.Load()
	if !set.inBytes(b) {
		return b, 0
	}
	return set.mask(b)
}

func (s *set) inString(text string) bool {
	for i := range s.needles {
		if strings.Contains(text, s.needles[i].text) {
			return true
		}
	}
	return false
}

func (s *set) inBytes(text []byte) bool {
	for i := range s.needles {
		if bytes.Contains(text, s.needles[i].bytes) {
			return true
		}
	}
	return false
}

// forms gives the ways in which a value is written, each once.
func forms(value string) []string {
	out := []string{value}
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, html := range []bool{false, true} { // encoders differ in whether they escape <, > and &
		once := jsonEscape(value, html)
		for _, s := range []string{once, asciiEscape(once, "%04x"), asciiEscape(once, "%04X")} {
			add(s)
			add(jsonEscape(s, html))
		}
	}
	add(url.QueryEscape(value))
	add(base64.RawStdEncoding.EncodeToString([]byte(value))) // without padding: found with it too
	return out
}

// jsonEscape gives s as it stands between the quotes of a JSON string.
func jsonEscape(s string, html bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(s); err != nil {
		return s // strings always encode
	}
	return b.String()[1 : b.Len()-2]
}

// asciiEscape gives a JSON string as encoders write it that keep to ASCII.
func asciiEscape(s, digits string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u`+digits, unit)
		}
	}
	return b.String()
}
