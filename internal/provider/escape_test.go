package provider_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"overt/internal/provider"
)

func TestPairedEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"f\ud800"}`:            `{"a":"f\ufffd"}`,
		`{"\udc00":"x\uDC00y"}`:      `{"\ufffd":"x\ufffdy"}`,
		`{"a":"\ud83e\udd4a"}`:       `{"a":"\ud83e\udd4a"}`,
		`{"a":"\ud83e\ud83e\udd4a"}`: `{"a":"\ufffd\ud83e\udd4a"}`,
		`{"a":"\\ud800"}`:            `{"a":"\\ud800"}`,
		`{"a":"\\\ud800"}`:           `{"a":"\\\ufffd"}`,
		`{"a":"\u00e9\n\"\ud800\""}`: `{"a":"\u00e9\n\"\ufffd\""}`,
		`{"a":"🥊"}`:                  `{"a":"🥊"}`,
	} {
		if got := provider.PairedEscapes(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestPairedEscapesKeep: whatever the text, the document stays one, means what Go reads of it, and needs no second pass.
func TestPairedEscapesKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := "\"" + rapid.StringMatching(`(\\\\|\\n|\\ud8[0-9a-f]{2}|\\udc[0-9a-f]{2}|\\u00[0-9a-f]{2}|[a-z])*`).Draw(t, "text") + "\""
		got := provider.PairedEscapes(s)
		var before, after string
		if json.Unmarshal([]byte(s), &before) != nil || json.Unmarshal([]byte(got), &after) != nil || before != after || !utf8.ValidString(after) {
			t.Fatalf("%s: %s", s, got)
		}
		if again := provider.PairedEscapes(got); again != got {
			t.Fatalf("%s: %s, then %s", s, got, again)
		}
	})
}
