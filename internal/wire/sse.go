package wire

import (
	"bytes"
	"fmt"
	"io"
)

// Event is one server-sent event. Its slices are valid until the next call of [Events.Next].
type Event struct{ Name, Data []byte }

// Events reads server-sent events: the algorithm of the WHATWG HTML standard, section 9.2.6, with one difference. An
// event that the end of the stream leaves without its blank line is given all the same, because servers do end so.
// The fields id and retry are ignored. Lines may end in LF, CRLF or a lone CR, whatever the cuts between reads.
type Events struct {
	r       io.Reader
	max     int
	buf     []byte // bytes read and not yet consumed: buf[pos:]
	pos     int
	seen    int  // buf[pos:seen] has no line end
	skipLF  bool // the last line ended in CR: a LF that follows belongs to it
	started bool // the first line is behind us, and with it a byte order mark
	err     error
	name    []byte
	data    []byte
	has     bool // a data field has come
}

// NewEvents reads events from r. A line, or the data of an event, of more than maxLine bytes is an error.
func NewEvents(r io.Reader, maxLine int) *Events {
	return &Events{r: r, max: maxLine, buf: make([]byte, 0, 32<<10)}
}

// Next gives the next event that has data. It returns [io.EOF] after the last one, and else the reader's error; an
// event that such an error cuts is not given.
func (e *Events) Next() (Event, error) {
	e.name, e.data, e.has = e.name[:0], e.data[:0], false
	for {
		line, err := e.line()
		if err != nil {
			if err == io.EOF && e.has && len(e.data) > 0 {
				e.has = false
				return e.event(), nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if e.has && len(e.data) > 0 {
				return e.event(), nil
			}
			e.name, e.data, e.has = e.name[:0], e.data[:0], false
			continue
		}
		if err := e.field(line); err != nil {
			e.err = err
			return Event{}, err
		}
	}
}

func (e *Events) event() Event { return Event{Name: e.name, Data: e.data} }

// field takes one line that is not empty.
func (e *Events) field(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if ok && len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		e.has = true
		if len(e.data) > e.max {
			return e.tooLong()
		}
	case "event":
		e.name = append(e.name[:0], value...)
	}
	return nil
}

// line gives the next line without its end. At the end of the stream a line that was not ended counts too.
func (e *Events) line() ([]byte, error) {
	for {
		if e.skipLF && e.pos < len(e.buf) {
			if e.buf[e.pos] == '\n' {
				e.pos++
			}
			e.skipLF, e.seen = false, e.pos
		}
		if i := lineEnd(e.buf[e.seen:]); i >= 0 {
			line := e.buf[e.pos : e.seen+i]
			e.skipLF = e.buf[e.seen+i] == '\r'
			e.pos = e.seen + i + 1
			e.seen = e.pos
			return e.first(line)
		}
		e.seen = len(e.buf)
		if e.seen-e.pos > e.max {
			e.err = e.tooLong()
		}
		if e.err != nil {
			line := e.buf[e.pos:]
			if e.err != io.EOF || len(line) == 0 {
				return nil, e.err
			}
			e.pos = len(e.buf)
			return e.first(line)
		}
		e.fill()
	}
}

// lineEnd is the place of the first LF or CR, -1 if there is none.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

// first takes the byte order mark off the first line and checks the length.
func (e *Events) first(line []byte) ([]byte, error) {
	if !e.started {
		e.started = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(line) > e.max {
		e.err = e.tooLong()
		return nil, e.err
	}
	return line, nil
}

func (e *Events) tooLong() error {
	return &Error{Kind: Limit, Message: fmt.Sprintf("an event of the stream is longer than %d bytes", e.max)}
}

// fill reads once, moving what is left to the front when the buffer is full.
func (e *Events) fill() {
	if e.pos == len(e.buf) {
		e.buf, e.pos, e.seen = e.buf[:0], 0, 0
	}
	if len(e.buf) == cap(e.buf) {
		if e.pos > 0 {
			n := copy(e.buf, e.buf[e.pos:])
			e.buf, e.seen, e.pos = e.buf[:n], e.seen-e.pos, 0
		} else {
			e.buf = append(e.buf, 0)[:len(e.buf)]
		}
	}
	for range 100 {
		n, err := e.r.Read(e.buf[len(e.buf):cap(e.buf)])
		e.buf = e.buf[:len(e.buf)+n]
		e.err = err
		if n > 0 || err != nil {
			return
		}
	}
	e.err = io.ErrNoProgress
}
