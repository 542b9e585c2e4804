// Package overt_test checks the shape of the tree: which package may import which, that outside resources have one
// owner, and a few rules that no compiler checks.
package overt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says which of our packages a package may import. "*" is every package. A package in no row fails the test: a
// new one is a decision.
var imports = map[string]string{
	// leaves
	"internal/llm": "", "internal/event": "", "internal/policy": "", "internal/config": "", "internal/i18n": "", "internal/redact": "",
	"internal/wire": "", "internal/workspace": "", "internal/shell": "", "internal/scripted": "",
	// kernel and its neighbours
	"internal/prompt":   "llm event",
	"internal/tool":     "event policy",
	"internal/provider": "llm wire",
	"internal/store":    "event redact wire",
	"internal/agent":    "llm event prompt tool",
	// what plugs into the kernel
	"internal/checkpoint":   "event store",
	"internal/instruction":  "event prompt",
	"internal/tool/builtin": "event policy workspace shell tool",
	// the two doors
	"internal/session": "llm event policy redact prompt tool agent store",
	"internal/trace":   "event store",
	// wiring
	"internal/app": "*", // but cli, see below
	"internal/cli": "*",
	"cmd/overt":    "cli shell",
	"":             "",
	"bench":        "*",
	"bench/floor":  "",
	"peers/gguf":   "",
}

// kernel packages have no file, network, database, clock or environment of their own.
var kernel = []string{"internal/event", "internal/llm", "internal/policy", "internal/prompt", "internal/tool", "internal/agent"}

// owners says which packages alone may import a package of the standard library or a module, because it is the door to
// an outside resource. "*" is in no list: tests may import anything.
var owners = map[string][]string{
	"database/sql":           {"internal/store", "bench"}, // bench makes a record of a million facts in seconds
	"modernc.org/sqlite":     {"internal/store", "bench"},
	"github.com/gofrs/flock": {"internal/store", "internal/config"},
	"os/exec":                {"internal/shell", "bench", "bench/floor"},
	"net":                    {"internal/wire", "internal/scripted", "bench"},
	"mvdan.cc/sh/v3/syntax":  {"internal/policy"},

	"golang.org/x/text/encoding":                    {"internal/workspace"},
	"golang.org/x/text/encoding/charmap":            {"internal/workspace"},
	"golang.org/x/text/encoding/japanese":           {"internal/workspace"},
	"golang.org/x/text/encoding/korean":             {"internal/workspace"},
	"golang.org/x/text/encoding/simplifiedchinese":  {"internal/workspace"},
	"golang.org/x/text/encoding/traditionalchinese": {"internal/workspace"},
	"golang.org/x/text/encoding/unicode":            {"internal/workspace"},
	"golang.org/x/text/unicode/norm":                {"internal/workspace"},

	"github.com/spf13/cobra": {"internal/cli"},
	"github.com/spf13/pflag": {"internal/cli"},
	"html/template":          {},
	"os/signal":              {"internal/cli", "internal/shell"},
	"crypto/rand":            {"internal/app", "internal/shell"},
	"math/rand":              {},
	"math/rand/v2":           {"internal/app", "bench", "peers/gguf"},
	"text/template":          {},
}

