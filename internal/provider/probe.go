package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"

	"overt/internal/llm"
)

// Results of a check of a probe.
const (
	Supported  = "supported" // the answers show it
	Taken      = "taken"     // the server does not refuse it; whether it does anything, the answers don't show
	Not        = "not"       // the server refuses it, or it has no effect, while a request without it is answered
	Unmeasured = "unknown"   // the answers don't tell; then it counts as supported
)

// Finding is what a probe found of one thing. Code is a message of package i18n, "probe." and more, with its arguments.
type Finding struct {
	Check  string // see [ProbeChecks]
	Result string
	Code   string
	Args   []any
	Calls  []string // ids of the exchanges that show it
}

// ProbeChecks lists the checks of [Probe] in their order.
func ProbeChecks() []string {
	return []string{
		"answer", "system", "limit_field", "usage", "stream", "stream_usage", "tools", "arguments", "call_ids", "tool_result", "parallel_calls",
		"no_parameters", "text_tools", "reasoning", "reasoning_back", "images", "thinking", "effort", "length", "stop_reasons",
	}
}

// Bounds of a probe: exchanges, and tokens of each answer.
const (
	MaxProbeCalls  = 28
	MaxProbeTokens = 2048
)

// ProbeOptions say what to probe.
type ProbeOptions struct {
	// Options are those of the model. Stream and Images are the probe's own; Profile is what is known so far, and what is found is told as
	// differences from it.
	Options
	NewID func() string // of an exchange
	Lane  string
	Reply func() []byte // the body of the last reply as it came; nil: not known
	Show  func(Finding) // told of each finding at once; may be nil
}

// Probed is what a probe found.
type Probed struct {
	Findings []Finding
	Quirks   map[string]any // members of a [Profile] that were measured and differ from what was known
	Images   *bool          // pictures are looked at, or refused; nil: not known
	Calls    int            // exchanges made
}

// Result gives how a check came out; "" if it was not made.
func (r *Probed) Result(check string) string {
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Check == check })
	if i < 0 {
		return ""
	}
	return r.Findings[i].Result
}

// Measured tells whether the server has answered the requests of a check, with whatever result.
func (r *Probed) Measured(check string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Check == check && !(f.Result == Unmeasured && (f.Code == "probe.failed" || f.Code == "probe.bound"))
	})
}

// Probe measures how a server differs from its protocol with a model: each check is a request through the same adapter as any
// other. What it refuses counts only because a plain request before it was answered. The error is why there is no such answer, or why
// the probe ended early (a key, a balance, the context); what was found until then is there all the same.
func Probe(ctx context.Context, o ProbeOptions) (*Probed, error) {
	p := newProbing(ctx, o)
	p.answer()
	for _, check := range []func(){p.streaming, p.tools, p.parallel, p.reasoning, p.images, p.thinking, p.effort, p.length, p.stops} {
		if p.err == nil {
			check()
		}
	}
	return p.found, p.failure()
}

// ProbeCapabilities measures no more than whether tools and pictures are taken, with few requests: a plain one, one with both, and, if that
// is refused, one with each.
func ProbeCapabilities(ctx context.Context, o ProbeOptions, images bool) (*Probed, error) {
	p := newProbing(ctx, o)
	p.plain = o.Stream
	if p.answer(); p.err != nil {
		return p.found, p.failure()
	}
	if images {
		q := pictureRequest()
		q.Tools = []llm.ToolSpec{lookup()}
		if r, e := p.ask(p.p, p.o.Stream, q); e == nil {
			p.begin()
			p.looked(r)
			p.find("tools", Taken, "probe.tools.taken")
			return p.found, p.failure()
		}
		p.images()
	}
	if p.err == nil {
		p.begin()
		q := toolRequest()
		if _, e := p.ask(p.p, p.o.Stream, q); e == nil {
			p.find("tools", Taken, "probe.tools.taken")
		} else {
			p.noTools(e)
		}
	}
	return p.found, p.failure()
}

// ProbeImages measures no more than whether pictures are taken: a plain request, and one with a picture.
func ProbeImages(ctx context.Context, o ProbeOptions) (*Probed, error) {
	p := newProbing(ctx, o)
	p.plain = o.Stream
	if p.answer(); p.err == nil {
		p.images()
	}
	return p.found, p.failure()
}

// probing is one probe under way.
type probing struct {
	ctx   context.Context
	o     ProbeOptions
	p     Profile // as measured so far
	plain bool    // the first question is asked for a stream
	most  int     // tokens of an answer
	found *Probed
	err   *llm.Error // why no more can be measured
	calls []string   // of the check under way
	full  bool       // there may be no more calls

	carrier string // the field that reasoning came in
	thinks  bool
	stopped []stopped
	called  *llm.Response   // the first answer with a call of its own
	request *llm.Request    // what it answers
	first   []*llm.ToolCall // of the protocol's form that were made
	shown   []string        // the exchanges that show them
}

// stopped is a stop reason that was seen.
type stopped struct {
	is  llm.Finish
	raw string
}

func newProbing(ctx context.Context, o ProbeOptions) *probing {
	o.Images = func(context.Context, string) ([]byte, error) { return redPicture() }
	return &probing{ctx: ctx, o: o, p: o.Profile, most: MaxProbeTokens, found: &Probed{Quirks: map[string]any{}}}
}

func (p *probing) failure() error {
	if p.err == nil {
		return nil
	}
	return p.err
}

