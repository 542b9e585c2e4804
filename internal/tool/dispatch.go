package tool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
)

// MaxContent bounds, in bytes, what the model reads of one result.
const MaxContent = 100 << 10

// maxParallel bounds how many calls run at once.
const maxParallel = 8

// Dispatcher takes calls through the pipeline: prepare, decide, ask, checkpoint, intent, run, bound, outcome.
type Dispatcher struct {
	Set   *Set
	Rules func() policy.Rules // what is in force now
	Ask   Asker               // nil: nobody can be asked, and what would ask is denied
	Feed  event.Feed          // nil: output is not shown while it arrives
	Keep  Keep                // nil: whole outputs are not kept
	// Checkpoints brackets calls that may change files; nil: their changes can't be taken back.
	Checkpoints Checkpoints
	// Grants keeps the answers that hold for a turn; nil: none does.
	Grants *Grants
	// Seen says where a text came from that a call repeats and no person wrote; "" if that is not so. nil: nothing is known of it.
	Seen func(text string) string
	// Save keeps an answer that holds for longer: Rules has its rule from then on. nil: none does.
	Save func(ctx context.Context, s event.Scope, g event.PermissionGranted) error
	// DryRun says that calls with effects only say what they would do. Calls that read do run.
	DryRun bool
	// Limit may refuse what policy allows, before anything is asked; nil: nothing is refused.
	Limit func(p *Prepared) *Refusal
}

// Summary counts how the calls of a batch ended.
type Summary struct {
	Denied    int // by rule, by profile, by the person, or because nobody could be asked
	Unasked   int // of these, because nobody could be asked
	Malformed int // unknown tools and arguments that do not fit
}

// Dispatch records exactly one outcome for each call; when ctx ends, the outcomes are still recorded. Calls are worked on
// in order; neighbours that only read and ask nothing run at once. Its error is fatal for the turn: calls that it did not
// get to have no outcome yet.
func (d *Dispatcher) Dispatch(ctx context.Context, s event.Scope, log event.Log, calls []event.ToolCall) (Summary, error) {
	b := &batch{Dispatcher: d, scope: s, log: log}
	for i := 0; i < len(calls); {
		group := []*job{b.prepare(ctx, calls[i])}
		i++
		for group[0].parallel() && i < len(calls) && len(group) < maxParallel {
			next := b.prepare(ctx, calls[i])
			if !next.parallel() {
				break // prepared anew after the group has run
			}
			group = append(group, next)
			i++
		}
		var wg sync.WaitGroup
		for _, j := range group {
			wg.Go(func() { b.finish(ctx, j) })
		}
		wg.Wait()
		if b.err != nil {
			return b.sum, b.err
		}
	}
	return b.sum, nil
}

// batch is the state of one Dispatch.
type batch struct {
	*Dispatcher
	scope event.Scope
	log   event.Log

	mu  sync.Mutex // over sum and err
	sum Summary
	err error
}

// job is one call on its way through the pipeline.
type job struct {
	call     event.ToolCall
	prepared *Prepared
	args     string   // set if they were repaired
	refusal  *Refusal // why the call goes no further
	decision policy.Decision
	by       string       // the question whose answer decided
	lasting  *policy.Rule // what an answer may allow from now on
	taint    []event.Taint

	checkpoint string        // that is open around the call; "": none
	outside    []event.Draft // changes that were found when it was opened, and are nobody's
}

// parallel tells whether the call may run beside others. One that asks may not: a person gets one question at a time.
func (j *job) parallel() bool {
	return j.refusal == nil && j.prepared.Parallel && readOnly(j.prepared.Action) && j.decision.Verdict != policy.Ask
}

func readOnly(a policy.Action) bool {
	for _, e := range a.Effects {
		if e.Kind != policy.Read {
			return false
		}
	}
	return true
}

func (b *batch) prepare(ctx context.Context, c event.ToolCall) *job {
	j := &job{call: c}
	if strings.Contains(c.Args, event.MaskPrefix) {
		j.refusal = &Refusal{"masked_secret", "the arguments hold a masked secret, so they are not what was meant; nothing was done. Name the secret by its variable or file instead of its value."}
		return j
	}
	e, refusal := b.Set.lookup(c.Name)
	if refusal != nil {
		j.refusal = refusal
		return j
	}
	args, repaired, refusal := decodeArgs(e, c.Args)
	if refusal != nil {
		j.refusal = refusal
		return j
	}
	if repaired {
		j.args = string(args)
	}
	p, err := e.tool.Prepare(ctx, args)
	switch {
	case err == nil:
		j.prepared = p
		b.taint(j)
		b.decide(j)
		if b.Limit != nil && j.decision.Verdict != policy.Deny {
			j.refusal = b.Limit(p)
		}
	case errors.As(err, &j.refusal):
	case ctx.Err() != nil:
		j.refusal = &Refusal{"cancelled", "cancelled"}
	default:
		b.fail(fmt.Errorf("%s: %w", c.Name, err))
		j.refusal = &Refusal{"internal", "the tool failed inside"}
	}
	return j
}

