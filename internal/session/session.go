// Package session is the door through which front ends act.
//
// [Open] one session per program and workspace; [Session.Submit] gives it an input, [Session.Stop] ends a run,
// [Session.Answer] answers a question. An input for a task on which a run is under way may steer that run or wait for its
// end, see [Input]; [Session.Next] tells which run took it up. [Session.Do] changes a task outside a run. What happens is read elsewhere (package trace), but for text that is still
// arriving: [Session.Watch].
//
// Record, then act: Submit returns after the input is committed. One top-level run at a time holds the lease of the
// workspace; another process that holds it makes Submit fail with a *store.HeldError. Runs go on in a goroutine of
// their own until they end; Close stops and awaits them. All methods are safe for concurrent use.
//
//	Submit ─▶ lease ─▶ recover ─▶ accept batch ─▶ goroutine: thread ─▶ agent.Turn ─▶ Wait returns
//	                                   ▲                                    │
//	                                   └── next of the queue, or lease freed
package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"overt/internal/agent"
	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/policy"
	"overt/internal/prompt"
	"overt/internal/redact"
	"overt/internal/store"
	"overt/internal/tool"
)

// Kit is what one task runs with.
type Kit struct {
	Model   llm.Model
	Info    llm.Info
	Params  llm.Params
	Set     *tool.Set
	Sources []prompt.Source
	Rules   func() policy.Rules
	Retries int
	// Checkpoints brackets the calls that may change files; nil: what they change can't be taken back.
	Checkpoints tool.Checkpoints
}

// Checkpoints is the care for brackets around effects that outlives a run.
type Checkpoints interface {
	// Recover closes what a process that died left open. It has the lease, and nothing of the effect runs any more.
	Recover(ctx context.Context, log event.Log) error
	// Settle notes that everything that was bracketed is recorded.
	Settle() error
	// Jobs gives what is to be recorded of what was changed while jobs were at work, before it is that they have ended.
	Jobs(ctx context.Context, s event.Scope, id string) (event.Batch, error)
}

// Options is what a session is made of.
type Options struct {
	Store  *store.Store
	Mask   *redact.Masker
	Kit    func(ctx context.Context, task string) (*Kit, error)
	NewID  func(prefix string) string
	Client string // cli
	// Version and Dir are recorded with the session.
	Version, Dir string
	PID          int
	// Interactive says that some front end can put questions to a person.
	Interactive bool
	// DryRun says that tools with effects only say what they would do.
	DryRun bool
	// EndGroup ends a process group that outlived its agent and tells whether there was one.
	EndGroup func(event.Group) bool
	// Checkpoints of the workspace; nil: there are none.
	Checkpoints Checkpoints
	// User gives the person's own record, where what holds in every workspace is kept. nil: there is none.
	User func(ctx context.Context) (*store.Store, error)
	// Alive tells whether a program, recorded as the owner of a job, still is there.
	Alive func(event.Group) bool
	// Wait waits before attempt n of a call for d, or until ctx ends; Backoff says how long d is.
	Wait    func(ctx context.Context, n int, d time.Duration) error
	Backoff func(n int, after time.Duration) time.Duration
}

// Input is a person's input.
type Input struct {
	Task   string // "": a new task
	Fork   *Fork  // of a new task: where its thread begins
	Text   string
	Images []event.Image // that stand before the text, with their bytes
	Origin string        // of a new task: person, demo
	Key    string        // idempotency key; "" for none
	Limits event.Limits
	Mode   string // ModeStart, ModeSteer, ModeQueue
}

// Fork names a place in the thread of a task: after a message, by its number, its id or closing characters of it; "": where
// the task stands. The task may be in any state but erased, and stays as it is.
type Fork struct{ Task, Message string }

// Receipt says what an input became. Before is the last number of the record before anything was written for it.
// If the input was queued, Queue is the item, and the rest is of the run that was under way.
type Receipt struct {
	Task, Turn, Run string
	Before          event.Seq
	Queue           string
}

// HeldError says which process is at work in the workspace.
type HeldError = store.HeldError

// Errors that a front end may look for.
var (
	ErrEmpty    = errors.New("the input is empty")
	ErrPictures = errors.New("an input that waits can't have pictures")
	ErrClosed   = errors.New("the session is closed")
	ErrNoRun    = errors.New("no such run is under way")
	ErrAnswered = errors.New("the question is no longer open")
)

// OptionError says that a question does not take an answer, which leaves it open.
type OptionError struct {
	Choice  string
	Options []string
}

// Error implements error.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%q is no answer to this question; it takes %s", e.Choice, strings.Join(e.Options, ", "))
}

