package event

import "slices"

// Kind names what a fact says.
type Kind string

// Kinds of facts. The comment of each payload struct says when it is written.
const (
	KindSessionStarted   Kind = "session.started"
	KindSessionEnded     Kind = "session.ended"
	KindTaskCreated      Kind = "task.created"
	KindTaskChanged      Kind = "task.changed"
	KindTaskErased       Kind = "task.erased"
	KindHeadMoved        Kind = "head.moved"
	KindBranchCreated    Kind = "branch.created"
	KindRunAccepted      Kind = "run.accepted"
	KindRunStarted       Kind = "run.started"
	KindRunCompleted     Kind = "run.completed"
	KindRunFailed        Kind = "run.failed"
	KindRunCancelled     Kind = "run.cancelled"
	KindRunInterrupted   Kind = "run.interrupted"
	KindContextHead      Kind = "context.head"
	KindContextPacked    Kind = "context.packed"
	KindContextTaken     Kind = "context.taken"
	KindMessageAdded     Kind = "message.added"
	KindPicturesLeft     Kind = "pictures.left"
	KindCallStarted      Kind = "call.started"
	KindCallCompleted    Kind = "call.completed"
	KindCallFailed       Kind = "call.failed"
	KindToolDecided      Kind = "tool.decided"
	KindToolStarted      Kind = "tool.started"
	KindToolCompleted    Kind = "tool.completed"
	KindQuestionAsked    Kind = "question.asked"
	KindQuestionAnswered Kind = "question.answered"
	KindGranted          Kind = "permission.granted"
	KindRevoked          Kind = "permission.revoked"
	KindTrusted          Kind = "workspace.trusted"
	KindFileChanged      Kind = "file.changed"
	KindCheckpointTaken  Kind = "checkpoint.taken"
	KindCheckpointClosed Kind = "checkpoint.closed"
	KindUndoStarted      Kind = "undo.started"
	KindUndoCompleted    Kind = "undo.completed"
	KindQueueAdded       Kind = "queue.added"
	KindQueueChanged     Kind = "queue.changed"
	KindPlanChanged      Kind = "plan.changed"
)

// Payload is what a fact says: one of the structs of this package, [Unknown] or [Erased].
type Payload interface {
	// Kind is the kind that the payload is stored under.
	Kind() Kind
	sealed()
}

// Node tells whether facts of this kind are nodes of a thread: they have a parent, and the task's head moves to them.
func (k Kind) Node() bool {
	switch k {
	case KindContextHead, KindContextTaken, KindMessageAdded, KindToolCompleted, KindPicturesLeft:
		return true
	}
	return false
}

// Ends tells whether a fact of this kind ends its run.
func (k Kind) Ends() bool {
	switch k {
	case KindRunCompleted, KindRunFailed, KindRunCancelled, KindRunInterrupted:
		return true
	}
	return false
}

// Barrier tells whether p must be on the disk, through a power cut too, before what follows it may happen.
func Barrier(p Payload) bool {
	switch p := p.(type) {
	case RunAccepted, UndoStarted:
		return true
	case ToolStarted:
		return !p.ReadOnly
	}
	return false
}

// Kinds lists every kind that this version writes, sorted.
func Kinds() []Kind {
	out := make([]Kind, 0, len(decoders))
	for k := range decoders {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Version is the payload version that this program writes for a kind. All are at their first.
func (k Kind) Version() int { return 1 }
