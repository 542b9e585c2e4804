package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"overt/internal/policy"
)

// visible makes control characters harmless on a terminal: what comes from a model, a file or a server is not ours.
func visible(s string) string { return spell(s, control) }

// exposed also shows what takes no room on the screen, for text that a person consents to.
func exposed(s string) string { return spell(s, policy.Hidden) }

func spell(s string, hidden func(rune) bool) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)): // a byte that is no text
			fmt.Fprintf(&b, "<%02X>", s[i])
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString("^" + string(r+0x40))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// control matches control characters but tab and line feed, and the marks that reorder text.
func control(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x200e || r == 0x200f || r == 0x061c ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
