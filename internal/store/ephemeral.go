package store

import (
	"errors"
	"fmt"
	"io/fs"
)

// ephemeralPrefix begins the names of folders that live no longer than their process.
const ephemeralPrefix = "overt-ephemeral-"

// Ephemeral is a folder for a record that is to leave nothing behind.
type Ephemeral struct {
	Dir string
	c   *claimed
}

// NewEphemeral makes a folder of the person's own, in the first of the given folders that takes one. Remove it at the end.
func NewEphemeral(in []string) (*Ephemeral, error) {
	var errs []error
	for _, dir := range in {
		c, err := claim(dir, ephemeralPrefix)
		if err == nil {
			return &Ephemeral{c.dir, c}, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		errs = append(errs, fs.ErrNotExist)
	}
	return nil, fmt.Errorf("there is nowhere to keep a record for now: %w", errors.Join(errs...))
}

// SweepEphemeral removes what processes of the same person left in the given folders when they died.
func SweepEphemeral(in []string) {
	for _, dir := range in {
		sweep(dir, ephemeralPrefix, false)
	}
}

// Remove removes the folder with what is in it. The record in it must be closed.
func (e *Ephemeral) Remove() error {
	if err := e.c.drop(); err != nil {
		return fmt.Errorf("%s could not be removed: %w", e.Dir, err)
	}
	return nil
}
