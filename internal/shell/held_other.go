//go:build !unix

package shell

import (
	"context"
	"io"
	"time"
)

// Held is a command that has been started and has run nothing yet. There are none on this system.
type Held struct{}

// Start gives [ErrUnsupported].
func Start(Options) (*Held, error) { return nil, ErrUnsupported }

// Start gives [ErrUnsupported].
func (*Session) Start(Options) (*Held, error) { return nil, ErrUnsupported }

// Trace does nothing.
func (*Held) Trace(string) {}

// Background gives [ErrUnsupported].
func (*Held) Background(context.Context, time.Duration, func(string)) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// spare is never there.
type spare struct{}

func (*Session) drop() {}

func shellPath() string { return "" }

// Group names no group.
func (*Held) Group() Group { return Group{} }

// Release does nothing.
func (*Held) Release() {}

// Go gives [ErrUnsupported].
func (*Held) Go(context.Context, func(string), io.Writer) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// Self identifies nothing.
func Self() Group { return Group{} }

// Alive knows of nothing.
func Alive(Group) bool { return false }

// EndGroup ends nothing.
func EndGroup(Group) bool { return false }
