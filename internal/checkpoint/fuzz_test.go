//go:build unix

package checkpoint_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/checkpoint"
)

// plant makes a repository of about 2,000 files: source, ignored output, links, modes, empty folders.
func (b *bench) plant() {
	b.t.Helper()
	for i := range 1900 {
		b.write(fmt.Sprintf("src/p%02d/q%d/f%d.txt", i/100, i/20%5, i), fmt.Sprintf("file %d\n%s", i, strings.Repeat("line\n", i%40)))
	}
	for i := range 60 {
		b.write(fmt.Sprintf("build/o%d.bin", i), strings.Repeat(string(rune('a'+i%26)), 1000*i))
	}
	out := b.sh(`echo build/ > .gitignore; printf 'SECRET=1\n' > .env; chmod 600 .env; mkdir -p empty/deep locked; echo x > locked/in; chmod 555 locked
		ln -s ../src/p00 build/link; ln -s nowhere dangling; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; ln run.sh twin.sh; printf 'a\0b' > 'odd name
x'; chmod 400 src/p01/q0/f100.txt
		git init -q . && git add -A && git commit -qm one && echo more >> src/p00/q0/f1.txt && git commit -qam two && echo ok`)
	if !strings.HasSuffix(out, "ok\n") {
		b.t.Fatal(out)
	}
}

// command draws a shell command of those that change a tree.
func command(t *rapid.T) string {
	file := func() string {
		i := rapid.IntRange(0, 1899).Draw(t, "file")
		return fmt.Sprintf("src/p%02d/q%d/f%d.txt", i/100, i/20%5, i)
	}
	folder := func() string { return filepath.Dir(file()) }
	new := func() string { return fmt.Sprintf("new%d", rapid.IntRange(0, 5).Draw(t, "new")) }
	mode := func() string {
		return rapid.SampledFrom([]string{"644", "600", "755", "444", "000", "4755"}).Draw(t, "mode")
	}
	all := []func() string{
		func() string { return "echo appended >> " + file() },
		func() string { return "printf '' > " + file() },
		func() string { return "mkdir -p " + new() + "/x && echo made > " + new() + "/x/y" },
		func() string { return "rm -f " + file() },
		func() string { return "rm -rf " + folder() },
		func() string { return "mv " + file() + " " + file() },
		func() string { return "mv " + folder() + " " + new() },
		func() string { return "cp -r " + folder() + " " + new() },
		func() string { return "chmod " + mode() + " " + file() },
		func() string { return "chmod 700 " + folder() },
		func() string { return "chmod 555 " + folder() },
		func() string { return "ln -sfn " + file() + " " + new() },
		func() string { return "rm -rf " + folder() + "; ln -s ../../build " + folder() },
		func() string { f := folder(); return "rm -rf " + f + "; echo file > " + f },
		func() string { f := file(); return "rm -f " + f + "; mkdir -p " + f + "/d" },
		func() string { f := file(); return "touch -d '2001-01-01' " + f + "; cp -p " + f + " " + file() },
		func() string { f := file(); return "sed -i s/line/LINE/ " + f },
		func() string { return "git reset -q --hard HEAD~1" },
		func() string { return "git clean -qfdx" },
		func() string { return "git add -A && git commit -qm more" },
		func() string { return "git checkout -q -b b" + new() },
		func() string { return "git stash -q -u" },
		func() string { return "rm -rf src" },
		func() string { return "rm -rf empty locked dangling run.sh" },
		func() string { return "echo twice >> twin.sh" },
		func() string { return "rm -f .env; echo T=2 > .env" },
	}
	var out []string
	for range rapid.IntRange(1, 4).Draw(t, "commands") {
		out = append(out, rapid.SampledFrom(all).Draw(t, "command")())
	}
	return strings.Join(out, "\n")
}

// TestCommandsAreUndone: whatever commands do to a tree, an undo gives it back byte for byte and mode for mode, and a redo
// brings the change back.
//
// covers A048
func TestCommandsAreUndone(t *testing.T) {
	if testing.Short() {
		t.Skip("works on a tree of 2,000 files")
	}
	b := newBench(t, checkpoint.Options{})
	b.plant()
	scripts := rapid.Custom(func(t *rapid.T) []string {
		var out []string
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			out = append(out, command(t))
		}
		return out
	})
	for seed := range roundTrips {
		b.roundTrip(scripts.Example(seed), seed%2 == 1)
	}
}

// FuzzCommands is the same for as long as one likes.
func FuzzCommands(f *testing.F) {
	b := newBench(f, checkpoint.Options{})
	b.plant()
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		b.roundTrip([]string{command(t), command(t)}, rapid.Bool().Draw(t, "another process"))
	}))
}

// roundTrip runs scripts, takes each back, does each again, and takes them back once more.
func (b *bench) roundTrip(scripts []string, another bool) {
	b.t.Helper()
	states := []map[string]string{b.snapshot()}
	for _, script := range scripts {
		b.change(script)
		if now := b.snapshot(); diff(states[len(states)-1], now) != "" {
			states = append(states, now)
		}
	}
	if another {
		b.reopen(checkpoint.Options{})
	}
	step := func(what string, w checkpoint.Wish, want map[string]string) {
		b.t.Helper()
		done := b.undo(w, false)
		if d := diff(want, b.snapshot()); d != "" || done.Left > 0 {
			b.t.Fatalf("%s of\n%s\nleft %v\n%s", what, strings.Join(scripts, "\n--\n"), done.Conflicts, d)
		}
	}
	for _, want := range slices.Backward(states[:len(states)-1]) {
		step("undo", checkpoint.Wish{}, want)
	}
	for _, want := range states[1:] {
		step("redo", checkpoint.Wish{Redo: true}, want)
	}
	for _, want := range slices.Backward(states[:len(states)-1]) {
		step("second undo", checkpoint.Wish{}, want)
	}
}
