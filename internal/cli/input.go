package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/tool"
	"overt/internal/trace"
)

// line is one line of --input stream-json.
type line struct {
	Type     string `json:"type"`               // input, steer, stop, decision
	Text     string `json:"text,omitempty"`     // input, steer
	Question string `json:"question,omitempty"` // decision: the subject of question.asked
	Choice   string `json:"choice,omitempty"`   // decision: one of the question's options
}

// readLine reads a line of the input. What is not understood is an error: guessing could run something.
func readLine(data []byte) (l line, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return l, errors.New("not an object of --input stream-json: a line is one JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("not an object of --input stream-json: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return l, errors.New("more than one object in a line")
	}
	switch {
	case !slices.Contains([]string{"input", "steer", "stop", "decision"}, l.Type):
		err = fmt.Errorf("type is %q; it must be input, steer, stop or decision", l.Type)
	case (l.Type == "input" || l.Type == "steer") && strings.TrimSpace(l.Text) == "":
		err = fmt.Errorf("%s needs a text", l.Type)
	case l.Type == "decision" && (l.Question == "" || l.Choice == ""):
		err = errors.New("decision needs question and choice")
	}
	return l, err
}

// conversation is a task whose inputs, and answers to questions, come as lines of JSON while it runs.
type conversation struct {
	p *program
	a *app.App
	// Of the one who reads: the input of the next line, and the run that was started last.
	in  session.Input
	run string
	// Of the one who shows: how many inputs that were not sent are told.
	held int

	mu     sync.Mutex
	open   map[string]bool // questions
	ended  bool            // no line will come any more
	status int             // worst so far
}

// converse runs what comes on standard input, until it has ended and nothing is left to do. An input from the command
// line comes first. An interrupt while nothing runs leaves.
func (p *program) converse(ctx context.Context, a *app.App, conf *config.Config, in session.Input) (int, error) {
	c := &conversation{p: p, a: a, in: in, open: map[string]bool{}}
	if in.Task != "" {
		var err error
		if c.held, err = a.Session.Waiting(ctx, in.Task); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := p.Interrupts(ctx)
	started := make(chan session.Receipt)
	failed := make(chan error, 1)
	go func() {
		defer close(started)
		if err := c.read(ctx, in.Text, started); err != nil {
			failed <- err
		}
	}()
	for {
		select {
		case r, ok := <-started:
			if ok {
				if err := c.show(ctx, conf, r); err != nil {
					return 0, err
				}
				for len(interrupts) > 0 {
					<-interrupts // it was for the run
				}
				continue
			}
		case <-interrupts:
			return statusInterrupted, nil
		}
		select {
		case err := <-failed:
			return 0, p.view(conf.Output, a.Trace).refused(p.explain(err), err)
		default:
			return c.status, nil
		}
	}
}

// show shows a run, and those that take up the queue after it.
func (c *conversation) show(ctx context.Context, conf *config.Config, r session.Receipt) error {
	for next, ok := r, true; ok; next, ok = c.a.Session.Next(next.Run) {
		w := c.p.watch(ctx, c.a, &answeringView{c.p.view(conf.Output, c.a.Trace), c})
		status, err := w.follow(next)
		w.end()
		if err != nil {
			return err
		}
		c.worst(status)
	}
	n, err := c.a.Session.Waiting(ctx, r.Task)
	if n > c.held { // those of before were told before
		fmt.Fprintf(c.p.Err, "overt: %s\n", c.p.say.Say("input.held", n-c.held))
	}
	c.held = max(c.held, n)
	return err
}

// read acts on the lines. A run that it starts goes to started; an input that can't be taken ends it with an error.
func (c *conversation) read(ctx context.Context, first string, started chan<- session.Receipt) error {
	defer c.end()
	submit := func(text, mode string) error {
		c.in.Text, c.in.Mode = text, mode
		r, err := c.a.Session.Submit(ctx, c.in)
		if err != nil {
			return err
		}
		c.in.Task, c.in.Images = r.Task, nil
		if r.Queue == "" {
			c.run = r.Run
			select {
			case started <- r:
			case <-ctx.Done():
			}
		}
		return nil
	}
	if first != "" {
		if err := submit(first, session.ModeStart); err != nil {
			return err
		}
	}
	s := bufio.NewScanner(c.p.In)
	s.Buffer(nil, maxInput)
	n := 0
	for s.Scan() {
		n++
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		c.p.checkText(s.Text())
		l, err := readLine(s.Bytes())
		if err == nil {
			switch l.Type {
			case "input":
				if err := submit(l.Text, session.ModeQueue); err != nil {
					return err
				}
			case "steer":
				if err := submit(l.Text, session.ModeSteer); err != nil {
					return err
				}
			case "stop":
				err = c.a.Session.Stop(c.run)
			case "decision":
				err = c.a.Session.Answer(l.Question, tool.Reply{Choice: l.Choice, By: "person"})
			}
		}
		if err != nil {
			fmt.Fprintf(c.p.Err, "overt: %s\n", visible(c.p.say.Say("input.line", n, err)))
			if !errors.Is(err, session.ErrNoRun) && !errors.Is(err, session.ErrAnswered) { // these two may just be late
				c.worst(statusUsage)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s", c.p.say.Say("task.input.read", err))
	}
	return nil
}

// worst keeps the status that counts among several.
func (c *conversation) worst(status int) {
	order := []int{statusInterrupted, statusConfig, statusUsage, statusLimit, statusFailed, statusDenied, 0}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Index(order, status) < slices.Index(order, c.status) {
		c.status = status
	}
}

// end notes that no line will come: nobody is left to answer what is asked.
func (c *conversation) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for id := range c.open {
		c.a.Session.Answer(id, tool.Reply{Choice: event.AnswerNone, By: "runtime"})
	}
}

// answeringView answers for a person who has left.
type answeringView struct {
	view
	c *conversation
}

func (v *answeringView) event(e trace.Event) error {
	v.c.mu.Lock()
	switch e.Payload.(type) {
	case event.QuestionAsked:
		if v.c.ended {
			v.c.a.Session.Answer(e.Subject, tool.Reply{Choice: event.AnswerNone, By: "runtime"})
		} else {
			v.c.open[e.Subject] = true
		}
	case event.QuestionAnswered:
		delete(v.c.open, e.Subject)
	}
	v.c.mu.Unlock()
	return v.view.event(e)
}
