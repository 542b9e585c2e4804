package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/tool"
	"overt/internal/trace"
)

// typed is the person's lines, in order. It is closed at the end of the input.
type typed struct {
	c     chan string
	ahead []string // typed before there was a question, so not an answer to it
}

// readLines reads standard input line by line on a goroutine of its own, which ends with the input.
func (p *program) readLines(ctx context.Context) *typed {
	t := &typed{c: make(chan string)}
	go func() {
		defer close(t.c)
		s := bufio.NewScanner(p.In)
		s.Buffer(nil, maxInput)
		for s.Scan() {
			select {
			case t.c <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return t
}

// setAside keeps what was typed before a question from answering it.
func (t *typed) setAside() {
	for {
		select {
		case line, ok := <-t.c:
			if !ok {
				return
			}
			t.ahead = append(t.ahead, line)
		default:
			return
		}
	}
}

// askingView puts questions to the person at the terminal.
type askingView struct {
	view
	p       *program
	session *session.Session
	lines   *typed
}

func (v *askingView) event(e trace.Event) error {
	if err := v.view.event(e); err != nil {
		return err
	}
	if q, ok := e.Payload.(event.QuestionAsked); ok {
		go v.ask(e.Subject, q) // the run goes on when it is answered, or stopped meanwhile
	}
	return nil
}

// ask asks until there is a clear answer. An empty line is none; the end of the input is no.
func (v *askingView) ask(id string, q event.QuestionAsked) {
	v.lines.setAside()
	flushInput(v.p.In)
	for _, line := range strings.Split(strings.TrimRight(q.Show, "\n"), "\n") {
		fmt.Fprintf(v.p.Err, "  │ %s\n", visible(line))
	}
	fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say("question.ask", q.Name))
	for {
		line, ok := <-v.lines.c
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
		if choice != "" {
			v.session.Answer(id, tool.Reply{Choice: choice, By: "person"})
			return
		}
		fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say("question.again"))
	}
}

// lines is the plain prompt: one task, one input a line, until the input ends.
func (p *program) lines(ctx context.Context, a *app.App, conf *config.Config, in session.Input) error {
	fmt.Fprintln(p.Err, p.say.Say("prompt.banner", p.Version, visible(a.Model), conf.Permission.Value))
	typed := p.readLines(ctx)
	last := 0
	for {
		fmt.Fprint(p.Err, "> ")
		text, ok := p.nextLine(ctx, typed)
		if !ok {
			fmt.Fprintln(p.Err)
			return exitStatus(last, nil)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		in.Text = text
		v := &textView{p: p, record: a.Trace, tools: map[string]*toolLine{}}
		status, err := p.run(ctx, a, in, &askingView{view: v, p: p, session: a.Session, lines: typed})
		if err != nil {
			return err
		}
		last = status
		if v.task != "" {
			in.Task = v.task
		}
	}
}

// nextLine waits for a line; an interrupt meanwhile leaves.
func (p *program) nextLine(ctx context.Context, t *typed) (string, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		return line, true
	}
	select {
	case line, ok := <-t.c:
		return line, ok
	case <-p.Interrupts(ctx):
		return "", false
	}
}
