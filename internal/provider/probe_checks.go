package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

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

// tools asks for one call: in the protocol's form, then in the text of the answer.
func (p *probing) tools() {
	p.begin()
	native := p.p
	native.Tools, native.TextCalls = "", nil
	q := toolRequest()
	r, e := p.ask(native, p.o.Stream, q)
	switch {
	case refused(e):
		p.noTools(e)
		p.textTools()
		return
	case e != nil:
		p.find("tools", Unmeasured, "probe.failed", e.Error())
		return
	}
	if p.p.Tools == InText { // as it was known, wrongly
		p.quirk("tools", "")
	}
	list := callsOf(r)
	if len(list) == 0 {
		p.inAnswer(q)
		return
	}
	p.find("tools", Supported, "probe.tools")
	p.called, p.request = r, q
	var args struct{ Name string }
	if err := json.Unmarshal([]byte(list[0].Arguments), &args); err == nil && strings.EqualFold(args.Name, "alpha") {
		p.find("arguments", Supported, "probe.arguments")
	} else {
		p.find("arguments", Unmeasured, "probe.arguments.other", list[0].Arguments)
	}
	p.ids(list)
	p.result()
}

// noTools keeps that tools are refused.
func (p *probing) noTools(e *llm.Error) {
	if !refused(e) {
		p.find("tools", Unmeasured, "probe.failed", e.Error())
		return
	}
	if p.p.Tools != InText {
		p.quirk("tools", InText)
	}
	p.find("tools", Not, "probe.tools.text", e.Error())
}

// inAnswer looks for the call in the text of an answer.
func (p *probing) inAnswer(q *llm.Request) {
	with := p.p
	with.Tools = ""
	if len(with.TextCalls) == 0 {
		with.TextCalls = []string{Auto}
	}
	r, e := p.ask(with, p.o.Stream, q)
	if e != nil || len(callsOf(r)) == 0 {
		p.find("tools", Unmeasured, "probe.tools.uncalled")
		return
	}
	if len(p.p.TextCalls) == 0 {
		p.quirk("text_calls", with.TextCalls)
	}
	p.find("tools", Supported, "probe.tools.form")
	p.called, p.request = r, q
	p.result()
}

// textTools looks whether the model calls tools that are described to it in text.
func (p *probing) textTools() {
	if p.err != nil {
		return
	}
	p.begin()
	r, e := p.ask(p.p, p.o.Stream, toolRequest())
	switch {
	case e != nil:
		p.outcome("text_tools", e)
	case len(callsOf(r)) == 0:
		p.find("text_tools", Unmeasured, "probe.tools.uncalled")
	default:
		p.find("text_tools", Supported, "probe.text_tools")
		p.called, p.request = r, toolRequest()
		p.result()
	}
}

// ids says whether calls can be told apart.
func (p *probing) ids(list []*llm.ToolCall) {
	seen := map[string]bool{}
	for _, c := range list {
		if c.ID == "" {
			p.find("call_ids", Not, "probe.ids.none")
			return
		}
		seen[c.ID] = true
	}
	if len(seen) < len(list) {
		p.find("call_ids", Not, "probe.ids.twice")
		return
	}
	p.find("call_ids", Supported, "probe.ids", list[0].ID)
}

// result sends the results of calls, and tries the known ways in which servers want the history otherwise where it is refused.
func (p *probing) result() {
	if p.err != nil {
		return
	}
	p.begin()
	q := *p.request
	answer := llm.Message{Role: llm.Assistant, Blocks: slices.Clone(p.called.Blocks)}
	results := llm.Message{Role: llm.Tool}
	n := 0
	for i, b := range answer.Blocks {
		if b.Type != llm.Call {
			continue
		}
		n++
		c := *b.Call
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", n)
		}
		answer.Blocks[i].Call = &c
		results.Blocks = append(results.Blocks, llm.Block{Type: llm.Result, Result: &llm.ToolResult{ID: c.ID, Name: c.Name, Content: "The number is " + theResult + "."}})
	}
	q.Messages = append(slices.Clone(q.Messages), answer, results)
	r, e := p.ask(p.p, p.o.Stream, &q)
	wants := ""
	var first *llm.Error
	if refused(e) {
		first = e
		for _, v := range p.variants() {
			with := p.p
			text, err := json.Marshal(v.quirks)
			if err == nil {
				err = json.Unmarshal(text, &with)
			}
			if err != nil {
				continue
			}
			if r, e = p.ask(with, p.o.Stream, &q); e == nil {
				for _, name := range v.names {
					p.quirk(name, v.quirks[name])
				}
				wants = strings.Join(v.names, ", ")
				break
			}
		}
	}
	switch {
	case e != nil && first != nil:
		p.outcome("tool_result", first)
		return
	case e != nil:
		p.outcome("tool_result", e)
		return
	case wants != "":
		p.find("tool_result", Supported, "probe.result.with", wants, first.Error())
	case strings.Contains(textOf(r), theResult):
		p.find("tool_result", Supported, "probe.result")
	default:
		p.find("tool_result", Unmeasured, "probe.result.unread")
	}
}