// ask makes one exchange. Errors that any other request would meet too end the probe.
func (p *probing) ask(profile Profile, stream bool, q *llm.Request) (*llm.Response, *llm.Error) {
	if p.err != nil {
		return &llm.Response{}, p.err
	}
	if p.found.Calls >= MaxProbeCalls {
		p.full = true
		return &llm.Response{}, &llm.Error{Class: llm.Internal, Code: "bound", Message: fmt.Sprintf("%d requests were made before", MaxProbeCalls)}
	}
	p.found.Calls++
	o := p.o.Options
	o.Profile, o.Stream = profile, stream
	request := *q
	request.ID, request.Lane = p.o.NewID(), p.o.Lane
	if request.Params.MaxTokens == 0 {
		request.Params.MaxTokens = p.most
	}
	p.calls = append(p.calls, request.ID)
	r, err := New(o).Stream(p.ctx, &request, nil)
	if err != nil {
		e, ok := errors.AsType[*llm.Error](err)
		if !ok {
			e = &llm.Error{Class: llm.Internal, Message: err.Error(), Err: err}
		}
		switch e.Class {
		case llm.Auth, llm.Quota, llm.Storage, llm.Cancelled, llm.Redirect:
			p.err = e
		}
		return r, e
	}
	p.learn(r)
	return r, nil
}

// learn keeps what every answer shows.
func (p *probing) learn(r *llm.Response) {
	if s := (stopped{r.Finish, r.RawFinish}); r.RawFinish != "" && !slices.Contains(p.stopped, s) {
		p.stopped = append(p.stopped, s)
	}
	for _, b := range r.Blocks {
		if b.Type == llm.Reasoning {
			p.thinks = true
			if p.carrier == "" {
				p.carrier = b.Carrier
			}
		}
	}
	if n := r.Usage.Reasoning; n != nil && *n > 0 {
		p.thinks = true
	}
}

// thought tells whether an answer shows that the model thought.
func thought(r *llm.Response) bool {
	return slices.ContainsFunc(r.Blocks, func(b llm.Block) bool { return b.Type == llm.Reasoning }) || r.Usage.Reasoning != nil && *r.Usage.Reasoning > 0
}

// begin begins a check: the exchanges from here on show it.
func (p *probing) begin() { p.calls = nil }

// find keeps a finding. Nothing is found by what ended the probe.
func (p *probing) find(check, result, code string, args ...any) {
	if p.err != nil {
		return
	}
	if p.full && result != Supported && result != Taken {
		result, code, args = Unmeasured, "probe.bound", []any{MaxProbeCalls}
	}
	f := Finding{check, result, code, args, slices.Clone(p.calls)}
	p.found.Findings = append(p.found.Findings, f)
	if p.o.Show != nil {
		p.o.Show(f)
	}
}

// quirk keeps a difference that was measured, by the member's name.
func (p *probing) quirk(name string, value any) {
	p.found.Quirks[name] = value
	text, err := json.Marshal(map[string]any{name: value})
	if err == nil {
		_ = json.Unmarshal(text, &p.p) // a member of its own form
	}
}

// refused tells whether a server has answered that it does not take a request as it is. A server that is busy, or a line that
// breaks, says nothing.
func refused(e *llm.Error) bool {
	if e == nil || e.HTTP == 0 {
		return false
	}
	return e.Class == llm.Invalid || e.Class == llm.Pictures || e.Class == llm.NoTools
}

// outcome is the result and the words for a request that was not answered.
func (p *probing) outcome(check string, e *llm.Error) {
	if refused(e) {
		p.find(check, Not, "probe.refused", e.Error())
	} else {
		p.find(check, Unmeasured, "probe.failed", e.Error())
	}
}

// textOf is what an answer says, without its reasoning.
func textOf(r *llm.Response) string {
	var b bytes.Buffer
	for _, block := range r.Blocks {
		if block.Type == llm.Text {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// callsOf gives the calls of an answer.
func callsOf(r *llm.Response) (out []*llm.ToolCall) {
	for _, b := range r.Blocks {
		if b.Type == llm.Call {
			out = append(out, b.Call)
		}
	}
	return out
}

// redPicture is a small PNG that is red all over.
func redPicture() ([]byte, error) {
	m := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{R: 230, G: 20, B: 20, A: 255}), image.Point{}, draw.Src)
	var out bytes.Buffer
	err := png.Encode(&out, m)
	return out.Bytes(), err
}

// systemText is what the requests of a probe say first; theNumber is told there and nowhere else.
const (
	systemText = "You are asked a few short questions. The number of the day is 7391."
	theNumber  = "7391"
	theResult  = "4086"
)

func said(text string) llm.Message {
	return llm.Message{Role: llm.User, Blocks: []llm.Block{{Type: llm.Text, Text: text}}}
}

func asking(text string) *llm.Request {
	return &llm.Request{System: []llm.Block{{Type: llm.Text, Text: systemText}}, Messages: []llm.Message{said(text)}}
}

func plainRequest() *llm.Request {
	return asking("What is the number of the day? Reply with the number alone.")
}

// lookup is a tool, moment one without arguments.
func lookup() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "lookup_number", Description: "Gives the number that belongs to a name.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"the name"}},"required":["name"]}`),
	}
}

func moment() llm.ToolSpec {
	return llm.ToolSpec{Name: "current_time", Description: "Gives the current time.", Schema: json.RawMessage(noArguments)}
}

func toolRequest() *llm.Request {
	q := asking(`Call the tool lookup_number for the name "alpha", then tell me its number.`)
	q.Tools = []llm.ToolSpec{lookup()}
	return q
}

func pictureRequest() *llm.Request {
	q := asking("Which colour is this picture? Reply with one English word.")
	m := &q.Messages[0]
	m.Blocks = append(m.Blocks, llm.Block{Type: llm.Picture, Image: &llm.Image{Hash: "probe", Media: "image/png", Bytes: 200}})
	return q
}
