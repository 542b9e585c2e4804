package shell_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"overt/internal/shell"
)

// clean is the cleaner for a text that is there as a whole.
func clean(b []byte) string {
	var out strings.Builder
	_ = shell.Clean(bytes.NewReader(b), func(s string) { out.WriteString(s) }) // it fails only as its reader does
	return out.String()
}

// covers L036
func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colours", "\x1b[31mred\x1b[0m \x1b[38;5;12mblue\x1b[m", "red blue"},
		{"title with BEL", "\x1b]0;title\x07text", "text"},
		{"title with ST", "\x1b]0;title\x1b\\text", "text"},
		{"link", "\x1b]8;;http://x\x1b\\word\x1b]8;;\x1b\\", "word"},
		{"DCS", "a\x1bPq#0;1\x1b\\b", "ab"},
		{"unclosed title ends with its line", "\x1b]0;title\nnext", "\nnext"},
		{"charset", "\x1b(Ba\x1b)0b", "ab"},
		{"two-byte escapes", "\x1b7a\x1b8b\x1bMc", "abc"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n"},
		{"progress", "10%\r50%\r100%\n", "100%\n"},
		{"shorter overwrite", "abcdef\rxy\n", "xycdef\n"},
		{"erase to the end", "abcdef\rxy\x1b[K\n", "xy\n"},
		{"erase the line", "abcdef\x1b[2K\rxy\n", "xy\n"},
		{"erase to the start", "abc\x1b[1K\n", "   \n"},
		{"cursor past what was erased", "abc\x1b[2Kd\n", "   d\n"},
		{"backspace", "abc\b\bX\n", "aXc\n"},
		{"overstrike", "b\bbo\bo", "bo"},
		{"backspace at the start", "\b\ba", "a"},
		{"control characters", "a\x00b\x01\x02c\x7fd\x0ce", "abcde"},
		{"C1", "a\u0085b\u009b31mc", "abc"},
		{"invalid UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"wide characters", "漢字\r日\n", "日字\n"},
		{"escape at the end", "a\x1b", "a"},
		{"CSI at the end", "a\x1b[3", "a"},
		{"newline in CSI", "a\x1b[3\nb", "a\nb"},
	} {
		if got := clean([]byte(c.in)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\nc\b\x1b]0;t\x07"))
	f.Add([]byte("\xe6\xbc\x1b(B\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := clean(b)
		if !utf8.ValidString(s) {
			t.Fatalf("%q is not UTF-8", s)
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
			t.Fatalf("%q holds a control character at %d", s, i)
		}
		var slow strings.Builder
		if err := shell.Clean(iotest.OneByteReader(bytes.NewReader(b)), func(s string) { slow.WriteString(s) }); err != nil || slow.String() != s {
			t.Fatalf("%q in one piece is %q, byte by byte %q, %v", b, s, slow.String(), err)
		}
		if again := clean([]byte(s)); again != s {
			t.Fatalf("cleaning twice changes %q to %q", s, again)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	in := []byte(strings.Repeat("\x1b[32mok\x1b[0m  \tpackage/of/some/length\t0.123s\n", 20000))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		clean(in)
	}
}
