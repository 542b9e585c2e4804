package cli

import (
	"strings"

	"overt/internal/event"
	"overt/internal/trace"
)

// story is an event of a task in a line, or "" for one that tells a person nothing by itself. The caller makes it fit to
// be shown.
func (p *program) story(e trace.Event) string {
	switch d := e.Payload.(type) {
	case event.MessageAdded:
		if text := strings.TrimSpace(messageText(d)); text != "" {
			return p.say.Say("story.message", d.Origin, indent(text))
		}
	case event.ToolDecided:
		return p.say.Say("story.tool", p.toolTitle(d), d.Verdict)
	case event.QuestionAnswered:
		return p.say.Say("story.answer", strings.TrimSpace(d.Choice+" "+d.Rule))
	case event.ToolCompleted:
		return p.say.Say("story.outcome", d.Name, d.Status)
	case event.FileChanged:
		if d.By == "outside" {
			return p.say.Say("story.change.outside", d.Op, d.Path)
		}
		return p.say.Say("story.change", d.Op, d.Path)
	case event.CheckpointClosed:
		list := fileChanges(d)
		if len(list) == 0 {
			return ""
		}
		more := len(list) - 1 + d.More
		if more == 0 {
			return p.say.Say("story.change", list[0].Op, list[0].Path)
		}
		return p.say.Say("story.changes", list[0].Op, list[0].Path, more)
	case event.UndoCompleted:
		return p.say.Say("story.undo", d.Restored, d.Deleted, d.Left)
	case event.CallFailed:
		return p.say.Say("story.call", d.Message)
	case event.RunCompleted:
		return p.say.Say("story.completed", p.plural("run.steps", d.Steps), p.usage(d.Usage))
	case event.RunFailed:
		return p.say.Say("story.failed", d.Detail)
	case event.RunCancelled:
		return p.say.Say("run.cancelled")
	case event.TaskCreated:
		if d.Parent != "" {
			return p.say.Say("story.forked", d.Parent, d.From)
		}
	case event.TaskChanged:
		switch {
		case d.State == "":
			return p.say.Say("story.renamed", d.Title)
		case d.Reason == "":
			return p.say.Say("story.state", d.State)
		}
		return p.say.Say("story.state.reason", d.State, indent(d.Reason))
	case event.RunInterrupted:
		return p.say.Say("story.interrupted", d.Reason)
	}
	return ""
}

// indent keeps the lines of a text below its first one.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }
