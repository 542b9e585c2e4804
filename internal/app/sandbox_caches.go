package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/store"
)

// caches is what of a home folder builds write to, and only they read.
func caches() []string {
	return []string{".cache", ".npm", ".cargo", ".rustup", ".gradle", ".m2", "go"}
}

// cacheVariables name variables that say where such folders are instead.
func cacheVariables() []string {
	return []string{
		"XDG_CACHE_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE", "CARGO_HOME", "RUSTUP_HOME", "GRADLE_USER_HOME",
		"npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR", "POETRY_CACHE_DIR", "CCACHE_DIR", "SCCACHE_DIR", "NUGET_PACKAGES",
	}
}

// cacheSecrets is what of a cache folder no confined command reads, beside what [policy.Secret] knows by its name.
func cacheSecrets() []string {
	return []string{"gradle.properties", "settings.xml", "settings-security.xml"}
}

// private adds the caches of the person, warm as they are: what commands write there is kept apart. It is called when all else is
// there.
func (b box) private(s *shell.Sandbox, hide func(string)) error {
	add := func(dir, name string) error {
		kept := filepath.Join(b.store, name)
		if err := os.MkdirAll(kept, 0o700); err != nil {
			return err
		}
		s.Private = append(s.Private, shell.Private{Path: dir, Store: kept})
		return nil
	}
	if b.home != "" {
		// The one that programs expect to be able to make.
		if err := os.Mkdir(filepath.Join(b.home, ".cache"), 0o700); err != nil && !errors.Is(err, fs.ErrExist) && !unmade(err) {
			return err
		}
		for _, name := range caches() {
			if dir, ok := real(filepath.Join(b.home, name)); ok {
				if err := add(dir, name); err != nil {
					return err
				}
			}
		}
	}
	for _, dir := range b.caches {
		dir, err := b.cache(s, dir)
		if err != nil {
			return err
		}
		if dir == "" {
			continue
		}
		for _, name := range names(dir) {
			if policy.Secret(name) || slices.Contains(cacheSecrets(), name) {
				hide(filepath.Join(dir, name))
			}
		}
		if err := add(dir, store.Name(dir)); err != nil {
			return err
		}
	}
	return nil
}

// cache is where a cache is that the environment names, links resolved, made if it is not there; "" if it is to stay as everything
// else is: inside what is private already, the workspace or what is closed, or around the home folder.
func (b box) cache(s *shell.Sandbox, dir string) (string, error) {
	at, missing := dir, ""
	for { // what is there of it
		real, ok := real(at)
		if ok {
			at = filepath.Join(real, missing)
			break
		}
		if !filepath.IsAbs(at) || at == "/" {
			return "", nil
		}
		at, missing = filepath.Dir(at), filepath.Join(filepath.Base(at), missing)
	}
	home, _ := real(b.home)
	within := func(in, dir string) bool { return in == dir || strings.HasPrefix(in, strings.TrimSuffix(dir, "/")+"/") }
	switch {
	case at == "/", within(home, at), within(at, b.root), policy.Protected(at), policy.Secret(at),
		slices.ContainsFunc(s.Private, func(p shell.Private) bool { return within(at, p.Path) }),
		slices.ContainsFunc(s.Write, func(dir string) bool { return dir != b.root && within(dir, at) }),
		slices.ContainsFunc(s.Hidden, func(dir string) bool { return within(at, dir) }):
		return "", nil
	}
	if missing != "" {
		if err := os.MkdirAll(at, 0o700); unmade(err) {
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
	return at, nil
}

// unmade tells whether a folder could not be made where the person could not make it either.
func unmade(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR)
}