// variant is a way in which a history may be wanted.
type variant struct {
	names  []string
	quirks map[string]any
}

// variants lists those that change what is sent.
func (p *probing) variants() (out []variant) {
	if p.o.Protocol == Messages || p.o.Protocol == Responses || p.p.Tools == InText {
		return nil
	}
	if p.p.Reasoning == "" {
		field := orElse(p.carrier, contentReasoning)
		out = append(out, variant{[]string{"reasoning", "reasoning_field"}, map[string]any{"reasoning": WithCalls, "reasoning_field": field}})
	}
	if !p.p.EmptyContent {
		out = append(out, variant{[]string{"empty_content"}, map[string]any{"empty_content": true}})
	}
	if !p.p.ToolName {
		out = append(out, variant{[]string{"tool_name"}, map[string]any{"tool_name": true}})
	}
	if p.p.IDs == "" {
		out = append(out, variant{[]string{"ids"}, map[string]any{"ids": Alnum9}})
	}
	return out
}

// parallel asks for two calls at once, and offers a tool that takes nothing.
func (p *probing) parallel() {
	if p.p.Tools == InText || p.found.Result("tools") != Supported {
		return
	}
	p.begin()
	q := asking(`Call the tool lookup_number for the name "alpha" and for the name "beta". Make both calls at once, in one reply.`)
	q.Tools = []llm.ToolSpec{lookup(), moment()}
	r, e := p.ask(p.p, p.o.Stream, q)
	switch first := e; {
	case refused(e):
		if !p.p.NoParameters && p.o.Protocol != Messages && p.o.Protocol != Responses {
			without := p.p
			without.NoParameters = true
			if r, e = p.ask(without, p.o.Stream, q); e == nil {
				p.quirk("no_parameters", true)
				p.find("no_parameters", Not, "probe.no_parameters", first.Error())
			}
		}
		if refused(e) {
			q.Tools = q.Tools[:1]
			if r, e = p.ask(p.p, p.o.Stream, q); e == nil {
				p.find("no_parameters", Not, "probe.refused", first.Error())
			}
		}
	case e == nil:
		p.find("no_parameters", Supported, "probe.no_parameters.taken")
	}
	if e != nil {
		p.outcome("parallel_calls", e)
		return
	}
	list := callsOf(r)
	if len(list) < 2 {
		p.find("parallel_calls", Unmeasured, "probe.parallel.one", len(list))
		return
	}
	p.ids(list)
	if p.indexed() {
		p.find("parallel_calls", Supported, "probe.parallel", len(list))
	} else {
		p.find("parallel_calls", Supported, "probe.parallel.index", len(list))
	}
}

// indexed tells whether the calls of the last reply, a stream of Chat Completions, have an index each. The adapter does without.
func (p *probing) indexed() bool {
	if p.o.Reply == nil || !p.o.Stream || p.o.Protocol != "" && p.o.Protocol != Chat {
		return true
	}
	places := map[string]bool{}
	ids := map[string]bool{}
	for line := range strings.SplitSeq(string(p.o.Reply()), "\n") {
		text, is := strings.CutPrefix(line, "data:")
		doc, ok := parse([]byte(strings.TrimSpace(text)))
		if !is || !ok {
			continue
		}
		for choice := range doc.get("choices").elements() {
			for c := range choice.get("delta").get("tool_calls").elements() {
				if id := c.get("id").text(); id != "" && !ids[id] {
					ids[id] = true
					places[string(c.get("index"))] = true
				}
			}
		}
	}
	return len(places) == len(ids) && !places[""]
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
	if strings.Contains(strings.ToLower(textOf(r)), "red") {
		yes := true
		p.found.Images = &yes
		p.find("images", Supported, "probe.images")
		return
	}
	p.find("images", Unmeasured, "probe.images.unseen")
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
