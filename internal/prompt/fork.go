package prompt

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"overt/internal/event"
)

// refLength is how many closing characters of an id are needed to name a message.
const refLength = 4

// MessageError says that a reference does not name one message of a thread.
type MessageError struct {
	Ref        string
	Candidates []string // ids that fit, if several do
}

// Error implements error.
func (e *MessageError) Error() string {
	if len(e.Candidates) == 0 {
		return fmt.Sprintf("no message of the task is named %q", e.Ref)
	}
	return fmt.Sprintf("%q fits %d messages: %s", e.Ref, len(e.Candidates), strings.Join(e.Candidates, ", "))
}

// After gives the node of a path after which a thread can go on when it has a message whole: with the context that was
// taken for it, or with the results of its calls. ref is the message's number, its id, or at least four closing characters
// of the id that no other has; "" is the last node. The error for one that does not fit is a *[MessageError].
func After(path iter.Seq2[event.Fact, error], ref string) (event.Seq, error) {
	number, err := strconv.ParseInt(ref, 10, 64)
	if err != nil {
		number = 0
	}
	var point, leaf event.Seq
	var fits []string
	at := false // the path is within what belongs to the message
	for f, err := range path {
		if err != nil {
			return 0, err
		}
		leaf = f.Seq
		if _, ok := f.Data.(event.MessageAdded); ok {
			exact := f.Seq == event.Seq(number) || f.Subject == ref
			if at = ref != "" && (exact || len(ref) >= refLength && strings.HasSuffix(f.Subject, ref)); at {
				fits = append(fits, f.Subject)
			}
		}
		if at {
			point = f.Seq
		}
	}
	switch {
	case ref == "" && leaf != 0:
		return leaf, nil
	case len(fits) != 1:
		return 0, &MessageError{ref, fits}
	}
	return point, nil
}

// Branch gives what puts a new task on a node of another one's thread, so that its own goes on from there.
func Branch(task string, from event.Seq) []event.Draft {
	return []event.Draft{
		{Subject: task, Data: event.BranchCreated{Reason: "fork", From: from}},
		{Subject: task, Data: event.HeadMoved{To: from, Reason: "branch"}},
	}
}
