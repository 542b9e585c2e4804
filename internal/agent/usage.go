package agent

import (
	"overt/internal/event"
	"overt/internal/llm"
)

// Coverage of usage figures.
const (
	complete    = "complete"
	partial     = "partial"
	unavailable = "unavailable"
)

// usage is what one call reported.
func usage(u llm.Usage) event.Usage {
	out := event.Usage{Fresh: u.Fresh, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, Raw: u.Raw}
	switch {
	case u.Fresh != nil && u.Output != nil:
		out.Coverage = complete
	case u.Fresh != nil || u.Output != nil:
		out.Coverage = partial
	default:
		out.Coverage = unavailable
	}
	return out
}

// sum adds up what calls reported. Nothing is estimated: a call that reported nothing makes the sum partial.
type sum struct {
	of     event.Usage
	missed bool
}

func (s *sum) add(u llm.Usage) {
	add := func(to **int64, n *int64) {
		if n == nil {
			return
		}
		if *to == nil {
			*to = new(int64)
		}
		**to += *n
	}
	add(&s.of.Fresh, u.Fresh)
	add(&s.of.CacheRead, u.CacheRead)
	add(&s.of.CacheWrite, u.CacheWrite)
	add(&s.of.Output, u.Output)
	add(&s.of.Reasoning, u.Reasoning)
	s.missed = s.missed || usage(u).Coverage != complete
}

func (s *sum) total() event.Usage {
	out := s.of
	switch {
	case out.Fresh == nil && out.Output == nil:
		out.Coverage = unavailable
	case s.missed:
		out.Coverage = partial
	default:
		out.Coverage = complete
	}
	return out
}
