package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/session"
)

// lines is the plain prompt: one task, one input a line, until the input ends.
func (p *program) lines(ctx context.Context, a *app.App, conf *config.Config, in session.Input) error {
	fmt.Fprintln(p.Err, p.say.Say("prompt.banner", p.Version, visible(a.Model), conf.Permission.Value))
	typed := p.readLines(ctx)
	interrupts := p.Interrupts(ctx) // from now on, so that no moment between two inputs is without it
	last := 0
	for {
		for len(interrupts) > 0 {
			<-interrupts // it was for the run
		}
		fmt.Fprint(p.Err, "> ")
		text, ok := nextLine(typed, interrupts)
		if !ok {
			fmt.Fprintln(p.Err)
			return exitStatus(last, nil)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		p.checkText(text)
		in.Text = text
		v := &textView{p: p, record: a.Trace, tools: map[string]*toolLine{}}
		status, err := p.run(ctx, a, in, &askingView{view: v, p: p, session: a.Session, lines: typed})
		var held *session.HeldError
		if errors.As(err, &held) { // the next line may be luckier
			status, err = p.status(err), nil
		}
		if err != nil {
			return err
		}
		last = status
		if v.task != "" {
			in.Task, in.Images = v.task, nil
		}
	}
}

// nextLine waits for a line; an interrupt meanwhile leaves.
func nextLine(t *typed, interrupts <-chan os.Signal) (string, bool) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		return line, true
	}
	select {
	case line, ok := <-t.c:
		return line, ok
	case <-interrupts:
		return "", false
	}
}
