//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shellCase is a line of testdata/shell/cases.jsonl: calls of one task, and what each must come to.
type shellCase struct {
	ID     string
	Action struct {
		Calls []struct {
			Run         string
			Timeout     int `json:"timeout_s"`
			CancelAfter int `json:"cancel_after_ms"`
		}
	}
	Expected struct {
		Calls []shellWant
		AnyOf []struct {
			Text string `json:"merged_text"`
		} `json:"any_of"`
	}
}

type shellWant struct {
	Exit      *int
	Not       *int    `json:"exit_not"`
	Out       *string `json:"stdout"`
	Contains  string  `json:"stdout_contains"`
	Matches   string  `json:"stdout_matches"`
	Lacks     string  `json:"stdout_lacks"`
	Errors    string  `json:"stderr_contains"`
	TimedOut  bool    `json:"timed_out"`
	Cancelled bool
	Within    int64 `json:"within_ms"`
}

// commandResult is a command's outcome on record.
type commandResult struct {
	Status, Content string
	Meta            struct {
		Exit int
		MS   int64
		Job  string
		Dir  string
	}
	Output *struct{ Bytes int64 }
}

// said splits what the model gets into the line about the command, and its output.
func (r commandResult) said() (line, output string) {
	line, output, _ = strings.Cut(r.Content, "\n")
	return line, output
}

func (p *place) commandResults() (out []commandResult) {
	p.t.Helper()
	for _, e := range p.show().Events {
		if e.Kind == "tool.completed" {
			var r commandResult
			if err := json.Unmarshal(e.Data, &r); err != nil {
				p.t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

func shellCall(command string, timeout int) strictReply {
	args := map[string]any{"command": command}
	if timeout > 0 {
		args["timeout"] = timeout
	}
	return strictReply{Calls: []strictCall{{Name: "run_command", Args: args}}}
}

// TestShellCases runs the cases through the program, each as one task.
func TestShellCases(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("needs bash")
	}
	data, err := os.ReadFile("testdata/shell/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		var c shellCase
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c shellCase) run(t *testing.T) {
	p := newPlace(t)
	var script []strictReply
	cancel := false
	for _, call := range c.Action.Calls {
		script = append(script, shellCall(call.Run, call.Timeout))
		cancel = cancel || call.CancelAfter > 0
	}
	s := startStrict(t, "", append(script, strictReply{Text: "Done."})...)
	args := []string{"-u", s.URL, "-m", "strict", "--permission", "full", "go"}
	if cancel {
		x := p.start(args...)
		eventually(t, "the command runs", func() bool { return len(p.processes("sleep 3207")) > 0 })
		if err := x.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		x.wait().want(t, 130)
		args = append([]string{"--continue"}, args...)
	}
	p.run(args...).want(t, 0)
	results := p.commandResults()
	if len(results) != len(c.Action.Calls) {
		t.Fatalf("%d results of %d calls", len(results), len(c.Action.Calls))
	}
	for _, any := range c.Expected.AnyOf {
		if _, output := results[0].said(); any.Text != "" && output != any.Text {
			t.Errorf("output %q, want %q", output, any.Text)
		}
	}
	for i, want := range c.Expected.Calls {
		want.check(t, c.Action.Calls[i].Run, results[i], p.dir)
	}
}

func (w shellWant) check(t *testing.T, command string, r commandResult, dir string) {
	t.Helper()
	line, output := r.said()
	exit := r.Meta.Exit
	for word, status := range map[string]int{"terminated": 143, "killed": 137} { // a shell would say so
		if strings.HasPrefix(line, "ended by signal: "+word) {
			exit = status
		}
	}
	bad := ""
	switch {
	case w.TimedOut && (r.Status != "timed_out" || !strings.HasPrefix(line, "timed out after ")),
		w.Cancelled && (r.Status != "cancelled" || !strings.HasPrefix(line, "cancelled ")):
		bad = "status"
	case w.Exit != nil && exit != *w.Exit, w.Not != nil && exit == *w.Not:
		bad = "exit status"
	case w.Out != nil && w.Errors == "" && output != strings.ReplaceAll(*w.Out, "<W>", dir),
		!strings.Contains(output, w.Contains), !strings.Contains(output, w.Errors),
		w.Lacks != "" && strings.Contains(output, w.Lacks),
		w.Matches != "" && !regexp.MustCompile(w.Matches).MatchString(output):
		bad = "output"
	case w.Within > 0 && r.Meta.MS > w.Within:
		bad = "time"
	}
	if bad != "" {
		t.Errorf("%s\n%s: %d ms, %s %q", command, bad, r.Meta.MS, r.Status, r.Content)
	}
}

// TestShellOutput: a long output comes with both ends, its size, and can be had whole; a flood stays within the memory of
// the program.
func TestShellOutput(t *testing.T) {
	p := newPlace(t)
	flood, noise := "yes | head -c 1G", "head -c 50M /dev/urandom"
	if raceEnabled { // where all that is written is slow, and memory is not measured
		flood, noise = "yes | head -c 20M", "head -c 5M /dev/urandom"
	}
	replies := []strictReply{shellCall("seq 1 2000000", 0), shellCall(flood, 0), shellCall(noise, 0), {Text: "Done."}}
	pid, peak := make(chan int, 1), make(chan int, 1)
	s := startStrictFunc(t, func(_ strictRequest, n int) (strictReply, bool) {
		if n == len(replies) {
			peak <- peakOf(t, <-pid)
		}
		return replies[n-1], true
	})
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "-q", "go")
	pid <- x.Process.Pid
	x.wait().want(t, 0)
	if kib := <-peak; kib > 100<<10 && !raceEnabled {
		t.Errorf("%d KiB at the peak", kib)
	}
	results := p.commandResults()
	line, output := results[0].said()
	if line != "exit 0" || !strings.HasPrefix(output, "1\n2\n") || !strings.HasSuffix(output, "\n1999999\n2000000\n") || !strings.Contains(output, " of 14888896 characters left out") || len(output) > 12_000 ||
		results[0].Output == nil || results[0].Output.Bytes != 14888896 {
		t.Errorf("%s, %d bytes, %+v", line, len(output), results[0].Output)
	}
	for _, r := range results[1:] {
		if line, output := r.said(); line != "exit 0" || len(output) > 60_000 || !strings.Contains(output, "left out") {
			t.Errorf("%s: %d bytes", line, len(output))
		}
	}
}

// peakOf is the most memory that a process has had, in KiB. What its end would tell is no less than what this process had when
// it began the other one.
func peakOf(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("needs /proc")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Errorf("no peak in %s", status)
	}
	return kib
}

// TestShellReturns: what would wait, or would go on, returns with a clear result.
func TestShellReturns(t *testing.T) {
	p := newPlace(t)
	p.write("f", "x\n")
	type want struct{ command, line string }
	list := []want{
		{"sleep 1000 &", `^exit 0; what it left running is job_1 \(process group \d+\); no output$`},
		{"setsid sh -c 'exec sleep 1001' >/dev/null 2>&1 </dev/null &", `^exit 0; what it left running is job_2 `},
		{"read x", `^exit 1; no output$`},
		{"git init -q && git -c user.name=t -c user.email=t@e.invalid commit --allow-empty", `^exit 1$`},
		{"less f", `^exit 0$`},
		{"top", `^exit 1$`},
		{"sudo -n true", `^exit \d+`},
		{"python3 -i </dev/null", `^exit 0$`},
	}
	if _, err := os.Stat("/usr/bin/less"); err != nil {
		list[4].command = "cat f"
	}
	var script []strictReply
	for _, w := range list {
		script = append(script, shellCall(w.command, 20))
	}
	s := startStrict(t, "", append(script, strictReply{Text: "Done."})...)
	began := time.Now()
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "go").want(t, 0)
	if took := time.Since(began); took > patience {
		t.Errorf("took %s", took)
	}
	for i, r := range p.commandResults() {
		line, _ := r.said()
		if !regexp.MustCompile(list[i].line).MatchString(line) || r.Meta.MS > 10_000 {
			t.Errorf("%s: %d ms, %q", list[i].command, r.Meta.MS, r.Content)
		}
	}
	for _, name := range []string{"sleep 1000", "sleep 1001"} {
		if alive := p.processes(name); len(alive) > 0 {
			t.Errorf("%s goes on after the program: %v", name, alive)
		}
	}
}

// processes are those with the given arguments that run in the place.
func (p *place) processes(args string) (out []string) {
	t := p.t
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("needs /proc")
	}
	for _, e := range list {
		data, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		dir, _ := os.Readlink("/proc/" + e.Name() + "/cwd")
		if err == nil && strings.HasPrefix(dir, p.dir) && strings.ReplaceAll(strings.TrimRight(string(data), "\x00"), "\x00", " ") == args {
			out = append(out, e.Name())
		}
	}
	return out
}

