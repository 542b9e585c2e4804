package workspace_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"overt/internal/workspace"
)

// codec is an encoding with text of its language.
type codec struct {
	name  string
	codec encoding.Encoding
	text  string
}

func codecs() []codec {
	return []codec{
		{"UTF-8", encoding.Nop, "día – 漢字 😀\n第二行\n"},
		{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "día – 漢字 😀\n第二行\n"},
		{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "día – 漢字 😀\n第二行\n"},
		{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "[section]\r\nname = käse\r\n"},
		{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "[section]\r\nname = käse\r\n"},
		{"GBK", simplifiedchinese.GBK, "# 这是一个配置文件，请不要修改\nname = 张伟\n价格：€5\n"},
		{"GB18030", simplifiedchinese.GB18030, "# 这是一个配置文件 㐀 😀\nname = 张伟\n"},
		{"Big5", traditionalchinese.Big5, "// 這是一個設定檔，請不要修改\nname = 陳大文\n"},
		{"Shift-JIS", japanese.ShiftJIS, "// これは設定ファイルです。変更しないでください\nname = 山田太郎 ﾃｽﾄ\n"},
		{"EUC-JP", japanese.EUCJP, "# これは設定ファイルです。変更しないでください\nname = 山田太郎\n"},
		{"EUC-KR", korean.EUCKR, "# 이 파일은 설정 파일입니다. 수정하지 마십시오\nname = 김철수\n"},
		{"Windows-1252", charmap.Windows1252, "// Größe – “café” für 5 €\nname = Müller\n"},
	}
}

func (c codec) encode(t interface{ Fatal(...any) }, text string) []byte {
	out, err := c.codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(c.name, err)
	}
	return out
}

func TestDecode(t *testing.T) {
	for _, c := range codecs() {
		data := c.encode(t, c.text)
		text, enc, err := workspace.Decode(data)
		if err != nil || enc.Name() != c.name || strings.TrimPrefix(string(text), "\uFEFF") != c.text || enc.Stray() {
			t.Errorf("%s: taken for %q: %q, %v", c.name, enc.Name(), text, err)
			continue
		}
		back, err := enc.Encode(string(text))
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%s: %x became %x, %v", c.name, data, back, err)
		}
	}
	for _, c := range []struct{ name, data, encoding string }{
		{"one accented letter", "// caf\xe9\n", "Windows-1252"},
		{"capital letters with accents", "\xc4rger, \xd6l, \xdcbel\n", "Windows-1252"},
		{"two accented letters together", "Gr\xf6\xdfe, cr\xe9\xe9e\n", "Windows-1252"},
		{"a stray byte in UTF-8", "día\n日本\n\xff\n", "UTF-8"},
		{"a cut character", "日本\xe6\x97", "UTF-8"},
		{"control characters", "\x01\x02\xfe\xff\xe9\n", ""},
		{"bytes that Windows-1252 lacks", "\xe9\x81\n", ""},
		{"two characters of GBK", "\xd6\xd0\xce\xc4", "GBK"},
		{"two characters of Shift-JIS", "\x93\xfa\x96\x7b", "Shift-JIS"},
		{"names with IBM's characters", "\xfb\xfc\x8b\xb4\x81\x41\x8e\x52\xfa\xb1\x82\xcc\n", "Shift-JIS"},
		{"two syllables of EUC-KR", "\xc7\xcf\xb4\xd9\n", "EUC-KR"},
		{"empty", "", "UTF-8"},
	} {
		_, enc, err := workspace.Decode([]byte(c.data))
		if err != nil || enc.Name() != c.encoding {
			t.Errorf("%s: taken for %q, %v", c.name, enc.Name(), err)
		}
	}
	for name, data := range map[string]string{
		"NUL in text": "a\x00b", "short": "a\x00", "UTF-32": "\xff\xfe\x00\x00a\x00\x00\x00",
		"numbers of 16 bits": strings.Repeat("\x01\x00\x02\x00\x03\x00", 10), "half a surrogate pair": "\xff\xfe\x00\xd8a\x00",
		"NUL on both sides": strings.Repeat("a\x00\x00b", 10), "program": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00>\x00",
	} {
		var e *workspace.EditError
		if _, enc, err := workspace.Decode([]byte(data)); !errors.As(err, &e) || e.Code != workspace.CodeBinary {
			t.Errorf("%s: taken for %q, %v", name, enc.Name(), err)
		}
	}
}

