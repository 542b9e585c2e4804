package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"

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

	mu          sync.Mutex
	open        string // the question that is asked
	end         func() // ends the asking, and returns when it has ended
	interrupted bool   // the last answer was an interrupt
}

func (v *askingView) event(e trace.Event) error {
	if err := v.view.event(e); err != nil {
		return err
	}
	switch q := e.Payload.(type) {
	case event.QuestionAsked:
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		v.mu.Lock()
		v.open, v.end = e.Subject, func() { cancel(); <-done }
		v.mu.Unlock()
		go func() { // the run goes on when it is answered, or stopped meanwhile
			defer close(done)
			v.ask(ctx, e.Subject, q)
		}()
	case event.QuestionAnswered:
		v.mu.Lock()
		end := v.end
		v.open, v.end = "", nil
		v.mu.Unlock()
		if end != nil {
			end()
		}
	}
	return nil
}

// refuse takes an interrupt as no to the question that is open. It is false if there is none, and if the answer before
// was an interrupt too: then it is meant for the turn.
func (v *askingView) refuse() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == "" || v.interrupted || v.session.Answer(v.open, tool.Reply{Choice: event.AnswerNo, By: "person"}) != nil {
		return false
	}
	v.interrupted = true
	fmt.Fprintf(v.p.Err, "\n  %s\n", v.p.say.Say("question.refused"))
	return true
}

// maxAsked is how many lines of a diff are shown with a question; more on demand. A command is shown whole: what nobody
// has seen must not run.
const maxAsked = 40

// ask asks until there is a clear answer, or until the question is void: what is typed then is no answer to it. An empty
// line is no answer. After the end of the input nobody can be asked.
func (v *askingView) ask(ctx context.Context, id string, q event.QuestionAsked) {
	flushInput(v.p.In)
	v.lines.setAside()
	show := beyond(apart(q.Show, q.Dir), apart(q.Target, q.Dir))
	first := show
	if q.Name != "run_command" {
		first = show[:min(len(show), maxAsked)]
	}
	cut := len(first) < len(show)
	v.about(q, first, len(show)-len(first))
	options := v.options(q.Options, cut)
	question := "question.allow"
	if q.Name == "run_command" {
		question = "question.command"
	}
	fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say(question, options))
	for {
		var line string
		var ok bool
		select {
		case <-ctx.Done():
			return
		case line, ok = <-v.lines.c:
		}
		if !ok {
			v.session.Answer(id, tool.Reply{Choice: event.AnswerNone, By: "runtime"})
			return
		}
		if ctx.Err() != nil {
			v.lines.ahead = append(v.lines.ahead, line)
			return
		}
		choice := meantAnswer(line)
		if v.lines.pasted() { // nobody has read the question and typed this; it is no next task either
			choice = ""
		}
		switch {
		case choice == all && cut:
			v.shows(q, show)
		case slices.Contains(q.Options, choice):
			v.mu.Lock()
			v.interrupted = false
			v.mu.Unlock()
			v.session.Answer(id, tool.Reply{Choice: choice, By: "person"})
			return
		}
		fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say("question.again", options))
	}
}
