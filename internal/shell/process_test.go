package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/shell"
)

// self is this test binary running one test again, in another process.
func self(t *testing.T, test, env string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), env)
	return cmd
}

// alive tells whether a process exists and is no zombie.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// waitGone waits until a process has ended: the kernel takes a moment after the signal.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

// waitPid waits until a process has written its number.
func waitPid(t *testing.T, file string) int {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		if data, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(data), "\n") {
			return readPid(t, file)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was not written", file)
		}
		time.Sleep(time.Millisecond)
	}
}

func readPid(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func startOf(t *testing.T, pid int) uint64 {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Skip("needs /proc")
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	n, err := strconv.ParseUint(strings.Fields(rest)[19], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// held starts a group as a command's is.
func held(t *testing.T, script string) (h *shell.Held, dir string, done <-chan shell.Outcome) {
	t.Helper()
	dir = t.TempDir()
	h = start(t, shell.Options{Command: script, Dir: dir})
	if h.Group().Boot == "" {
		t.Skip("needs /proc")
	}
	out := make(chan shell.Outcome, 1)
	go func() {
		o, _ := h.Go(t.Context(), nil, nil)
		out <- o
	}()
	return h, dir, out
}

func TestEndGroup(t *testing.T) {
	h, dir, done := held(t, "sleep 60 & echo $! >pid; exec sleep 60")
	g := h.Group()
	child := waitPid(t, filepath.Join(dir, "pid"))
	for name, change := range map[string]func(*shell.Group){
		"another start": func(g *shell.Group) { g.Start++; g.Mark = "x" }, "an unknown start": func(g *shell.Group) { g.Start = 0 },
		"another boot": func(g *shell.Group) { g.Boot = "x" }, "an unknown boot": func(g *shell.Group) { g.Boot = "" },
	} {
		other := g
		change(&other)
		if shell.EndGroup(other) || !alive(g.ID) || !alive(child) {
			t.Errorf("ended a group of %s", name)
		}
	}
	if !shell.EndGroup(g) {
		t.Error("did not end the group")
	}
	if o := <-done; o.Signal != "killed" {
		t.Errorf("%+v", o)
	}
	waitGone(t, child)
	if shell.EndGroup(g) {
		t.Error("ended a group that was gone")
	}
}

// orphans starts a group whose leader ends at once and whose child, a script, does not, and gives both. The mark of the
// group is "this".
func orphans(t *testing.T, boot, mark string, attr *syscall.SysProcAttr, script string) (group shell.Group, child int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read x; export OVERT_GROUP=$x; exec /bin/sh -c '/bin/sh child & echo $! >pid'")
	cmd.Dir, cmd.SysProcAttr = t.TempDir(), attr
	if err := os.WriteFile(filepath.Join(cmd.Dir, "child"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group = shell.Group{ID: cmd.Process.Pid, Start: startOf(t, cmd.Process.Pid), Boot: boot, Mark: "this"}
	if _, err := fmt.Fprintln(in, mark); err != nil {
		t.Fatal(err)
	}
	in.Close()
	_ = cmd.Wait()
	child = readPid(t, filepath.Join(cmd.Dir, "pid"))
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	return group, child
}

// TestEndGroupWithoutLeader: what is left counts if it has the mark of this group, and of no other.
func TestEndGroupWithoutLeader(t *testing.T) {
	boot := start(t, shell.Options{Command: "true"}).Group().Boot
	if boot == "" {
		t.Skip("needs /proc")
	}
	own := &syscall.SysProcAttr{Setsid: true}
	for name, mark := range map[string]string{"another command": "that", "a daemon": "other"} {
		attr := own
		if name == "a daemon" {
			attr = &syscall.SysProcAttr{Setpgid: true}
		}
		g, child := orphans(t, boot, mark, attr, "exec sleep 60")
		if shell.EndGroup(g) || !alive(child) {
			t.Errorf("ended what was left of %s", name)
		}
	}
	g, child := orphans(t, boot, "this", own, "exec sleep 60")
	if !shell.EndGroup(g) {
		t.Error("did not end what was left")
	}
	waitGone(t, child)
}

// TestEndGroupAmidExec: a member is known also while it changes programs, when the kernel shows no environment of it.
func TestEndGroupAmidExec(t *testing.T) {
	boot := start(t, shell.Options{Command: "true"}).Group().Boot
	if boot == "" {
		t.Skip("needs /proc")
	}
	for range 20 {
		// What is left runs itself again and again: every fifth look at it meets a change.
		g, child := orphans(t, boot, "this", &syscall.SysProcAttr{Setsid: true}, "exec /bin/sh child")
		if !shell.EndGroup(g) {
			t.Fatal("did not end what was left")
		}
		waitGone(t, child)
	}
}

// environ waits for the environment of a process, which reads as empty while it changes programs.
func environ(t *testing.T, pid int) []string {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		if len(env) > 0 {
			return strings.Split(string(env), "\x00")
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d has no environment", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestMark: whatever a command starts has the mark by which it is known once the leader is gone.
func TestMark(t *testing.T) {
	h, dir, done := held(t, "sleep 60 & echo $! >pid; wait")
	child := waitPid(t, filepath.Join(dir, "pid"))
	env := environ(t, child)
	g := h.Group()
	want := "OVERT_GROUP=" + g.Mark
	if !slices.Contains(env, want) {
		t.Errorf("no %s in %q", want, env)
	}
	shell.EndGroup(g)
	<-done
}

func TestGroupOfHeld(t *testing.T) {
	h := start(t, shell.Options{Command: "sleep 60"})
	g := h.Group()
	if want := startOf(t, g.ID); g.Start != want || g.Boot == "" {
		t.Errorf("%+v, want start %d", g, want)
	}
	if pgid, err := syscall.Getpgid(g.ID); err != nil || pgid != g.ID {
		t.Errorf("group %d, %v", pgid, err)
	}
	if !shell.EndGroup(g) {
		t.Error("recovery would not end it")
	}
}
