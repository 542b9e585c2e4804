package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
)

// Checkpoints brackets effects on files. Between Before and After, or Drop, no other bracket is open, so that what changed
// meanwhile is this call's.
type Checkpoints interface {
	// Uncovered says what can't be taken back of a change to the paths, as far as it is known before; nil: any path of the
	// workspace.
	Uncovered(paths []string) []event.Uncovered
	// Before makes sure that the paths are kept as they are, and gives what is to be recorded ahead of the effect. After an
	// error, which may be a [KeepError], nothing is open, and the effect must not come. The drafts are of what was changed before. Where that takes a while, slow is
	// called with the number of files that are to be read. confined: PutBack comes before After, also if the process dies.
	Before(ctx context.Context, s event.Scope, id string, paths []string, confined bool, slow func(files int)) (event.CheckpointTaken, []event.Draft, error)
	// After keeps what changed, and gives what is to be recorded with the outcome.
	After(ctx context.Context, id string) (event.CheckpointClosed, error)
	// PutBack puts back, before After, what is [Planted], and gives the paths, and those that it could not.
	PutBack(ctx context.Context, id string) (back, left []string, err error)
	// KeptAside is where what PutBack took away is kept; "": nowhere.
	KeptAside(id string) string
	// Drop closes a bracket without an effect.
	Drop(ctx context.Context, id string) error
	// Jobs keeps what was changed outside any bracket while jobs were at work, before it is recorded that one has ended, and gives
	// what is to be recorded of that.
	Jobs(ctx context.Context, s event.Scope, id string) (event.Batch, error)
}

// KeepError is an error of Before that says by a code why the files could not be kept.
type KeepError interface {
	error
	Code() string
}

// codeNotKept is of a call that did not run, as the files could not be kept.
const codeNotKept = "not_kept"

// changes tells whether a call may change files. A command that is graded low only reads.
func changes(p *Prepared) bool {
	if readOnly(p.Action) {
		return false
	}
	return p.Action.Risk == nil || p.Action.Risk.Grade != policy.Low
}

// checkpoint brackets the call, if it may change files, and gives the drafts of that. With the outcome, if its state could not
// be kept and the call ends here, they say what was found meanwhile, as [batch.drop] does.
func (b *batch) checkpoint(ctx context.Context, j *job) ([]event.Draft, *Result) {
	if b.Checkpoints == nil || !changes(j.prepared) {
		return nil, nil
	}
	id := "chk_" + strings.TrimPrefix(j.call.ID, "tcl_")
	slow := func(files int) {
		if b.Feed != nil {
			b.Feed.Show(event.Delta{Scope: b.scope, Subject: j.call.ID, Part: "checkpoint", Text: strconv.Itoa(files)})
		}
	}
	taken, outside, err := b.Checkpoints.Before(ctx, b.scope, id, j.prepared.Paths, j.decision.Confined, slow)
	if err != nil {
		if ctx.Err() != nil {
			return nil, skipped()
		}
		code := codeNotKept
		if kept, ok := errors.AsType[KeepError](err); ok {
			code = kept.Code()
		}
		return nil, &Result{
			Status: event.StatusError, Code: code, Trusted: true,
			Content: "The files could not be kept as they are, so that the call could not be undone; it was not run. " + err.Error(),
		}
	}
	j.checkpoint = id
	if j.decision.Confined && slices.ContainsFunc(taken.Uncovered, event.Uncovered.Whole) {
		return b.drop(ctx, j), &Result{
			Status: event.StatusError, Code: codeNotKept, Trusted: true,
			Content: "Of this workspace nothing can be kept, so what a confined command may not change could not be put back; it was not run. Call again with unconfined: true and the person is asked.",
		}
	}
	taken.Call = j.call.ID
	j.outside = outside
	return append([]event.Draft{{Subject: id, Data: taken}}, j.outside...), nil
}

// drop closes the bracket of a call that went no further, and gives the drafts of what others had changed before: it is found
// once only.
func (b *batch) drop(ctx context.Context, j *job) []event.Draft {
	if j.checkpoint == "" {
		return nil
	}
	if err := b.Checkpoints.Drop(context.WithoutCancel(ctx), j.checkpoint); err != nil {
		b.fail(err)
	}
	return j.outside
}

