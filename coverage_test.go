package overt_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/seed-coverage.md anew")

const (
	rowsFile = "docs/seed-rows.tsv"
	pageFile = "docs/seed-coverage.md"
)

// laterParts are the parts of the product that are still to be built.
func laterParts() []string {
	return []string{"SHELL", "PROVIDERS", "CONTEXT", "TERMINAL", "WORKBENCH", "INSPECTOR", "ORCHESTRATION", "DELIVERY"}
}

// row is a behaviour that the product set out with.
type row struct {
	section, id, parts, text string
	state                    string // "", "decision NNNN" or "later: PART"
}

// mark is a comment `// covers L045 L046` at a test, or `# covers L045` in a script.
type mark struct {
	id, test, file string
}

// TestSeedCoverage wants each row of docs/seed-rows.tsv to have exactly one state: a test covers it, a decision says why
// it is otherwise, or a later part builds it. It compares docs/seed-coverage.md with that.
func TestSeedCoverage(t *testing.T) {
	data, err := os.ReadFile(rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, problems := parseRows(string(data))
	marks, more := findMarks(t)
	problems = slices.Concat(problems, more, settle(rows, marks, decisions(t)))
	for _, p := range problems {
		t.Error(p)
	}
	if len(problems) > 0 {
		return
	}
	want := page(rows, marks)
	if *update {
		if err := os.WriteFile(pageFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pageFile)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the rows and the tests say; run make generate (%v)", pageFile, err)
	}
}

// parseRows reads the rows: id, parts, behaviour, state, with tabs between; "## " begins a section, "# " is a comment.
func parseRows(text string) (rows []row, problems []string) {
	section := ""
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
			continue
		}
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) == 3 {
			f = append(f, "")
		}
		if len(f) != 4 || !regexp.MustCompile(`^[LFA]\d{3}$`).MatchString(f[0]) || f[1] == "" || f[2] == "" || section == "" {
			problems = append(problems, fmt.Sprintf("%s:%d: want id, parts, behaviour and state below a section", rowsFile, n+1))
			continue
		}
		if seen[f[0]] {
			problems = append(problems, fmt.Sprintf("%s:%d: %s stands there twice", rowsFile, n+1, f[0]))
		}
		seen[f[0]] = true
		rows = append(rows, row{section, f[0], f[1], f[2], f[3]})
	}
	return rows, problems
}

// settle says which rows do not have exactly one state. decisions are the records' texts, by number.
func settle(rows []row, marks []mark, decisions map[string]string) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	byID := map[string]row{}
	for _, r := range rows {
		byID[r.id] = r
	}
	covered := map[string]mark{}
	for _, m := range marks {
		if _, ok := byID[m.id]; !ok {
			say("%s: %s covers %s, which is no row", m.file, m.test, m.id)
		}
		covered[m.id] = m
	}
	for _, r := range rows {
		m, ok := covered[r.id]
		number, decided := strings.CutPrefix(r.state, "decision ")
		part, put := strings.CutPrefix(r.state, "later: ")
		switch {
		case ok && r.state != "":
			say("%s is covered by %s in %s and says %q: take one away", r.id, m.test, m.file, r.state)
		case !ok && r.state == "":
			say("%s has no state: no test covers it, and it is neither decided nor for later: %s", r.id, r.text)
		case decided:
			if text, found := decisions[number]; !found {
				say("%s: there is no decision %s", r.id, number)
			} else if !regexp.MustCompile(`\b` + r.id + `\b`).MatchString(text) {
				say("%s: decision %s does not speak of it", r.id, number)
			}
		case put && !slices.Contains(laterParts(), part):
			say("%s: %s is no part that is to come", r.id, part)
		case r.state != "" && !put:
			say("%s: the state %q is none", r.id, r.state)
		}
	}
	for number, text := range decisions {
		for _, f := range regexp.MustCompile(`(?m)^\| ([LFA]\d{3}) \|`).FindAllStringSubmatch(text, -1) {
			if byID[f[1]].state != "decision "+number {
				say("decision %s lists %s, whose state is %q", number, f[1], byID[f[1]].state)
			}
		}
	}
	return problems
}

