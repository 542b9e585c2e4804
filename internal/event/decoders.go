package event

import (
	"encoding/json"
	"fmt"
)

// decoders maps each kind to the decoder of its payload.
var decoders = map[Kind]func([]byte) (Payload, error){
	KindSessionStarted:   decode[SessionStarted],
	KindSessionEnded:     decode[SessionEnded],
	KindTaskCreated:      decode[TaskCreated],
	KindTaskChanged:      decode[TaskChanged],
	KindTaskErased:       decode[TaskErased],
	KindHeadMoved:        decode[HeadMoved],
	KindBranchCreated:    decode[BranchCreated],
	KindRunAccepted:      decode[RunAccepted],
	KindRunStarted:       decode[RunStarted],
	KindRunCompleted:     decode[RunCompleted],
	KindRunFailed:        decode[RunFailed],
	KindRunCancelled:     decode[RunCancelled],
	KindRunInterrupted:   decode[RunInterrupted],
	KindContextHead:      decode[ContextHead],
	KindContextPacked:    decode[ContextPacked],
	KindContextTaken:     decode[ContextTaken],
	KindMessageAdded:     decode[MessageAdded],
	KindPicturesLeft:     decode[PicturesLeft],
	KindCallStarted:      decode[CallStarted],
	KindCallCompleted:    decode[CallCompleted],
	KindCallFailed:       decode[CallFailed],
	KindToolDecided:      decode[ToolDecided],
	KindToolStarted:      decode[ToolStarted],
	KindToolCompleted:    decode[ToolCompleted],
	KindQuestionAsked:    decode[QuestionAsked],
	KindQuestionAnswered: decode[QuestionAnswered],
	KindGranted:          decode[PermissionGranted],
	KindRevoked:          decode[PermissionRevoked],
	KindTrusted:          decode[WorkspaceTrusted],
	KindFileChanged:      decode[FileChanged],
	KindCheckpointTaken:  decode[CheckpointTaken],
	KindCheckpointClosed: decode[CheckpointClosed],
	KindUndoStarted:      decode[UndoStarted],
	KindUndoCompleted:    decode[UndoCompleted],
	KindQueueAdded:       decode[QueueAdded],
	KindQueueChanged:     decode[QueueChanged],
	KindPlanChanged:      decode[PlanChanged],
	KindJobStarted:       decode[JobStarted],
	KindJobEnded:         decode[JobEnded],
}

func decode[P Payload](data []byte) (Payload, error) {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("payload of %s: %v", p.Kind(), err)
	}
	return p, nil
}

// Kind implements [Payload].
func (SessionStarted) Kind() Kind { return KindSessionStarted }
func (SessionStarted) sealed()    {}

// Kind implements [Payload].
func (SessionEnded) Kind() Kind { return KindSessionEnded }
func (SessionEnded) sealed()    {}

// Kind implements [Payload].
func (TaskCreated) Kind() Kind { return KindTaskCreated }
func (TaskCreated) sealed()    {}

// Kind implements [Payload].
func (TaskChanged) Kind() Kind { return KindTaskChanged }
func (TaskChanged) sealed()    {}

// Kind implements [Payload].
func (TaskErased) Kind() Kind { return KindTaskErased }
func (TaskErased) sealed()    {}

// Kind implements [Payload].
func (HeadMoved) Kind() Kind { return KindHeadMoved }
func (HeadMoved) sealed()    {}

// Kind implements [Payload].
func (BranchCreated) Kind() Kind { return KindBranchCreated }
func (BranchCreated) sealed()    {}

// Kind implements [Payload].
func (RunAccepted) Kind() Kind { return KindRunAccepted }
func (RunAccepted) sealed()    {}

// Kind implements [Payload].
func (RunStarted) Kind() Kind { return KindRunStarted }
func (RunStarted) sealed()    {}

// Kind implements [Payload].
func (RunCompleted) Kind() Kind { return KindRunCompleted }
func (RunCompleted) sealed()    {}

// Kind implements [Payload].
func (RunFailed) Kind() Kind { return KindRunFailed }
func (RunFailed) sealed()    {}

