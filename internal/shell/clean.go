package shell

import (
	"errors"
	"io"
	"unicode/utf8"
)

const (
	// maxLine is how many characters of an unfinished line can still be overwritten; longer lines are given out as they are.
	maxLine = 16 << 10
	// maxString bounds an escape string (OSC and its like); what is longer is not one.
	maxString = 4 << 10
)

// cleaner makes text for reading of what a program writes for a terminal: escape sequences (ECMA-48) are left out, a
// carriage return, a backspace and "erase line" do to the line what they would do on a screen, CR LF is LF, other
// control characters but tab and newline are dropped, and bytes that are not UTF-8 become U+FFFD. It gives out finished
// lines, one or more at a time.
type cleaner struct {
	emit func(text string)

	line    []rune // the unfinished line
	at      int    // where the next character goes
	state   state
	params  []byte // of a CSI
	n       int    // bytes of the current escape string
	partial []byte // an unfinished UTF-8 sequence
}

// Clean reads what a command wrote and gives it as [Held.Go] shows it, piece by piece.
func Clean(from io.Reader, give func(text string)) error {
	c := cleaner{emit: give}
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		c.write(buf[:n])
		if errors.Is(err, io.EOF) {
			c.flush()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type state int

const (
	ground    state = iota
	escape          // after ESC
	charset         // after ESC and an intermediate byte
	csi             // after ESC [
	str             // inside OSC, DCS, SOS, PM or APC
	strEscape       // ESC inside one, which may end it
)

func (c *cleaner) write(b []byte) {
	if len(c.partial) > 0 {
		b = append(c.partial, b...)
		c.partial = nil
	}
	for len(b) > 0 {
		if n := c.plain(b); n > 0 {
			c.emit(string(b[:n]))
			b = b[n:]
			continue
		}
		r, n := rune(b[0]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRune(b) {
				c.partial = append([]byte(nil), b...)
				return
			}
			r, n = utf8.DecodeRune(b)
		}
		b = b[n:]
		c.rune(r)
	}
}

// plain is how many bytes are whole lines of ASCII with nothing to clean, which most output is. They need not go through
// the line, a character at a time.
func (c *cleaner) plain(b []byte) int {
	if c.state != ground || len(c.line) > 0 || c.at > 0 {
		return 0
	}
	n := 0
	for i, x := range b {
		switch {
		case x == '\n':
			n = i + 1
		case x < 0x20 && x != '\t' || x >= 0x7f || i-n >= maxLine:
			return n
		}
	}
	return n
}

// flush gives out what is left, at the end.
func (c *cleaner) flush() {
	for range c.partial {
		c.rune(utf8.RuneError)
	}
	c.partial = nil
	c.release("")
}

func (c *cleaner) rune(r rune) {
	switch c.state {
	case ground:
		c.ground(r)
	case escape:
		c.escape(r)
	case charset:
		if r < 0x20 || r > 0x2f {
			c.state = ground
		}
	case csi:
		c.csi(r)
	case str:
		c.n++
		switch {
		case r == 0x1b:
			c.state = strEscape
		case r == 0x07 || r == 0x9c || c.n > maxString:
			c.state = ground
		case r == '\n': // no terminal program puts one there: the end was lost
			c.state = ground
			c.ground(r)
		}
	case strEscape:
		c.state = ground
		if r != '\\' {
			c.escape(r)
		}
	}
}

func (c *cleaner) ground(r rune) {
	switch {
	case r == 0x1b:
		c.state = escape
	case r == '\n':
		c.release("\n")
	case r == '\r':
		c.at = 0
	case r == '\b':
		c.at = max(c.at-1, 0)
	case r == 0x9b:
		c.state, c.params = csi, c.params[:0]
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		c.state, c.n = str, 0
	case r == '\t' || r >= 0x20 && r != 0x7f && !(r >= 0x80 && r < 0xa0):
		c.put(r)
	}
}

func (c *cleaner) escape(r rune) {
	switch {
	case r == '[':
		c.state, c.params = csi, c.params[:0]
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.state, c.n = str, 0
	case r >= 0x20 && r <= 0x2f:
		c.state = charset
	case r == 0x1b:
		c.state = escape
	case r < 0x20:
		c.state = ground
		c.ground(r)
	default:
		c.state = ground
	}
}

func (c *cleaner) csi(r rune) {
	switch {
	case r >= 0x20 && r <= 0x3f && len(c.params) < 64:
		c.params = append(c.params, byte(r))
	case r >= 0x40 && r <= 0x7e:
		c.state = ground
		if r == 'K' {
			c.erase(string(c.params))
		}
	case r == 0x1b:
		c.state = escape
	default: // malformed: the character stands for itself
		c.state = ground
		c.ground(r)
	}
}

// erase is EL: from here to the end, from the start to here, or the whole line.
func (c *cleaner) erase(mode string) {
	switch mode {
	case "", "0":
		c.line = c.line[:min(c.at, len(c.line))]
	case "1":
		for i := range min(c.at+1, len(c.line)) {
			c.line[i] = ' '
		}
	case "2":
		c.line = c.line[:0]
	}
}

func (c *cleaner) put(r rune) {
	for len(c.line) < c.at { // the line was erased behind the cursor
		c.line = append(c.line, ' ')
	}
	if c.at == len(c.line) {
		c.line = append(c.line, r)
	} else {
		c.line[c.at] = r
	}
	if c.at++; len(c.line) >= maxLine {
		c.release("")
	}
}

func (c *cleaner) release(end string) {
	if len(c.line) > 0 || end != "" {
		c.emit(string(c.line) + end)
	}
	c.line, c.at = c.line[:0], 0
}
