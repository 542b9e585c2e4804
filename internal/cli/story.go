package cli

import (
	"maps"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/trace"
)

// story is an event of a task in a line, or "" for one that tells a person nothing by itself.
func (p *program) story(e trace.Event) string {
	switch d := e.Payload.(type) {
	case event.MessageAdded:
		if text := strings.TrimSpace(messageText(d)); text != "" {
			return d.Origin + ": " + indent(visible(text))
		}
	case event.ToolDecided:
		return "tool " + visible(toolTitle(d)) + " — " + d.Verdict
	case event.ToolCompleted:
		return "     " + d.Name + " — " + d.Status
	case event.FileChanged:
		return "     " + d.Op + " " + visible(d.Path)
	case event.CallFailed:
		return "call failed: " + visible(d.Message)
	case event.RunCompleted:
		return "completed, " + p.plural("run.steps", d.Steps) + ", " + p.usage(d.Usage)
	case event.RunFailed:
		return "failed: " + visible(d.Detail)
	case event.RunCancelled:
		return "stopped"
	case event.RunInterrupted:
		return "interrupted: " + d.Reason
	}
	return ""
}

// indent keeps the lines of a text below its first one.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }

func sortedKeys(m map[string][]string) []string { return slices.Sorted(maps.Keys(m)) }
