//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func runs(commands ...string) strictReply {
	r := strictReply{}
	for _, c := range commands {
		r.Calls = append(r.Calls, strictCall{Name: "run_command", Args: map[string]any{"command": c}})
	}
	return r
}

// answersOf are the answers on record, in order: CHOICE, its scope and rule.
func (p *place) answersOf() (out []string) {
	p.t.Helper()
	for _, e := range p.show().Events {
		if e.Kind != "question.answered" {
			continue
		}
		var a struct{ Choice, Scope, Rule string }
		if err := json.Unmarshal(e.Data, &a); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(a.Choice+" "+a.Scope+" "+a.Rule))
	}
	return out
}

// TestTerminalLastingAnswers: always and never hold for the turn, a pattern for the task.
// covers L130
func TestTerminalLastingAnswers(t *testing.T) {
	s := startStrict(t, "",
		runs("touch a"), runs("touch b"), runs("touch 'it'\\''s' && rm b"), runs("rm -f a"), runs("rm -f a"), strictReply{Text: "I conclude."},
		runs("touch c"), strictReply{Text: "Again."},
		runs("touch d"), strictReply{Text: "Unasked."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict")
	x.shows("> ")
	x.types("one\r")
	x.shows("always and never: run_command(touch:*), until the turn ends; pattern: the same, in this task")
	x.shows("never, pattern, workspace or user: ")
	x.types("always\r")
	x.shows("touch b")
	x.shows("never: every use of run_command, until the turn ends") // no rule can name it
	x.shows("run this command? yes, no (Ctrl-C) or never: ")
	if !p.exists("a") || !p.exists("b") {
		t.Error("what was allowed for the turn did not run")
	}
	x.types("a\r") // is not offered
	x.shows("please type yes, no (Ctrl-C) or never: ")
	x.types("n\r")
	x.shows("always and never: exactly this, until the turn ends")
	x.shows("never, pattern, workspace or user: ")
	x.types("never\r")
	x.shows("denied by your answer before: run_command(rm -f a)")
	x.shows("I conclude.")
	if !p.exists("a") {
		t.Error("what was never to run did")
	}
	x.shows("> ")
	x.types("two\r")
	x.shows("never, pattern, workspace or user: ")
	if p.exists("c") {
		t.Error("always went on into the next turn")
	}
	x.types("p\r")
	x.shows("Again.")
	x.shows("> ")
	x.types("three\r")
	x.shows("Unasked.")
	x.types("\x04")
	x.ends(0)
	if !p.exists("c") || !p.exists("d") {
		t.Error("what the pattern allows did not run")
	}
	want := []string{"always turn run_command(touch:*)", "no", "never turn run_command(rm -f a)", "pattern task run_command(touch:*)"}
	if got := p.answersOf(); !slices.Equal(got, want) {
		t.Errorf("answers %q, want %q", got, want)
	}
	if out := p.run("task", "show").want(t, 0).out; !strings.Contains(out, "answered never run_command(rm -f a)") {
		t.Errorf("the task's story lacks an answer: %s", out)
	}
	sent := string(s.exchanges()[4].Request)
	if !strings.Contains(sent, "conclude now, and say what was not done") {
		t.Errorf("the model is not told to conclude: %s", sent)
	}
	s.valid(t)
}

// TestTerminalCtrlC: at a question it is no; again, with no answer between, it stops the turn, and the question is void.
// covers L135
func TestTerminalCtrlC(t *testing.T) {
	s := startStrict(t, "", runs("touch a", "touch b", "touch c", "touch d"), strictReply{Text: "never sent"})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "do it")
	x.shows("never, pattern, workspace or user: ")
	x.types("\x03")
	x.shows("no; Ctrl-C again stops the turn")
	x.shows("touch b")
	x.shows("never, pattern, workspace or user: ")
	x.types("n\r")
	x.shows("touch c")
	x.shows("never, pattern, workspace or user: ")
	x.types("\x03")
	x.shows("no; Ctrl-C again stops the turn")
	x.shows("touch d")
	x.shows("never, pattern, workspace or user: ")
	x.types("\x03")
	x.shows("stopping")
	x.ends(130)
	if got, want := p.answersOf(), []string{"no", "no", "no", "void"}; !slices.Equal(got, want) {
		t.Errorf("answers %q, want %q", got, want)
	}
	if len(s.exchanges()) != 1 || p.exists("a") || p.exists("b") || p.exists("c") || p.exists("d") {
		t.Error("something went on")
	}
}

// TestTerminalTypeAhead: what was typed before there was a question does not answer it.
func TestTerminalTypeAhead(t *testing.T) {
	s := startStrict(t, "", runs("touch a"), strictReply{Text: "You said no.", Repeat: 3})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict")
	x.shows("> ")
	x.types("make it\ralways\ryes\r")
	x.shows("never, pattern, workspace or user: ")
	x.types("\r") // what had been taken for an answer would be by now
	x.shows("please type ")
	x.types("no\r")
	x.shows("You said no.")
	if got := p.answersOf(); !slices.Equal(got, []string{"no"}) || p.exists("a") {
		t.Errorf("answers %q", got)
	}
}

// TestTerminalInputEnds: the end of the input is nobody's answer.
func TestTerminalInputEnds(t *testing.T) {
	s := startStrict(t, "", runs("touch a"), runs("touch b"), strictReply{Text: "Not done."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "do it")
	x.shows("never, pattern, workspace or user: ")
	x.types("\x04")
	x.shows("denied, since nobody can be asked")
	x.shows("to allow it: --allow 'run_command(touch a)'")
	x.shows("denied, since nobody can be asked")
	x.shows("2 denied because nobody could be asked")
	x.ends(4)
	if got := p.answersOf(); !slices.Equal(got, []string{"none", "none"}) || p.exists("a") {
		t.Errorf("answers %q", got)
	}
}

// TestTerminalDiff: the change is shown once, with nothing in it that the terminal would obey; a long one on demand.
// covers L128
func TestTerminalDiff(t *testing.T) {
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	write := func(path, text string) strictReply {
		return strictReply{Calls: []strictCall{{Name: "write_file", Args: map[string]any{"path": path, "content": text}}}}
	}
	for _, colour := range []bool{false, true} {
		t.Run(fmt.Sprintf("colour %t", colour), func(t *testing.T) {
			s := startStrict(t, "",
				write("new.txt", "\x1b[2Jclear\u202etxt\u200b\n"), write("long.txt", long.String()),
				strictReply{Calls: []strictCall{{Name: "read_file", Args: map[string]any{"path": ".env"}}}}, strictReply{Text: "Done."})
			p := newPlace(t)
			p.write(".env", "KEY=1\n")
			p.env = append(p.env, "TERM=xterm")
			if !colour {
				p.env = append(p.env, "NO_COLOR=1")
			}
			x := p.terminal(t, "-u", s.URL, "-m", "strict", "write")
			x.shows("write_file  new.txt")
			x.shows("+^[[2Jclear<U+202E>txt<U+200B>")
			x.shows("always and never: write_file(*), until the turn ends")
			x.shows("allow this? yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
			x.types("yes\r")
			x.shows("long.txt")
			x.shows("+line 37")
			x.shows("… 23 more lines, not shown")
			x.shows("never, pattern, workspace, user or d (show all): ")
			if p.exists("long.txt") {
				t.Error("it was written before it was allowed")
			}
			x.types("d\r")
			x.shows("+line 60")
			x.shows("please type yes, ")
			x.types("yes\r")
			x.shows("read_file  .env")
			from := x.seen
			x.shows("this file may hold credentials")
			x.shows("never: exactly this, until the turn ends")
			x.shows("allow this? yes, no (Ctrl-C) or never: ")
			if again := x.out.String()[from:x.seen]; strings.Contains(again, ".env") {
				t.Errorf("the file is named again: %q", again)
			}
			x.types("y\r")
			x.shows("Done.")
			x.ends(0)
			out := x.out.String()
			if p.read("long.txt") != long.String() || strings.Count(out, "+line 60") != 1 || strings.Count(out, "2Jclear") != 1 {
				t.Errorf("a change is not shown once: %q", out)
			}
			codes := regexp.MustCompile("\x1b\\[(0|3[0-7])m").FindAllString(out, -1)
			plain := regexp.MustCompile("\x1b\\[(0|3[0-7])m").ReplaceAllString(out, "")
			if colour != (len(codes) > 0) || strings.ContainsAny(plain, "\x1b\u202e\u200b") {
				t.Errorf("%d colours; control characters: %q", len(codes), plain)
			}
			s.valid(t)
		})
	}
}

// TestTerminalLongCommand: a command is shown whole, and a short one once.
func TestTerminalLongCommand(t *testing.T) {
	s := startStrict(t, "", runs("echo begin"+strings.Repeat("\n#", 60)+"\ntouch end", "touch short\n"), strictReply{Text: "No."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "do it")
	x.shows("run_command  echo begin …")
	x.shows("│ echo begin")
	x.shows("│ touch end")
	x.shows("run this command? yes, no (Ctrl-C) or never: ")
	x.types("no\r")
	x.shows("touch short")
	from := x.seen
	x.shows("always, never, pattern, workspace or user: ")
	if again := x.out.String()[from:x.seen]; strings.Contains(again, "│") {
		t.Errorf("it is shown again: %q", again)
	}
	x.types("no\r")
	x.ends(0)
}

// TestTerminalFolder: a command is shown as the model wrote it, and the folder that it begins in on a line of its own.
func TestTerminalFolder(t *testing.T) {
	in := func(command string) strictReply {
		return strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": command, "cwd": "src"}}}}
	}
	s := startStrict(t, "", in("cd deep && touch a"), in("touch b\ntouch c"), strictReply{Text: "Done."})
	p := newPlace(t)
	p.make("src/deep")
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "do it")
	x.shows("• run_command  cd deep && touch a\r\n  in the folder src\r\n")
	x.shows("or never: ")
	x.types("yes\r")
	x.shows("• run_command  touch b …\r\n  in the folder src\r\n  │ touch b\r\n  │ touch c\r\n")
	x.shows("or never: ")
	x.types("no\r")
	x.ends(0)
	if strings.Contains(x.out.String(), "cd src") || !p.exists("src/deep/a") {
		t.Errorf("%q", x.out.String())
	}
	if out := p.run("task", "show").want(t, 0).out; !strings.Contains(out, "cd deep && touch a (in the folder src)") {
		t.Errorf("the story says %s", out)
	}
}

// TestTerminalAlwaysScope: an answer that lasts is about one kind of command, and none is offered for what is graded high.
// covers A044
func TestTerminalAlwaysScope(t *testing.T) {
	s := startStrict(t, "", runs("git status && rm -rf ./tmp"), runs("rm -rf ./other"), runs("git status"), runs("touch notes.txt"), runs("rm notes.txt"), strictReply{Text: "Done."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "do it")
	for _, deleted := range []string{"tmp", "other"} {
		x.shows("risk high: ")
		x.shows("deletes " + deleted)
		x.shows("run this command? yes, no (Ctrl-C) or never: ")
		x.types("yes\r")
	}
	x.shows("run_command  git status")
	from := x.seen
	x.shows("touch notes.txt")
	if asked := x.out.String()[from:x.seen]; strings.Contains(asked, "?") {
		t.Errorf("git status asks: %q", asked)
	}
	x.shows("risk medium: it changes files")
	x.shows("always and never: run_command(touch:*), until the turn ends")
	x.shows("always, never, pattern, workspace or user: ")
	x.types("always\r")
	x.shows("rm notes.txt")
	x.shows("always and never: exactly this, until the turn ends")
	x.shows("always, never, pattern, workspace or user: ")
	x.types("no\r")
	x.ends(0)
	if !p.exists("notes.txt") {
		t.Error("what was refused was done")
	}
}
