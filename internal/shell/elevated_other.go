//go:build !linux

package shell

import (
	"context"
	"errors"
	"io"
	"os"
)

// StartElevated gives an error: only Linux has what it needs.
func StartElevated(Options) (*Held, error) {
	return nil, errors.New("commands can't be run as root by this program on this system")
}

// GoAt gives [ErrUnsupported].
func (*Held) GoAt(context.Context, *os.File, func(string), io.Writer) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}
