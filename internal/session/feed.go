package session

import (
	"context"
	"iter"
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
func (f feed) Show(d event.Delta) bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if len(f.s.watchers) == 0 {
		return false
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
		return true
	}
	st.from += utf8.RuneCountInString(d.Text)
	for c := range f.s.watchers {
		select {
		case c <- d:
		default:
		}
	}
	return true
}

// watchBuffer is how many deltas a watcher may lag behind before it loses some.
const watchBuffer = 1024

// Watch yields text that is arriving, masked, until ctx ends. A watcher that is slow loses deltas, never the run its
// time: the record has the whole text afterwards.
func (s *Session) Watch(ctx context.Context) iter.Seq[event.Delta] {
	c := make(chan event.Delta, watchBuffer)
	s.mu.Lock()
	s.watchers[c] = true
	s.mu.Unlock()
	context.AfterFunc(ctx, func() { // also where nobody ever iterates
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, c)
	})
	return func(yield func(event.Delta) bool) {
		for {
			select {
			case d := <-c:
				if !yield(d) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
