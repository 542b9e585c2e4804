package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// maxDepth bounds how many folders deep a walk goes.
	maxDepth = 200
	// readEntries is how many entries of a folder are read between two looks at the context.
	readEntries = 4096
	// maxBraces and maxCommas bound the alternatives of a glob, which are tried in all combinations.
	maxBraces, maxCommas = 4, 32
)

// What visit may give besides a failure: the end of the walk, and that it does not go into the folder.
var errEnough, errPass = errors.New("enough"), errors.New("pass")

// walker goes over a folder in order of names, depth first, without following links.
type walker struct {
	tree  *Tree
	depth int                                 // folders below the start that are entered; negative: all
	all   bool                                // ignored files are visited too
	visit func(p string, d fs.DirEntry) error // of d only the name and the type count
}

// walk visits what lies below dir, a path with its links resolved. A folder that can't be read is left out, but for
// the first.
func (w *walker) walk(ctx context.Context, dir string) error {
	entries, err := w.read(ctx, dir)
	if err != nil {
		return err
	}
	var g ignores
	if !w.all {
		g = w.ignoresAbove(dir)
	}
	return w.folder(ctx, dir, entries, g, 0)
}

func (w *walker) folder(ctx context.Context, dir string, entries []fs.DirEntry, g ignores, level int) error {
	if !w.all {
		has := func(name string) bool {
			_, found := slices.BinarySearchFunc(entries, name, func(d fs.DirEntry, name string) int { return strings.Compare(d.Name(), name) })
			return found
		}
		g = w.ignoresOf(dir, g, has)
	}
	for _, d := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := d.Name()
		if dir != "." {
			p = dir + "/" + p
		}
		if strings.EqualFold(d.Name(), ".git") || !w.all && g.ignored(p, d.Name(), d.IsDir()) {
			continue
		}
		err := w.visit(p, d)
		if err != nil && !errors.Is(err, errPass) {
			return err
		}
		if err != nil || !d.IsDir() || w.depth >= 0 && level >= w.depth || level >= maxDepth {
			continue
		}
		below, err := w.read(ctx, p)
		if e := ctx.Err(); e != nil {
			return e
		}
		if err != nil {
			continue
		}
		if err := w.folder(ctx, p, below, g, level+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) read(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	info, err := w.tree.root.Lstat(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	if !info.IsDir() {
		return nil, &PathError{CodeKind, dir, dir + " is a " + kind(info.Mode()) + ", not a folder"}
	}
	opened, err := w.tree.root.Open(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	defer opened.Close()
	f, err := plain(opened, filepath.Join(w.tree.real, filepath.FromSlash(dir)))
	if err != nil {
		return nil, failed(dir, err)
	}
	defer f.Close()
	var entries []fs.DirEntry
	for {
		some, err := f.ReadDir(readEntries)
		entries = append(entries, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, failed(dir, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ignoresAbove reads the files with rules that lie in the folders above dir, and the repository's own.
func (w *walker) ignoresAbove(dir string) ignores {
	var g ignores
	g.exclude = w.rules(".", ".git/info/exclude", nil)
	if dir == "." {
		return g
	}
	g = w.ignoresOf(".", g, nil)
	for i, c := range dir {
		if c == '/' {
			g = w.ignoresOf(dir[:i], g, nil)
		}
	}
	return g
}

// ignoresOf puts the rules that lie in dir upon those above. has tells which files dir has; nil: nobody knows.
func (w *walker) ignoresOf(dir string, above ignores, has func(name string) bool) ignores {
	if has == nil || has(ignoreFile) {
		above.ignore = w.rules(dir, path.Join(dir, ignoreFile), above.ignore)
	}
	if has == nil || has(gitIgnoreFile) {
		above.git = w.rules(dir, path.Join(dir, gitIgnoreFile), above.git)
	}
	return above
}

// rules reads a file with rules for dir, if there is one.
func (w *walker) rules(dir, p string, above *ruleFile) *ruleFile {
	f, err := w.tree.Read(p, p, maxIgnoreFile) // a link is not followed, as Git does not
	if err != nil {
		return above
	}
	rules := parseIgnore(string(f.Bytes))
	if len(rules) == 0 {
		return above
	}
	return &ruleFile{dir, rules, above}
}

// globber tells whether paths match a glob: one without a slash is matched with the name, others with the path below dir.
func globber(glob, dir string) (func(p string) bool, error) {
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	glob = strings.TrimPrefix(glob, "./")
	if !doublestar.ValidatePattern(glob) {
		return nil, &PathError{codeInvalid, glob, "the glob " + glob + " is malformed: write * ? [abc] {a,b} and ** for folders"}
	}
	if strings.Count(glob, "{") > maxBraces || strings.Count(glob, ",") > maxCommas {
		return nil, &PathError{codeInvalid, glob, fmt.Sprintf("the glob has too many alternatives; at most %d groups {a,b} with %d commas are taken", maxBraces, maxCommas)}
	}
	if !strings.Contains(glob, "/") {
		return func(p string) bool { return doublestar.MatchUnvalidated(glob, path.Base(p)) }, nil
	}
	return func(p string) bool {
		if dir != "." {
			p = strings.TrimPrefix(p, dir+"/")
		}
		return doublestar.MatchUnvalidated(glob, p)
	}, nil
}
