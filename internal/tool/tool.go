// Package tool is the contract of tools, and the one pipeline that every call goes through.
//
// A [Tool] prepares a call without effects and returns what would happen and a closure that does it; only
// [Dispatcher.Dispatch] runs closures, after policy and, if need be, the person have agreed and the intent is recorded.
// Tools return their result; they hold no log, no permission and no view. A failure is either a *[Refusal], which the
// model reads, or any other error, which ends the turn.
//
// A Tool is used by several goroutines at once; a Dispatcher serves one turn at a time.
package tool

import (
	"context"
	"encoding/json"
	"io"

	"overt/internal/event"
	"overt/internal/policy"
)

// Tool is something that the model may call.
type Tool interface {
	Spec() event.ToolSpec
	// Prepare decodes arguments that satisfy the Spec's schema, resolves them, and says what the call would do.
	// It has no effects. What may change while a person is asked (a file's content, a link) is checked again by Run.
	Prepare(ctx context.Context, args json.RawMessage) (*Prepared, error)
}

// Prepared is a call that is ready to run.
type Prepared struct {
	Action   policy.Action
	Parallel bool   // may run beside other parallel calls; only for calls without effects beyond reading
	Preview  string // diff or command, for the question
	Intent   string // why, in the model's words
	Dir      string // where it runs, for the record
	// Paths is what a call with effects may change, relative to the workspace with links resolved; nil: anything in it.
	Paths []string
	// Launch, if not nil, starts what Run will use but holds it before its first effect, and names its process group
	// so that the intent can be recorded with it. When the call goes no further, Release is called instead of Run.
	// confined says that it was allowed in the sandbox only.
	Launch  func(ctx context.Context, confined bool) (*event.Group, error)
	Release func()
	Run     func(ctx context.Context, h Host) (*Result, error)
}

// Result is what a call gave.
type Result struct {
	Status  string // event.StatusOK if empty
	Code    string
	Content string // what the model reads; bounded by the dispatcher all the same
	Trusted bool   // Content is the runtime's own words, with nothing in it from files, commands or the network
	Bytes   int64  // of the whole output, if more than len(Content)
	Cut     bool
	Output  *event.Output // the whole output, where it was kept
	Meta    json.RawMessage
	Facts   []event.Payload // committed together with the outcome
	Images  []event.Image   // that the model gets after all results of the step, with their bytes
}

// Refusal is a failure for the model to read and act on. Code is stable; Text says what was wrong and what to do.
type Refusal struct{ Code, Text string }

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Reply is a person's answer: one of the question's options. event.AnswerNone says that nobody is there to answer any more;
// anything else is no.
type Reply struct {
	Choice string
	By     string
}

// Asker puts a question to the person and waits for the answer or the end of ctx. It calls record, which commits the
// question, once it is ready to take an answer: whoever reads the question may answer it at once. The dispatcher
// records the answer.
type Asker interface {
	Ask(ctx context.Context, s event.Scope, id string, q event.QuestionAsked, record func() error) (Reply, error)
}

// Host is what a running tool may ask of the task it runs in.
type Host interface {
	// Show passes on output while it arrives. It never blocks.
	Show(text string)
	// Trace is the traceparent of the call (W3C Trace Context), for what it starts.
	Trace() string
	// Keep gives what takes the whole output of the call, once for each call; nil: outputs are not kept. See [Keep].
	Keep(raw bool) Keeper
}

// Keeper takes an output as it comes, in little memory whatever its size.
type Keeper interface {
	io.Writer // never fails: Keep says what went wrong
	// Keep keeps what was written, known secrets masked, and names it. It is called at the end, once, and only where the
	// model got something else than that; what nobody keeps is forgotten.
	Keep() (event.Output, error)
}

// Keep begins to keep the output of a call. raw says that it comes as a command writes it, control characters and all.
type Keep func(s event.Scope, call string, raw bool) Keeper