// TestEncodeRefuses: what an encoding can't hold is named.
func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct{ data, old, with, says string }{
		{"caf\xe9 a\n", "a\n", "b\n漢 字 漢\n", "can be put in; it can't hold 漢 (U+6F22, line 2 of the new text), 字 (U+5B57, line 2 of the new text). Nothing was written"},
		{"k\xf5 a\n", "a\n", "õ\nő õ é\n", "the file is Windows-1252, or like it, so only ASCII and characters that it has already can be put in; it can't hold ő (U+0151, line 2 of the new text), é (U+00E9, line 2 of the new text). Nothing"},
		{"caf\xe9 a\n", "a\n", "一二三四五六七", "and 2 more. Nothing"},
		{"\xd6\xd0\xce\xc4\xd6\xd0\xb9\xfa a\n", "a\n", "😀", "the file is GBK; it can't hold 😀 (U+1F600"},
		{"日本\xff a\n", "a", "\uFFFD", "U+FFFD"},
		{"\xe9\x81 a\n", "a", "é", "not known"},
	} {
		var e *workspace.EditError
		if _, err := workspace.Replace(t.Context(), []byte(c.data), workspace.Edit{Old: c.old, New: c.with}); !errors.As(err, &e) || e.Code != "encoding" || !strings.Contains(e.Text, c.says) {
			t.Errorf("%q -> %q: %v", c.old, c.with, err)
		}
	}
}

// TestGuessTakesItsOwn: where an encoding is only taken for lack of another, characters that the file has can be put in again.
func TestGuessTakesItsOwn(t *testing.T) {
	got, err := workspace.Replace(t.Context(), []byte("caf\xe9 \x80 a\n"), workspace.Edit{Old: "a\n", New: "b é\n€\n"})
	if err != nil || string(got.Bytes) != "caf\xe9 \x80 b \xe9\n\x80\n" {
		t.Errorf("got %q, %v", got.Bytes, err)
	}
}

