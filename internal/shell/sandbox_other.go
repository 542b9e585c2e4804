//go:build !linux || !(amd64 || arm64)

package shell

import "os/exec"

// SandboxSupport says why commands can't be confined on this system.
func SandboxSupport() error { return ErrNoSandbox }

// Reexec does nothing: no program starts itself in a sandbox here.
func Reexec() error { return nil }

func (*Sandbox) confine(*exec.Cmd) error { return ErrNoSandbox }