// finish takes a job to its outcome.
func (b *batch) finish(ctx context.Context, j *job) {
	if ctx.Err() != nil {
		b.end(ctx, j, nil, skipped())
		return
	}
	if r := j.refusal; r != nil {
		if r.Code == CodeUnknownTool || r.Code == CodeBadArguments {
			b.count(func(s *Summary) { s.Malformed++ })
		}
		b.end(ctx, j, nil, &Result{Status: event.StatusError, Code: r.Code, Content: r.Text})
		return
	}
	drafts, denial := b.consent(ctx, j)
	switch {
	case denial != nil && denial.Status == event.StatusDenied:
		b.count(func(s *Summary) { s.Denied++ })
	case denial == nil && ctx.Err() != nil: // stopped while the person said yes
		denial = skipped()
	}
	if denial != nil {
		b.end(ctx, j, drafts, denial)
		return
	}
	kept, denial := b.checkpoint(ctx, j)
	if denial != nil {
		b.end(ctx, j, append(drafts, kept...), denial)
		return
	}
	started := event.ToolStarted{
		Name: j.call.Name, ReadOnly: readOnly(j.prepared.Action), Dir: j.prepared.Dir, Sandbox: j.decision.Confined, Checkpoint: j.checkpoint,
	}
	if j.prepared.Launch != nil {
		group, err := j.prepared.Launch(ctx, started.Sandbox)
		if err != nil {
			b.end(ctx, j, append(drafts, b.drop(ctx, j)...), b.failure(j, err))
			return
		}
		started.Group = group
	}
	seq, err := b.append(ctx, append(append(drafts, kept...), event.Draft{Subject: j.call.ID, Data: started}))
	if err != nil {
		b.drop(ctx, j)
		if j.prepared.Release != nil {
			j.prepared.Release()
		}
		b.fail(err)
		return
	}
	r, err := j.prepared.Run(ctx, host{b, j.call.ID, seq})
	var refused *Refusal
	switch {
	case err != nil && ctx.Err() != nil && !errors.As(err, &refused):
		r = &Result{Status: event.StatusCancelled, Code: "cancelled", Content: "Cancelled while it ran.", Trusted: true}
	case err != nil:
		r = b.failure(j, err)
	}
	b.end(ctx, j, b.close(ctx, j, r), r)
}

// failure turns a tool's error into a result, or fails the turn with it.
func (b *batch) failure(j *job, err error) *Result {
	var r *Refusal
	if errors.As(err, &r) {
		return &Result{Status: event.StatusError, Code: r.Code, Content: r.Text}
	}
	b.fail(fmt.Errorf("%s: %w", j.call.Name, err))
	return &Result{Status: event.StatusError, Code: "internal", Content: "The tool failed inside; it may or may not have had an effect.", Trusted: true}
}

// end commits the outcome.
func (b *batch) end(ctx context.Context, j *job, before []event.Draft, r *Result) {
	out := event.ToolCompleted{
		Name: j.call.Name, Status: r.Status, Code: r.Code, Content: r.Content, Trusted: r.Trusted,
		Bytes: max(r.Bytes, int64(len(r.Content))), Cut: r.Cut, Output: r.Output, Meta: r.Meta, Images: r.Images,
	}
	if out.Status == "" {
		out.Status = event.StatusOK
	}
	if len(out.Content) > MaxContent {
		b.bound(j, &out)
	}
	drafts := append(before, event.Draft{Subject: j.call.ID, Data: out})
	for _, f := range r.Facts {
		drafts = append(drafts, event.Draft{Subject: j.call.ID, Data: f})
	}
	if _, err := b.append(ctx, drafts); err != nil {
		b.fail(err)
	}
}

// bound cuts what the model reads of an outcome, and keeps the whole, if the tool has not.
func (b *batch) bound(j *job, out *event.ToolCompleted) {
	how := ""
	if out.Output == nil && b.Keep != nil {
		k := b.Keep(b.scope, j.call.ID, false)
		_, _ = io.WriteString(k, out.Content)
		if kept, err := k.Keep(); err == nil {
			out.Output = &kept
			how = "; read_output " + kept.ID + " shows all"
		} else {
			how = "; the rest could not be kept: " + err.Error()
		}
	}
	out.Content = fmt.Sprintf("%s\n[cut here: %d bytes in all%s]", cutRunes(out.Content, MaxContent), len(out.Content), how)
	out.Cut = true
}

func cutRunes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// append commits drafts also when ctx has ended: what happened is recorded, whatever the person did meanwhile. It gives
// the number of the last fact.
func (b *batch) append(ctx context.Context, drafts []event.Draft) (event.Seq, error) {
	facts, err := b.log.Append(context.WithoutCancel(ctx), event.Batch{Scope: b.scope, Facts: drafts})
	if err != nil {
		return 0, err
	}
	return facts[len(facts)-1].Seq, nil
}

func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *batch) count(f func(*Summary)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.sum)
}

// host is what a running call sees of its task.
type host struct {
	b     *batch
	call  string
	after event.Seq // of tool.started
}

// Keep implements [Host].
func (h host) Keep(raw bool) Keeper {
	if h.b.Keep == nil {
		return nil
	}
	return h.b.Keep(h.b.scope, h.call, raw)
}

// Trace implements [Host]. A task is a trace, a call is a span of it; the numbers are made of their ids.
func (h host) Trace() string {
	task, call := sha256.Sum256([]byte(h.b.scope.Task)), sha256.Sum256([]byte(h.call))
	return fmt.Sprintf("00-%x-%x-01", task[:16], call[:8])
}

// Show implements [Host].
func (h host) Show(text string) {
	if h.b.Feed != nil {
		h.b.Feed.Show(event.Delta{Scope: h.b.scope, After: h.after, Subject: h.call, Part: "output", Text: text})
	}
}
