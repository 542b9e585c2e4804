package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Info is what the system says of a name, without a look at what a link leads to.
type Info struct {
	Kind     string // file, folder, link, pipe, socket, device
	Size     int64  // of a file in bytes
	Mode     fs.FileMode
	Modified time.Time
	Link     string // where a link leads, as written
}

// Name gives a relative path with the links on its way resolved, but not the name at its end. The error is a *PathError.
func (t *Tree) Name(rel string) (string, error) {
	if rel == "." {
		return ".", nil
	}
	dir, err := t.Resolve(path.Dir(rel))
	if err != nil {
		return "", err
	}
	return path.Join(dir, path.Base(rel)), nil
}

// Stat describes what bears a name, without following it. rel and name are as for [Tree.Read], name being what [Tree.Name]
// gave. The error is a *PathError.
func (t *Tree) Stat(rel, name string) (Info, error) {
	if name == "." {
		info, err := t.root.Stat(".")
		if err != nil {
			return Info{}, failed(rel, err)
		}
		return Info{Kind: "folder", Mode: info.Mode(), Modified: info.ModTime()}, nil
	}
	p, err := t.spot(rel, name, false)
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	info, err := p.dir.Lstat(p.base)
	if err != nil {
		return Info{}, failed(rel, err)
	}
	out := Info{Kind: kind(info.Mode()), Mode: info.Mode(), Modified: info.ModTime()}
	switch out.Kind {
	case "file":
		out.Size = info.Size()
	case "link":
		if out.Link, err = p.dir.Readlink(p.base); err != nil {
			return Info{}, failed(rel, err)
		}
	}
	return out, nil
}

// maxCounted is how many files and folders a [Summary] counts.
const maxCounted = 50_000

// Summary counts what a tree holds, ignored files and .git left out.
type Summary struct {
	Files, Folders int
	More           bool           // there is more than was counted
	Types          map[string]int // files by what their names end with, as ".go", or "" for nothing
	Top            map[string]int // files by the first folder of their path; "." for those in none
	Build          []string       // files in the first two levels that say how things are built
	Skipped        []string       // left out by skip
}

// Summarize counts the whole tree, up to 50,000 files and folders. skip leaves out paths with what is below them. The error
// is a *PathError or that of ctx.
func (t *Tree) Summarize(ctx context.Context, skip func(rel string) bool) (Summary, error) {
	out := Summary{Types: map[string]int{}, Top: map[string]int{}}
	w := &walker{tree: t, depth: -1, visit: func(p string, d fs.DirEntry) error {
		if skip(p) {
			out.Skipped = append(out.Skipped, p)
			return errPass
		}
		if out.Files+out.Folders == maxCounted {
			out.More = true
			return errEnough
		}
		if d.IsDir() {
			out.Folders++
			return nil
		}
		out.Files++
		out.Types[strings.ToLower(path.Ext(strings.TrimLeft(d.Name(), ".")))]++
		top, _, below := strings.Cut(p, "/")
		if !below {
			top = "."
		}
		out.Top[top]++
		if strings.Count(p, "/") < 2 && buildFile(d.Name()) {
			out.Build = append(out.Build, p)
		}
		return nil
	}}
	if err := w.walk(ctx, "."); err != nil && !errors.Is(err, errEnough) {
		return Summary{}, err
	}
	return out, nil
}

// buildFile tells whether files of the name say how something is built, tested or installed.
func buildFile(name string) bool {
	switch name {
	case "go.mod", "go.work", "package.json", "pnpm-workspace.yaml", "tsconfig.json", "deno.json", "Cargo.toml", "pyproject.toml", "setup.py", "setup.cfg",
		"requirements.txt", "tox.ini", "Pipfile", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "CMakeLists.txt", "meson.build", "configure.ac",
		"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "Rakefile", "Gemfile", "composer.json", "mix.exs", "Package.swift",
		"pubspec.yaml", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", "build.zig", "flake.nix", "Dockerfile", "docker-compose.yml", "compose.yaml":
		return true
	}
	switch path.Ext(name) {
	case ".sln", ".csproj", ".fsproj", ".cabal":
		return true
	}
	return false
}