// close closes the bracket of a call that ran, and gives the draft that says what changed. What a tool says of a change of its
// own goes into it.
func (b *batch) close(ctx context.Context, j *job, r *Result) []event.Draft {
	if j.checkpoint == "" {
		return b.jobs(ctx, j, r)
	}
	back, left := b.putBack(ctx, j, r)
	closed, err := b.Checkpoints.After(context.WithoutCancel(ctx), j.checkpoint)
	if err != nil {
		b.fail(err) // the outcome is recorded all the same; the checkpoint is closed with the next start
		return nil
	}
	closed.Call, closed.PutBack = j.call.ID, back[:min(len(back), maxNamed)]
	if len(back) > 0 {
		closed.Aside = b.Checkpoints.KeptAside(j.checkpoint)
	}
	if len(left) > 0 {
		closed.LeftOut = append(closed.LeftOut, event.Uncovered{What: event.UncoveredPlanted, N: len(left), Paths: left[:min(len(left), maxNamed)]})
	}
	r.Facts = slices.DeleteFunc(slices.Clone(r.Facts), func(p event.Payload) bool {
		f, ok := p.(event.FileChanged)
		if !ok {
			return false
		}
		i := slices.IndexFunc(closed.Changes, func(c event.Change) bool { return c.Path == f.Path })
		if i < 0 {
			return false
		}
		closed.Changes[i].Op, closed.Changes[i].Diff = f.Op, f.Diff
		return true
	})
	return []event.Draft{{Subject: j.checkpoint, Data: closed}}
}

// jobs gives, where a call that is not bracketed found that a job has ended, the drafts of what was changed meanwhile.
func (b *batch) jobs(ctx context.Context, j *job, r *Result) []event.Draft {
	if b.Checkpoints == nil || !slices.ContainsFunc(r.Facts, func(p event.Payload) bool { return p.Kind() == event.KindJobEnded }) {
		return nil
	}
	found, err := b.Checkpoints.Jobs(context.WithoutCancel(ctx), b.scope, "chk_"+strings.TrimPrefix(j.call.ID, "tcl_")+".job")
	if err != nil {
		b.fail(err)
	}
	return found.Facts
}

// putBack puts back what a confined command has made of what others run or obey later: where it did not exist the sandbox
// could not keep it from being made. Nobody was asked about it.
func (b *batch) putBack(ctx context.Context, j *job, r *Result) (back, left []string) {
	if !j.decision.Confined {
		return nil, nil
	}
	back, left, err := b.Checkpoints.PutBack(context.WithoutCancel(ctx), j.checkpoint)
	if err != nil {
		b.fail(err)
		return nil, nil
	}
	if len(back) > 0 {
		r.Content = strings.TrimSuffix(r.Content, "\n") + "\n[the sandbox put back as it was, since others run or obey it later: " + few(back) + ". unconfined: true asks the person" + b.keptAside(j) + "]"
	}
	if len(left) > 0 {
		r.Content = strings.TrimSuffix(r.Content, "\n") + "\n[this could not be put back as it was, though others run or obey it later; tell the person: " + few(left) + "]"
	}
	return back, left
}

// keptAside says where what was put back is kept: a person may have made it meanwhile.
func (b *batch) keptAside(j *job) string {
	if dir := b.Checkpoints.KeptAside(j.checkpoint); dir != "" {
		return "; what stood there is kept in " + dir
	}
	return ""
}

// maxNamed bounds how many paths a result names.
const maxNamed = 10

func few(paths []string) string {
	if len(paths) <= maxNamed {
		return strings.Join(paths, ", ")
	}
	return strings.Join(paths[:maxNamed], ", ") + fmt.Sprintf(" and %d more", len(paths)-maxNamed)
}

// undone says in a question what undo will cover of a call.
func (b *batch) undone(j *job, q *event.QuestionAsked) {
	if b.Checkpoints == nil || !changes(j.prepared) {
		return
	}
	q.Uncovered = b.Checkpoints.Uncovered(j.prepared.Paths)
	q.Undo = !slices.ContainsFunc(q.Uncovered, event.Uncovered.Whole)
	q.Found = slices.Clone(q.Found)
	for i := range q.Found {
		q.Found[i].Reversible = q.Found[i].Reversible && q.Undo
	}
	if _, command := j.prepared.Action.Graded(); command {
		for _, what := range []string{"outside", "network", "processes"} {
			q.Uncovered = append(q.Uncovered, event.Uncovered{What: what})
		}
	}
}
