//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptCommand: Ctrl-C ends the turn, the command, and all that it had started.
// covers F074 L245
func TestInterruptCommand(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := startStrict(t, "",
				// One child ignores polite requests, one has left the shell behind.
				strictReply{Calls: []strictCall{
					{Name: "run_command", Args: map[string]any{"command": "(trap '' TERM INT; while :; do sleep 300; done) & (sleep 300 &) ; sleep 300 & touch ready; wait"}},
					{Name: "run_command", Args: map[string]any{"command": "touch second"}},
				}},
				strictReply{Text: "You stopped me."})
			p := newPlace(t)
			x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "--output", "stream-json", "run it")
			eventually(t, "the command runs", func() bool { return p.exists("ready") })
			began := time.Now()
			x.Process.Signal(sig)
			r := x.wait().want(t, 130)
			eventually(t, "the group is gone", func() bool { return len(livingIn(p.dir)) == 0 })
			took := time.Since(began)
			t.Logf("%d ms from the signal to the end of all processes", took.Milliseconds())
			if took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			events := eventsOf(t, r.out)
			if last := events[len(events)-1].Kind; last != "run.cancelled" {
				t.Errorf("the stream ends with %s", last)
			}
			if p.exists("second") {
				t.Error("the call after the one that was stopped was run")
			}
			p.run("-u", s.URL, "-m", "strict", "--continue", "what happened?").want(t, 0)
			s.valid(t)
			sound(t, p)
		})
	}
}

// TestInterruptTwice: a second signal does not wait, and the record is sound all the same.
func TestInterruptTwice(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "trap '' TERM; touch ready; while :; do sleep 300; done"}}}},
		strictReply{Text: "You left."})
	p := newPlace(t)
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "run it")
	eventually(t, "the command runs", func() bool { return p.exists("ready") })
	x.Process.Signal(os.Interrupt)
	eventually(t, "the first signal is said", func() bool { return strings.Contains(x.err.String(), "stopping") })
	x.Process.Signal(os.Interrupt)
	x.wait().want(t, 130)
	eventually(t, "what was killed is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	p.run("-u", s.URL, "-m", "strict", "--continue", "go on").want(t, 0)
	eventually(t, "the group is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	s.valid(t)
	sound(t, p)
}

// TestInterruptStream: what had arrived of an answer is kept, as no answer.
func TestInterruptStream(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "The first half of an answer", Hang: true}, strictReply{Text: "Going on."})
	p := newPlace(t)
	x := p.start("-u", s.URL, "-m", "strict", "--output", "stream-json", "say something long")
	eventually(t, "text arrives", func() bool { return strings.Contains(x.out.String(), `"text":"er"`) })
	x.Process.Signal(os.Interrupt)
	r := x.wait().want(t, 130)
	events := eventsOf(t, r.out)
	if last := events[len(events)-1].Kind; last != "run.cancelled" {
		t.Errorf("the stream ends with %s", last)
	}
	kept := events[len(events)-2]
	if kept.Kind != "message.added" || !bytes.Contains(kept.Data, []byte("The first half of an answer")) || !bytes.Contains(kept.Data, []byte(`"cut":"cancelled"`)) {
		t.Errorf("kept is %s %s", kept.Kind, kept.Data)
	}
	eventually(t, "the client has left the server", func() bool { return s.exchanges()[0].Done })
	p.run("-u", s.URL, "-m", "strict", "--continue", "go on").want(t, 0)
	s.valid(t)
	if !bytes.Contains(s.exchanges()[1].Request, []byte("The first half of an answer")) {
		t.Error("the next request does not hold what had arrived")
	}
}

// TestReaderLeaves: the one who reads the output goes away; the record is whole, and what ran is ended.
func TestReaderLeaves(t *testing.T) {
	s := startStrictFunc(t, job)
	p := jobPlace(newPlace(t))
	c := exec.Command("sh", "-c", `overt -u "$0" -m strict --permission full --output stream-json "do all steps" | head -n 1`, s.URL)
	c.Dir, c.Env = p.dir, p.env
	out, err := c.Output()
	if err != nil || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := p.show()
	if n := len(shown.Runs); n != 1 || shown.Runs[0].Status != "cancelled" {
		t.Errorf("runs: %+v", shown.Runs)
	}
	eventually(t, "no command is left", func() bool { return len(livingIn(p.dir)) == 0 })
	r := p.run("-u", s.URL, "-m", "strict", "--permission", "full", "--continue", "go on").want(t, 0)
	if r.out != "All steps are done.\n" || strings.Contains(r.err, "interrupted") {
		t.Errorf("%+v", r)
	}
	s.valid(t)
	sound(t, p)
}
