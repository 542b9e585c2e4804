package store

import (
	"context"
	"os"
	"slices"

	"overt/internal/event"
)

// What the model is told of a call whose process died.
const (
	diedRunning = "This command was running when the program died; its outcome is unknown. It was not run again."
	diedCalling = "This call was under way when the program died; its outcome is unknown. It was not run again."
	diedBefore  = "This call was not run: the program died before it began."
)

// Recover closes every run that a dead process left open and returns the facts that it wrote. For each run it is one
// batch: an outcome for every tool call without one (interrupted if it was started, skipped if not), call.failed of class
// "interrupted" for a call to the model that was under way, void for an open question, and run.interrupted.
//
// What a restore was bringing in that can't go on is removed.
//
// Before the batch, end is called with the recorded process group of each tool call that was started; it ends what is
// still alive of the group and tells whether anything was.
func (l *Lease) Recover(ctx context.Context, end func(event.Group) bool) ([]event.Fact, error) {
	if path := leftover(l.s.dir); path != "" {
		os.RemoveAll(path) // what stays is named by the status, and goes with what was set aside
	}
	any, err := l.s.facts.any(`SELECT 1 FROM run WHERE ended IS NULL LIMIT 1`)
	if err != nil || !any {
		return nil, err
	}
	runs, err := l.s.runs(ctx, `WHERE r.ended IS NULL ORDER BY r.accepted, r.id`)
	if err != nil {
		return nil, err
	}
	var out []event.Fact
	for _, r := range runs {
		o := openRun{scope: event.Scope{Task: r.Task, Run: r.ID}}
		for f, err := range l.s.Facts(ctx, r.Task, r.ID) {
			if err != nil {
				return out, err
			}
			o.apply(f)
		}
		drafts, err := l.hold(ctx, r.Task)
		if err != nil {
			return out, err
		}
		facts, err := l.s.Append(ctx, event.Batch{Scope: o.scope, Facts: append(drafts, o.close(end)...)})
		if err != nil {
			return out, err
		}
		out = append(out, facts...)
	}
	return out, nil
}

// hold gives the facts that hold what waited for the task of a run that died.
func (l *Lease) hold(ctx context.Context, task string) (out []event.Draft, err error) {
	list, err := l.s.Queue(ctx, task)
	for _, q := range list {
		if q.State == event.QueueQueued {
			out = append(out, event.Draft{Subject: q.ID, Data: event.QueueChanged{State: event.QueueHeld, By: "runtime"}})
		}
	}
	return out, err
}

// openRun is what a run has begun and not ended.
type openRun struct {
	scope     event.Scope // of its last fact
	tools     []event.ToolCall
	started   map[string]event.ToolStarted
	calls     []event.Fact // call.started
	questions []event.Fact // question.asked
}

func (o *openRun) apply(f event.Fact) {
	o.scope = f.Scope
	about := func(e event.Fact) bool { return e.Subject == f.Subject }
	switch p := f.Data.(type) {
	case event.MessageAdded:
		for _, b := range p.Blocks {
			if b.Call != nil {
				o.tools = append(o.tools, *b.Call)
			}
		}
	case event.ToolStarted:
		if o.started == nil {
			o.started = map[string]event.ToolStarted{}
		}
		o.started[f.Subject] = p
	case event.ToolCompleted:
		o.tools = slices.DeleteFunc(o.tools, func(c event.ToolCall) bool { return c.ID == f.Subject })
	case event.CallStarted:
		o.calls = append(o.calls, f)
	case event.CallCompleted, event.CallFailed:
		o.calls = slices.DeleteFunc(o.calls, about)
	case event.QuestionAsked:
		o.questions = append(o.questions, f)
	case event.QuestionAnswered:
		o.questions = slices.DeleteFunc(o.questions, about)
	}
}

// close gives the facts that end the run, and ends process groups.
func (o *openRun) close(end func(event.Group) bool) []event.Draft {
	var out []event.Draft
	died := event.RunInterrupted{Reason: "process died"}
	for _, c := range o.tools {
		done := event.ToolCompleted{Name: c.Name, Status: event.StatusSkipped, Content: diedBefore, Trusted: true}
		if s, ok := o.started[c.ID]; ok {
			done.Status, done.Content = event.StatusInterrupted, diedCalling
			died.Open = append(died.Open, c.ID)
			if s.Group != nil {
				done.Content = diedRunning
				if end(*s.Group) {
					died.Ended = append(died.Ended, c.ID)
				}
			}
		}
		done.Bytes = int64(len(done.Content))
		out = append(out, event.Draft{Subject: c.ID, Data: done})
	}
	for _, f := range o.calls {
		died.Open = append(died.Open, f.Subject)
		out = append(out, event.Draft{Subject: f.Subject, Data: event.CallFailed{
			Class: "interrupted", Message: "the program died while this call was under way", Usage: event.Usage{Coverage: "unavailable"},
		}})
	}
	for _, f := range o.questions {
		out = append(out, event.Draft{Subject: f.Subject, Data: event.QuestionAnswered{Choice: "void", By: "runtime"}})
	}
	return append(out, event.Draft{Subject: o.scope.Run, Data: died})
}
