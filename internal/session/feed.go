package session

import (
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/redact"
)

// feed masks deltas and hands them to the watchers.
type feed struct{ s *Session }

// stream is one text that is arriving.
type stream struct {
	mask *redact.Stream
	from int // characters of masked text given out so far
}

// Show implements [event.Feed]. A secret that arrives in two pieces is masked all the same: what may be the beginning
// of one is held back, and comes with the fact if nothing follows it.
func (f feed) Show(d event.Delta) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if len(f.s.watchers) == 0 {
		return
	}
	if d.Subject != f.s.streaming { // texts of one call at a time: what came before is whole in the record
		f.s.streaming = d.Subject
		clear(f.s.streams)
	}
	st := f.s.streams[d.Part]
	if st == nil {
		st = &stream{mask: f.s.o.Mask.Stream()}
		f.s.streams[d.Part] = st
	}
	d.Text = st.mask.Write(d.Text)
	d.From = st.from
	if d.Text == "" {
		return
	}
	st.from += utf8.RuneCountInString(d.Text)
	for c := range f.s.watchers {
		select {
		case c <- d:
		default:
		}
	}
}
