package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"syscall"
	"unicode/utf8"
)

const (
	// maxHits is how many matching lines a [Found] holds at most.
	maxHits = 100
	// batchSize is how many files are searched before their hits are counted.
	batchSize = 256
)

// SearchQuery says what to look for and where.
type SearchQuery struct {
	Pattern    string // RE2, matched within lines
	Path       string // relative: a file or a folder
	Glob       string // which files; "": all
	IgnoreCase bool
	Context    int // lines shown before and after each hit
	Limit      int // hits, at most maxHits; 0: maxHits
	// Skip leaves out files, by relative path; nil: none. The file that Path names is always searched.
	Skip func(rel string) bool
	// Secret names files of which hard links are left out too, as [Tree.Linked] finds them; nil: none.
	Secret func(rel string) bool
}

// Line is a line that was found, or one of its context. Text is cut around the match where it is long.
type Line struct {
	Path   string
	Number int
	Text   string
	Hit    bool
}

// Found is what a search gave: lines in order of files and numbers.
type Found struct {
	Lines   []Line
	Hits    int
	Files   int      // searched
	More    bool     // the limit was reached; there may be more
	Skipped []string // left out by Skip, or as links
	Large   []string // left out for their size
	Binary  []string // left out since they are no text
}

// Search looks for lines that match. It walks like a recursive [Tree.List], and reads files in the encodings that [Decode]
// tells, but neither binary ones, nor those over [MaxFile], nor anything but regular files. \A and \z mean the ends of a line. The end of ctx ends it also within a file. The error is a *PathError, one from the pattern in one line, or that of ctx.
func (t *Tree) Search(ctx context.Context, q SearchQuery) (Found, error) {
	m, err := newMatcher(q.Pattern, q.IgnoreCase)
	if err != nil {
		return Found{}, err
	}
	if q.Limit <= 0 || q.Limit > maxHits {
		q.Limit = maxHits
	}
	real, err := t.Resolve(q.Path)
	if err != nil {
		return Found{}, err
	}
	info, err := t.root.Lstat(real)
	if err != nil {
		return Found{}, failed(q.Path, err)
	}
	s := &search{tree: t, query: q, matcher: m}
	if !info.IsDir() {
		if err := regular(q.Path, info); err != nil {
			return Found{}, err
		}
		if info.Size() > MaxFile {
			return Found{}, tooLarge(q.Path, info.Size(), MaxFile)
		}
		s.batch = []string{real}
		if err := s.flush(ctx); err != nil && !errors.Is(err, errEnough) {
			return Found{}, err
		}
		return s.found, nil
	}
	match, err := globber(q.Glob, real)
	if err != nil {
		return Found{}, err
	}
	if q.Secret != nil {
		s.links = &linker{tree: t, suspect: q.Secret}
	}
	w := &walker{tree: t, depth: -1, visit: func(p string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || !match(p) {
			return nil
		}
		if q.Skip != nil && q.Skip(p) {
			s.found.Skipped = append(s.found.Skipped, p)
			return nil
		}
		if s.batch = append(s.batch, p); len(s.batch) < batchSize {
			return nil
		}
		return s.flush(ctx)
	}}
	err = w.walk(ctx, real)
	if err == nil {
		err = s.flush(ctx)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return Found{}, err
	}
	return s.found, nil
}

type search struct {
	tree    *Tree
	query   SearchQuery
	matcher *matcher
	links   *linker // nil: none are left out
	batch   []string
	found   Found
}

// fileHits is what one file gave.
type fileHits struct {
	lines  []Line
	large  bool
	binary bool
	linked bool
	read   bool
}

// flush searches the batch on all cores and adds what it gave, in order. It is errEnough once the limit is reached.
func (s *search) flush(ctx context.Context) error {
	out := &s.found
	results := make([]fileHits, len(s.batch))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(s.batch)) {
		wg.Go(func() {
			w := searcher{tree: s.tree, matcher: s.matcher, query: &s.query, links: s.links}
			defer w.close()
			for i := range next {
				if ctx.Err() == nil {
					results[i] = w.file(ctx, s.batch[i])
				}
			}
		})
	}
	for i := range s.batch {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, r := range results {
		if r.large {
			out.Large = append(out.Large, s.batch[i])
		}
		if r.binary {
			out.Binary = append(out.Binary, s.batch[i])
		}
		if r.linked {
			out.Skipped = append(out.Skipped, s.batch[i])
		}
		if r.read {
			out.Files++
		}
		for _, l := range r.lines {
			if l.Hit && out.Hits == s.query.Limit {
				out.More = true
				return errEnough
			}
			if l.Hit {
				out.Hits++
			}
			out.Lines = append(out.Lines, l)
		}
	}
	s.batch = s.batch[:0]
	return nil
}

// searcher is one worker. It keeps the folder of its last file open and its buffers for the next: most files lie beside
// the one before.
type searcher struct {
	tree    *Tree
	matcher *matcher
	query   *SearchQuery
	links   *linker

	dir   string
	root  *os.Root
	data  []byte
	lower []byte
}

func (w *searcher) close() {
	if w.root != nil {
		w.root.Close()
	}
}

// open opens a file that the walk saw as a regular one. Not even a pipe that has taken its place since would block.
func (w *searcher) open(p string) (*os.File, error) {
	if dir := path.Dir(p); w.root == nil || dir != w.dir {
		w.close()
		w.root = nil
		root, err := w.tree.root.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		w.dir, w.root = dir, root
	}
	return w.root.OpenFile(path.Base(p), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (w *searcher) file(ctx context.Context, p string) fileHits {
	f, err := w.open(p)
	if err != nil {
		return fileHits{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fileHits{}
	}
	if w.links != nil && w.links.same(p, info) != "" {
		return fileHits{linked: true}
	}
	if info.Size() > MaxFile {
		return fileHits{large: true}
	}
	data, err := readAll(w.data, p, f, info.Size(), MaxFile)
	if err != nil {
		return fileHits{}
	}
	w.data = data
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		if !perhapsWide(data) {
			return fileHits{binary: true}
		}
		if data, _, err = Decode(data); err != nil {
			return fileHits{binary: true}
		}
	case !utf8.Valid(data) && w.mayHold(data):
		if data, _, err = Decode(data); err != nil {
			return fileHits{binary: true}
		}
	}
	data = bytes.TrimPrefix(data, []byte(mark)) // ^ means the first character that is seen
	r := fileHits{read: true}
	r.lines, w.lower = w.matcher.lines(ctx, p, data, w.lower, w.query.Context, w.query.Limit+1)
	return r
}

// mayHold tells whether a file that is not UTF-8 is worth decoding: ASCII stands for itself in every encoding without NUL
// bytes.
func (w *searcher) mayHold(data []byte) bool {
	m := w.matcher
	if len(m.text) == 0 || bytes.ContainsFunc(m.text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true
	}
	if m.fold {
		w.lower = appendLower(w.lower[:0], data)
		data = w.lower
	}
	return bytes.Contains(data, m.text)
}

// perhapsWide tells whether data with NUL bytes can be UTF-16, from its beginning.
func perhapsWide(data []byte) bool {
	head := data[:min(len(data), 4096)]
	var nuls [2]bool
	for i, c := range head {
		nuls[i%2] = nuls[i%2] || c == 0
	}
	return nuls[0] != nuls[1] || bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})
}