// decisions reads the records, by number.
func decisions(t *testing.T) map[string]string {
	files, err := filepath.Glob("docs/decisions/[0-9][0-9][0-9][0-9]-*.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		number := filepath.Base(name)[:4]
		if _, ok := out[number]; ok {
			t.Errorf("two decisions have the number %s", number)
		}
		out[number] = string(data)
	}
	return out
}

// findMarks reads the marks of all tests and scripts.
func findMarks(t *testing.T) (marks []mark, problems []string) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules") {
			return fs.SkipDir
		}
		test, script := strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, ".txtar")
		if d.IsDir() || !test && !script {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, bad := scriptMarks(filepath.ToSlash(path), string(data)), []string(nil)
		if test {
			found, bad = testMarks(filepath.ToSlash(path), string(data))
		}
		marks, problems = append(marks, found...), append(problems, bad...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(strings.Compare(a.id, b.id), strings.Compare(a.file, b.file), strings.Compare(a.test, b.test))
	})
	return slices.Compact(marks), problems
}

// covers gives the rows that a comment names, without its first sign.
func covers(comment string) []string {
	if !regexp.MustCompile(`^ covers( [LFA]\d{3})+$`).MatchString(comment) {
		return nil
	}
	return strings.Fields(comment)[1:]
}

// scriptMarks reads the comments of a script, which end with its first file.
func scriptMarks(path, text string) (marks []mark) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			for _, id := range covers(comment) {
				marks = append(marks, mark{id, "script " + strings.TrimSuffix(filepath.Base(path), ".txtar"), path})
			}
		}
	}
	return marks
}

// testMarks reads the marks above and inside the tests of a Go file.
func testMarks(path, text string) (marks []mark, problems []string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			ids := covers(strings.TrimPrefix(c.Text, "//"))
			if ids == nil {
				if regexp.MustCompile(`^//\s*[Cc]overs:? [LFA]\d{3}`).MatchString(c.Text) {
					problems = append(problems, fmt.Sprintf("%s: %q is no mark; want // covers L001 L002", path, c.Text))
				}
				continue
			}
			name := testAt(f, group.Pos())
			if name == "" {
				problems = append(problems, fmt.Sprintf("%s: %q stands at no test", path, c.Text))
			}
			for _, id := range ids {
				marks = append(marks, mark{id, name, path})
			}
		}
	}
	return marks, problems
}

// testAt names the test or fuzz target whose comment or body holds a position.
func testAt(f *ast.File, at token.Pos) string {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") || fn.Name.Name == "TestMain" {
			continue
		}
		begin := fn.Pos()
		if fn.Doc != nil {
			begin = fn.Doc.Pos()
		}
		if begin <= at && at < fn.End() {
			return fn.Name.Name
		}
	}
	return ""
}

// page is docs/seed-coverage.md.
func page(rows []row, marks []mark) string {
	tests := map[string][]string{}
	for _, m := range marks {
		tests[m.id] = append(tests[m.id], fmt.Sprintf("[%s](../%s)", m.test, m.file))
	}
	states := map[string]int{}
	var body strings.Builder
	section := ""
	for _, r := range rows {
		if r.section != section {
			section = r.section
			fmt.Fprintf(&body, "\n## %s\n\n| row | behaviour | state |\n| --- | --- | --- |\n", section)
		}
		state, kind := r.state, r.state
		if list, ok := tests[r.id]; ok {
			state, kind = "covered: "+strings.Join(list, ", "), "covered"
		}
		if number, ok := strings.CutPrefix(kind, "decision "); ok {
			kind = "decision"
			if files, _ := filepath.Glob("docs/decisions/" + number + "-*.md"); len(files) == 1 {
				state = fmt.Sprintf("[%s](decisions/%s)", r.state, filepath.Base(files[0]))
			}
		}
		states[kind]++
		fmt.Fprintf(&body, "| %s | %s | %s |\n", r.id, strings.ReplaceAll(r.text, "|", "\\|"), state)
	}
	var b strings.Builder
	b.WriteString("# Seed coverage\n\n<!-- Made from seed-rows.tsv and the tests by `make generate`; a test fails when it drifts. -->\n\n" +
		"The behaviours that the product set out with, and how each stands: tests cover it, a decision says why it is otherwise here,\n" +
		"or a later part of the product builds it. A row with no state, or with two, fails `TestSeedCoverage`.\n\n| state | rows |\n| --- | --- |\n")
	kinds := []string{"covered", "decision"}
	for _, p := range laterParts() {
		kinds = append(kinds, "later: "+p)
	}
	for _, k := range kinds {
		if states[k] > 0 {
			fmt.Fprintf(&b, "| %s | %d |\n", k, states[k])
		}
	}
	return b.String() + body.String()
}

