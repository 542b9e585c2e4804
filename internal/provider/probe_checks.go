package provider

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"overt/internal/llm"
)

// answer asks a plain question, with which everything else is compared, and again with other members for the limit of the answer where it is
// refused. Without an answer the probe ends.
func (p *probing) answer() {
	p.begin()
	r, e := p.ask(p.p, p.plain, plainRequest())
	if e != nil && e.Mend == llm.Shorten && e.MaxTokens > 0 {
		p.most = min(p.most, e.MaxTokens)
		r, e = p.ask(p.p, p.plain, plainRequest())
	}
	if p.plain && e != nil && e.Mend == llm.Uncount {
		p.quirk("no_stream_usage", true)
		r, e = p.ask(p.p, p.plain, plainRequest())
	}
	first := e
	if refused(e) && e.HTTP != http.StatusNotFound { // there is no such address, or no such model
		fields := []string{"", completionTokens, None}
		if p.o.Protocol == Responses {
			fields = []string{None}
		}
		for _, field := range fields {
			if field == p.p.LimitField || p.o.Protocol == Messages { // which wants one
				continue
			}
			other := p.p
			other.LimitField = field
			if r, e = p.ask(other, p.plain, plainRequest()); e == nil {
				p.quirk("limit_field", field)
				break
			}
		}
	}
	if refused(e) && !p.plain && e.HTTP != http.StatusNotFound { // a server may know no other way
		if r, e = p.ask(p.p, true, plainRequest()); e == nil {
			p.plain, p.o.Stream = true, true
			p.find("answer", Not, "probe.answer.stream", first.Error())
			p.described(r, first)
			return
		}
	}
	if e == nil && !slices.ContainsFunc(r.Blocks, func(b llm.Block) bool { return b.Text != "" }) {
		first = &llm.Error{Class: llm.Malformed, HTTP: r.Exchange.HTTP, Message: "the answer to a plain question was empty"}
		e = first
	}
	if e != nil {
		if p.err == nil {
			p.err = first
		}
		return
	}
	p.find("answer", Supported, "probe.answer", len(textOf(r)))
	p.described(r, first)
	if r.Usage.Output != nil {
		p.find("usage", Supported, "probe.usage")
	} else {
		p.find("usage", Not, "probe.usage.none")
	}
}

// described says what the first answer shows beside its text.
func (p *probing) described(r *llm.Response, first *llm.Error) {
	if strings.Contains(textOf(r), theNumber) {
		p.find("system", Supported, "probe.system")
	} else {
		p.find("system", Unmeasured, "probe.system.unread")
	}
	field := orElse(p.p.LimitField, "max_tokens")
	switch _, changed := p.found.Quirks["limit_field"]; {
	case p.o.Protocol == Responses && p.p.LimitField == "":
		p.find("limit_field", Supported, "probe.limit", "max_output_tokens")
	case changed && p.p.LimitField == None:
		p.find("limit_field", Not, "probe.limit.none", first.Error())
	case changed:
		p.find("limit_field", Supported, "probe.limit.other", field, first.Error())
	case field == None:
		p.find("limit_field", Not, "probe.limit.unsent")
	default:
		p.find("limit_field", Supported, "probe.limit", field)
	}
}

// streaming asks the same as a stream.
func (p *probing) streaming() {
	p.begin()
	r, e := p.ask(p.p, true, plainRequest())
	if refused(e) && p.o.Protocol != Messages && p.o.Protocol != Responses && !p.p.NoStreamUsage {
		without := p.p
		without.NoStreamUsage = true
		first := e
		if r, e = p.ask(without, true, plainRequest()); e == nil {
			p.quirk("no_stream_usage", true)
			p.find("stream", Supported, "probe.stream")
			p.find("stream_usage", Not, "probe.refused", first.Error())
			return
		}
	}
	if e != nil {
		p.o.Stream = false
		p.outcome("stream", e)
		return
	}
	p.find("stream", Supported, "probe.stream")
	if r.Usage.Output != nil {
		p.find("stream_usage", Supported, "probe.usage.stream")
	} else {
		p.find("stream_usage", Not, "probe.usage.none")
	}
}

// reasoning says whether the model's thoughts are seen, and whether they go back.
func (p *probing) reasoning() {
	p.begin()
	switch {
	case !p.thinks:
		p.find("reasoning", Unmeasured, "probe.reasoning.none")
		return
	case p.carrier == "":
		p.find("reasoning", Supported, "probe.reasoning.counted")
	default:
		p.find("reasoning", Supported, "probe.reasoning", p.carrier)
	}
	switch _, measured := p.found.Quirks["reasoning"]; {
	case measured:
		p.find("reasoning_back", Supported, "probe.back.wanted", p.p.ReasoningField)
	case p.p.Reasoning != "":
		p.find("reasoning_back", Supported, "probe.back.known")
	case p.found.Result("tool_result") != "" && p.found.Result("tool_result") != Not:
		p.find("reasoning_back", Supported, "probe.back.unwanted")
	}
}

