package policy

import (
	"go/version"
	"path"
	"runtime"
	"strings"
)

// toolchain looks for files by which a module has go fetch another go in its place, whatever it is asked for (go.dev/doc/toolchain).
// What is installed is not known: the go that this program was built with stands for it.
func (g *grader) toolchain() {
	if g.files == nil {
		return
	}
	newer := false
	ok := g.upward(func(dir string) {
		for _, name := range []string{"go.mod", "go.work"} {
			text, err := g.files.Script(path.Join(dir, name))
			newer = newer || err != nil && !absent(err) || err == nil && newerGo(string(text))
		}
	})
	if newer || !ok {
		g.network(Fetch, "")
	}
}

// newerGo tells whether a go.mod or go.work asks for another go than ours or an older one. It finds lines as go itself does, before
// it reads the whole (internal/gover of cmd/go).
func newerGo(text string) bool {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		want := strings.Fields(line)
		switch {
		case len(want) < 2:
		case want[0] == "go" && version.Compare("go"+want[1], runtime.Version()) > 0,
			want[0] == "toolchain" && want[1] != "default" && (strings.Contains(want[1], "-") || !version.IsValid(want[1]) || version.Compare(want[1], runtime.Version()) > 0):
			return true
		}
	}
	return false
}
