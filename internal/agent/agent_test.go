package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"overt/internal/agent"
	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/policy"
	"overt/internal/prompt"
	"overt/internal/tool"
)

// reply is what the scripted model answers to one request.
type reply struct {
	blocks  []llm.Block
	finish  llm.Finish
	dropped int
	garbled bool
	silent  bool // about tokens
	usage   *llm.Usage
	err     *llm.Error
	show    string // text shown before the end
	stop    func() // called while the call is under way
}

// model answers from a script and keeps the requests.
type model struct {
	script   []reply
	requests []*llm.Request
}

func (m *model) Stream(ctx context.Context, r *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	m.requests = append(m.requests, r)
	if len(m.script) == 0 {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Message: "script is used up"}
	}
	next := m.script[0]
	m.script = m.script[1:]
	if next.show != "" {
		show(llm.Delta{Part: llm.TextDelta, Text: next.show})
	}
	if next.stop != nil {
		next.stop()
		return &llm.Response{Blocks: next.blocks}, &llm.Error{Class: llm.Cancelled, Message: "cancelled"}
	}
	out := &llm.Response{Blocks: next.blocks, Finish: next.finish, Dropped: next.dropped, Garbled: next.garbled, Usage: llm.Usage{Fresh: n(10), Output: n(2)}}
	if next.usage != nil {
		out.Usage = *next.usage
	}
	if next.silent {
		out.Usage = llm.Usage{}
	}
	if next.err != nil {
		return out, next.err
	}
	return out, nil
}

func n(v int64) *int64 { return &v }

func says(s string) reply {
	return reply{blocks: []llm.Block{{Type: llm.Text, Text: s}}, finish: llm.Stop}
}

func calls(finish llm.Finish, c ...llm.ToolCall) reply {
	r := reply{finish: finish}
	for _, c := range c {
		r.blocks = append(r.blocks, llm.Block{Type: llm.Call, Call: &c})
	}
	return r
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: args}
}

// probe is a tool that counts how often it ran.
type probe struct {
	name   string
	effect policy.EffectKind
	ran    *atomic.Int32
	run    func(ctx context.Context) (*tool.Result, error)
}

func (p probe) Spec() event.ToolSpec {
	return event.ToolSpec{Name: p.name, Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"]}`)}
}

func (p probe) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Path string }
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action:   policy.Action{Tool: p.name, Effects: []policy.Effect{{Kind: p.effect, Target: a.Path}}},
		Parallel: p.effect == policy.Read,
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) {
			p.ran.Add(1)
			if p.run != nil {
				return p.run(ctx)
			}
			r := &tool.Result{Content: "ran with " + string(args)}
			if p.effect == policy.Write {
				r.Facts = []event.Payload{event.FileChanged{Path: a.Path, Op: "edit", By: "agent"}}
			}
			return r, nil
		},
	}, nil
}

// screen is a feed that shows nothing; text given to it counts as shown.
type screen struct{ dark bool }

func (s screen) Show(event.Delta) bool { return !s.dark }

// scene is one turn over a Memory log.
type scene struct {
	log         event.Memory
	model       *model
	read, write atomic.Int32
	ask         tool.Asker
	profile     policy.Profile
	limits      event.Limits
	dark        bool // nobody watches
	waits       []time.Duration
	info        llm.Info
	input       string // "": do it
	during      func(ctx context.Context) (*tool.Result, error)
}

var scope = event.Scope{Session: "ses_1", Task: "tsk_1", Turn: "trn_1", Run: "run_1"}

