package workspace

import (
	"context"
	"errors"
	"io/fs"
)

// MaxEntries is how many entries a [Listing] holds at most.
const MaxEntries = 1000

// ListQuery says what to list.
type ListQuery struct {
	Path string // relative
	// Depth is how many levels of folders below Path are entered: 0 only Path itself, where ignored files are listed
	// too; negative all, without ignored files: the rules of .gitignore and .ignore files count, and .git/info/exclude.
	Depth int
	Glob  string // "": everything
	// Skip leaves out entries, by relative path, with all that is below them; nil: none.
	Skip func(rel string) bool
}

// Entry is something in a folder. Size is that of a file in bytes, -1 where it is unknown.
type Entry struct {
	Path string // relative to the workspace
	Kind string // file, folder, link, pipe, socket, device
	Size int64
	Link string // where a link leads, as written
}

// Listing is what a folder holds, in order of names. More says that there was more than [MaxEntries].
type Listing struct {
	Entries []Entry
	More    bool
	Skipped []string // left out by Skip
}

// List lists a folder. Links are listed, not followed; .git is left out. The error is a *PathError or that of ctx.
func (t *Tree) List(ctx context.Context, q ListQuery) (Listing, error) {
	dir, err := t.Resolve(q.Path)
	if err != nil {
		return Listing{}, err
	}
	match, err := globber(q.Glob, dir)
	if err != nil {
		return Listing{}, err
	}
	var out Listing
	w := &walker{tree: t, depth: q.Depth, all: q.Depth == 0, visit: func(p string, d fs.DirEntry) error {
		if q.Skip != nil && q.Skip(p) {
			out.Skipped = append(out.Skipped, p)
			return errPass
		}
		if !match(p) {
			return nil
		}
		if len(out.Entries) == MaxEntries {
			out.More = true
			return errEnough
		}
		out.Entries = append(out.Entries, t.entry(p, d))
		return nil
	}}
	if err := w.walk(ctx, dir); err != nil && !errors.Is(err, errEnough) {
		return Listing{}, err
	}
	return out, nil
}

func (t *Tree) entry(p string, d fs.DirEntry) Entry {
	e := Entry{Path: p, Kind: kind(d.Type()), Size: -1}
	switch e.Kind {
	case "link":
		e.Link, _ = t.root.Readlink(p)
	case "file":
		if info, err := t.root.Lstat(p); err == nil {
			e.Size = info.Size()
		}
	}
	return e
}
