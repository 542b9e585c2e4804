// Package agent is the loop: a turn from a person's input to a final answer, failure or stop.
//
// [Turn] asks the sources, builds a request from the thread, calls the model with its retries, runs the calls of the
// answer through the dispatcher, and repeats. It turns answers into facts, and nobody else does. It knows no session,
// storage or view, and has no clock: waiting is a function that its caller gives.
//
// A Turn runs on the caller's goroutine and ends promptly when its context does; outcomes are recorded all the same.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/prompt"
	"overt/internal/tool"
)

// Options is what a turn runs with.
type Options struct {
	Model   llm.Model
	Info    llm.Info
	Params  llm.Params
	Log     event.Log
	Feed    event.Feed     // nil: nothing is shown while it arrives
	Thread  *prompt.Thread // folded up to the person's message
	Sources []prompt.Source
	Tools   *tool.Dispatcher
	// Steer takes what a person has said meanwhile; it is asked before each step. Nil: nobody says anything.
	Steer func() []Steer
	// Limits bound the turn; its time is up to the caller, see [ErrTime].
	Limits event.Limits
	// Retries is how often a call that failed for a passing reason is made again; 0 is never.
	Retries int
	// Wait waits before attempt n, at least for after, or returns ctx's error. It owns back-off, jitter and the timer.
	Wait func(ctx context.Context, n int, after time.Duration) error
	// Backoff says for how long Wait will wait, so that it can be recorded first.
	Backoff func(n int, after time.Duration) time.Duration
}

// Steer is a text of a person that joins a turn under way, with its id in the queue.
type Steer struct{ ID, Text string }

// Outcome is how a turn ended: the fact that ended its run.
type Outcome struct {
	Fact event.Fact
	Text string // the final answer, or what there is of one
}

// maxBad is the number of steps in a row without a usable reply after which the turn fails as protocol.
const maxBad = 3

// maxDenied is the number of steps in a row whose calls were all denied after which the turn ends.
const maxDenied = 5

// Turn works on the input that the thread ends with. Its error means that the record could not be kept: whatever else
// goes wrong is an Outcome.
func Turn(ctx context.Context, s event.Scope, o Options) (Outcome, error) {
	t := &turn{Options: o, scope: s, run: strings.TrimPrefix(s.Run, "run_")}
	t.budget.Limits = o.Limits
	t.Log = &folding{Log: o.Log, thread: o.Thread, observe: t.observe}
	d := *o.Tools
	d.Limit = t.budget.files
	t.Tools = &d
	if err := t.open(ctx); err != nil {
		return t.end(ctx, err)
	}
	for {
		done, err := t.step(ctx)
		if err != nil || done {
			return t.end(ctx, err)
		}
	}
}

// turn is the state of one Turn.
type turn struct {
	Options
	scope   event.Scope
	run     string // the run's letters
	n       int    // steps begun
	steps   int    // of these, those that brought an answer
	denied  int    // steps in a row whose calls were all denied
	bad     int    // replies in a row that brought nothing
	usage   sum
	read    read // how much of the last request the server read
	mends   mends
	unasked int
	answer  string // subject of the final answer
	text    string // its text

	mu       sync.Mutex // over what follows, while tools run at once
	budget   budget
	outcomes map[string]event.ToolCompleted // of the step's calls
	progress progress
}

// observe sees every fact of the turn once it is committed.
func (t *turn) observe(f event.Fact) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.budget.observe(f)
	if o, ok := f.Data.(event.ToolCompleted); ok && t.outcomes != nil {
		t.outcomes[f.Subject] = o
	}
}

// failure ends a turn: it becomes run.failed.
type failure struct {
	code   string
	class  llm.Class
	http   int
	detail string
}

func (f *failure) Error() string { return f.detail }

// open records the start and what the sources give.
func (t *turn) open(ctx context.Context) error {
	started := event.Draft{Subject: t.scope.Run, Data: event.RunStarted{}}
	var offers []prompt.Fragment
	for _, src := range t.Sources {
		f, err := src.Gather(ctx)
		if err != nil {
			return cmp.Or(t.append(ctx, started), error(&failure{code: "context", detail: err.Error()}))
		}
		offers = append(offers, f...)
	}
	want := event.ContextHead{
		Provider: t.Info.Provider, Protocol: t.Info.Protocol, Model: t.Info.Model, Tools: t.Tools.Set.Specs(),
	}
	if t.Params != (llm.Params{}) {
		var err error
		if want.Params, err = json.Marshal(t.Params); err != nil {
			return err
		}
	}
	return t.append(ctx, append([]event.Draft{started}, prompt.Choose(t.Thread, want, offers)...)...)
}

