package cli

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"text, ü, \ufffd":     "text, ü, \ufffd",
		"a\tb\n":              "a\tb\n",
		"\x1b[31mred":         "^[[31mred",
		"a\xffb":              "a<FF>b",
		"\xc3(\x1b":           "<C3>(^[",
		"\u009b31m \u202ecba": "<U+009B>31m <U+202E>cba",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
