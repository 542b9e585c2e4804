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
		if text := strings.TrimSpace(shownPictures(d) + messageText(d)); text != "" {
			return p.say.Say("story.message", d.Origin, indent(text))
		}
	case event.ToolDecided:
		return p.say.Say("story.tool", p.toolTitle(d), d.Verdict)
	case event.QuestionAnswered:
		return p.say.Say("story.answer", strings.TrimSpace(d.Choice+" "+d.Rule))
	case event.ToolCompleted:
		return strings.TrimRight(p.say.Say("story.outcome", d.Name, d.Status)+" "+shownPictures(d), " \n")
	case event.PicturesLeft:
		if d.Reason == "" {
			return p.say.Say("story.image.known", d.Count)
		}
		return p.say.Say("story.image", d.Count, d.Reason)
	case event.FileChanged:
		if d.By == "outside" {
			return p.say.Say("story.change.outside", d.Op, d.Path)
		}
		return p.say.Say("story.change", d.Op, d.Path)
	case event.CheckpointClosed:
		back := p.putBack(d)
		for i := range back {
			back[i] = "     " + back[i]
		}
		list := fileChanges(d)
		switch more := len(list) - 1 + d.More; {
		case len(list) == 0:
		case more == 0:
			back = append(back, p.say.Say("story.change", list[0].Op, list[0].Path))
		default:
			back = append(back, p.say.Say("story.changes", list[0].Op, list[0].Path, more))
		}
		return strings.Join(back, "\n")
	case event.UndoCompleted:
		return p.say.Say("story.undo", d.Restored, d.Deleted, d.Left)
	case event.CallFailed:
		return p.say.Say("story.call", d.Message)
	case event.RunCompleted:
		return p.say.Say("story.completed", p.plural("run.steps", d.Steps), p.spent(d.Usage, d.Cost))
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

// putBack says what a confined command had changed that others run or obey, a line each for what is as before and what is not.
func (p *program) putBack(d event.CheckpointClosed) (out []string) {
	if len(d.PutBack) > 0 {
		line := p.say.Say("undo.put_back", strings.Join(d.PutBack, ", "))
		if d.Aside != "" {
			line += p.say.Say("undo.put_back.aside", d.Aside)
		}
		out = append(out, line)
	}
	for _, u := range d.LeftOut {
		if u.What == event.UncoveredPlanted {
			out = append(out, p.say.Say("undo.not_put_back", strings.Join(u.Paths, ", ")))
		}
	}
	return out
}

// indent keeps the lines of a text below its first one.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }
