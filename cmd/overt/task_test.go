//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rememberTask makes a task that leaves a text in every place of the record, and gives its id.
func rememberTask(t *testing.T, p *place, text string) string {
	t.Helper()
	s := startStrict(t, "",
		strictReply{Text: text, Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "echo " + text + "; seq 1 30000"}}}},
		strictReply{Text: "It said " + text})
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "say "+text).want(t, 0)
	s.valid(t)
	return p.show().Task
}

// recordHolds lists the files of the record that hold a text.
func recordHolds(t *testing.T, p *place, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(filepath.Dir(p.dir), "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKillErase kills the program at instants that are spread over the erasing of a task. The task is then listed, or
// erased; once more ends it in any case, and the other task is as it was.
func TestKillErase(t *testing.T) {
	const gone, stays = "Jw4Hq9ZsXc7VtBn2", "Lr5Pk8MdFy3GaUe6"
	const instants = 12
	place := func(t *testing.T) (p *place, id, other string) {
		p = newPlace(t)
		other = rememberTask(t, p, stays)
		id = rememberTask(t, p, gone)
		return p, id, other
	}
	p, id, _ := place(t)
	began := time.Now()
	p.run("task", "rm", id, "--yes").want(t, 0)
	whole := time.Since(began)
	t.Logf("erasing takes %d ms", whole.Milliseconds())
	for i := range instants {
		at := whole * time.Duration(2*i+1) / (2 * instants)
		t.Run(fmt.Sprintf("%03dms", at.Milliseconds()), func(t *testing.T) {
			t.Parallel()
			p, id, other := place(t)
			shown := p.run("task", "show", other, "--json").want(t, 0).out
			x := p.start("task", "rm", id, "--yes")
			timer := time.AfterFunc(at, func() { x.Process.Kill() })
			defer timer.Stop()
			killed := x.wait().status == -1

			var task struct{ State string }
			if err := json.Unmarshal([]byte(p.run("task", "show", id, "--json").want(t, 0).out), &task); err != nil {
				t.Fatal(err)
			}
			if task.State != "active" && task.State != "erased" || !killed && task.State != "erased" {
				t.Errorf("killed: %v; the task is %s", killed, task.State)
			}
			p.run("task", "rm", id, "--yes").want(t, 0)
			if files := recordHolds(t, p, gone); files != nil {
				t.Errorf("%q still hold a text of the task", files)
			}
			if got := p.run("task", "show", other, "--json").want(t, 0).out; got != shown {
				t.Error("the other task has changed")
			}
			if r := p.run("trace", other, "--call", "2", "--raw", "request").want(t, 0); !strings.Contains(r.out, stays) {
				t.Errorf("its capture: %.200q", r.out)
			}
			sound(t, p)
		})
	}
}

// TestEraseAsks: on a terminal, only yes erases.
func TestEraseAsks(t *testing.T) {
	const text = "Jw4Hq9ZsXc7VtBn2"
	p := newPlace(t)
	id := rememberTask(t, p, text)
	for _, answer := range []string{"\r", "y\r", "no\r", "\x04"} {
		x := p.terminal(t, "task", "rm", id)
		x.shows("yes or no: ")
		x.types(answer)
		x.shows("nothing was erased")
		x.ends(1)
	}
	if p.show().Task != id {
		t.Fatal("it is erased")
	}
	x := p.terminal(t, "task", "rm", id)
	x.shows("(say " + text + ") for good")
	x.shows("yes or no: ")
	x.types("yes\r")
	x.shows(id + " is erased")
	x.ends(0)
	if files := recordHolds(t, p, text); files != nil {
		t.Errorf("%q still hold a text of the task", files)
	}
}

// TestSecretReason: what is said about a task is masked as all else is.
func TestSecretReason(t *testing.T) {
	p := newPlace(t)
	p.env = append(p.env, "DEPLOY_TOKEN=hunter2-hunter2")
	id := rememberTask(t, p, "something")
	p.run("task", "cancel", id, "hunter2-hunter2", "leaked").want(t, 0)
	if r := p.run("task", "show", id).want(t, 0); strings.Contains(r.out, "hunter2") || !strings.Contains(r.out, "cancelled: [masked:DEPLOY_TOKEN] leaked") {
		t.Errorf("%s", r.out)
	}
	if files := recordHolds(t, p, "hunter2-hunter2"); files != nil {
		t.Errorf("%q hold the secret", files)
	}
}