// TestKeepsBytes: whatever a file is in, an edit of a line changes no byte of the lines around it, new text is in the
// file's encoding, and tolerance does not change that.
func TestKeepsBytes(t *testing.T) {
	all := codecs()
	rapid.Check(t, func(t *rapid.T) {
		c := all[rapid.IntRange(0, len(all)-1).Draw(t, "codec")]
		words := strings.Fields(c.text)
		word := rapid.SampledFrom(words)
		space := rapid.SampledFrom([]string{"", "", "\t", "    ", "  "})
		end := rapid.SampledFrom([]string{"\n", "\r\n"})
		n := rapid.IntRange(1, 8).Draw(t, "lines")
		var before []string // whole lines, with their ends
		for i := range n {
			line := space.Draw(t, "indentation") + "> " + word.Draw(t, "word") + " " + word.Draw(t, "word") + space.Draw(t, "after")
			if i < n-1 || rapid.Bool().Draw(t, "final newline") {
				line += end.Draw(t, "end")
			}
			before = append(before, line)
		}
		// The first line makes the encoding known.
		known := strings.SplitAfter(c.text, "\n")[0]
		before = append([]string{known}, before...)
		data := c.encode(t, strings.Join(before, ""))

		from := rapid.IntRange(1, n).Draw(t, "from")
		to := rapid.IntRange(from+1, n+1).Draw(t, "to")
		var old, with strings.Builder
		for _, line := range before[from:to] {
			seen := strings.ReplaceAll(line, "\r\n", "\n")
			body := strings.TrimRight(seen, " \t\n")
			tail := seen[len(body):]
			if rapid.Bool().Draw(t, "without white space") {
				tail = strings.TrimLeft(tail, " \t")
			}
			old.WriteString(body + tail)
			with.WriteString("> " + word.Draw(t, "new word") + tail)
		}
		got, err := workspace.Replace(t.Context(), data, workspace.Edit{Old: old.String(), New: with.String()})
		if err != nil {
			var e *workspace.EditError
			if !errors.As(err, &e) || e.Code != "several" && e.Code != "same" {
				t.Fatalf("%s: %q in %q: %v", c.name, old.String(), before, err)
			}
			return
		}
		// Where it was found, the lines before and after are there, byte for byte.
		at := got.Lines[0] - 1
		head := c.encode(t, strings.Join(before[:at], ""))
		all := c.encode(t, strings.Join(before, ""))
		rest := at + to - from
		tail := all[len(c.encode(t, strings.Join(before[:rest], ""))):]
		if !bytes.HasPrefix(got.Bytes, head) || !bytes.HasSuffix(got.Bytes, tail) {
			t.Fatalf("%s: %q -> %q in %q: got %q", c.name, old.String(), with.String(), before, got.Bytes)
		}
		// What was put in is the new text, but for line ends and white space at the ends of lines.
		middle := got.Bytes[len(head) : len(got.Bytes)-len(tail)]
		text, err := c.codec.NewDecoder().Bytes(middle)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(strings.Fields(string(text)), " ") != strings.Join(strings.Fields(with.String()), " ") {
			t.Fatalf("%s: %q -> %q: put in %q", c.name, old.String(), with.String(), text)
		}
		if ends := strings.Count(strings.Join(before, ""), "\r\n"); ends == len(before) && strings.Count(string(text), "\n") != strings.Count(string(text), "\r\n") {
			t.Fatalf("%s: %q has other line ends", c.name, text)
		}
	})
}

// FuzzDecode: what is decoded comes back as the same bytes, and text that was put in is there again.
func FuzzDecode(f *testing.F) {
	for _, c := range codecs() {
		f.Add(c.encode(f, c.text))
	}
	f.Add([]byte("caf\xe9\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, enc, err := workspace.Decode(data)
		if err != nil {
			return
		}
		back, err := enc.Encode(string(text))
		if err == nil && !bytes.Equal(back, data) {
			t.Fatalf("%s: %x became %x", enc.Name(), data, back)
		}
		if err != nil && !enc.Stray() {
			t.Fatalf("%s: %v", enc.Name(), err)
		}
	})
}

// FuzzLadder: an edit by any step changes nothing in front of the line on which it begins.
func FuzzLadder(f *testing.F) {
	f.Add("\tif x {\n\t\ty()\n\t}\n", "    if x {\n        y()\n    }", "z")
	f.Add("a  \r\n“b”\r\n", "a\n\"b\"", "c\nd")
	f.Add("1\ta\n", "1\t1\ta", "x")
	f.Add("\xd6\xd0\xce\xc4 a\n", "a", "b")
	f.Fuzz(func(t *testing.T, data, old, with string) {
		got, err := workspace.Replace(t.Context(), []byte(data), workspace.Edit{Old: old, New: with})
		if err != nil {
			return
		}
		if got.Count != 1 || len(got.Lines) != 1 || got.How == "" {
			t.Fatalf("%+v", got)
		}
		text, enc, err := workspace.Decode([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		if got.Lines[0] > len(lines) {
			t.Fatalf("line %d of %d", got.Lines[0], len(lines))
		}
		head := strings.Join(lines[:got.Lines[0]-1], "")
		raw := []byte(head)
		if enc.Name() != "UTF-8" && enc.Name() != "" {
			if raw, err = enc.Encode(head); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(got.Bytes, raw) {
			t.Fatalf("%q -> %q in %q: got %q", old, with, data, got.Bytes)
		}
	})
}
