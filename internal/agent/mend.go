package agent

import (
	"slices"

	"overt/internal/llm"
)

// mends are the changes that servers have asked for in this turn. They last as long as it does: what was refused once would be
// refused at every step.
type mends struct {
	unsealed int // messages from the first on that are sent without what was sealed
	most     int // limit of an answer; 0: the one of the settings
	// uncounted: streams are not asked for their usage.
	uncounted bool
}

// apply gives the request with the changes.
func (m *mends) apply(r *llm.Request) *llm.Request {
	if m.unsealed > 0 {
		r = r.Unsealed(m.unsealed)
	}
	if m.most > 0 && (r.Params.MaxTokens == 0 || r.Params.MaxTokens > m.most) {
		changed := *r
		changed.Params.MaxTokens = m.most
		r = &changed
	}
	if m.uncounted {
		changed := *r
		changed.Uncounted = true
		r = &changed
	}
	return r
}

// learn takes what an error asks for, if r can be mended so and was not before.
func (m *mends) learn(e *llm.Error, r *llm.Request, tried []llm.Mend) bool {
	if slices.Contains(tried, e.Mend) {
		return false
	}
	switch e.Mend {
	case llm.Resend:
		return true
	case llm.Unseal:
		before := m.unsealed
		m.unsealed = len(r.Messages)
		return before < m.unsealed
	case llm.Shorten:
		if e.MaxTokens <= 0 || r.Params.MaxTokens > 0 && r.Params.MaxTokens <= e.MaxTokens {
			return false
		}
		m.most = e.MaxTokens
		return true
	case llm.Uncount:
		before := m.uncounted
		m.uncounted = true
		return !before
	}
	return false
}