// images sends a picture.
func (p *probing) images() {
	p.begin()
	r, e := p.ask(p.p, p.o.Stream, pictureRequest())
	switch {
	case e == nil:
		p.looked(r)
	case refused(e):
		no := false
		p.found.Images = &no
		p.find("images", Not, "probe.refused", e.Error())
	default:
		p.find("images", Unmeasured, "probe.failed", e.Error())
	}
}

// looked says what an answer to a picture shows.
func (p *probing) looked(r *llm.Response) {
	if red(textOf(r)) {
		yes := true
		p.found.Images = &yes
		p.find("images", Supported, "probe.images")
		return
	}
	p.find("images", Unmeasured, "probe.images.unseen")
}

// red tells whether a text names the colour of [redPicture], and does not say that nothing can be seen.
func red(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	if hasAny(text, []string{"can't", "cannot", "can not", "unable", "not able", "don't see", "do not see", "no image", "no picture"}) {
		return false
	}
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), "red")
}

// thinking looks for a switch that has an effect: what servers don't know they often ignore.
func (p *probing) thinking() {
	p.begin()
	want := "off"
	if !p.thinks {
		want = "on"
	}
	try := func(dialect string) (bool, *llm.Error) {
		with := p.p
		with.Thinking = dialect
		q := plainRequest()
		q.Params.Thinking = want
		r, e := p.ask(with, p.o.Stream, q)
		return e == nil && thought(r) == (want == "on"), e
	}
	known := p.p.Thinking != "" || p.o.Protocol == Responses
	switch works, e := false, (*llm.Error)(nil); {
	case known:
		if works, e = try(p.p.Thinking); e != nil {
			p.outcome("thinking", e)
			return
		}
		switch {
		case works:
			p.find("thinking", Supported, "probe.thinking", want)
		case want == "off":
			p.find("thinking", Not, "probe.thinking.no_effect")
		default:
			p.find("thinking", Unmeasured, "probe.thinking.unseen")
		}
		return
	case !p.thinks && p.o.Protocol != Messages:
		p.find("thinking", Unmeasured, "probe.thinking.unseen")
		return
	}
	for _, dialect := range p.switches() {
		if works, _ := try(dialect); works {
			p.quirk("thinking", dialect)
			p.find("thinking", Supported, "probe.thinking.found", dialect, want)
			return
		}
	}
	p.find("thinking", Unmeasured, "probe.thinking.unknown", want)
}

// switches are the ways to switch thinking, the most common ones first.
func (p *probing) switches() []string {
	if p.o.Protocol == Messages {
		return []string{ThinkingAdaptive, ThinkingBudget}
	}
	return []string{ThinkingTemplate, ThinkingType, ThinkingEffort, ThinkingEnable, ThinkingObject}
}

// effort sends a level.
func (p *probing) effort() {
	p.begin()
	if p.p.NoEffort {
		p.find("effort", Not, "probe.effort.known")
		return
	}
	q := plainRequest()
	q.Params.Effort = "low"
	level := p.p.effort("low")
	_, e := p.ask(p.p, p.o.Stream, q)
	switch {
	case e == nil:
		p.find("effort", Taken, "probe.effort", level)
	case refused(e):
		if levels := named(e.Message, level); len(levels) > 0 {
			p.quirk("efforts", levels)
			p.find("effort", Supported, "probe.effort.levels", strings.Join(levels, ", "), e.Error())
			return
		}
		p.quirk("no_effort", true)
		p.find("effort", Not, "probe.refused", e.Error())
	default:
		p.find("effort", Unmeasured, "probe.failed", e.Error())
	}
}

// named gives the levels that a refusal lists beside the one that it refuses. One alone may be a word of its own: "high load".
func named(text, sent string) (out []string) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, level := range llm.Efforts() {
		if level != sent && slices.Contains(words, level) {
			out = append(out, level)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// length asks for more than the limit leaves room for.
func (p *probing) length() {
	p.begin()
	if p.p.LimitField == None {
		p.find("length", Unmeasured, "probe.limit.unsent")
		return
	}
	const limit = 16
	q := asking("Count from 1 to 300, one number a line.")
	q.Params.MaxTokens = limit
	r, e := p.ask(p.p, p.o.Stream, q)
	switch {
	case e != nil:
		p.find("length", Unmeasured, "probe.failed", e.Error())
	case r.Finish == llm.Length:
		p.find("length", Supported, "probe.length", limit)
	case r.Usage.Output != nil && *r.Usage.Output > 4*limit:
		p.find("length", Not, "probe.length.ignored", limit, *r.Usage.Output)
	default:
		p.find("length", Unmeasured, "probe.length.stop", r.RawFinish)
	}
}

// stops says which stop reasons were seen, and which of them mean nothing to the adapter.
func (p *probing) stops() {
	p.begin()
	var all, odd []string
	for _, s := range p.stopped {
		all = append(all, s.raw)
		if s.is == llm.Other {
			odd = append(odd, s.raw)
		}
	}
	switch {
	case len(all) == 0:
		p.find("stop_reasons", Not, "probe.stops.none")
	case len(odd) > 0:
		p.find("stop_reasons", Not, "probe.stops.odd", strings.Join(odd, ", "))
	default:
		p.find("stop_reasons", Supported, "probe.stops", strings.Join(all, ", "))
	}
}
