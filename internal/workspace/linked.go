package workspace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
)

// Linked gives the path of a file that suspect names and that is, by a hard link, the same as the one at rel, a path without
// links; "": none is known. A pattern at the end of rel stands for the files that it matches; one before its end, for any. Only
// the folder of rel and those above it are looked at.
func (t *Tree) Linked(rel string, suspect func(rel string) bool) string {
	l := linker{tree: t, suspect: suspect}
	if info, err := t.root.Lstat(rel); err == nil && info.Mode().IsRegular() {
		if found := l.same(rel, info); found != "" {
			return found
		}
	}
	if !strings.ContainsAny(rel, "*?[") {
		return ""
	}
	dir, base := path.Split(rel)
	dir = path.Clean(dir)
	if i := strings.IndexAny(dir, "*?["); i >= 0 {
		if secrets := l.above(path.Dir(dir[:i] + "x")); len(secrets) > 0 {
			return secrets[0].path
		}
		return ""
	}
	if len(l.above(dir)) == 0 {
		return ""
	}
	for _, name := range l.names(dir) {
		if ok, err := path.Match(base, name); !ok && err == nil {
			continue
		}
		p := path.Join(dir, name)
		if info, err := t.root.Lstat(p); err == nil && info.Mode().IsRegular() {
			if found := l.same(p, info); found != "" {
				return found
			}
		}
	}
	return ""
}

// linker finds hard links to the files that suspect names. It remembers what it saw, and may be used by several goroutines.
type linker struct {
	tree    *Tree
	suspect func(rel string) bool
	mu      sync.Mutex
	seen    map[string][]linkedFile // by folder
}

type linkedFile struct {
	path string
	info fs.FileInfo
}

// same gives a file that is the same as the one at rel under another name, "" for none.
func (l *linker) same(rel string, info fs.FileInfo) string {
	if !manyNames(info) {
		return ""
	}
	for _, s := range l.above(path.Dir(rel)) {
		if s.path != rel && os.SameFile(s.info, info) {
			return s.path
		}
	}
	return ""
}

// above gives the files with several names that suspect names in a folder and in those above it.
func (l *linker) above(dir string) []linkedFile {
	out := l.folder(dir)
	for dir != "." {
		dir = path.Dir(dir)
		out = append(out[:len(out):len(out)], l.folder(dir)...)
	}
	return out
}

func (l *linker) folder(dir string) []linkedFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	if out, ok := l.seen[dir]; ok {
		return out
	}
	var out []linkedFile
	for _, name := range l.names(dir) {
		p := path.Join(dir, name)
		if !l.suspect(p) {
			continue
		}
		if info, err := l.tree.root.Lstat(p); err == nil && info.Mode().IsRegular() && manyNames(info) {
			out = append(out, linkedFile{p, info})
		}
	}
	if l.seen == nil {
		l.seen = map[string][]linkedFile{}
	}
	l.seen[dir] = out
	return out
}

func (l *linker) names(dir string) []string {
	w := walker{tree: l.tree}
	entries, err := w.read(context.Background(), dir)
	if err != nil {
		return nil
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out
}
