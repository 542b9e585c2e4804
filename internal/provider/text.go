package provider

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a server's texts in characters: of a message that is shown, and of a word that is kept for what it is, such as a code.
const (
	messageMax = 300
	wordMax    = 200
)

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
func oneLine(s string) string { return line(s, messageMax) }

// short makes a server's word fit for a record, and for a line that is shown.
func short(s string) string { return line(s, wordMax) }

func line(s string, most int) string {
	s = joined(head(s, 4*utf8.UTFMax*most)) // blanks are joined, so more may be needed than are left
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return s
}

// head gives the first n bytes of a text at most, without half a character at the end.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:wholeCharacters([]byte(s[:max(n, 0)]))]
}

// orElse gives s, or another text where that is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// pairedEscapes puts U+FFFD in the place of each escaped half of a surrogate pair in JSON that stands alone: it is no character,
// readers make different things of it, and strict ones refuse the whole document (RFC 8259, section 8.2).
func pairedEscapes(s string) string {
	if !strings.Contains(s, `\ud`) && !strings.Contains(s, `\uD`) {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b)-1; i++ {
		if b[i] != '\\' {
			continue
		}
		unit := escapedUnit(b[i:])
		switch {
		case utf16.IsSurrogate(unit) && utf16.DecodeRune(unit, escapedUnit(b[min(i+6, len(b)):])) != utf8.RuneError:
			i += 11
		case utf16.IsSurrogate(unit):
			copy(b[i:], `\ufffd`)
			i += 5
		default:
			i++ // what is escaped is no beginning of an escape
		}
	}
	return string(b)
}

// escapedUnit reads an escape with a number at the beginning of b; -1: there is none.
func escapedUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
