//go:build !linux

package cli

import (
	"errors"
	"os"
)

// canLend says that the terminal can't be given to somebody else for a while.
const canLend = false

// waitTyped leaves the waiting to the read.
func waitTyped(*os.File, *os.File) bool { return true }

func rawTerminal() (*os.File, func(), error) {
	return nil, nil, errors.New("this system's terminal can't be lent")
}
