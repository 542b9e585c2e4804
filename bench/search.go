//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"overt/internal/workspace"
)

const (
	// The tree has 100,000 files: so many folders, of so many folders, of so many files.
	treeTop, treeMid, treeFiles = 100, 10, 100
	// treeForm names the form of the tree; another form is to have another name.
	treeForm = "overt-bench-tree-1"
	// needle stands in a few files, in some in capitals; rareName is the name of a few files.
	needle, rareName = "consumeQuota", "needle_*.go"
)

// search is block 6: text and files are looked for in a large tree, in this process and with ripgrep and fd.
func (b *bench) search() error {
	dir, err := tree()
	if err != nil {
		return fmt.Errorf("make the tree: %w", err)
	}
	t, err := workspace.Open(dir)
	if err != nil {
		return err
	}
	defer t.Close()
	text := func(q workspace.SearchQuery) func() (int, error) {
		return func() (int, error) {
			f, err := t.Search(context.Background(), q)
			return f.Hits, err
		}
	}
	files := func(q workspace.ListQuery) func() (int, error) {
		return func() (int, error) {
			l, err := t.List(context.Background(), q)
			return len(l.Entries), err
		}
	}
	loud := strings.ToUpper(needle)
	for _, c := range []struct {
		line  string
		ours  func() (int, error)
		peer  []string // names of the program
		args  []string
		limit float64
	}{
		{"search_text", text(workspace.SearchQuery{Pattern: needle, Path: "."}), []string{"rg"}, []string{"--no-config", "--hidden", "-n", needle, "."}, 6},
		{"search_text, ignore_case", text(workspace.SearchQuery{Pattern: loud, Path: ".", IgnoreCase: true}), []string{"rg"}, []string{"--no-config", "--hidden", "-n", "-i", loud, "."}, 15},
		{"list_files, glob", files(workspace.ListQuery{Path: ".", Depth: -1, Glob: rareName}), []string{"fd", "fdfind"}, []string{"--hidden", "--glob", rareName}, 3},
	} {
		peer := installed(c.peer...)
		if peer == "" {
			b.note("6 files", c.line+" in 100,000 files", "skipped: "+c.peer[0]+" is not installed (see scripts/setup)")
			continue
		}
		ours, theirs, err := beside(b.rounds, c.ours, func() (int, error) { return countLines(dir, peer, c.args...) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.line, err)
		}
		b.most("6 files", c.line+" in 100,000 files: wall, to "+c.peer[0], ratio(ours, theirs), c.limit, "×")
		b.note("6 files", "… absolute", fmt.Sprintf("%.0f ms, %s %.0f ms", ms(ours), c.peer[0], ms(theirs)))
	}
	return nil
}

// installed gives the path of the first of some programs that there is, or "".
func installed(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// countLines runs a program and counts the lines of its output.
func countLines(dir, name string, args ...string) (int, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return bytes.Count(out, []byte("\n")), err
}

// beside runs two ways to find the same in turn, after a turn that does not count, and gives the median time of each.
func beside(n int, ours, theirs func() (int, error)) (time.Duration, time.Duration, error) {
	var times [2][]time.Duration
	for i := -1; i < n; i++ {
		var found [2]int
		for j, f := range []func() (int, error){ours, theirs} {
			began := time.Now()
			var err error
			if found[j], err = f(); err != nil {
				return 0, 0, err
			}
			if i >= 0 {
				times[j] = append(times[j], time.Since(began))
			}
		}
		if found[0] != found[1] || found[0] == 0 {
			return 0, 0, fmt.Errorf("we find %d, the other program %d", found[0], found[1])
		}
	}
	return median(times[0]), median(times[1]), nil
}

// tree gives a folder with the tree, which is made once for a machine and kept.
func tree() (string, error) {
	dir := filepath.Join(os.TempDir(), treeForm)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	made, err := os.MkdirTemp(os.TempDir(), treeForm+".")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)                                             // where it was not renamed
	if err := os.Mkdir(filepath.Join(made, ".git"), 0o700); err != nil { // else others ask no .gitignore
		return "", err
	}
	if err := os.WriteFile(filepath.Join(made, ".gitignore"), []byte("*.log\n/build/\n"), 0o600); err != nil {
		return "", err
	}
	errs := make([]error, treeTop)
	var group sync.WaitGroup
	for top := range treeTop {
		group.Go(func() { errs[top] = plant(filepath.Join(made, fmt.Sprintf("part%02d", top)), top) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// plant makes one of the topmost folders: text like source of some 1,000 bytes a file, and ignored and binary files among it.
func plant(dir string, top int) error {
	words := strings.Fields("func return range string error value count buffer reader consume Quota context package import type struct if else for err nil")
	random := rand.New(rand.NewPCG(uint64(top), 0))
	var text bytes.Buffer
	for mid := range treeMid {
		below := filepath.Join(dir, fmt.Sprintf("module%d", mid))
		if err := os.MkdirAll(below, 0o700); err != nil {
			return err
		}
		for n := range treeFiles {
			text.Reset()
			for size := 200 + random.IntN(1600); text.Len() < size; {
				for range 3 + random.IntN(8) {
					text.WriteString(words[random.IntN(len(words))] + " ")
				}
				text.WriteByte('\n')
			}
			name := fmt.Sprintf("file%02d.go", n)
			switch {
			case n == 0 && mid == 0 && top%2 == 0:
				name = fmt.Sprintf("needle_%02d.go", top)
				text.WriteString("return " + needle + "(count)\n")
			case n == 0 && mid == 1 && top%4 == 0:
				text.WriteString("return " + strings.ToUpper(needle) + "(count)\n")
			case n == 1:
				name = fmt.Sprintf("run%d.log", mid)
				text.WriteString(needle + "\n")
			case n == 2:
				name = fmt.Sprintf("image%d.bin", mid)
				text.WriteString("\x00" + needle + "\n")
			}
			if err := os.WriteFile(filepath.Join(below, name), text.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
