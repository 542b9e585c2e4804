package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"overt/internal/i18n"
)

// TestEveryCodeHasASentence looks for codes in the packages that speak to people, or whose codes views turn into
// sentences, and for sentences that nobody says.
func TestEveryCodeHasASentence(t *testing.T) {
	p := i18n.New("en")
	code := regexp.MustCompile(`"((?:config|task|run|tool|question|prompt|demo|trace|story|error|usage|input|dry|db|doctor|risk|undo|permission|trust|models|image|probe)\.[a-z_.]+)"`)
	said := map[string]bool{}
	for _, dir := range []string{"../cli", "../config", "../app", "../provider"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range code.FindAllStringSubmatch(string(data), -1) {
				c := m[1]
				if c == "tool.delta" || c == "config.json" || c == "config.worktree" { // a kind of event, files: not sentences
					continue
				}
				said[c] = true
				if strings.HasSuffix(c, ".") { // a prefix that a value completes
					continue
				}
				if !p.Has(c) {
					t.Errorf("%s says %q, which has no sentence", name, c)
				}
			}
		}
	}
	for _, c := range p.Codes() {
		if said[c] || said[strings.TrimSuffix(c, ".one")] || said[strings.TrimSuffix(c, ".none")] || strings.HasPrefix(c, "run.hint.") || strings.HasPrefix(c, "reason.") || strings.HasPrefix(c, "doctor.section.") || strings.HasPrefix(c, "tool.status.") || strings.HasPrefix(c, "undo.lacks.") || strings.HasPrefix(c, "undo.state.") || strings.HasPrefix(c, "undo.why.") || strings.HasPrefix(c, "permission.kept.") || strings.HasPrefix(c, "models.fact.") || strings.HasPrefix(c, "probe.by.") || strings.HasPrefix(c, "probe.check.") || strings.HasPrefix(c, "probe.first.") || strings.HasPrefix(c, "probe.result.") || strings.HasPrefix(c, "trace.why.") || c == "trust.create" || c == "trust.modify" || c == "trust.delete" {
			continue
		}
		t.Errorf("nobody says %q", c)
	}
}

// TestSentencesTakeWhatTheyAreGiven counts the arguments of each call against the verbs of its sentence.
func TestSentencesTakeWhatTheyAreGiven(t *testing.T) {
	p := i18n.New("en")
	files, err := filepath.Glob("../cli/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	checked := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 || c.Ellipsis.IsValid() {
				return true
			}
			sel, ok := c.Fun.(*ast.SelectorExpr)
			lit, isLit := c.Args[0].(*ast.BasicLit)
			if !ok || !isLit || sel.Sel.Name != "Say" {
				return true
			}
			code, err := strconv.Unquote(lit.Value)
			if err != nil || strings.HasSuffix(code, ".") {
				return true
			}
			checked++
			args := make([]any, len(c.Args)-1)
			for i := range args {
				args[i] = 1
			}
			// A verb of the wrong kind is fine here: only the number counts.
			if got := p.Say(code, args...); strings.Contains(got, "MISSING") || strings.Contains(got, "EXTRA") || len(args) == 0 && strings.Contains(got, "%") {
				t.Errorf("%s: %s with %d arguments says %q", name, code, len(args), got)
			}
			return true
		})
	}
	if checked < 20 {
		t.Errorf("only %d calls checked", checked)
	}
}

func TestUnknownCodesHideNothing(t *testing.T) {
	if got := i18n.New("xx").Say("no.such.code", "a", 7); got != "no.such.code a 7" {
		t.Errorf("%q", got)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := i18n.Number(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
