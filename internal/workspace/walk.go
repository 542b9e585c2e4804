package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
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

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walker goes over a folder in order of names, depth first, without following links.
type walker struct {
	tree  *Tree
	depth int  // folders below the start that are entered; negative: all
	all   bool // ignored files are visited too
	visit func(p string, d fs.DirEntry) error
}

// walk visits what lies below dir, a path with its links resolved. A folder that can't be read is left out, but for
// the first.
func (w *walker) walk(ctx context.Context, dir string) error {
	entries, err := w.read(ctx, dir)
	if err != nil {
		return err
	}
	return w.folder(ctx, dir, entries, w.ignoresAbove(dir), 0)
}

func (w *walker) folder(ctx context.Context, dir string, entries []fs.DirEntry, above *ignores, level int) error {
	g := w.ignoresOf(dir, above)
	for _, d := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := path.Join(dir, d.Name())
		if strings.EqualFold(d.Name(), ".git") || !w.all && g.ignored(p, d.IsDir()) {
			continue
		}
		if err := w.visit(p, d); err != nil {
			return err
		}
		if !d.IsDir() || w.depth >= 0 && level >= w.depth || level >= maxDepth {
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
	f, err := w.tree.root.Open(dir)
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

// ignoresAbove reads the .gitignore files of the folders above dir.
func (w *walker) ignoresAbove(dir string) *ignores {
	if w.all || dir == "." {
		return nil
	}
	g := w.ignoresOf(".", nil)
	for i, c := range dir {
		if c == '/' {
			g = w.ignoresOf(dir[:i], g)
		}
	}
	return g
}

// ignoresOf puts the .gitignore of dir, if it has one, upon those above.
func (w *walker) ignoresOf(dir string, above *ignores) *ignores {
	if w.all {
		return nil
	}
	p := path.Join(dir, ".gitignore")
	f, err := w.tree.Read(p, p, maxIgnoreFile) // a link is not followed, as Git does not
	if err != nil {
		return above
	}
	rules := parseIgnore(string(f.Bytes))
	if len(rules) == 0 {
		return above
	}
	return &ignores{dir, rules, above}
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