func (s *scene) turn(t *testing.T, ctx context.Context) agent.Outcome {
	t.Helper()
	thread := &prompt.Thread{}
	facts, err := s.log.Append(context.Background(), event.Batch{Scope: scope, Facts: []event.Draft{{Data: event.MessageAdded{
		Role: "user", Origin: "person", Blocks: []event.Block{{Type: "text", Text: cmp.Or(s.input, "do it")}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	thread.Apply(facts[0])
	set, err := tool.NewSet(probe{"look", policy.Read, &s.read, nil}, probe{"change", policy.Write, &s.write, s.during})
	if err != nil {
		t.Fatal(err)
	}
	if s.profile == "" {
		s.profile = policy.Full
	}
	out, err := agent.Turn(ctx, scope, agent.Options{
		Model: s.model, Info: s.info, Log: &s.log, Feed: screen{s.dark}, Thread: thread, Sources: []prompt.Source{prompt.System{Dir: "/w"}},
		Tools:  &tool.Dispatcher{Set: set, Rules: func() policy.Rules { return policy.Rules{Profile: s.profile} }, Ask: s.ask},
		Limits: s.limits, Retries: 2,
		Backoff: func(n int, after time.Duration) time.Duration { return max(after, time.Duration(n)*time.Second) },
		Wait: func(ctx context.Context, n int, d time.Duration) error {
			s.waits = append(s.waits, d)
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.check(t)
	return out
}

func (s *scene) facts(t *testing.T) []event.Fact {
	var out []event.Fact
	for f, err := range s.log.Read(context.Background(), event.Path{Task: scope.Task, Facts: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// check holds for every turn: each call has exactly one outcome, each model call exactly one end, the run exactly one
// end and it is the last fact, an effect stands between its intent and its outcome, and the history is valid.
func (s *scene) check(t *testing.T) {
	t.Helper()
	open := map[string]string{}
	ends := 0
	facts := s.facts(t)
	for _, f := range facts {
		switch p := f.Data.(type) {
		case event.MessageAdded:
			for _, b := range p.Blocks {
				if b.Call != nil {
					open[b.Call.ID] = "call"
				}
			}
		case event.CallStarted:
			open[f.Subject] = "model call"
		case event.CallCompleted, event.CallFailed, event.ToolCompleted:
			if open[f.Subject] == "" {
				t.Errorf("fact %d: %s of %s, which is not open", f.Seq, f.Kind, f.Subject)
			}
			delete(open, f.Subject)
		}
		if f.Kind.Ends() {
			ends++
		}
	}
	if len(open) > 0 {
		t.Errorf("without an end: %v", open)
	}
	if ends != 1 || !facts[len(facts)-1].Kind.Ends() {
		t.Errorf("%d ends, last fact %s", ends, facts[len(facts)-1].Kind)
	}
	thread := &prompt.Thread{}
	for f, err := range s.log.Read(context.Background(), event.Path{Task: scope.Task}) {
		if err != nil {
			t.Fatal(err)
		}
		thread.Apply(f)
	}
	if _, m, err := prompt.Build(thread); err != nil || len(m.Repairs) > 0 {
		t.Errorf("history: %v, repairs %v", err, m.Repairs)
	}
}

func (s *scene) outcomes(t *testing.T) (out []string) {
	for _, f := range s.facts(t) {
		if p, ok := f.Data.(event.ToolCompleted); ok {
			out = append(out, p.Status+" "+p.Code)
		}
	}
	return out
}

// covers F050
func TestTurnRunsToolsAndAnswers(t *testing.T) {
	s := &scene{model: &model{script: []reply{
		calls(llm.ToolCalls, call("a1", "look", `{"path":"x"}`), call("a2", "look", `{"path":"y"}`)),
		calls(llm.Stop, call("a3", "change", `{"path":"x","n":"7"}`)), // stop, although there is a call; a number as text
		says("done"),
	}}}
	out := s.turn(t, context.Background())
	p, ok := out.Fact.Data.(event.RunCompleted)
	if !ok || out.Text != "done" || p.Steps != 3 || *p.Usage.Fresh != 30 || p.Usage.Coverage != "complete" {
		t.Fatalf("outcome = %+v", out)
	}
	if s.read.Load() != 2 || s.write.Load() != 1 {
		t.Errorf("ran %d, %d", s.read.Load(), s.write.Load())
	}
	last := s.model.requests[2].Messages
	if got := last[len(last)-1].Blocks[0].Result.Content; !strings.Contains(got, `"n":7`) {
		t.Errorf("result = %q: the number was not mended", got)
	}
}

// covers F003 F071
func TestRepliesThatAreNoAnswer(t *testing.T) {
	cut := reply{blocks: []llm.Block{{Type: llm.Text, Text: "Deleting."}, {Type: llm.Call, Call: &llm.ToolCall{ID: "a1", Name: "change", Arguments: `{"path":"build"}`}}}, finish: llm.Length}
	tests := map[string]struct {
		script []reply
		code   string // of the failure; "": completed
		calls  int    // model calls made
	}{
		"cut with a complete call, then fine": {[]reply{cut, says("ok")}, "", 2},
		"cut three times":                     {[]reply{cut, cut, cut}, "protocol", 3},
		"cut text is no answer":               {[]reply{{blocks: says("half").blocks, finish: llm.Length}, says("whole")}, "", 2},
		"cut call dropped":                    {[]reply{{finish: llm.Length, dropped: 1}, says("ok")}, "", 2},
		"empty, then fine":                    {[]reply{{finish: llm.Stop}, says("ok")}, "", 2},
		"empty three times":                   {[]reply{{}, {}, {}}, "protocol", 3},
		"unreadable three times": {[]reply{
			calls(llm.ToolCalls, call("a", "change", `{"pa`)), calls(llm.ToolCalls, call("b", "nope", `{}`)), calls(llm.ToolCalls, call("c", "change", `{"path":[]}`)),
		}, "protocol", 3},
		"a good call between starts the count anew": {[]reply{
			calls(llm.ToolCalls, call("a", "change", `[]`)), calls(llm.ToolCalls, call("b", "change", ``)), calls(llm.ToolCalls, call("c", "look", `{"path":"x"}`)),
			calls(llm.ToolCalls, call("d", "change", `{"x":1}`)), says("ok"),
		}, "", 5},
		"content filter":             {[]reply{{finish: llm.ContentFilter}}, "provider", 1},
		"content filter with a call": {[]reply{calls(llm.ContentFilter, call("a", "change", `{"path":"x"}`))}, "provider", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scene{model: &model{script: tt.script}}
			out := s.turn(t, context.Background())
			code := ""
			if p, ok := out.Fact.Data.(event.RunFailed); ok {
				code = p.Code
			}
			if code != tt.code || len(s.model.requests) != tt.calls || s.write.Load() != 0 {
				t.Errorf("code %q after %d calls, %d changes; want %q, %d, 0", code, len(s.model.requests), s.write.Load(), tt.code, tt.calls)
			}
		})
	}
}

// TestLongWaitIsTold: a wait that is left to the person is said.
func TestLongWaitIsTold(t *testing.T) {
	s := &scene{model: &model{script: []reply{{err: &llm.Error{Class: llm.Rate, HTTP: 429, Message: "slow down", RetryAfter: time.Hour}}}}}
	p, _ := s.turn(t, context.Background()).Fact.Data.(event.RunFailed)
	if p.Detail != "HTTP 429: slow down (the server asks to wait 1h0m0s)" {
		t.Errorf("%+v", p)
	}
}

// covers L238 L239
func TestRetries(t *testing.T) {
	rate := &llm.Error{Class: llm.Rate, HTTP: 429, Message: "slow down", RetryAfter: 7 * time.Second}
	tests := map[string]struct {
		script []reply
		calls  int
		waits  []time.Duration
		ok     bool
	}{
		"passing":                  {[]reply{{err: rate}, {err: &llm.Error{Class: llm.Overload}}, says("ok")}, 3, []time.Duration{7 * time.Second, 2 * time.Second}, true},
		"too often":                {[]reply{{err: rate}, {err: rate}, {err: rate}}, 3, []time.Duration{7 * time.Second, 7 * time.Second}, false},
		"not passing":              {[]reply{{err: &llm.Error{Class: llm.Auth, HTTP: 401}}}, 1, nil, false},
		"quota":                    {[]reply{{err: &llm.Error{Class: llm.Quota, HTTP: 429}}}, 1, nil, false},
		"after text was shown":     {[]reply{{show: "Let me ", blocks: says("Let me ").blocks, err: &llm.Error{Class: llm.Cut}}}, 1, nil, false},
		"cut before text":          {[]reply{{err: &llm.Error{Class: llm.Cut}}, says("ok")}, 2, []time.Duration{time.Second}, true},
		"a wait of an hour":        {[]reply{{err: &llm.Error{Class: llm.Rate, RetryAfter: time.Hour}}}, 1, nil, false},
		"request time-out":         {[]reply{{err: &llm.Error{Class: llm.Timeout}}}, 1, nil, false},
		"silence, once":            {[]reply{{err: &llm.Error{Class: llm.Timeout, Code: "idle"}}, says("ok")}, 2, []time.Duration{time.Second}, true},
		"silence twice":            {[]reply{{err: &llm.Error{Class: llm.Timeout, Code: "idle"}}, {err: &llm.Error{Class: llm.Timeout, Code: "idle"}}}, 2, []time.Duration{time.Second}, false},
		"the record can't be kept": {[]reply{{err: &llm.Error{Class: llm.Storage, Message: "disk full"}}}, 1, nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scene{model: &model{script: tt.script}}
			out := s.turn(t, context.Background())
			if _, ok := out.Fact.Data.(event.RunCompleted); ok != tt.ok || len(s.model.requests) != tt.calls || !slices.Equal(s.waits, tt.waits) {
				t.Errorf("completed %t after %d calls, waits %v; want %t, %d, %v", ok, len(s.model.requests), s.waits, tt.ok, tt.calls, tt.waits)
			}
			started := 0
			for _, f := range s.facts(t) {
				if f.Kind == event.KindCallStarted {
					started++
				}
			}
			if started != tt.calls {
				t.Errorf("%d calls on record, want %d", started, tt.calls)
			}
		})
	}
}

// covers F003 L245
func TestCancel(t *testing.T) {
	t.Run("while the model answers", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s := &scene{model: &model{script: []reply{{stop: cancel, blocks: says("half").blocks}}}}
		out := s.turn(t, ctx)
		if _, ok := out.Fact.Data.(event.RunCancelled); !ok || out.Text != "half" {
			t.Fatalf("outcome = %+v", out)
		}
	})
	t.Run("while a tool runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s := &scene{
			model:  &model{script: []reply{calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`), call("b", "change", `{"path":"y"}`))}},
			during: func(ctx context.Context) (*tool.Result, error) { cancel(); <-ctx.Done(); return nil, ctx.Err() },
		}
		out := s.turn(t, ctx)
		if _, ok := out.Fact.Data.(event.RunCancelled); !ok {
			t.Fatalf("outcome = %+v", out)
		}
		if got := s.outcomes(t); !slices.Equal(got, []string{"cancelled cancelled", "skipped not_run"}) {
			t.Errorf("outcomes = %v", got)
		}
	})
}

func TestStepLimit(t *testing.T) {
	s := &scene{limits: event.Limits{Steps: 2}, model: &model{script: []reply{
		calls(llm.ToolCalls, call("a", "look", `{"path":"x"}`)), calls(llm.ToolCalls, call("b", "look", `{"path":"y"}`)), says("never"),
	}}}
	out := s.turn(t, context.Background())
	if p, ok := out.Fact.Data.(event.RunFailed); !ok || p.Code != "limit.steps" || len(s.model.requests) != 2 || s.read.Load() != 2 {
		t.Fatalf("outcome = %+v after %d calls", out, len(s.model.requests))
	}
}

type answers string

func (a answers) Ask(_ context.Context, _ event.Scope, _ string, _ event.QuestionAsked, record func() error) (tool.Reply, error) {
	if err := record(); err != nil {
		return tool.Reply{}, err
	}
	if a == "broken" {
		return tool.Reply{}, errors.New("the terminal is gone")
	}
	return tool.Reply{Choice: string(a), By: "person"}, nil
}

// covers L131
func TestPermission(t *testing.T) {
	tests := map[string]struct {
		profile policy.Profile
		ask     tool.Asker
		ran     int32
		outcome string
		unasked int
	}{
		"full runs":           {policy.Full, nil, 1, "ok ", 0},
		"ask without anybody": {policy.AskFirst, nil, 0, "denied denied", 1},
		"yes":                 {policy.AskFirst, answers("yes"), 1, "ok ", 0},
		"no":                  {policy.AskFirst, answers("no"), 0, "denied denied", 0},
		"anything else is no": {policy.AskFirst, answers("maybe"), 0, "denied denied", 0},
		"plan":                {policy.Plan, answers("yes"), 0, "denied denied", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scene{profile: tt.profile, ask: tt.ask, model: &model{script: []reply{calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`)), says("ok")}}}
			out := s.turn(t, context.Background())
			if got := s.outcomes(t); s.write.Load() != tt.ran || got[0] != tt.outcome {
				t.Errorf("ran %d, %v", s.write.Load(), got)
			}
			if p := out.Fact.Data.(event.RunCompleted); p.Denied != tt.unasked {
				t.Errorf("denied = %d, want %d", p.Denied, tt.unasked)
			}
		})
	}
	t.Run("the question can't be put", func(t *testing.T) {
		s := &scene{profile: policy.AskFirst, ask: answers("broken"), model: &model{script: []reply{calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`))}}}
		out := s.turn(t, context.Background())
		if p, ok := out.Fact.Data.(event.RunFailed); !ok || p.Code != "internal" || s.write.Load() != 0 {
			t.Errorf("outcome = %+v", out)
		}
	})
}

// TestDeniedForEver: a model that asks again and again for what it may not have does not go on without end.
func TestDeniedForEver(t *testing.T) {
	var script []reply
	for i := range 20 {
		script = append(script, calls(llm.ToolCalls, call("a", "change", fmt.Sprintf(`{"path":"%d"}`, i))))
	}
	s := &scene{profile: policy.AskFirst, model: &model{script: script}}
	out := s.turn(t, context.Background())
	if p, ok := out.Fact.Data.(event.RunFailed); !ok || p.Code != "denied" || p.Denied != 5 || len(s.model.requests) != 5 {
		t.Errorf("after %d calls: %+v", len(s.model.requests), out.Fact.Data)
	}
}

func TestMaskedSecretsAreNeverRun(t *testing.T) {
	s := &scene{model: &model{script: []reply{calls(llm.ToolCalls, call("a", "change", `{"path":"`+event.MaskPrefix+`key]"}`)), says("ok")}}}
	s.turn(t, context.Background())
	if got := s.outcomes(t); s.write.Load() != 0 || got[0] != "error masked_secret" {
		t.Errorf("outcomes = %v", got)
	}
}
