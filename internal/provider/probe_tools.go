package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"overt/internal/llm"
)

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
	p.first, p.shown = list, slices.Clone(p.calls)
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

// ids says whether calls can be told apart: by those of one reply, which need it, or else by the first that was made.
func (p *probing) ids(list []*llm.ToolCall) {
	if len(list) < 2 && p.first != nil {
		list = p.first
		defer func(calls []string) { p.calls = calls }(p.calls)
		p.calls = p.shown
	}
	if len(list) == 0 {
		return
	}
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
		field := contentReasoning
		if p.carrier == "reasoning" { // others are no members for a text, such as tags
			field = p.carrier
		}
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
	list := callsOf(r)
	p.ids(list)
	if e != nil {
		p.outcome("parallel_calls", e)
		return
	}
	if len(list) < 2 {
		p.find("parallel_calls", Unmeasured, "probe.parallel.one", len(list))
		return
	}
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
