// Package event is the record: the facts that a task consists of, their stored form, and the [Log] that keeps them.
//
// Begin with [Fact] and [Log]. A fact is appended as a [Draft] inside a [Batch] and comes back numbered, stamped and
// masked; readers fold what came back, never what they passed in. Facts of node kinds form a tree: each names its
// parent, and a thread is the path from a head to the root.
//
// The package imports none of ours, so that a change of model vocabulary or of policy never changes the file format.
// It holds no subscribers and starts no goroutines. [Memory] is a complete Log without files.
//
// # Version rule
//
// The stored form of a payload is its JSON. Fields are added, never renamed or reused for another meaning; a changed
// meaning is a new version of the kind with an upgrade function beside the struct. Unknown kinds are kept and passed
// through as [Unknown]. A golden file of every kind and version is read by a test for ever.
package event

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Seq numbers facts from 1 without gaps within one log. As a parent, 0 is the root.
type Seq int64

// Scope says what a fact belongs to. Step counts from 1; empty fields do not apply.
type Scope struct {
	Session, Task, Turn, Run string
	Step                     int
}

// Fact is one entry of the record.
type Fact struct {
	Seq     Seq
	Time    time.Time // stamped by the log, milliseconds
	Kind    Kind
	V       int // version of the kind's payload
	Scope   Scope
	Parent  Seq    // node kinds only
	Subject string // id of what the fact is about: a call, a tool call, a message, a question; empty if nothing has an id
	Data    Payload
}

// Draft is a fact that is to be appended.
type Draft struct {
	Subject string
	Parent  *Seq // nil: a node goes under the task's head, which then moves to it
	Data    Payload
}

// Batch is appended whole or not at all.
type Batch struct {
	Scope Scope
	// Key makes the batch idempotent: when it is known with the same Fingerprint, Append returns the facts of the
	// first time and has no effect; with another one it returns ErrKeyReused. Empty: no key. A batch without facts only
	// looks its key up: nothing comes back and nothing is kept if it is not known.
	Key, Fingerprint string
	Guard            *Guard // what must hold, else ErrMoved and nothing is written
	If               *If    // what else must hold of the task, else nothing is written
	Facts            []Draft
}

// Guard names the node on which the task must stand.
type Guard struct{ Head Seq }

// If is a condition on the task of a batch.
type If struct {
	States []string // it is in one of these, else a *StateError; empty: in any
	Idle   bool     // no run on it is without its end, else ErrActive
}

// Met checks a condition against a task: its state, "" if it does not exist, and whether a run on it is without its end.
func (i *If) Met(task, state string, open bool) error {
	switch {
	case i == nil:
	case len(i.States) > 0 && !slices.Contains(i.States, state):
		return &StateError{task, state}
	case i.Idle && open:
		return ErrActive
	}
	return nil
}

// StateError says that a task is in a state in which something can't be done. State "": there is no such task.
type StateError struct{ Task, State string }

// Error implements error.
func (e *StateError) Error() string {
	if e.State == "" {
		return fmt.Sprintf("there is no task %s", e.Task)
	}
	return fmt.Sprintf("task %s is %s", e.Task, e.State)
}

// Path selects what [Log.Read] gives of a task: the nodes from the root to Leaf (0: to the task's head), root first; or,
// with Facts, all its facts after the number After, in order.
type Path struct {
	Task  string
	Leaf  Seq
	Facts bool
	After Seq
}

// Log is the record.
//
// Append returns after the commit with what was really stored: numbered, stamped, masked. Read yields facts with their
// texts complete; it may stop with an error as its last element. Both are safe for concurrent use, and batches are
// totally ordered.
type Log interface {
	Append(ctx context.Context, b Batch) ([]Fact, error)
	Read(ctx context.Context, p Path) iter.Seq2[Fact, error]
}

// Delta is text shown while it arrives. It is never stored and may be dropped. After is the last number committed when
// it was made: a reader shows it only once it has applied that fact. From counts the characters of the text before it, as
// shown: whoever masks deltas sets it.
type Delta struct {
	Scope   Scope
	After   Seq
	Subject string // the call or tool call
	Part    string // text, reasoning, output; checkpoint: how many files are being kept before a call
	From    int
	Text    string
}

// Feed takes deltas. Show never blocks, and tells whether anybody was there to see it.
type Feed interface{ Show(Delta) bool }

// Errors of Append that a caller may look for.
var (
	ErrMoved     = errors.New("the task has moved on since this was prepared")
	ErrKeyReused = errors.New("the idempotency key was used for something else")
	ErrActive    = errors.New("a run is under way on the task")
)

// MaskPrefix begins every placeholder that a log puts in place of a known secret: MaskPrefix, a name, "]". Text that
// holds it is not what was there, so it must not be written to files or run.
const MaskPrefix = "[masked:"
