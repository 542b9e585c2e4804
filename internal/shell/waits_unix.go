//go:build unix && !linux

package shell

// watch can't look here.
type watch struct{ group Group }

func (*watch) waits() bool { return false }
