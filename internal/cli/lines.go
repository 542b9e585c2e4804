package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/session"
)

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
		var held *session.HeldError
		if errors.As(err, &held) { // the next line may be luckier
			status, err = p.status(err), nil
		}
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
