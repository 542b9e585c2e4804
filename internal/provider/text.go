package provider

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

const messageMax = 300 // characters of a message that is shown

func hexOf(b [32]byte) string { return hex.EncodeToString(b[:]) }

// joined makes a text one line: control characters gone, blanks joined.
func joined(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// oneLine makes a server's text fit for a line that is shown.
func oneLine(s string) string {
	s = joined(s)
	if utf8.RuneCountInString(s) > messageMax {
		s = string([]rune(s)[:messageMax-1]) + "…"
	}
	return s
}