// Session is one run of the program on a workspace.
type Session struct {
	o  Options
	id string

	mu        sync.Mutex
	announced bool
	closed    bool
	runs      map[string]*run
	questions map[string]question     // open ones
	grants    map[string]*tool.Grants // answers that last, by task
	watchers  map[chan event.Delta]bool
	streaming string             // the subject whose texts are arriving
	streams   map[string]*stream // its texts, by part

	queueing sync.Mutex // over the queue and the ends of runs; taken before mu
	waiting  []item     // in the order in which they came
}

type run struct {
	scope   event.Scope
	limits  event.Limits
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
	stopped bool     // by a person
	closing bool     // takes nothing any more that is queued
	next    *Receipt // the run that took up the queue
}

func (s *Session) newRun(task string, limits event.Limits) *run {
	r := &run{limits: limits, done: make(chan struct{}), scope: event.Scope{Session: s.id, Task: task, Run: s.o.NewID("run_")}}
	r.scope.Turn = "trn_" + r.letters()
	if limits.Seconds == 0 {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	} else {
		r.ctx, r.cancel = context.WithTimeoutCause(context.Background(), time.Duration(limits.Seconds)*time.Second, agent.ErrTime)
	}
	return r
}

func (r *run) letters() string { return strings.TrimPrefix(r.scope.Run, "run_") }

// message is the person's message that a run begins with.
func (r *run) message(text string, images []event.Image, queue string) event.Draft {
	var blocks []event.Block
	for _, i := range images {
		blocks = append(blocks, event.Block{Type: "image", Image: &i})
	}
	return event.Draft{Subject: "msg_" + r.letters() + "-0.1", Data: event.MessageAdded{
		Role: "user", Origin: "person", Queue: queue, Blocks: append(blocks, event.Block{Type: "text", Text: strings.ToValidUTF8(text, "\uFFFD")}),
	}}
}

// Open makes a session. Nothing is written before the first input.
func Open(o Options) *Session {
	return &Session{
		o: o, id: o.NewID("ses_"), runs: map[string]*run{}, questions: map[string]question{}, grants: map[string]*tool.Grants{},
		watchers: map[chan event.Delta]bool{}, streams: map[string]*stream{},
	}
}

// start works on a run, and on those that follow it from the queue, on a goroutine of its own, which owns the lease; false:
// the session was closed meanwhile, and the run is left for recovery.
func (s *Session) start(lease *store.Lease, kit *Kit, r *run, thread *prompt.Thread) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		r.cancel()
		return false
	}
	s.runs[r.scope.Run] = r
	go func() {
		for r != nil {
			end, after, err := s.turn(r, kit, thread)
			next, qerr := s.follow(r, after, err == nil && end.Kind == event.KindRunCompleted)
			if r.err = errors.Join(err, qerr); r.err == nil {
				r.err = s.settled()
			}
			if next == nil {
				r.err = errors.Join(r.err, lease.Release())
			}
			r.cancel()
			close(r.done)
			r, thread = next, after
		}
	}()
	return true
}

func (s *Session) isAnnounced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.announced
}

func (s *Session) setAnnounced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced = true
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// turn works on what was accepted, and gives the fact that ended it and the thread after it. thread is nil where it is to
// be read.
func (s *Session) turn(r *run, kit *Kit, thread *prompt.Thread) (event.Fact, *prompt.Thread, error) {
	if thread == nil {
		var err error
		// Read also when the run was stopped at once: it ends like any other, with a fact.
		if thread, err = s.thread(context.WithoutCancel(r.ctx), r.scope.Task); err != nil {
			_, err = s.o.Store.Append(context.WithoutCancel(r.ctx), event.Batch{Scope: r.scope, Facts: []event.Draft{{
				Subject: r.scope.Run, Data: event.RunFailed{Code: "storage", Detail: err.Error(), Usage: event.Usage{Coverage: "unavailable"}},
			}}})
			return event.Fact{}, nil, err
		}
	}
	d := &tool.Dispatcher{Set: kit.Set, Rules: kit.Rules, Feed: feed{s}, Keep: s.keep, Grants: s.granted(r.scope.Task), Seen: thread.Repeats, DryRun: s.o.DryRun, Checkpoints: kit.Checkpoints}
	if s.o.Interactive {
		d.Ask = asker{s}
		if s.o.User != nil {
			d.Save = s.save
		}
	}
	out, err := agent.Turn(r.ctx, r.scope, agent.Options{
		Model: kit.Model, Info: kit.Info, Params: kit.Params, Log: s.o.Store, Feed: feed{s}, Thread: thread, Sources: kit.Sources, Tools: d,
		Steer:  func() []agent.Steer { return s.steer(r.scope.Task) },
		Limits: r.limits, Retries: kit.Retries, Wait: s.o.Wait, Backoff: s.o.Backoff,
	})
	return out.Fact, thread, err
}

