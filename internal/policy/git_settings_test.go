package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// listed is a configuration as git config --list -z shows it.
func listed(set []setting) string {
	var b strings.Builder
	for _, s := range set {
		b.WriteString(s.section)
		if s.sub != "" || s.named {
			b.WriteString("." + s.sub)
		}
		if s.section != "" || s.named {
			b.WriteByte('.')
		}
		b.WriteString(s.key)
		if !s.bare {
			b.WriteString("\n" + s.value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// TestGitSettingsLikeGit: what is taken for a configuration has the settings that Git finds in it.
func TestGitSettingsLikeGit(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	file := filepath.Join(t.TempDir(), "config")
	compare := func(fatal func(string, ...any), text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			fatal("%v", err)
		}
		cmd := exec.Command(program, "config", "--file", file, "--list", "-z")
		cmd.Env = []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		set, ok := gitSettings(text)
		if err != nil { // Git stops at it, so nothing is run for it
			return
		}
		if ok && listed(set) != string(out) {
			fatal("%q:\n%q\nwant\n%q", text, listed(set), out)
		}
	}
	for _, text := range []string{
		"\ufeff[core]\nfsmonitor = x", "[diff \"a]b\"] textconv = x", "[color][diff \"a\"]textconv=x", "[a]\nb = c\\\n[d]\ne=f", "[a]b=c # d\\\n[e]f=g",
		"[core]\r\n\tfsmonitor = x\r\n", "[CORE] FSMonitor = \"a # b\" ; c", "[core \"x\"]\nfsmonitor", "[a.B.c] d = \" e \" f ", "[a \"\"] b=c", "[a] b = \u00a0", "[a] b = c \\\n  d",
	} {
		if _, ok := gitSettings(text); !ok {
			t.Errorf("%q is not taken", text)
		}
		compare(t.Fatalf, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		compare(t.Fatalf, strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"[core]", "[a \"b\"]", "[a.B]", "[", "]", "\"", "\\", "\n", "\r\n", "\r", "=", " ", "\t", "x", "key", "#", ";", "\\n", "\\\"", ".", "-", "7", "\v", "\u00a0", "\\\n",
		}), 0, 16).Draw(t, "text"), ""))
	})
}

func TestSettingRuns(t *testing.T) {
	for text, want := range map[string]bool{
		"\ufeff[core]\nfsmonitor = x": true, "[core]\nfsmonitor = false": false, "[core] fsmonitor =": false, "[core] fsmonitor": true, "[core] fsmonitor = false\u00a0": true,
		"[core] hooksPath = false": true, "[diff \"a]\"] textconv = x": true, "[color][diff \"a\"]textconv=x": true, "[diff \"x\"]\na = b\\\n[color]\ntextconv = c": true,
		"[filter \"x\"]\nclean=y": true, "[Include] path = x": true, "[protocol] version = 2": false, "[protocol \"ext\"] allow = always": true, "[branch \"textconv\"] remote = o": false,
		"[diff] submodule = diff": true, "[diff] renames = true": false, "# [filter \"x\"]\n": false, "[remote \"o\"] url = textconv=x": false,
	} {
		set, ok := gitSettings(text)
		got := false
		for _, s := range set {
			got = got || s.runs()
		}
		if !ok || got != want {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
}

func FuzzGitSettings(f *testing.F) {
	for _, s := range []string{"", "[", "[a \"", "[a \"\\", "[a]b", "[a]b=\\", "[a]b=\"c"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) { gitSettings(text) })
}

// TestGitlinks reads indexes that Git has written.
func TestGitlinks(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		hash := map[string]int{"sha1": 20, "sha256": 32}[format]
		git("init", "-q", "--object-format="+format)
		zero := strings.Repeat("1", 2*hash)
		for _, name := range []string{"a", "abc/d", "z"} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("update-index", "--add", "--cacheinfo", "160000,"+zero+",abc/n")
		git("update-index", "--add", "--cacheinfo", "160000,"+zero+",m")
		for _, version := range []string{"2", "3", "4"} {
			git("update-index", "--index-version", version)
			if version == "3" {
				if err := os.WriteFile(filepath.Join(dir, "y"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				git("add", "-N", "y")
			}
			data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			links, ok := gitlinks(data, hash)
			if !ok || strings.Join(links, " ") != "abc/n m" {
				t.Errorf("%s, version %s: %q %v", format, version, links, ok)
			}
			for cut := range len(data) {
				if _, ok := gitlinks(data[:cut], hash); ok && cut > len(data)-8 {
					t.Errorf("%s, version %s: %d of %d bytes are taken for the whole", format, version, cut, len(data))
				}
			}
		}
		git("update-index", "--split-index")
		data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := gitlinks(data, hash); ok {
			t.Errorf("%s: an index without its entries is taken for the whole", format)
		}
	}
}

func FuzzGitlinks(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"), 20)
	f.Fuzz(func(_ *testing.T, data []byte, hash int) {
		if hash != 32 {
			hash = 20
		}
		gitlinks(data, hash)
	})
}