// Kind implements [Payload].
func (RunCancelled) Kind() Kind { return KindRunCancelled }
func (RunCancelled) sealed()    {}

// Kind implements [Payload].
func (RunInterrupted) Kind() Kind { return KindRunInterrupted }
func (RunInterrupted) sealed()    {}

// Kind implements [Payload].
func (ContextHead) Kind() Kind { return KindContextHead }
func (ContextHead) sealed()    {}

// Kind implements [Payload].
func (ContextPacked) Kind() Kind { return KindContextPacked }
func (ContextPacked) sealed()    {}

// Kind implements [Payload].
func (ContextTaken) Kind() Kind { return KindContextTaken }
func (ContextTaken) sealed()    {}

// Kind implements [Payload].
func (MessageAdded) Kind() Kind { return KindMessageAdded }
func (MessageAdded) sealed()    {}

// Kind implements [Payload].
func (PicturesLeft) Kind() Kind { return KindPicturesLeft }
func (PicturesLeft) sealed()    {}

// Kind implements [Payload].
func (CallStarted) Kind() Kind { return KindCallStarted }
func (CallStarted) sealed()    {}

// Kind implements [Payload].
func (CallCompleted) Kind() Kind { return KindCallCompleted }
func (CallCompleted) sealed()    {}

// Kind implements [Payload].
func (CallFailed) Kind() Kind { return KindCallFailed }
func (CallFailed) sealed()    {}

// Kind implements [Payload].
func (ToolDecided) Kind() Kind { return KindToolDecided }
func (ToolDecided) sealed()    {}

// Kind implements [Payload].
func (ToolStarted) Kind() Kind { return KindToolStarted }
func (ToolStarted) sealed()    {}

// Kind implements [Payload].
func (ToolCompleted) Kind() Kind { return KindToolCompleted }
func (ToolCompleted) sealed()    {}

// Kind implements [Payload].
func (QuestionAsked) Kind() Kind { return KindQuestionAsked }
func (QuestionAsked) sealed()    {}

// Kind implements [Payload].
func (QuestionAnswered) Kind() Kind { return KindQuestionAnswered }
func (QuestionAnswered) sealed()    {}

// Kind implements [Payload].
func (PermissionGranted) Kind() Kind { return KindGranted }
func (PermissionGranted) sealed()    {}

// Kind implements [Payload].
func (PermissionRevoked) Kind() Kind { return KindRevoked }
func (PermissionRevoked) sealed()    {}

// Kind implements [Payload].
func (WorkspaceTrusted) Kind() Kind { return KindTrusted }
func (WorkspaceTrusted) sealed()    {}

// Kind implements [Payload].
func (FileChanged) Kind() Kind { return KindFileChanged }
func (FileChanged) sealed()    {}

// Kind implements [Payload].
func (CheckpointTaken) Kind() Kind { return KindCheckpointTaken }
func (CheckpointTaken) sealed()    {}

// Kind implements [Payload].
func (CheckpointClosed) Kind() Kind { return KindCheckpointClosed }
func (CheckpointClosed) sealed()    {}

// Kind implements [Payload].
func (UndoStarted) Kind() Kind { return KindUndoStarted }
func (UndoStarted) sealed()    {}

// Kind implements [Payload].
func (UndoCompleted) Kind() Kind { return KindUndoCompleted }
func (UndoCompleted) sealed()    {}

// Kind implements [Payload].
func (QueueAdded) Kind() Kind { return KindQueueAdded }
func (QueueAdded) sealed()    {}

// Kind implements [Payload].
func (QueueChanged) Kind() Kind { return KindQueueChanged }
func (QueueChanged) sealed()    {}

// Kind implements [Payload].
func (PlanChanged) Kind() Kind { return KindPlanChanged }
func (PlanChanged) sealed()    {}

// Kind implements [Payload].
func (u Unknown) Kind() Kind { return u.K }
func (Unknown) sealed()      {}

// MarshalJSON gives the payload back as it was stored.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// Kind implements [Payload].
func (e Erased) Kind() Kind { return e.K }
func (Erased) sealed()      {}

// MarshalJSON says that nothing is left.
func (Erased) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
