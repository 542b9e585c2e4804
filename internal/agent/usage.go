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
	of       event.Usage
	missed   bool
	costs    event.Cost
	known    int // calls whose cost is in costs
	reported int // of these, those whose server said it
}

func (s *sum) add(u llm.Usage, c *event.Cost) {
	if c == nil {
		s.costs.Unknown++
	} else {
		s.known++
		s.costs.Nano += c.Nano
		if c.Reported {
			s.reported++
		}
	}
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

// cost is that of all calls, nil if of none it is known.
func (s *sum) cost() *event.Cost {
	if s.known == 0 {
		return nil
	}
	c := s.costs
	c.Reported = s.reported == s.known
	return &c
}

// prices is the form of prices that is kept.
func prices(p *llm.Prices) *event.Prices {
	if p == nil {
		return nil
	}
	return &event.Prices{Fresh: p.Fresh, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, Output: p.Output}
}

// cost is what a call cost: as its server says, else by its price list; nil if neither is known.
func cost(p *llm.Prices, u llm.Usage) *event.Cost {
	if u.Cost != nil {
		if n, ok := llm.Nano(*u.Cost); ok {
			return &event.Cost{Nano: n, Reported: true}
		}
	}
	if n, ok := p.Cost(u); ok {
		return &event.Cost{Nano: n}
	}
	return nil
}

// read is what a server counted in a request.
type read struct {
	head   event.Seq
	tokens int64
}

// Below these a difference says nothing: estimates are by bytes, and a template may leave out some of a history.
const (
	unreadTokens = 1024 // that are missing
	unreadPart   = 2    // at most one part in so many was read
)

// unread tells whether the server has left out a part of the request. Ollama, and others if told to, cut what they have no room
// for from the oldest messages on, and answer as if nothing were missing; but then they count far less than was sent, or than
// the request before had, which this one contains.
func (t *turn) unread(u llm.Usage, estimate int) bool {
	if !t.Info.MayCut || u.Fresh == nil {
		return false
	}
	n := *u.Fresh
	for _, part := range []*int64{u.CacheRead, u.CacheWrite} {
		if part != nil {
			n += *part
		}
	}
	before := t.read
	t.read = read{t.Thread.HeadNode(), n} // behind another head a request does not contain the one before
	less := func(than int64) bool { return than-n >= unreadTokens && n*unreadPart <= than }
	return n > 0 && (less(int64(estimate)) || before.head == t.read.head && less(before.tokens))
}
