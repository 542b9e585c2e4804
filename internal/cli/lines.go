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
	v.lines.setAside()
	flushInput(v.p.In)
	for _, line := range strings.Split(strings.TrimRight(q.Show, "\n"), "\n") {
		fmt.Fprintf(v.p.Err, "  │ %s\n", visible(line))
	}
	fmt.Fprintf(v.p.Err, "%s ", v.p.say.Say("question.ask", q.Name))
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
		status, err := p.run(ctx, a, in, &askingView{view: v, p: p, session: a.Session, lines: typed, open: map[string]func(){}})
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
