package shell_test

import (
	"os"
	"os/exec"
	"testing"

	"overt/internal/shell"
)

// BenchmarkCommand is one command, held and let go; BenchmarkFloor is what running a shell costs at all.
func BenchmarkCommand(b *testing.B) {
	o := shell.Options{Command: "echo hello", Dir: b.TempDir(), Env: shell.Environ(os.Environ())}
	for b.Loop() {
		h, err := shell.Start(o)
		if err != nil {
			b.Fatal(err)
		}
		if out, err := h.Go(b.Context(), nil, nil); err != nil || out.Head != "hello\n" {
			b.Fatal(out, err)
		}
	}
}

// BenchmarkSession is one command of a lasting shell.
func BenchmarkSession(b *testing.B) {
	s := shell.NewSession(b.TempDir(), shell.Environ(os.Environ()))
	for b.Loop() {
		h, err := s.Start(shell.Options{Command: "echo hello"})
		if err != nil {
			b.Fatal(err)
		}
		if out, err := h.Go(b.Context(), nil, nil); err != nil || out.Head != "hello\n" {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	for _, sh := range []string{"bash", "sh"} {
		b.Run(sh, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(sh, "-c", "echo hello").CombinedOutput(); err != nil || string(out) != "hello\n" {
					b.Fatal(string(out), err)
				}
			}
		})
	}
}
