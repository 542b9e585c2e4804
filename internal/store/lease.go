package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Lease is the right to run something in the workspace. The kernel takes it back when the process dies, however it dies,
// so there is no stale one. Take it, let it [Lease.Recover], run, release it.
type Lease struct {
	s    *Store
	lock *flock.Flock
	once sync.Once
	err  error
}

// holder is the text of the lease file.
type holder struct {
	PID     int       `json:"pid"`
	What    string    `json:"what"`
	Since   time.Time `json:"since"`
	Session string    `json:"session"`
}

// HeldError says who has the lease. PID 0: the holder has not said yet, or its words can't be read.
type HeldError struct {
	PID     int
	What    string
	Since   time.Time
	Session string
}

// Error implements error.
func (e *HeldError) Error() string {
	if e.PID == 0 {
		return "workspace busy: another process is at work here"
	}
	return fmt.Sprintf("workspace busy: process %d has been at work here since %s (%s)",
		e.PID, e.Since.Local().Format("2006-01-02 15:04:05"), e.What)
}

// How long a holder may take between having the lock and saying who it is.
const (
	introduceWithin = 200 * time.Millisecond
	introducePoll   = 10 * time.Millisecond
)

// Lease takes the lease for a session; what says for people what it is for. It does not wait: if anybody has it, in this
// process too, the error is a *[HeldError].
func (s *Store) Lease(ctx context.Context, what, session string) (*Lease, error) {
	lock, err := takeLease(ctx, s.dir, holder{os.Getpid(), what, s.now().UTC(), session})
	if err != nil {
		return nil, err
	}
	return &Lease{s: s, lock: lock}, nil
}

// leaseFile is the name of the lease.
const leaseFile = "lease"

// takeLease takes the lease of a record's folder, which is there.
func takeLease(ctx context.Context, dir string, who holder) (*flock.Flock, error) {
	path := filepath.Join(dir, leaseFile)
	deadline := time.Now().Add(introduceWithin)
	for looked := false; ; looked = true {
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("take the lease of the workspace: %w", err)
		}
		if got {
			if err := introduce(path, who); err != nil {
				return nil, errors.Join(fmt.Errorf("take the lease of the workspace: %w", err), lock.Unlock())
			}
			return lock, nil
		}
		h := readHolder(path)
		// Looked at twice, since a reader's glance at the lease ([Store.Free]) holds it for a moment.
		if h.PID != 0 && looked || time.Now().After(deadline) {
			return nil, &HeldError{h.PID, h.What, h.Since, h.Session}
		}
		select { // the holder has just come, or is just leaving
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(introducePoll):
		}
	}
}

// Free tells whether nobody has the lease, so that a run without an end has none coming. It may be wrong for a moment
// about a lease that is being taken.
func (s *Store) Free() (bool, error) {
	lock := flock.New(filepath.Join(s.dir, leaseFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	free, err := lock.TryRLock() // shared: readers do not take each other for holders
	if err != nil {
		return false, fmt.Errorf("look at the lease of the workspace: %w", err)
	}
	if free {
		err = lock.Unlock()
	}
	return free, err
}

// Release gives the lease back. A second call does nothing.
func (l *Lease) Release() error {
	l.once.Do(func() { l.err = releaseLease(l.lock) })
	return l.err
}

// releaseLease empties the lease first, so that nobody reads who had it once it is free.
func releaseLease(lock *flock.Flock) error {
	return errors.Join(os.Truncate(lock.Path(), 0), lock.Unlock())
}

// leaseHolder says who has the lease of a folder; nil: nobody. It makes no file.
func leaseHolder(dir string) (*HeldError, error) {
	path := filepath.Join(dir, leaseFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY), flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if err != nil {
		return nil, fmt.Errorf("look at the lease of the workspace: %w", err)
	}
	if free {
		return nil, lock.Unlock()
	}
	h := readHolder(path)
	return &HeldError{h.PID, h.What, h.Since, h.Session}, nil
}

// introduce writes who has the lease.
func introduce(path string, h holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// readHolder reads who has the lease; what can't be read is unknown.
func readHolder(path string) (h holder) {
	text, err := readPlain(path, 64<<10)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return holder{}
	}
	return h
}
