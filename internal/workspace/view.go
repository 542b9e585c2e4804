package workspace

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a text as a step of the ladder compares it, and the way back.
type view struct {
	data   []byte
	pieces []piece
}

// piece says where a part of a view, from at to the next piece, comes from: size bytes of the text from src on. One that is
// not whole stands byte for byte for the text; of a whole one there is no middle. What no piece covers was left out.
//
// There may be millions: the numbers are small, which files of up to MaxFile bytes allow in any encoding.
type piece struct {
	at, src, size int32
	whole         bool
}

// keep adds text as it is.
func (v *view) keep(text []byte, src int) {
	if len(text) == 0 {
		return
	}
	if n := len(v.pieces) - 1; n < 0 || v.pieces[n].whole || v.pieces[n].src+v.pieces[n].size != int32(src) {
		v.pieces = append(v.pieces, piece{at: int32(len(v.data)), src: int32(src)})
	}
	v.pieces[len(v.pieces)-1].size += int32(len(text))
	v.data = append(v.data, text...)
}

// put adds what stands for size bytes of the text.
func (v *view) put(s string, src, size int) {
	v.pieces = append(v.pieces, piece{int32(len(v.data)), int32(src), int32(size), true})
	v.data = append(v.data, s...)
}

// end is where a piece ends in the view.
func (v *view) end(i int) int {
	if i+1 < len(v.pieces) {
		return int(v.pieces[i+1].at)
	}
	return len(v.data)
}

// from gives the offset in the text at which a match begins that begins at an offset of the view.
func (v *view) from(at int) (int, bool) {
	i := sort.Search(len(v.pieces), func(i int) bool { return int(v.pieces[i].at) > at }) - 1
	if i < 0 {
		return 0, false
	}
	p := v.pieces[i]
	return int(p.src) + at - int(p.at), !p.whole || at == int(p.at)
}

// to gives the offset in the text at which a match ends that ends at an offset of the view.
func (v *view) to(at int) (int, bool) {
	i := sort.Search(len(v.pieces), func(i int) bool { return int(v.pieces[i].at) >= at }) - 1
	if i < 0 {
		return 0, false
	}
	p := v.pieces[i]
	if p.whole {
		return int(p.src + p.size), at == v.end(i)
	}
	return int(p.src) + at - int(p.at), true
}

// withLF is the text with LF for every line end.
func withLF(data []byte) *view {
	v := &view{data: make([]byte, 0, len(data))}
	done := 0
	for {
		i := bytes.Index(data[done:], []byte("\r\n"))
		if i < 0 {
			v.keep(data[done:], done)
			return v
		}
		v.keep(data[done:done+i], done)
		v.put("\n", done+i, 2)
		done += i + 2
	}
}

// folded is the text with LF for every line end, composed characters (NFC), and ASCII for typographic quotes, dashes and
// spaces.
func folded(data []byte) *view {
	v := &view{data: make([]byte, 0, len(data))}
	var composed, out []byte
	for done := 0; done < len(data); {
		if n := norm.NFC.QuickSpan(data[done:]); n > 0 {
			v.plain(data[done:done+n], done)
			done += n
			continue
		}
		n := max(norm.NFC.NextBoundary(data[done:], true), 1)
		composed, out = norm.NFC.Append(composed[:0], data[done:done+n]...), out[:0]
		for len(composed) > 0 {
			r, size := utf8.DecodeRune(composed)
			if r == utf8.RuneError && size == 1 {
				out = append(out, composed[0])
			} else {
				out = utf8.AppendRune(out, fold(r))
			}
			composed = composed[size:]
		}
		v.put(string(out), done, n)
		done += n
	}
	return v
}

// plain adds text that is composed.
func (v *view) plain(text []byte, src int) {
	done := 0
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		to := fold(r)
		if r == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			to, n = '\n', 2
		} else if to == r {
			i += n
			continue
		}
		v.keep(text[done:i], src+done)
		v.put(string(to), src+i, n)
		i += n
		done = i
	}
	v.keep(text[done:], src+done)
}

// fold gives the ASCII character that people and models write for a typographic one.
func fold(r rune) rune {
	switch {
	case r < 0xA0:
	case r == 0x2018 || r == 0x2019 || r == 0x201A || r == 0x201B:
		return '\''
	case r >= 0x201C && r <= 0x201F:
		return '"'
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
		return '-'
	case r == 0xA0 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F || r == 0x3000:
		return ' '
	}
	return r
}

// blanks are the white space within lines.
const blanks = " \t\v\f"

// trimmed is another view without white space at the ends of lines, and at their beginnings if both is set.
func trimmed(f *view, both bool) *view {
	v := &view{data: make([]byte, 0, len(f.data))}
	piece, at := 0, 0
	for line := range bytes.Lines(f.data) {
		from, to, next := at, at+len(line), at+len(line)
		body := bytes.TrimSuffix(line, []byte("\n"))
		if both {
			from += len(body) - len(bytes.TrimLeft(body, blanks))
		}
		end := max(from, at+len(bytes.TrimRight(body, blanks)))
		piece = v.take(f, piece, from, end)
		piece = v.take(f, piece, at+len(body), to)
		at = next
	}
	return v
}

// take adds a part of another view, and gives the piece of that in which it ends. Of a whole piece it adds all.
func (v *view) take(f *view, i, from, to int) int {
	for ; i < len(f.pieces) && from < to; i++ {
		p, end := f.pieces[i], f.end(i)
		at, src := int(p.at), int(p.src)
		switch lo, hi := max(from, at), min(to, end); {
		case lo >= hi:
		case p.whole:
			v.put(string(f.data[at:end]), src, int(p.size))
		default:
			v.keep(f.data[lo:hi], src+lo-at)
		}
		if end >= to {
			return i
		}
	}
	return i
}