// TestCoverageRules: what the check is to find, it finds.
func TestCoverageRules(t *testing.T) {
	for name, c := range map[string]struct{ rows, tests, decision, problem string }{
		"covered":               {"L001\tMAIN\tx", "// covers L001\nfunc TestA() {}", "", ""},
		"inside a test":         {"L001\tMAIN\tx", "func TestA() {\n\t// covers L001\n}", "", ""},
		"decided":               {"L001\tMAIN\tx\tdecision 0013", "", "about L001", ""},
		"for later":             {"L001\tMAIN\tx\tlater: SHELL", "", "", ""},
		"nothing":               {"L001\tMAIN\tx", "", "", "L001 has no state"},
		"two states":            {"L001\tMAIN\tx\tlater: SHELL", "// covers L001\nfunc TestA() {}", "", "take one away"},
		"unknown row":           {"L001\tMAIN\tx\tlater: SHELL", "// covers L002\nfunc TestA() {}", "", "L002, which is no row"},
		"unknown part":          {"L001\tMAIN\tx\tlater: NEVER", "", "", "NEVER is no part"},
		"unknown state":         {"L001\tMAIN\tx\tcovered", "", "", `the state "covered" is none`},
		"no such decision":      {"L001\tMAIN\tx\tdecision 0099", "", "", "no decision 0099"},
		"a decision on others":  {"L001\tMAIN\tx\tdecision 0013", "", "about L0011", "does not speak of it"},
		"a list that lies":      {"L001\tMAIN\tx\tlater: SHELL", "", "| L001 | x |", "decision 0013 lists L001"},
		"twice":                 {"L001\tMAIN\tx\tlater: SHELL\nL001\tMAIN\tx\tlater: SHELL", "", "", "stands there twice"},
		"no behaviour":          {"L001\tMAIN", "", "", "want id, parts"},
		"a mark at no test":     {"L001\tMAIN\tx", "// covers L001\nfunc helper() {}", "", "stands at no test"},
		"a mark with a comma":   {"L001\tMAIN\tx\tlater: SHELL", "// covers L001, L002\nfunc TestA() {}", "", "is no mark"},
		"a mark at a benchmark": {"L001\tMAIN\tx", "// covers L001\nfunc BenchmarkA() {}", "", "stands at no test"},
	} {
		rows, problems := parseRows("# comment\n\n## Section\n" + c.rows + "\n")
		marks, more := testMarks("a_test.go", "package a\n\n"+c.tests+"\n")
		problems = slices.Concat(problems, more, settle(rows, marks, map[string]string{"0013": c.decision}))
		if all := strings.Join(problems, "\n"); c.problem == "" && all != "" || !strings.Contains(all, c.problem) {
			t.Errorf("%s: problems %q, want %q", name, all, c.problem)
		}
	}
	script := scriptMarks("x/y.txtar", "# covers L001 F002\nexec true\n# covers A003\n# covers nothing\n-- file --\n# covers L004\n")
	if want := []mark{{"L001", "script y", "x/y.txtar"}, {"F002", "script y", "x/y.txtar"}, {"A003", "script y", "x/y.txtar"}}; !slices.Equal(script, want) {
		t.Errorf("script: %v", script)
	}
}
