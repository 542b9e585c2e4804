package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overt/internal/shell"
)

// TestCaches: folders that the environment names for caches are private to commands, but none that holds or is something else.
func TestCaches(t *testing.T) {
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(temp, name) }
	for _, dir := range []string{"home/me/.ssh", "home/me/.cache", "home/me/go/src/work/sub", "srv/there", "srv/repo/.git", "state", "tmp"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home/me/.ssh"), at("srv/link")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"srv/there/credentials.toml": "", "srv/there/a": "", "srv/there/gradle.properties": "", "srv/file": ""} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"srv/there":                 "srv/there",
		"srv/made/deep":             "srv/made/deep",
		"srv/there/in/it":           "srv/there/in/it",
		"home/me/other":             "home/me/other",
		"tmp/cache":                 "tmp/cache",
		"home/me/go/pkg":            "", // private as it is
		"home/me/.cache/pip":        "",
		"home/me":                   "",
		"home":                      "",
		"":                          "",
		"tmp":                       "",
		"home/me/.ssh":              "",
		"home/me/.ssh/cache":        "",
		"srv/link":                  "",
		"srv/link/cache":            "",
		"srv/repo/.git/cache":       "",
		"state/x":                   "",
		"home/me/go/src/work":       "",
		"home/me/go/src/work/cache": "",
		"srv/file/x":                "",
	} {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			b := box{root: at("home/me/go/src/work"), home: at("home/me"), temp: at("tmp"), own: []string{at("state")}, store: at("state/caches"), caches: []string{at(name)}}
			s, err := b.sandbox()
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(s.Private, func(p shell.Private) bool { return p.Path == at(name) })
			if (i >= 0) != (want != "") {
				t.Errorf("private is %v", s.Private)
			}
			if _, err := os.Lstat(at(want)); err != nil || i >= 0 && !strings.HasPrefix(s.Private[i].Store, at("state/caches")+"/") {
				t.Errorf("%v, %v", err, s.Private)
			}
		})
	}
	b := box{root: at("home/me/go/src/work"), home: at("home/me"), temp: at("tmp"), store: at("state/caches"), caches: []string{"off", "relative/path", "/", at("srv/there"), at("srv/there/in")}}
	s, err := b.sandbox()
	if err != nil || len(s.Private) != 3 { // ~/.cache, ~/go and there
		t.Errorf("%v, %v", s.Private, err)
	}
	for _, name := range []string{"srv/there/credentials.toml", "srv/there/gradle.properties"} {
		if !slices.Contains(s.Hidden, at(name)) {
			t.Errorf("%s is open", name)
		}
	}
}

// TestObjectsFromElsewhere: what a repository takes objects from is closed where it is there, and where it may be made it is put back.
func TestObjectsFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"objects/info", "modules/m/objects/info", "modules/n/objects/info"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for _, name := range []string{"config", "modules/m/objects/info/alternates", "objects/info/alternates"} {
		p := filepath.Join(dir, ".git", name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, p)
	}
	if got := gitParts(filepath.Join(dir, ".git")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
