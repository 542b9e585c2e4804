package redact

import "bytes"

// region is a stretch of text that one placeholder stands for. Its end is not part of it.
type region struct {
	start, end int
	mask       string
}

// regions finds all occurrences in b, in order. Occurrences that overlap are one region, named after the one that
// begins first and, of those, is longest. Bytes before covered belong to an occurrence that is known already; it comes
// first, without a mask.
func (s *set) regions(b []byte, covered int) []region {
	var out []region
	open := region{end: covered}
	for i := range b {
		if !s.first[b[i]] {
			continue
		}
		n := s.longest(b[i:])
		if n == nil {
			continue
		}
		if i >= open.end {
			if open.end > 0 {
				out = append(out, open)
			}
			open = region{i, i + len(n.text), n.mask}
		}
		open.end = max(open.end, i+len(n.text))
	}
	if open.end > 0 {
		out = append(out, open)
	}
	return out
}

// longest is the longest needle that b begins with, or nil.
func (s *set) longest(b []byte) *needle {
	for i := range s.needles { // longest first
		if bytes.HasPrefix(b, s.needles[i].bytes) {
			return &s.needles[i]
		}
	}
	return nil
}

// mask replaces all regions of b in a copy and counts them.
func (s *set) mask(b []byte) ([]byte, int) {
	regions := s.regions(b, 0)
	out := make([]byte, 0, len(b))
	at := 0
	for _, r := range regions {
		out = append(out, b[at:r.start]...)
		out = append(out, r.mask...)
		at = r.end
	}
	return append(out, b[at:]...), len(regions)
}

// settled is the number of leading bytes of b in which nothing can begin that goes on after b.
func (s *set) settled(b []byte) int {
	if len(s.needles) == 0 {
		return len(b)
	}
	for i := max(0, len(b)-len(s.needles[0].text)+1); i < len(b); i++ {
		if s.first[b[i]] && s.mayBegin(b[i:]) {
			return i
		}
	}
	return len(b)
}

// mayBegin tells whether tail is the beginning of a needle, but not all of it.
func (s *set) mayBegin(tail []byte) bool {
	for i := range s.needles {
		n := s.needles[i].bytes
		if len(n) > len(tail) && n[0] == tail[0] && bytes.HasPrefix(n, tail) {
			return true
		}
	}
	return false
}
