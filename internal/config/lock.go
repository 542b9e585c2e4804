package config

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Lock keeps other programs from changing the configuration file at path, which need not exist, until unlock is called: from
// reading it to writing it anew. Its folder is made if need be, for its owner alone. The lock is on the folder, so that no file
// of its own stays behind; the system frees it when the program ends.
func Lock(path string) (unlock func(), err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock the settings: %w", err)
	}
	return func() { l.Close() }, nil
}
