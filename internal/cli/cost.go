package cli

import (
	"fmt"

	"overt/internal/event"
	"overt/internal/i18n"
	"overt/internal/trace"
)

// cost is a sum of money in a few characters: "$" as servers said it, "~$" as an estimate, "≥" where calls are not in it, "–" where
// nothing is known.
func (p *program) cost(c *trace.Cost) string {
	if c == nil {
		return "–"
	}
	s := p.say.Say("usage.cost", dollars(c.USD))
	if c.Estimate {
		s = p.say.Say("usage.cost.estimate", dollars(c.USD))
	}
	if c.Unknown > 0 {
		s = p.say.Say("usage.least", s)
	}
	return s
}

// dollars has two places from a dollar on, and four of less; what is still less is told to be more than nothing.
func dollars(u trace.USD) string {
	const cent = 10_000_000
	switch f := float64(u) / 1e9; {
	case u >= 100*cent:
		return fmt.Sprintf("%.2f", f)
	case u > 0 && u < cent/100:
		return u.String()
	default:
		return fmt.Sprintf("%.4f", f)
	}
}

// spent is a sentence on tokens as reported, with what they cost where that is known.
func (p *program) spent(u event.Usage, c *event.Cost) string {
	if c == nil {
		return p.usage(u)
	}
	return p.say.Say("run.cost", p.usage(u), p.cost(trace.NewCost(c)))
}

// unread tells once of a run that the server leaves out a part of what it is sent.
func (v *textView) unread(d event.CallCompleted) {
	if in := trace.NewUsage(d.Usage).Input(); d.Unread && in != nil && !v.toldUnread {
		v.toldUnread = true
		v.note(v.p.say.Say("run.unread", i18n.Number(*in), i18n.Number(int64(v.estimate))))
	}
}
