package cli

import (
	"context"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/tool"
	"overt/internal/trace"
)

// askingView puts questions to the person at the terminal.
type askingView struct {
	view
	p       *program
	session *session.Session
	lines   *typed
	open    map[string]func() // by question: ends the asking, and returns when it has ended
}

func (v *askingView) event(e trace.Event) error {
	if err := v.view.event(e); err != nil {
		return err
	}
	switch q := e.Payload.(type) {
	case event.QuestionAsked:
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		v.open[e.Subject] = func() { cancel(); <-done }
		go func() { // the run goes on when it is answered, or stopped meanwhile
			defer close(done)
			v.ask(ctx, e.Subject, q)
		}()
	case event.QuestionAnswered:
		if end := v.open[e.Subject]; end != nil {
			delete(v.open, e.Subject)
			end()
		}
	}
	return nil
}

// ask asks until there is a clear answer, or until the question is void: what is typed then is no answer to it. An empty
// line is no answer; the end of the input is no.
func (v *askingView) ask(ctx context.Context, id string, q event.QuestionAsked) {
	flushInput(v.p.In)
	v.lines.setAside()
	for _, line := range strings.Split(strings.TrimRight(q.Show, "\n"), "\n") {
		fmt.Fprintf(v.p.Err, "  │ %s\n", exposed(line))
	}
	for _, r := range q.Reasons {
		if code := "reason." + r; v.p.say.Has(code) {
			fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say(code))
		}
	}
	question := v.p.say.Say("question.command")
	if q.Name != "run_command" {
		question = v.p.say.Say("question.ask", q.Name, exposed(q.Target))
	}
	fmt.Fprintf(v.p.Err, "%s ", question)
	for {
		var line string
		var ok bool
		select {
		case <-ctx.Done():
			return
		case line, ok = <-v.lines.c:
		}
		if ctx.Err() != nil && ok {
			v.lines.ahead = append(v.lines.ahead, line)
			return
		}
		choice := ""
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			choice = "yes"
		case "n", "no":
			choice = "no"
		}
		if !ok {
			choice = "no"
		}
		if ok && v.lines.pasted() { // nobody has read the question and typed this; it is no next task either
			choice = ""
		}
		if choice != "" {
			v.session.Answer(id, tool.Reply{Choice: choice, By: "person"})
			return
		}
		fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say("question.again"))
	}
}