// restart closes what programs that died have left open: runs, brackets around effects once nothing of these runs any more, and
// jobs, with what they have changed.
func (s *Session) restart(ctx context.Context, lease *store.Lease) ([]event.Fact, error) {
	facts, err := lease.Recover(ctx, s.o.EndGroup)
	if err != nil {
		return facts, err
	}
	if s.o.Alive != nil {
		jobs, err := lease.RecoverJobs(ctx, s.o.Alive, s.o.EndGroup, func() error {
			return errors.Join(s.unbracketed(ctx), s.jobs(ctx))
		})
		if facts = append(facts, jobs...); err != nil {
			return facts, err
		}
	}
	return facts, s.unbracketed(ctx)
}

// unbracketed closes brackets that a program that died has left open.
func (s *Session) unbracketed(ctx context.Context) error {
	if s.o.Checkpoints == nil || !s.o.Store.FilesMarked() {
		return nil
	}
	return s.o.Checkpoints.Recover(ctx, s.o.Store)
}

// jobs records what was changed while jobs were at work.
func (s *Session) jobs(ctx context.Context) error {
	if s.o.Checkpoints == nil {
		return nil
	}
	found, err := s.o.Checkpoints.Jobs(ctx, event.Scope{}, s.o.NewID("chk_"))
	if err == nil && len(found.Facts) > 0 {
		_, err = s.o.Store.Append(ctx, found)
	}
	return errors.Join(err, s.settled())
}

// EndJobs records that the jobs of this program have ended, which they have, and what was changed meanwhile. own tells its jobs by
// what watched over them. While another program is at work, it is left to that one.
func (s *Session) EndJobs(ctx context.Context, own func(event.Group) bool) error {
	lease, err := s.o.Store.Lease(ctx, "jobs", s.id)
	if held := (*HeldError)(nil); errors.As(err, &held) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = lease.RecoverJobs(ctx, func(g event.Group) bool { return !own(g) }, s.o.EndGroup, func() error { return s.jobs(ctx) })
	return errors.Join(err, lease.Release())
}

// settled notes that what was done is recorded to the end.
func (s *Session) settled() error {
	if s.o.Checkpoints == nil {
		return nil
	}
	return s.o.Checkpoints.Settle()
}

// keep keeps the whole outputs of tools with the captures.
func (s *Session) keep(scope event.Scope, call string, raw bool) tool.Keeper {
	return s.o.Store.Captures().Spool(scope.Task, call, raw)
}

// thread reads the thread of a task up to its head.
func (s *Session) thread(ctx context.Context, task string) (*prompt.Thread, error) {
	t := &prompt.Thread{}
	for f, err := range s.o.Store.Read(ctx, event.Path{Task: task}) {
		if err != nil {
			return nil, fmt.Errorf("the thread could not be read: %w", err)
		}
		t.Apply(f)
	}
	return t, nil
}

// Wait returns when a run of this session has ended, and its lease is free or has passed to the run that took up the queue
// ([Session.Next]). Its error means that the record could not be kept; how the run ended is in the record.
func (s *Session) Wait(ctx context.Context, id string) error {
	s.mu.Lock()
	r := s.runs[id]
	s.mu.Unlock()
	if r == nil {
		return ErrNoRun
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop asks a run to end, or the one that is under way after it if it has passed on to the queue: the one who stops may not
// have heard of that yet. The run ends as cancelled with every outcome recorded. Wait tells when.
func (s *Session) Stop(id string) error {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	for r != nil && r.next != nil {
		r = s.runs[r.next.Run]
	}
	if r == nil || r.closing {
		return ErrNoRun
	}
	select {
	case <-r.done:
		return ErrNoRun
	default:
		r.stopped = true
		r.cancel()
		return nil
	}
}

// Answer answers an open question. The first answer counts; one that was not offered does not, and is an *[OptionError].
// Only the runtime can say that nobody is there.
func (s *Session) Answer(id string, reply tool.Reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, open := s.questions[id]
	if !open {
		return ErrAnswered
	}
	if !slices.Contains(q.options, reply.Choice) && (reply.Choice != event.AnswerNone || reply.By != "runtime") {
		return &OptionError{reply.Choice, q.options}
	}
	delete(s.questions, id)
	q.reply <- reply // buffered: the one who asked takes it or is gone
	return nil
}

// Close stops all runs, awaits them until ctx ends, and records the end of the session. Nothing is accepted afterwards.
func (s *Session) Close(ctx context.Context) error {
	s.queueing.Lock() // so that no run follows another one unseen
	s.mu.Lock()
	s.closed = true
	runs := slices.Collect(maps.Values(s.runs))
	announced := s.announced
	s.mu.Unlock()
	s.queueing.Unlock()
	for _, r := range runs {
		r.cancel()
	}
	for _, r := range runs {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !announced {
		return nil
	}
	_, err := s.o.Store.Append(ctx, event.Batch{Scope: event.Scope{Session: s.id}, Facts: []event.Draft{{Subject: s.id, Data: event.SessionEnded{Reason: "closed"}}}})
	return err
}
