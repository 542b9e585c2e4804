package workspace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
)

// utf8Name is the encoding of most files. The names of the others are with their codecs.
const utf8Name = "UTF-8"

// Encoding is how the bytes of a file stand for characters. The zero value is UTF-8.
type Encoding struct {
	name  string
	codec encoding.Encoding // nil: the text is the bytes themselves
	stray bool
	own   string // if not "", the encoding is a guess, and characters that are not ASCII are right only if this text has them
}

// Name is the encoding as people write it, "" if the file is in none that is known.
func (e Encoding) Name() string {
	if e == (Encoding{}) {
		return utf8Name
	}
	return e.name
}

// Stray tells whether the text holds bytes that are not UTF-8, which can be kept but not shown.
func (e Encoding) Stray() bool { return e.stray }

// Decode gives the text of a file in UTF-8, and what the file is in. A byte order mark is part of the text, as U+FEFF.
//
// The encoding is the first of these that fits: UTF-16 with a byte order mark; UTF-8; UTF-16 told by its NUL bytes; UTF-8 but
// for some bytes; GBK, GB18030, Big5, Shift-JIS, EUC-JP or EUC-KR, whichever gives the most usual text; Windows-1252. One
// other than UTF-8 is taken only if the text put back into it gives the same bytes. What fits none is given as it is, with
// a name of "". The error is an *EditError: the file is binary.
func Decode(data []byte) ([]byte, Encoding, error) {
	for _, e := range wide() {
		if mark, _ := e.bytes(mark); bytes.HasPrefix(data, mark) {
			if text, ok := e.exactly(data); ok && bytes.IndexByte(text, 0) < 0 {
				return text, e, nil
			}
		}
	}
	nul := bytes.IndexByte(data, 0)
	switch {
	case nul < 0 && utf8.Valid(data):
		return data, Encoding{}, nil
	case nul >= 0:
		if text, e, ok := unmarked(data); ok {
			return text, e, nil
		}
		return nil, Encoding{}, refuse(CodeBinary, "the file is binary: byte %d is NUL. Text tools don't change it; use run_command", nul+1)
	case mostlyUTF8(data):
		return data, Encoding{name: utf8Name, stray: true}, nil
	}
	for _, e := range append(plausible(data), Encoding{name: "Windows-1252", codec: charmap.Windows1252}) {
		if text, ok := e.exactly(data); ok && !bytes.ContainsFunc(text, control) {
			if e.codec == charmap.Windows1252 {
				e.own = string(text)
			}
			return text, e, nil
		}
	}
	return data, Encoding{stray: true}, nil
}

// DecodeAs is [Decode] for a file that was in an encoding when it was last seen: it still is, if it can be. A file that has
// no characters beyond ASCII left is in any.
func DecodeAs(was Encoding, data []byte) ([]byte, Encoding, error) {
	if was.codec != nil {
		if text, ok := was.exactly(data); ok && !bytes.ContainsFunc(text, control) {
			return text, was, nil
		}
	}
	return Decode(data)
}

// Told is the encoding if the file told it, and none if it was taken for want of a better one.
func (e Encoding) Told() Encoding {
	if e.own != "" {
		return Encoding{}
	}
	return e
}

// wide are the encodings with two bytes or more a character.
func wide() []Encoding {
	return []Encoding{
		{name: "UTF-16LE", codec: utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)},
		{name: "UTF-16BE", codec: utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)},
	}
}

// minUnmarked is how many bytes tell UTF-16 from binary data where there is no byte order mark.
const minUnmarked = 16

// unmarked finds UTF-16 without a byte order mark: every other byte of most characters is NUL, as in no other text, and
// nothing in it is without a shape.
func unmarked(data []byte) ([]byte, Encoding, bool) {
	if len(data) < minUnmarked || len(data)%2 != 0 {
		return nil, Encoding{}, false
	}
	var nuls [2]int
	for i, c := range data {
		if c == 0 {
			nuls[i%2]++
		}
	}
	for i, e := range wide() { // little endian: the second byte of ASCII is NUL
		if nuls[i] != 0 || nuls[1-i] < len(data)/4 {
			continue
		}
		shapeless := func(r rune) bool { return control(r) || !unicode.IsGraphic(r) && !unicode.IsSpace(r) }
		if text, ok := e.exactly(data); ok && !bytes.ContainsFunc(text, shapeless) {
			return text, e, true
		}
	}
	return nil, Encoding{}, false
}

