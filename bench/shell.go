//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"overt/internal/shell"
)

// shell compares a command of a lasting shell, which knows a dozen variables and functions, with the same one in a shell
// that knows nothing and leaves nothing: the same bash, and the system's sh.
func (b *bench) shell() error {
	env := shell.Environ(b.environ(place{b.disk, filepath.Join(b.disk, "state")}))
	s := shell.NewSession(b.disk, env)
	defer s.Close()
	lasting := func(command string) error {
		h, err := s.Start(shell.Options{Command: command})
		if err != nil {
			return err
		}
		o, err := h.Go(context.Background(), nil, nil)
		if err == nil && (o.Exit != 0 || o.Lost) {
			err = fmt.Errorf("%s: exit %d, lost %v: %s", command, o.Exit, o.Lost, o.Head)
		}
		return err
	}
	bare := func(sh, command string) error {
		cmd := exec.Command(sh, "-c", command)
		cmd.Dir, cmd.Env = b.disk, env
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			return err
		}
		if _, err := io.ReadAll(out); err != nil {
			return err
		}
		return cmd.Wait()
	}
	if err := lasting(`for i in 1 2 3 4 5 6; do export "E$i=value $i"; eval "v$i=$i; f$i() { echo $i; }"; done; mkdir -p sub; cd sub; set -o pipefail`); err != nil {
		return err
	}
	for _, command := range []string{"echo hello", "ls -la / | wc -l; git --version"} {
		var with, bash, sh []time.Duration
		for range b.rounds * 20 {
			for _, x := range []struct {
				took *[]time.Duration
				run  func() error
			}{
				{&with, func() error { return lasting(command) }},
				{&bash, func() error { return bare(shell.Path(), command) }},
				{&sh, func() error { return bare("/bin/sh", command) }},
			} {
				began := time.Now()
				if err := x.run(); err != nil {
					return err
				}
				*x.took = append(*x.took, time.Since(began))
			}
		}
		w, ba, s := median(with), median(bash), median(sh)
		b.most("5 shell", "`"+command+"` in a lasting shell, to a bare "+filepath.Base(shell.Path())+" -c", ratio(w, ba), 1.2, "×")
		b.note("5 shell", "… to /bin/sh -c", fmt.Sprintf("%.2f× (%.2f ms, %s %.2f ms, sh %.2f ms)", ratio(w, s), ms(w), filepath.Base(shell.Path()), ms(ba), ms(s)))
	}
	return nil
}
