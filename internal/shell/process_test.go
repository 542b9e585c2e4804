package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

// group starts a process group whose leader does what the script says.
func group(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd
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

func TestEndGroup(t *testing.T) {
	cmd := group(t, "sleep 60 & echo $! >pid; exec sleep 60")
	id := cmd.Process.Pid
	ticks := startOf(t, id)
	if shell.EndGroup(id, ticks+1) || shell.EndGroup(id, 0) {
		t.Fatal("ended a group that is another one")
	}
	if !alive(id) {
		t.Fatal("the group is gone")
	}
	child := waitPid(t, filepath.Join(cmd.Dir, "pid"))
	if !shell.EndGroup(id, ticks) {
		t.Error("did not end the group")
	}
	_ = cmd.Wait()
	waitGone(t, child)
	if shell.EndGroup(id, ticks) {
		t.Error("ended a group that was gone")
	}
}

func TestEndGroupWithoutLeader(t *testing.T) {
	cmd := group(t, "sleep 60 & echo $! >pid")
	id := cmd.Process.Pid
	ticks := startOf(t, id)
	_ = cmd.Wait() // the leader has ended, its child has not
	child := readPid(t, filepath.Join(cmd.Dir, "pid"))
	if !shell.EndGroup(id, ticks) {
		t.Error("did not end what was left")
	}
	waitGone(t, child)
}

// TestEndGroupSparesDaemons: a daemon's group lacks its leader too, but it has a session of its own.
func TestEndGroupSparesDaemons(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 60 & echo $! >pid")
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := cmd.Process.Pid
	ticks := startOf(t, id)
	_ = cmd.Wait()
	child := readPid(t, filepath.Join(cmd.Dir, "pid"))
	defer syscall.Kill(child, syscall.SIGKILL)
	if shell.EndGroup(id, ticks) || !alive(child) {
		t.Error("ended a daemon")
	}
}

func TestGroupOfHeld(t *testing.T) {
	h := start(t, shell.Options{Command: "sleep 60"})
	id, ticks := h.Group()
	if want := startOf(t, id); ticks != want {
		t.Errorf("start %d, want %d", ticks, want)
	}
	if pgid, err := syscall.Getpgid(id); err != nil || pgid != id {
		t.Errorf("group %d, %v", pgid, err)
	}
	if !shell.EndGroup(id, ticks) {
		t.Error("recovery would not end it")
	}
}