// step makes one model call and runs the calls of its answer. done: there is a final answer.
func (t *turn) step(ctx context.Context) (done bool, err error) {
	if err := t.budget.next(t.n); err != nil {
		return false, err
	}
	t.n++
	t.scope.Step = t.n
	t.outcomes = map[string]event.ToolCompleted{}
	if err := t.join(ctx); err != nil {
		return false, err
	}
	r, err := t.call(ctx)
	if err != nil {
		return false, err
	}
	t.steps++
	switch calls := t.Thread.Open(); {
	case r.Finish == llm.ContentFilter: // whatever calls came with it, the answer is not what was meant
		return false, &failure{code: "provider", class: llm.Policy, http: r.Exchange.HTTP, detail: "the model refused to answer, or a content filter of the provider stopped it"}
	case r.Finish == llm.Length:
		return false, t.cut(ctx, calls, r)
	case len(calls) > 0:
		return false, t.dispatch(ctx, calls)
	case r.Garbled:
		return false, t.useless(ctx, "Your reply ended with a tool call that could not be read: it must name one of the tools, with an object for its arguments. Send it again as a proper tool call, or give the final answer.")
	case strings.TrimSpace(t.text) == "":
		return false, t.useless(ctx, "Your reply was empty. Call a tool or give the final answer.")
	}
	return true, nil
}

// join adds what a person has said meanwhile.
func (t *turn) join(ctx context.Context) error {
	if t.Steer == nil {
		return nil
	}
	var drafts []event.Draft
	for i, s := range t.Steer() {
		drafts = append(drafts, event.Draft{Subject: t.id("msg", 3+i), Data: event.MessageAdded{
			Role: "user", Origin: "steer", Queue: s.ID, Blocks: []event.Block{{Type: "text", Text: s.Text}},
		}})
	}
	return t.append(ctx, drafts...)
}

// dispatch runs the calls. Steps in which no call could even be read, or none was allowed, count against the turn.
func (t *turn) dispatch(ctx context.Context, calls []event.ToolCall) error {
	sum, err := t.Tools.Dispatch(ctx, t.scope, t.Log, calls)
	t.unasked += sum.Unasked
	if err != nil {
		return err
	}
	if t.denied++; sum.Denied < len(calls) {
		t.denied = 0
	}
	switch {
	case t.denied >= maxDenied: // a model that knows no other way would go on for ever
		return &failure{code: "denied", detail: fmt.Sprintf("every tool call of %d steps in a row was denied", maxDenied)}
	case sum.Malformed < len(calls):
		t.bad = 0
		if err := ctx.Err(); err != nil {
			return err
		}
		return t.moved(ctx, calls)
	}
	return t.count(fmt.Sprintf("the model made %d replies in a row whose tool calls could not be read", maxBad))
}

// moved tells a model that goes in circles so, and ends a turn that goes on doing it.
func (t *turn) moved(ctx context.Context, calls []event.ToolCall) error {
	switch times, name := t.progress.step(calls, t.outcomes); {
	case times >= maxSame:
		return &failure{code: "no-progress", detail: fmt.Sprintf("the model made the same call of %s %d times and got the same result", name, times)}
	case times >= warnSame && !t.progress.told:
		t.progress.told = true
		return t.append(ctx, t.note(fmt.Sprintf("You have made the same call of %s %d times now, and its result was the same each time. Do something else, or conclude.", name, times)))
	}
	return nil
}

