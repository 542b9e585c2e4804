package cli

import (
	"context"
	"fmt"
	"iter"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/trace"
)

// waiting is an input that came while a run was under way.
type waiting struct{ id, text string }

// unsent gives such inputs of a task that never got to the model and that nobody was told of, the oldest first.
func unsent(events iter.Seq2[trace.Event, error]) ([]waiting, error) {
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
	var out []waiting
	for _, id := range order {
		if text, ok := texts[id]; ok {
			out = append(out, waiting{id, text})
		}
	}
	return out, nil
}

// showUnsent shows such inputs of a task: they wait while it runs, else a person has to say them again.
func (p *program) showUnsent(t trace.Task, list []waiting) {
	if len(list) == 0 {
		return
	}
	code := "task.unsent"
	if status := text(t.LastRun); status == "running" || status == "accepted" {
		code = "task.waits"
	}
	for _, w := range list {
		fmt.Fprintln(p.Out, "  "+visible(p.say.Say(code, indent(w.text))))
	}
	if code != "task.unsent" {
		return
	}
	hint := p.say.Say("task.unsent.hint", t.ID)
	switch t.State {
	case event.TaskActive:
	case event.TaskPaused:
		hint = p.say.Say("task.unsent.first", "overt task resume "+t.ID, t.ID)
	default:
		hint = p.say.Say("task.unsent.first", "overt task reopen "+t.ID, t.ID)
	}
	fmt.Fprintln(p.Out, "  "+hint)
}

// sayModel tells who goes on with a task that its model is another one from now on.
func (p *program) sayModel(ctx context.Context, a *app.App, conf *config.Config, task string) error {
	var was event.ContextHead
	for e, err := range a.Trace.Events(ctx, task) {
		if err != nil {
			return err
		}
		if head, ok := e.Payload.(event.ContextHead); ok {
			was = head
		}
	}
	now, before := a.Model, was.Model
	if was.Provider != conf.Provider {
		now, before = conf.Provider+"/"+now, was.Provider+"/"+before
	}
	if was.Model != "" && now != before {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say("task.model", now, before)))
	}
	return nil
}

// sayUnsent tells who goes on with a task of such inputs of before, and gives those that it told of. A task that takes no input tells
// who looks at it.
func (p *program) sayUnsent(ctx context.Context, a *app.App, task string) (told []string, err error) {
	if n, err := a.Session.Waiting(ctx, task); err != nil || n == 0 {
		return nil, err
	}
	if t, err := a.Trace.Find(ctx, task); err != nil || t.State != event.TaskActive {
		return nil, err
	}
	list, err := unsent(a.Trace.Events(ctx, task))
	for _, w := range list {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say("task.unsent", indent(w.text))))
		told = append(told, w.id)
	}
	if len(list) > 0 {
		fmt.Fprintf(p.Err, "  %s\n", p.say.Say("task.unsent.next"))
	}
	return told, err
}
