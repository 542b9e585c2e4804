package redact

// Stream masks text that arrives in pieces. It holds back the shortest tail that may be the beginning of a known value,
// at most one byte less than the longest, so that all that it gives out, put together, is what [Masker.String] gives for
// the whole. The zero value is of no use; make one with [Masker.Stream].
type Stream struct {
	m       *Masker
	held    []byte
	covered int // leading bytes of held whose placeholder is out already
	masked  int
}

// Stream begins a text.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Write takes the next piece and returns what is safe to show: masked, possibly nothing, possibly more than the piece.
func (s *Stream) Write(text string) string {
	set := s.m.set.Load()
	if len(set.needles) == 0 && len(s.held) == 0 {
		return text
	}
	s.held = append(s.held, text...)
	return s.give(set, set.settled(s.held))
}

// Flush ends the text and returns what was held back, masked. The stream can be used for another text then.
func (s *Stream) Flush() string { return s.give(s.m.set.Load(), len(s.held)) }

// Masked counts the placeholders that were given out.
func (s *Stream) Masked() int { return s.masked }

// give takes the first n bytes out of what is held.
func (s *Stream) give(set *set, n int) string {
	var out []byte
	at, rest := s.covered, 0
	for _, r := range set.regions(s.held, s.covered) {
		if r.start >= n && r.mask != "" {
			break
		}
		if r.mask != "" {
			out = append(out, s.held[at:r.start]...)
			out = append(out, r.mask...)
			s.masked++
		}
		at = r.end
		rest = max(0, r.end-n)
	}
	if at < n {
		out = append(out, s.held[at:n]...)
	}
	s.held = append(s.held[:0], s.held[n:]...)
	s.covered = rest
	return string(out)
}
