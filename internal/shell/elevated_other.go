//go:build !linux

package shell

import (
	"context"
	"errors"
	"io"
	"os"
)

// Sudo gives an error: only Linux has what elevated commands need.
func (*Session) Sudo() (string, error) {
	return "", errors.New("commands can't be run as root by this program on this system")
}

// StartElevated gives the error of [Session.Sudo].
func (s *Session) StartElevated(Options) (*Held, error) {
	_, err := s.Sudo()
	return nil, err
}

// GoAt gives [ErrUnsupported].
func (*Held) GoAt(context.Context, *os.File, func(string), io.Writer) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}
