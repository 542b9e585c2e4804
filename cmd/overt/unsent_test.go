package main

import (
	"strings"
	"testing"
)

// TestUnsent: an input that waited when the program was killed never got to the model. Who looks at the task sees it, and who goes on is
// told what to do; that it was held is not said of the run that goes on.
func TestUnsent(t *testing.T) {
	t.Parallel()
	s := startStrict(t, "", strictReply{Text: "The first half", Hang: true}, strictReply{Text: "Going on."}, strictReply{Text: "And on."})
	p := newPlace(t)
	x := &process{Cmd: p.command("-u", s.URL, "-m", "strict", "--input", "stream-json", "--output", "stream-json"), t: t, out: &lockedBuffer{}, err: &lockedBuffer{}}
	x.Stdout, x.Stderr = x.out, x.err
	in, err := x.StdinPipe()
	if err == nil {
		err = x.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Process.Kill(); x.wait() })
	send := func(line string) {
		t.Helper()
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"type": "input", "text": "say something long"}`)
	eventually(t, "text arrives", func() bool { return strings.Contains(x.out.String(), `"text":"The`) })
	send(`{"type": "input", "text": "then count to ten"}`)
	eventually(t, "it waits", func() bool { return strings.Contains(x.out.String(), `"queue.added"`) })
	if r := p.run("task", "show").want(t, 0); !strings.Contains(r.out, "\n  waits for the run to end: then count to ten\n") || strings.Contains(r.out, "not sent") {
		t.Errorf("while it runs, it says %q", r.out)
	}
	x.Process.Kill()
	x.wait()

	const unsent = "not sent, since its run ended first: then count to ten\n"
	task := p.show().Task
	hint := `  say it again if it still holds: overt --resume ` + task + ` "what to do"` + "\n"
	if r := p.run("task", "show").want(t, 0); !strings.Contains(r.out, "  "+unsent+hint) {
		t.Errorf("once it was killed, it says %q", r.out)
	}
	// A task that takes no input is to be opened first; who is refused was not told.
	for state, first := range map[string]string{"pause": "resume", "finish": "reopen"} {
		p.run("task", state, task).want(t, 0)
		if r := p.run("task", "show", task).want(t, 0); !strings.Contains(r.out, "  "+unsent+"  to say it again: overt task "+first+" "+task+", then overt --resume "+task) || strings.Contains(r.out, hint) {
			t.Errorf("after %s, it says %q", state, r.out)
		}
		if r := p.run("-u", s.URL, "-m", "strict", "--resume", task, "go on"); r.status == 0 || strings.Contains(r.err, unsent) {
			t.Errorf("after %s, who goes on is told %q", state, r.err)
		}
		p.run("task", first, task).want(t, 0)
	}
	r := p.run("-u", s.URL, "-m", "strict", "--continue", "go on").want(t, 0)
	if strings.Count(r.err, "overt: "+unsent+"  say it again if it still holds; it is not named again, and stays on record\n") != 1 {
		t.Errorf("who goes on is told %q", r.err)
	}
	if r := p.run("task", "show").want(t, 0); strings.Contains(r.out, unsent) || strings.Contains(r.out, "say it again") {
		t.Errorf("after that, it says %q", r.out)
	}
	c := p.command("-u", s.URL, "-m", "strict", "--continue", "--input", "stream-json", "--output", "stream-json")
	var out, errs strings.Builder
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(`{"type": "input", "text": "on and on"}`+"\n"), &out, &errs
	if err := c.Run(); err != nil {
		t.Fatal(err, errs.String())
	}
	if got := errs.String(); strings.Contains(got, "did not complete") || strings.Contains(got, unsent) {
		t.Errorf("a conversation is told %q", got)
	}
	s.valid(t)
}

// TestGarbledInput: what is not UTF-8 is not changed without a word, however it comes; it is said once.
func TestGarbledInput(t *testing.T) {
	t.Parallel()
	const told = "overt: the input is not all UTF-8; what is not is replaced by U+FFFD\n"
	for name, x := range map[string]struct{ arg, in, form string }{
		"an argument": {arg: "say \xff", form: "text"},
		"a pipe":      {in: "say \xff\xfe", form: "text"},
		"both":        {arg: "say \xff", in: "that: \xfe", form: "text"},
		"lines":       {in: "{\"type\": \"input\", \"text\": \"say \xff\"}\n{\"type\": \"input\", \"text\": \"and \xfe\"}\n", form: "stream-json"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startStrict(t, "", strictReply{Text: "One."}, strictReply{Text: "Two."})
			p := newPlace(t)
			args := []string{"-u", s.URL, "-m", "strict", "--input", x.form, "--output", x.form}
			if x.arg != "" {
				args = append(args, x.arg)
			}
			c := p.command(args...)
			var errs strings.Builder
			c.Stdin, c.Stderr = strings.NewReader(x.in), &errs
			if err := c.Run(); err != nil || strings.Count(errs.String(), told) != 1 {
				t.Errorf("%v, %q", err, errs.String())
			}
		})
	}
}
