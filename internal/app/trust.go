package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"overt/internal/event"
	"overt/internal/redact"
	"overt/internal/workspace"
)

// Trust is what a workspace brings along that may count or run, and what the person has said of it. Trust is about these
// files as they are: a change of any of them ends it.
type Trust struct {
	Root  string // links resolved
	Files []event.TrustedFile
	// Before is what was trusted last; nil: nothing, or it was taken back. Since is when.
	Before *event.WorkspaceTrusted
	Since  time.Time

	texts map[string][]byte
}

// Bounds of what can be trusted at once: a person is to look at it.
const (
	maxTrustFiles = 1000
	maxTrustBytes = 16 << 20
	maxTrustText  = 2 << 10 // of a file that is kept with its text
	maxTrustKept  = 8 << 10
)

// Digest is one number for all files.
func (t *Trust) Digest() string {
	h := sha256.New()
	for _, f := range t.Files {
		fmt.Fprintf(h, "%q %s\n", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Holds tells whether the person trusts the files as they are.
func (t *Trust) Holds() bool { return t.Before != nil && t.Before.Digest == t.Digest() }

// Change is a file that is not what was trusted.
type Change struct {
	Path string
	Op   string // create, modify, delete
	Diff string // "" where one text is not known
}

// Changes says how the files differ from what was trusted; if nothing was, each is new.
func (t *Trust) Changes() (out []Change) {
	before := map[string]event.TrustedFile{}
	if t.Before != nil {
		for _, f := range t.Before.Files {
			before[f.Path] = f
		}
	}
	for _, f := range t.Files {
		old, known := before[f.Path]
		delete(before, f.Path)
		switch {
		case !known:
			out = append(out, Change{f.Path, "create", workspace.Diff(f.Path, nil, t.texts[f.Path])})
		case old.SHA256 != f.SHA256 && old.Text != "":
			out = append(out, Change{f.Path, "modify", workspace.Diff(f.Path, []byte(old.Text), t.texts[f.Path])})
		case old.SHA256 != f.SHA256:
			out = append(out, Change{f.Path, "modify", ""})
		}
	}
	for path := range before {
		out = append(out, Change{path, "delete", ""})
	}
	slices.SortFunc(out, func(a, b Change) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return out
}

// ReadTrust looks at a workspace and at what was said of it. Where the record can't be read nothing is trusted, and the error
// says so beside what is there.
func ReadTrust(ctx context.Context, o Options) (*Trust, error) {
	t := &Trust{texts: map[string][]byte{}}
	var err error
	if t.Root, err = filepath.EvalSymlinks(o.Root); err != nil {
		return nil, err
	}
	if err := t.look(); err != nil {
		return nil, err
	}
	u := newUserRecord(o, redact.New())
	if _, err := os.Stat(filepath.Join(u.dir, "overt.db")); errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	s, err := u.open(ctx)
	if err != nil {
		return t, err
	}
	f, said, err := s.Trusted(ctx, t.Root)
	if w, ok := f.Data.(event.WorkspaceTrusted); said && ok && w.Digest != "" {
		t.Before, t.Since = &w, f.Time
	}
	return t, errors.Join(err, u.close())
}

// look reads what the workspace brings along: everything in .overt. Links are read as what they lead to, inside the workspace.
func (t *Trust) look() error {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	total, kept := 0, 0
	err = fs.WalkDir(root.FS(), ".overt", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == ".overt" && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case len(t.Files) == maxTrustFiles:
			return fmt.Errorf("there are more than %d files in .overt", maxTrustFiles)
		}
		text, err := readPlain(root, path, maxTrustBytes-total)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		total += len(text)
		sum := sha256.Sum256(text)
		f := event.TrustedFile{Path: path, SHA256: hex.EncodeToString(sum[:])}
		if len(text) <= maxTrustText && kept+len(text) <= maxTrustKept {
			f.Text = string(text)
			kept += len(text)
		}
		t.texts[path] = text
		t.Files = append(t.Files, f)
		return nil
	})
	return err
}

// readPlain reads a plain file of at most so many bytes.
func readPlain(root *os.Root, path string, most int) ([]byte, error) {
	if info, err := root.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no plain file of the workspace, so nobody can say what it will be"))
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("it is too large to be trusted (%d MiB in all)", maxTrustBytes>>20)
	}
	return text, err
}

// SetTrust records that the person trusts a workspace as it was read, or takes that back.
func SetTrust(ctx context.Context, o Options, t *Trust, trusted bool) error {
	u := newUserRecord(o, redact.New())
	s, err := u.open(ctx)
	if err != nil {
		return err
	}
	w := event.WorkspaceTrusted{By: "person"}
	if trusted {
		w.Digest, w.Files = t.Digest(), t.Files
	}
	_, err = s.Append(ctx, event.Batch{Facts: []event.Draft{{Subject: t.Root, Data: w}}})
	return errors.Join(err, u.close())
}