// source is a Go file that is no test.
type source struct {
	pkg, path string
	file      *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if pkg == "." {
			pkg = ""
		}
		out = append(out, source{pkg, path, f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// covers F001 F041 F047
func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		row, ok := imports[s.pkg]
		if !ok {
			t.Errorf("%s: package %q is in no row of the import table", s.path, s.pkg)
			continue
		}
		for _, i := range s.file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			own, ours := strings.CutPrefix(path, "overt/")
			if ours {
				name := strings.TrimPrefix(own, "internal/")
				if row != "*" && !slices.Contains(strings.Fields(row), name) {
					t.Errorf("%s: %s may not import %s", s.path, s.pkg, own)
				}
				if s.pkg == "internal/cli" && name == "store" {
					t.Errorf("%s: front ends read through trace and act through session", s.path)
				}
				if name == "cli" && s.pkg != "cmd/overt" {
					t.Errorf("%s: only cmd/overt imports cli", s.path)
				}
			}
			if allowed, owned := owners[path]; owned && !slices.Contains(allowed, s.pkg) {
				t.Errorf("%s: %s is for %v alone", s.path, path, allowed)
			}
			if slices.Contains(kernel, s.pkg) && slices.Contains([]string{"os", "net", "net/http", "database/sql", "os/exec", "io/ioutil"}, path) {
				t.Errorf("%s: the kernel has no resource of its own, yet imports %s", s.path, path)
			}
		}
	}
}

// TestKernelHasNoClock looks for calls that would make a turn depend on when it runs.
func TestKernelHasNoClock(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains(kernel, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker"}, sel.Sel.Name) {
				t.Errorf("%s: time.%s in the kernel", s.path, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestOnlyViewsPrint: what a package has to say it returns; standard output and error belong to the front ends.
//
// covers F050
func TestOnlyViewsPrint(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "cmd/overt" || s.pkg == "internal/cli" || strings.HasPrefix(s.pkg, "bench") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && (x.Name == "fmt" && slices.Contains([]string{"Print", "Printf", "Println"}, sel.Sel.Name) || x.Name == "os" && slices.Contains([]string{"Stdout", "Stderr"}, sel.Sel.Name)) {
				t.Errorf("%s: %s.%s; return it instead", s.path, x.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

// tables are the package-level variables that are neither errors, what is made once when it is asked for, nor embedded texts, and
// that nothing writes to.
var tables = []string{"internal/event.decoders"}

// TestPackages wants one package comment each, no init functions, and no package-level variables that code may change.
func TestPackages(t *testing.T) {
	docs := map[string]int{}
	for _, s := range sources(t) {
		if _, ok := docs[s.pkg]; !ok {
			docs[s.pkg] = 0
		}
		if s.file.Doc != nil {
			docs[s.pkg]++
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init function", s.path)
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR && !strings.HasPrefix(s.pkg, "bench") {
				checkVars(t, s, g)
			}
		}
	}
	for pkg, n := range docs {
		if n != 1 {
			t.Errorf("package %q has %d package comments, want 1", pkg, n)
		}
	}
}

func checkVars(t *testing.T, s source, g *ast.GenDecl) {
	t.Helper()
	if g.Doc != nil && strings.Contains(g.Doc.List[len(g.Doc.List)-1].Text, "//go:embed") {
		return
	}
	for _, spec := range g.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i < len(v.Values) {
				switch x := v.Values[i].(type) {
				case *ast.CallExpr: // an error
					if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
						if from, ok := sel.X.(*ast.Ident); ok && (from.Name == "regexp" || sel.Sel.Name == "NewReplacer") {
							t.Errorf("%s: %s is made at each start, used or not", s.path, name.Name)
						}
					}
					continue
				case *ast.SelectorExpr: // another name of one
					continue
				}
			}
			if name.Name != "_" && !slices.Contains(tables, s.pkg+"."+name.Name) {
				t.Errorf("%s: package-level variable %s", s.path, name.Name)
			}
		}
	}
}

// TestNoSecretsInFixtures looks for what has the shape of a real key in everything that is committed as test data.
func TestNoSecretsInFixtures(t *testing.T) {
	keys := regexp.MustCompile(`ghp_|AKIA|xoxb-|-----BEGIN|\bsk-[A-Za-z0-9_-]{20}|\bAIza[A-Za-z0-9_-]{30}|\bgsk_[A-Za-z0-9]{20}|(?i:bearer|x-api-key"?:) +"?[A-Za-z0-9._-]{20}`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if found := keys.Find(data); found != nil {
			t.Errorf("%s holds %q", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
