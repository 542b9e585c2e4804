package overt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// targets gives the recipes of the Makefile, by target, with the targets that each needs first.
func targets(t *testing.T) (recipes, needs map[string][]string) {
	t.Helper()
	data, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	recipes, needs = map[string][]string{}, map[string][]string{}
	name := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		head := regexp.MustCompile(`^([a-z-]+):([^=#]*)`).FindStringSubmatch(line)
		switch {
		case head != nil:
			name = head[1]
			recipes[name], needs[name] = nil, strings.Fields(head[2])
		case name != "" && strings.HasPrefix(line, "\t"):
			recipes[name] = append(recipes[name], strings.TrimLeft(line, "\t@-"))
		default:
			name = ""
		}
	}
	return recipes, needs
}

// TestCleanKeepsWhatIsThePersons: make clean removes what make has built, and no folder where a person's data could be.
//
// covers L017
func TestCleanKeepsWhatIsThePersons(t *testing.T) {
	recipes, needs := targets(t)
	if got, want := recipes["clean"], []string{"rm -rf bin .cache"}; !slices.Equal(got, want) || len(needs["clean"]) != 0 {
		t.Errorf("make clean runs %q, want %q: what it removes lies in the tree, and git ignores it", got, want)
	}
	ignored, err := os.ReadFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/bin/\n", "/.cache/\n"} {
		if !strings.Contains(string(ignored), dir) {
			t.Errorf(".gitignore does not have %q", dir)
		}
	}
}

// TestNoSecretDownload: nothing that builds or checks fetches anything by itself but the modules that go.sum pins. Only
// the targets that are there for it install programs, and say what.
//
// covers L021
func TestNoSecretDownload(t *testing.T) {
	fetches := regexp.MustCompile(`\b(curl|wget|apt|apt-get|apk|dnf|brew|npm|npx|pip|pip3|git clone|git fetch|go get|go install)\b|@latest\b|https?://`)
	const setup = "scripts/setup"
	allowed := []string{
		setup,
		"scripts/peers",        // what lock files pin, with checksums; for setup and real-server
		"scripts/llama-server", // its clone is of a file
	}
	recipes, needs := targets(t)
	if len(recipes) < 10 {
		t.Fatalf("the Makefile was not understood: %v", recipes)
	}
	for name, lines := range recipes {
		for _, line := range lines {
			if m := fetches.FindString(line); m != "" {
				t.Errorf("make %s has %q in %q", name, m, line)
			}
			if strings.Contains(line, setup) && name != "setup" || strings.Contains(line, "scripts/real-server") && name != "real-server" {
				t.Errorf("make %s installs programs by itself", name)
			}
		}
		if slices.Contains(needs[name], "setup") && name != "test" || slices.Contains(needs[name], "real-server") {
			t.Errorf("make %s installs programs first", name)
		}
	}
	scripts, err := filepath.Glob("scripts/*")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range append(scripts, ".ci/run") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if code, _, _ := strings.Cut(strings.TrimSpace(line), "#"); !slices.Contains(allowed, filepath.ToSlash(path)) && fetches.MatchString(code) {
				t.Errorf("%s has %q", path, code)
			}
		}
	}
}