// cut answers a reply that ended at the output limit: it is no answer, and none of its calls runs.
func (t *turn) cut(ctx context.Context, calls []event.ToolCall, r *llm.Response) error {
	var drafts []event.Draft
	for _, c := range calls {
		drafts = append(drafts, event.Draft{Subject: c.ID, Data: event.ToolCompleted{
			Name: c.Name, Status: event.StatusError, Code: "reply_cut", Trusted: true,
			Content: "Your reply was cut off at the output limit, so this call was not run. Send it again.",
		}})
	}
	note := "Your reply was cut off at the output limit. Go on in smaller pieces."
	if r.Dropped > 0 {
		note = "Your reply was cut off at the output limit in the middle of a tool call, which was dropped. Send it again, smaller."
	}
	if len(calls) == 0 || r.Dropped > 0 {
		drafts = append(drafts, t.note(note))
	}
	if err := t.append(ctx, drafts...); err != nil {
		return err
	}
	return t.count(fmt.Sprintf("%d replies in a row were cut off at the output limit", maxBad))
}

// useless answers a reply that brings nothing.
func (t *turn) useless(ctx context.Context, note string) error {
	if err := t.append(ctx, t.note(note)); err != nil {
		return err
	}
	return t.count(fmt.Sprintf("the model gave %d replies in a row that were neither an answer nor a tool call", maxBad))
}

func (t *turn) note(text string) event.Draft {
	return event.Draft{
		Subject: t.id("msg", 2),
		Data:    event.MessageAdded{Role: "user", Origin: "runtime", Blocks: []event.Block{{Type: "text", Text: text}}},
	}
}

// count notes a reply that brought nothing and fails the turn at the third in a row.
func (t *turn) count(detail string) error {
	if t.bad++; t.bad >= maxBad {
		return &failure{code: "protocol", detail: detail}
	}
	return nil
}

// end records how the turn ended; err nil: with an answer.
func (t *turn) end(ctx context.Context, err error) (Outcome, error) {
	t.scope.Step = 0
	var f *failure
	var last event.Payload
	switch {
	case err == nil:
		last = event.RunCompleted{Answer: t.answer, Steps: t.steps, Usage: t.usage.total(), Denied: t.unasked, Cost: t.usage.cost()}
	case errors.Is(context.Cause(ctx), ErrTime):
		last = event.RunFailed{Code: "limit.time", Detail: ErrTime.Error(), Steps: t.steps, Usage: t.usage.total(), Denied: t.unasked, Cost: t.usage.cost()}
	case ctx.Err() != nil:
		last = event.RunCancelled{By: "person", Steps: t.steps, Usage: t.usage.total(), Denied: t.unasked, Cost: t.usage.cost()}
	case errors.As(err, &f):
		last = event.RunFailed{
			Code: f.code, Detail: f.detail, Class: string(f.class), HTTP: f.http, Steps: t.steps, Usage: t.usage.total(), Denied: t.unasked, Cost: t.usage.cost(),
		}
	default:
		last = event.RunFailed{Code: "internal", Detail: err.Error(), Steps: t.steps, Usage: t.usage.total(), Denied: t.unasked, Cost: t.usage.cost()}
	}
	ctx = context.WithoutCancel(ctx)
	if aerr := t.close(ctx); aerr != nil {
		return Outcome{}, errors.Join(err, aerr)
	}
	facts, aerr := t.Log.Append(ctx, event.Batch{Scope: t.scope, Facts: []event.Draft{{Subject: t.scope.Run, Data: last}}})
	if aerr != nil {
		return Outcome{}, errors.Join(err, aerr)
	}
	return Outcome{Fact: facts[0], Text: t.text}, nil
}

// close gives every call that is still open an outcome, so that the history stays valid.
func (t *turn) close(ctx context.Context) error {
	var drafts []event.Draft
	for _, c := range t.Thread.Open() {
		drafts = append(drafts, event.Draft{Subject: c.ID, Data: event.ToolCompleted{
			Name: c.Name, Status: event.StatusSkipped, Code: "not_run", Trusted: true,
			Content: "The turn ended before this call; it did not run.",
		}})
	}
	return t.append(ctx, drafts...)
}

// append commits drafts, also when ctx has ended: what happened is recorded.
func (t *turn) append(ctx context.Context, drafts ...event.Draft) error {
	if len(drafts) == 0 {
		return nil
	}
	_, err := t.Log.Append(context.WithoutCancel(ctx), event.Batch{Scope: t.scope, Facts: drafts})
	return err
}

// id derives an id below the run: step and ordinal.
func (t *turn) id(prefix string, n int) string {
	return fmt.Sprintf("%s_%s-%d.%d", prefix, t.run, t.n, n)
}
