//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stream is block 3, as far as there is no terminal: 2 MB of text in deltas of 16 bytes, to a pipe.
func (b *bench) stream() error {
	p, err := b.place(b.fast, "stream")
	if err != nil {
		return err
	}
	const size = 2 << 20
	url := b.server.serve("stream", script{answer: answer(strings.Repeat("all work and no play makes jack a dull boy\n", size/43+1)[:size], 16)})
	runs, err := rounds(max(3, b.rounds/3), func() (usage, error) { return b.floor(p, url) }, func() (usage, error) { return b.overt(p, url) })
	if err != nil {
		return err
	}
	for _, u := range append(runs[0], runs[1]...) {
		if u.Out < size {
			return fmt.Errorf("of the streamed text %d bytes came out", u.Out)
		}
	}
	b.server.take("stream")
	floorWall, floor, _ := medians(runs[0])
	wall, cpu, memory := medians(runs[1])
	b.most("3 stream", "2 MB in 16-byte deltas to a pipe: CPU, to the floor", ratio(cpu, floor), 1.5, "×")
	b.note("3 stream", "… absolute", fmt.Sprintf("%.0f ms, floor %.0f ms; wall %.0f ms, floor %.0f ms", ms(cpu), ms(floor), ms(wall), ms(floorWall)))
	b.note("3 stream", "… peak memory", fmt.Sprintf("%.1f MB", mb(memory)))
	return nil
}

// stop measures how long after Ctrl-C the process group of a running command is gone.
func (b *bench) stop() error {
	p, err := b.place(b.fast, "stop")
	if err != nil {
		return err
	}
	url := b.server.serve("stop", script{
		steps: 1, answer: answer("done", 16),
		command: func(int) string { return "echo $$ > pid.new && mv pid.new pid && sleep 600 & sleep 600; wait" },
	})
	var gone, ended []time.Duration
	for range b.rounds {
		g, e, err := b.stopOnce(p, url)
		if err != nil {
			return err
		}
		gone, ended = append(gone, g), append(ended, e)
	}
	b.most("2 loop", "Ctrl-C until the command's process group is gone", ms(median(gone)), 500, " ms")
	b.note("2 loop", "… until the program has ended", fmt.Sprintf("%.0f ms", ms(median(ended))))
	return nil
}

func (b *bench) stopOnce(p place, url string) (gone, ended time.Duration, err error) {
	mark := filepath.Join(p.work, "pid")
	os.Remove(mark) // there is none at first
	cmd := exec.Command(b.program("overt"), "-u", url, "-m", "m", "--permission", "full", "-q", "go on")
	cmd.Dir, cmd.Env = p.work, b.environ(p)
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer cmd.Process.Kill() // of no effect once it was awaited
	var text []byte
	if !until(func() bool { text, err = os.ReadFile(mark); return err == nil }) {
		return 0, 0, fmt.Errorf("the command did not begin: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, 0, err
	}
	group, err := syscall.Getpgid(pid)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return 0, 0, err
	}
	if !until(func() bool { return !lives(group) }) {
		return 0, 0, fmt.Errorf("the process group %d outlives Ctrl-C", group)
	}
	gone = time.Since(start)
	cmd.Wait() // its status is looked at next
	ended = time.Since(start)
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		return 0, 0, fmt.Errorf("after Ctrl-C the status is %d, want 130", code)
	}
	return gone, ended, nil
}

// lives tells whether a process of a group still runs. One that has ended and that its new parent has not taken note of
// yet does not.
func lives(group int) bool {
	if syscall.Kill(-group, 0) == syscall.ESRCH {
		return false
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" {
			return true
		}
	}
	return false
}

// until looks each millisecond, for at most 10 s, whether something holds.
func until(holds func() bool) bool {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}
