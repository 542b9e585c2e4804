package checkpoint

import (
	"path"
	"strings"

	"overt/internal/store"
)

// Kinds of what may stand at a path, as they are stored.
const (
	kindNone   = 0 // nothing
	kindFile   = 1
	kindFolder = 2
	kindLink   = 3
	kindOther  = 4 // pipe, socket, device
)

// Why a content is not kept, as it is stored and said.
const (
	skippedLarge     = "large"      // over the limit of one file
	skippedTotal     = "total"      // over the limit of all
	skippedRead      = "unreadable" // it can't be read
	skippedSpecial   = "special"    // pipe, socket, device
	skippedForgotten = "forgotten"  // it was kept, and is to be read anew
)

// state is what stands at a path, as far as it is kept. The zero state is nothing.
type state struct {
	kind uint8
	mode uint32   // permissions with set-id and sticky bits; of links 0
	hash [32]byte // of the content of files and the target of links
	kept bool     // hash is known, and its content was kept
}

// stat is what the system says of a path. Two that are equal are of one content, unless it is racy.
type stat struct {
	kind         uint8
	mode         uint32
	bytes        int64
	mtime, ctime int64 // nanoseconds
	inode        uint64
	device       uint64
}

// entry is the last known state of a path.
type entry struct {
	state
	stat
	skipped string
	racy    bool
	scan    int // the walk that met it last
}

// same tells whether the system says of a path what it said when e was made.
func (e *entry) same(s stat) bool {
	if e.stat.kind != s.kind || e.stat.mode != s.mode {
		return false
	}
	return s.kind == kindFolder || !e.racy && e.bytes == s.bytes && e.mtime == s.mtime && e.ctime == s.ctime && e.inode == s.inode
}

// sameContent tells whether a file, of which only the mode may differ, has the content that e has.
func (e *entry) sameContent(s stat) bool {
	return e.state.kind == kindFile && s.kind == kindFile && !e.racy && e.bytes == s.bytes && e.mtime == s.mtime && e.inode == s.inode
}

// folder is the entries of a folder by name.
type folder map[string]*entry

// index is the last known state of every path, folder by folder.
type index struct {
	folders    map[string]folder
	generation int64
	complete   bool // every path was met once, so that one that is not here is new
	scan       int
	bytes      int64 // of contents that are kept
}

func newIndex() *index { return &index{folders: map[string]folder{}} }

func (ix *index) get(p string) *entry { return ix.folders[path.Dir(p)][path.Base(p)] }

func (ix *index) put(p string, e *entry) {
	ix.drop(p)
	dir := path.Dir(p)
	f := ix.folders[dir]
	if f == nil {
		f = folder{}
		ix.folders[dir] = f
	}
	f[path.Base(p)] = e
	if e.kept {
		ix.bytes += e.bytes
	}
}

func (ix *index) drop(p string) {
	if e := ix.get(p); e != nil {
		if e.kept {
			ix.bytes -= e.bytes
		}
		delete(ix.folders[path.Dir(p)], path.Base(p))
	}
}

// all gives p and, where it is a folder, all that is known below it.
func (ix *index) all(p string, give func(p string, e *entry)) {
	e := ix.get(p)
	if e == nil {
		return
	}
	give(p, e)
	for name := range ix.folders[p] {
		ix.all(path.Join(p, name), give)
	}
}

func (ix *index) load(f store.FileEntry) {
	e := &entry{
		state: state{kind: f.Kind, mode: f.Mode, kept: f.Hash != nil},
		stat:  stat{kind: f.Kind, mode: f.Mode, bytes: f.Bytes, mtime: f.MTime, ctime: f.CTime, inode: f.Inode}, skipped: f.Skipped, racy: f.Racy,
	}
	copy(e.hash[:], f.Hash)
	ix.put(f.Path, e)
}

func (e *entry) stored(p string) store.FileEntry {
	out := store.FileEntry{
		Path: p, Kind: e.state.kind, Mode: e.state.mode, Bytes: e.bytes, MTime: e.mtime, CTime: e.ctime, Inode: e.inode, Skipped: e.skipped, Racy: e.racy,
	}
	if e.kept {
		out.Hash = e.hash[:]
	}
	return out
}

// private tells whether a path is of a repository's own folder.
func private(p string) bool {
	return p == ".git" || strings.HasPrefix(p, ".git/") || strings.Contains(p, "/.git/") || strings.HasSuffix(p, "/.git")
}
