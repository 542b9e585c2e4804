package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"overt/internal/event"
)

// begin gives files.db the number of its record, unless it has one, and reads how far the facts went when it was begun. Whoever gives
// it the number is the one to say that there had been another one. One with the number of another record is refused.
func (s *Store) begin(ctx context.Context, db *database) (event.Seq, error) {
	s.facts.mu.Lock()
	own, err := s.facts.identity(ctx)
	s.facts.mu.Unlock()
	if err != nil {
		return 0, s.facts.explain(err)
	}
	has, err := db.identity(ctx)
	if err == nil && has == 0 {
		_, err = db.identify(ctx, own, func() error { return s.missFiles(ctx, db) })
	}
	switch {
	case err != nil:
		return 0, err
	case strangers(own, has):
		return 0, fmt.Errorf("%s %s", db.path, strangeFilesText)
	}
	return db.begun(ctx)
}

// LostChanges is how many changes the facts name that can't be undone because files.db was gone, or was empty, when it was opened. It
// is said once, by who begins a new one.
func (s *Store) LostChanges() int64 {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	return s.lostChanges
}

// MissFiles begins files.db anew where it is gone or empty though the facts name changes, so that [Store.LostChanges] tells of it.
// Elsewhere nothing is opened or made.
func (s *Store) MissFiles(ctx context.Context) error {
	info, err := plain(filepath.Join(s.dir, filesFile))
	if err == nil && info.Size() > onePage || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is told by who needs it
	}
	any, err := s.facts.any(`SELECT 1 FROM fact WHERE kind = (SELECT id FROM name WHERE text = '` + string(event.KindCheckpointClosed) + `') AND data IS NOT NULL LIMIT 1`)
	if err != nil || !any {
		return err
	}
	_, err = s.Files(ctx)
	return err
}

// onePage is the size in bytes of a page: a file with a table in it has more.
const onePage = 4096

// FilesWent tells whether one of some checkpoints is not kept because it went with an earlier files.db; else it was pruned.
func (s *Store) FilesWent(ctx context.Context, ids []string) (bool, error) {
	files, err := s.Files(ctx)
	if err != nil {
		return false, err
	}
	kept, err := files.Kept(ctx)
	if err != nil {
		return false, err
	}
	s.facts.mu.Lock()
	named, err := s.facts.changes(ctx)
	s.facts.mu.Unlock()
	return slices.ContainsFunc(ids, func(id string) bool {
		seq, is := named[id]
		return is && !kept[id] && seq <= files.begun
	}), err
}
