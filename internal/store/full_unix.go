//go:build unix

package store

import (
	"errors"
	"syscall"
)

func noSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
