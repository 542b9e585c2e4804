package cli

import (
	"context"
	"fmt"
	"iter"

	"overt/internal/app"
	"overt/internal/event"
	"overt/internal/trace"
)

// unsent gives the texts of the inputs of a task that came while a run was under way and never got to the model, the oldest first.
func unsent(events iter.Seq2[trace.Event, error]) ([]string, error) {
	var order []string
	texts := map[string]string{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch d := e.Payload.(type) {
		case event.QueueAdded:
			order = append(order, e.Subject)
			texts[e.Subject] = d.Text
		case event.QueueChanged:
			if d.State == event.QueueRemoved {
				delete(texts, e.Subject)
			}
		case event.MessageAdded:
			delete(texts, d.Queue)
		}
	}
	var out []string
	for _, id := range order {
		if text, ok := texts[id]; ok {
			out = append(out, text)
		}
	}
	return out, nil
}

// showUnsent shows such inputs of a task: they wait while it runs, else a person has to say them again.
func (p *program) showUnsent(t trace.Task, list []string) {
	code := "task.unsent"
	if status := text(t.LastRun); status == "running" || status == "accepted" {
		code = "task.waits"
	}
	for _, input := range list {
		fmt.Fprintln(p.Out, "  "+visible(p.say.Say(code, indent(input))))
	}
	if len(list) > 0 && code == "task.unsent" {
		fmt.Fprintln(p.Out, "  "+p.say.Say("task.unsent.hint", t.ID))
	}
}

// sayUnsent tells who goes on with a task of such inputs of before.
func (p *program) sayUnsent(ctx context.Context, a *app.App, task string) error {
	if n, err := a.Session.Waiting(ctx, task); err != nil || n == 0 {
		return err
	}
	list, err := unsent(a.Trace.Events(ctx, task))
	for _, text := range list {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say("task.unsent", indent(text))))
	}
	if len(list) > 0 {
		fmt.Fprintf(p.Err, "  %s\n", p.say.Say("task.unsent.next"))
	}
	return err
}