// control tells whether a character is one that texts do not have: a control character that is neither white space, nor
// backspace, nor escape, nor the end-of-file mark of DOS.
func control(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1a\x1b", r) || r >= 0x7F && r < 0xA0
}

// mostlyUTF8 tells whether no fewer characters of several bytes are in the data than bytes that belong to none. In a text
// of another encoding there is one for ten such bytes or so.
func mostlyUTF8(data []byte) bool {
	whole, stray := 0, 0
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			stray++
		} else {
			whole++
		}
		data = data[n:]
	}
	return whole >= stray
}

// exactly decodes data, if encoding the text again gives the same bytes.
func (e Encoding) exactly(data []byte) (text []byte, ok bool) {
	text, err := e.codec.NewDecoder().Bytes(data)
	if err != nil {
		return nil, false
	}
	back, err := e.bytes(string(text))
	return text, err == nil && bytes.Equal(back, data)
}

// bytes puts a text into the encoding.
func (e Encoding) bytes(text string) ([]byte, error) {
	if e.codec == nil {
		return []byte(text), nil
	}
	out, err := e.codec.NewEncoder().Bytes([]byte(text))
	if err == nil && e.name == shiftJIS {
		likeWindows(out)
	}
	return out, err
}

// size is how many bytes a text that was decoded takes in the encoding.
func (e Encoding) size(text []byte) int {
	if e.codec == nil {
		return len(text)
	}
	out, _ := e.bytes(string(text)) // it came from there
	return len(out)
}

// maxNamed is how many characters an error names.
const maxNamed = 5

// Encode puts a text that a file is to hold into its encoding. The error is an *EditError that names the characters which
// have no place in it, and the lines of the text on which they stand.
func (e Encoding) Encode(text string) ([]byte, error) {
	if e.name == "" && e.stray {
		return e.encode(text, "the file's encoding is not known, so only ASCII can be put in", func(r rune) bool { return r < utf8.RuneSelf })
	}
	if e.stray {
		return e.encode(text, "the file holds bytes that are not UTF-8, and U+FFFD only stands for them where it is shown", func(r rune) bool { return r != utf8.RuneError })
	}
	if e.codec == nil {
		return []byte(text), nil
	}
	encoder, why := e.codec.NewEncoder(), "the file is "+e.name
	if e.own != "" {
		why += ", or like it, so only ASCII and characters that it has already can be put in"
	}
	return e.encode(text, why, func(r rune) bool {
		_, err := encoder.String(string(r))
		return r < utf8.RuneSelf || err == nil && (e.own == "" || strings.ContainsRune(e.own, r))
	})
}

func (e Encoding) encode(text, why string, holds func(rune) bool) ([]byte, error) {
	var named []string
	more := 0
	seen := map[rune]bool{}
	line := 1
	for _, r := range text {
		if r == '\n' {
			line++
		}
		if seen[r] {
			continue
		}
		seen[r] = true
		switch {
		case holds(r):
		case len(named) == maxNamed:
			more++
		default:
			named = append(named, fmt.Sprintf("%s (U+%04X, line %d of the new text)", string(r), r, line))
		}
	}
	if len(named) > 0 {
		list := strings.Join(named, ", ")
		if more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		return nil, refuse(codeEncoding, "%s; it can't hold %s. Nothing was written: leave them out, or convert the file first with run_command (iconv)", why, list)
	}
	return e.bytes(text)
}

// decode gives the text of data that is said to be in the encoding.
func (e Encoding) decode(data []byte) []byte {
	if e.codec == nil || data == nil {
		return data
	}
	text, err := e.codec.NewDecoder().Bytes(data)
	if err != nil {
		return data
	}
	return text
}

// WithMark gives content that is to replace a text the byte order mark which that had, where the encoding is told by it.
func (e Encoding) WithMark(content, text string) string {
	marked := strings.HasPrefix(text, mark) && slices.ContainsFunc(wide(), func(w Encoding) bool { return w.name == e.name })
	if marked && !strings.HasPrefix(content, mark) {
		return mark + content
	}
	return content
}
