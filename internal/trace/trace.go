// Package trace is the door through which front ends read.
//
// A [Reader] gives facts in their public form ([Event]), tasks, calls and captured bodies. All of it is what the record
// holds, with known secrets masked when it was written; nothing is computed anew, guessed or re-run, and what was not
// reported stays unknown. The public form is the one of stream-json; the comment of [Event] is its contract.
//
// A Reader takes no lease and changes nothing. It may be used by several goroutines and while other processes write.
package trace

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// Reader reads the record of a workspace.
type Reader struct{ s *store.Store }

// New makes a reader.
func New(s *store.Store) *Reader { return &Reader{s} }

// Event is the public form of a fact: what stream-json, and later the workbench and exports, give out. Fields are added,
// never renamed.
type Event struct {
	Seq     int64           `json:"seq"`               // its number in the record of the workspace
	Prev    int64           `json:"prev"`              // the seq of the event before it in this stream, 0 for the first; another one: some were lost
	Time    time.Time       `json:"time"`              // when it was committed, in UTC
	Kind    event.Kind      `json:"kind"`              // what happened; says what data holds
	V       int             `json:"v"`                 // the version of the kind's data; fields are only added
	Session string          `json:"session,omitempty"` // the run of the program
	Task    string          `json:"task,omitempty"`    // the line of work, with all its turns
	Turn    string          `json:"turn,omitempty"`    // the input up to its end; has the letters of its run
	Run     string          `json:"run,omitempty"`     // the execution; one kind that ends a run is its last
	Step    int             `json:"step,omitempty"`    // the model's answer and its tool calls, from 1; absent: of no step
	Subject string          `json:"subject,omitempty"` // the id of what it is about: a call, tool call, message, question, run, task, session
	Data    json.RawMessage `json:"data"`              // the payload, below; null: it was erased with its task
	// Payload is Data for readers in Go.
	Payload event.Payload `json:"-"`
}

func public(f event.Fact, prev int64) (Event, error) {
	data, err := event.Encode(f.Data, nil, nil)
	return Event{
		Seq: int64(f.Seq), Prev: prev, Time: f.Time.UTC(), Kind: f.Kind, V: f.V, Session: f.Scope.Session, Task: f.Scope.Task,
		Turn: f.Scope.Turn, Run: f.Scope.Run, Step: f.Scope.Step, Subject: f.Subject, Data: data, Payload: f.Data,
	}, err
}

// Run yields the events of one run from its run.accepted on, up to the one that ends it, waiting for them if need be.
// Prev chains them. Events of other runs that recovery ended just before (run.interrupted) come first, outside the chain,
// with Prev -1.
func (r *Reader) Run(ctx context.Context, run string, after event.Seq) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		prev := int64(0)
		for f, err := range r.s.Follow(ctx, after) {
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case f.Scope.Run != run && f.Kind != event.KindRunInterrupted,
				f.Scope.Run == run && prev == 0 && f.Kind != event.KindRunAccepted:
				continue
			}
			at := prev
			if f.Scope.Run != run {
				at = -1
			}
			e, err := public(f, at)
			if !yield(e, err) || err != nil {
				return
			}
			if f.Scope.Run == run {
				prev = e.Seq
				if f.Kind.Ends() {
					return
				}
			}
		}
	}
}

// Events yields what is recorded of a task now, in order.
func (r *Reader) Events(ctx context.Context, task string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		prev := int64(0)
		for f, err := range r.s.Read(ctx, event.Path{Task: task, Facts: true}) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			e, err := public(f, prev)
			if !yield(e, err) || err != nil {
				return
			}
			prev = e.Seq
		}
	}
}
