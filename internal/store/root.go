package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"overt/internal/event"
)

// Name is the name of the folder of a workspace's record: readable, and of no other workspace.
func Name(root string) string {
	sum := sha256.Sum256([]byte(root))
	name := strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, filepath.Base(root))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:6])
}

// IsRoot tells whether a workspace is the one that facts name. They have its path as JSON has it, which knows no bytes but UTF-8.
func IsRoot(recorded, root string) bool {
	if recorded == root || utf8.ValidString(root) {
		return recorded == root
	}
	text, err := json.Marshal(root)
	var as string
	return err == nil && json.Unmarshal(text, &as) == nil && as == recorded
}

// elsewhere tells whether facts that name a workspace are of another one than the record of a name is.
func elsewhere(record, recorded string) bool {
	return recorded != "" && !strings.ContainsRune(recorded, utf8.RuneError) && Name(recorded) != record
}

// Root is the workspace that last worked in the record, as its facts say; "": not known. It is another one than the caller's where the
// folder of the record was copied or moved, or a backup of another workspace restored.
func (s *Store) Root(ctx context.Context) (string, error) {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	root, err := s.facts.root(ctx)
	if damaged(err) {
		return "", nil // that is for a check to tell
	}
	return root, s.facts.explain(err)
}

// root reads it. The caller has the lock of d, or d to itself.
func (d *database) root(ctx context.Context) (string, error) {
	s := &Store{pack: &packer{}}
	facts, err := s.page(ctx, d.conn, `f.kind = (SELECT id FROM name WHERE text = ?) AND f.data IS NOT NULL ORDER BY f.seq DESC LIMIT 1`, string(event.KindSessionStarted))
	for _, f := range facts {
		if e, ok := f.Data.(event.SessionStarted); ok {
			return e.Dir, err
		}
	}
	return "", err
}