// TestShellGoesOn: a task that goes on in another process finds its folder and is told what is gone; what a killed program
// left running is ended, and that is on record.
func TestShellGoesOn(t *testing.T) {
	p := newPlace(t)
	s := startStrict(t, "", shellCall("mkdir sub; cd sub; x=1; (exec sleep 1002) & :", 0), shellCall("echo here; sleep 1003", 0), shellCall("pwd; echo ${x-unset}", 0), strictReply{Text: "Done."})
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "go")
	eventually(t, "the second command runs", func() bool { return len(p.processes("sleep 1003")) > 0 })
	if err := x.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.wait()
	p.run("--continue", "-u", s.URL, "-m", "strict", "--permission", "full", "go on").want(t, 0)
	eventually(t, "the job is gone", func() bool { return len(p.processes("sleep 1002"))+len(p.processes("sleep 1003")) == 0 })
	results := p.commandResults()
	last := results[len(results)-1]
	if want := "exit 0; in a new shell, since the program was started again: variables and functions of before are gone\n" + p.dir + "/sub\nunset\n"; last.Content != want {
		t.Errorf("%q, want %q", last.Content, want)
	}
	var jobs []string
	for _, e := range p.show().Events {
		if strings.HasPrefix(e.Kind, "job.") {
			jobs = append(jobs, e.Kind+" "+string(e.Data))
		}
	}
	if len(jobs) != 2 || !strings.Contains(jobs[0], "sleep 1002") || !strings.Contains(jobs[1], "with the program") {
		t.Errorf("%q", jobs)
	}
}
