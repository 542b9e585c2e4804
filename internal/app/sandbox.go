package app

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/config"
	"overt/internal/policy"
	"overt/internal/shell"
)

// secretHome is what of a home folder no confined command reads, beside what [policy.Secret] knows by its name: where
// programs keep what others could sign in with.
func secretHome() []string {
	return []string{
		".ssh", ".aws", ".azure", ".oci", ".gnupg", ".kube", ".docker", ".password-store", ".terraform.d", ".codex", ".gemini", ".claude",
		".mozilla", ".thunderbird", ".local/share/keyrings", ".config/gh", ".config/gcloud", ".config/op", ".config/chromium",
		".config/google-chrome", ".config/BraveSoftware", ".config/overt", ".cargo/credentials", ".cargo/credentials.toml",
		".gradle/gradle.properties", ".m2/settings.xml", ".m2/settings-security.xml",
	}
}

// secretSystem is the same of the machine, for a person who could read it.
func secretSystem() []string {
	return []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/etc/krb5.keytab", "/run/secrets"}
}

// box says what a confined command may touch now: what is protected or secret is looked up each time, since a command may
// have made it: in the root and the folders in it, and deeper as far as a checkpoint has seen it.
type box struct {
	root, home string   // absolute
	temp       string   // of the environment
	caches     []string // folders that the environment names
	own        []string
	store      string                                 // holds what commands write to caches
	known      func(match func(string) bool) []string // paths of the workspace that were seen; nil: none were
}

// maxDeep bounds how many paths deep in the workspace are closed; each is a mount.
const maxDeep = 500

func (a *App) newBox() box {
	lookup := variables(a.o.Env)
	env := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	b := box{root: a.tree.Root(), home: env("HOME"), temp: env("TMPDIR"), own: []string{a.o.State}, store: filepath.Join(folder(a.o.State, a.o.Root), "caches")}
	if a.keeper != nil {
		b.known = a.keeper.Known
	}
	if dir := env("XDG_CONFIG_HOME"); dir != "" {
		b.own = append(b.own, filepath.Join(dir, "overt"))
	}
	for _, name := range cacheVariables() {
		b.caches = append(b.caches, filepath.SplitList(env(name))...)
	}
	for _, s := range a.o.Config.Settings {
		if s.Source.Layer == config.User {
			b.own = append(b.own, s.Source.Name)
		}
	}
	return b
}

func (b box) sandbox() (*shell.Sandbox, error) {
	s := &shell.Sandbox{}
	for _, dir := range []string{b.root, b.temp, "/tmp", "/var/tmp"} {
		if real, ok := real(dir); ok && !slices.Contains(s.Write, real) {
			s.Write = append(s.Write, real)
		}
	}
	hide := func(path string) {
		if real, ok := real(path); ok && real != b.root {
			s.Hidden = append(s.Hidden, real)
		}
	}
	for _, p := range append(secretSystem(), b.own...) {
		hide(p)
	}
	if home, ok := real(b.home); ok && home != b.root { // which may lie in a temporary folder
		s.ReadOnly = append(s.ReadOnly, home)
	}
	if b.home != "" {
		for _, name := range secretHome() {
			hide(filepath.Join(b.home, name))
		}
		for _, name := range names(b.home) {
			if policy.Secret(name) {
				hide(filepath.Join(b.home, name))
			}
		}
	}
	b.look(s, hide, ".", names(b.root))
	for _, dir := range names(b.root) {
		if info, err := os.Lstat(filepath.Join(b.root, dir)); err == nil && info.IsDir() && dir != ".git" {
			b.look(s, hide, dir, names(filepath.Join(b.root, dir)))
		}
	}
	if b.known != nil {
		deep := b.known(func(p string) bool { return strings.Count(p, "/") > 1 && (path.Base(p) == ".git" || policy.Secret(p)) })
		slices.Sort(deep)
		for _, p := range deep[:min(len(deep), maxDeep)] {
			b.look(s, hide, path.Dir(p), []string{path.Base(p)})
		}
	}
	return s, b.private(s, hide)
}

// look adds what of a folder is protected or secret. Of a repository only that is protected which programs run or obey;
// commands of Git write the rest.
func (b box) look(s *shell.Sandbox, hide func(string), dir string, names []string) {
	for _, name := range names {
		rel := filepath.ToSlash(filepath.Join(dir, name))
		full := filepath.Join(b.root, rel)
		info, err := os.Lstat(full)
		switch {
		case err != nil:
		case policy.Secret(rel):
			hide(full)
		case name == ".git" && info.IsDir():
			s.ReadOnly = append(s.ReadOnly, gitParts(full)...)
		case policy.Protected(rel):
			// What a link leads to is obeyed in its name. A link itself can't be mounted over; what becomes of it is put back.
			if to, ok := real(full); ok && strings.HasPrefix(to, b.root+"/") {
				s.ReadOnly = append(s.ReadOnly, to)
			}
		}
	}
}

// gitParts is what of a repository's own folder makes programs run, or says where the rest is. The folders in which there are
// many files, and none of that kind, are not looked into.
func gitParts(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(full string, e fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(dir, full)
		switch {
		case rerr != nil || full == dir:
			return nil
		case policy.Planted(path.Join(".git", filepath.ToSlash(rel))):
			out = append(out, full)
		case err != nil:
		case e.IsDir() && e.Name() == "objects":
			for _, name := range []string{"alternates", "http-alternates"} {
				if from := filepath.Join(full, "info", name); exists(from) {
					out = append(out, from)
				}
			}
		case !slices.Contains([]string{"refs", "logs", "lfs"}, e.Name()):
			return nil
		}
		if e != nil && e.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// real is the path of what exists, links resolved.
func real(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	path, err := filepath.EvalSymlinks(path)
	return path, err == nil
}

// names lists a folder; of one that can't be read there are none.
func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}
