package policy

import (
	"path"
	"slices"
	"strings"
)

// place is where a path leads.
type place int

const (
	nowhere   place = iota // devices that keep nothing, and what the command itself has open
	inside                 // in the workspace
	public                 // what every program of the machine may read
	temporary              // the folders for temporary files
	outside
	device
	anywhere // not known
)

// spot is a path as the grader knows it.
type spot struct {
	place place
	path  string   // as people read it
	also  []string // other names of it: what links lead to
}

// secret tells whether reading the spot may show credentials.
func (s spot) secret() bool {
	return slices.ContainsFunc(append(s.also, s.path), func(p string) bool {
		return Secret(p) || Secret(p+"/x") || secretPattern(p) || secretOfSystem(p)
	})
}

func (s spot) protected() bool { return slices.ContainsFunc(append(s.also, s.path), Protected) }

// secretOfSystem names what holds secrets outside workspaces.
func secretOfSystem(p string) bool {
	for _, s := range []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/etc/krb5.keytab", "/run/secrets", "/var/run/secrets"} {
		if p == s || strings.HasPrefix(p, s+"/") || strings.HasPrefix(p, s+"-") || strings.HasPrefix(p, s+".") {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(p, "/proc/"); ok {
		_, what, _ := strings.Cut(rest, "/")
		what, _, _ = strings.Cut(what, "/")
		return rest == "kcore" || slices.ContainsFunc([]string{"environ", "mem", "maps", "root", "cwd", "fd", "task", "map_files"}, func(s string) bool {
			ok, err := path.Match(what, s)
			return ok || err != nil
		})
	}
	return false
}

// secretPattern tells whether a pattern is one for files that usually hold credentials. A pattern for every file of a
// folder is none.
func secretPattern(p string) bool {
	name := strings.ToLower(path.Base(p))
	if !strings.ContainsAny(name, "*?[") {
		return false
	}
	if strings.HasPrefix(name, ".") && strings.Trim(name, ".*?[]!^") == "" {
		return true // all hidden files
	}
	stem, _, _ := strings.Cut(name[1:], ".")
	named := strings.Trim(name[:1]+stem, "*?[]!^.") != ""
	for _, s := range []string{".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".vault-token", "id_rsa", "id_ed25519"} {
		if ok, err := path.Match(name, s); (ok || err != nil) && named {
			return true
		}
	}
	for _, s := range []string{"x.pem", "x.p12", "x.pfx", "x.key", "x.jks", "x.keystore", "x.kdbx"} {
		if ok, err := path.Match(name, s); (ok || err != nil) && strings.Contains(name, ".") {
			return strings.Trim(path.Ext(name), ".*?[]") != ""
		}
	}
	for _, s := range []string{"credentials", "credentials.json", "secrets.yml", "secrets.yaml", "secrets.json"} {
		if ok, err := path.Match(name, s); (ok || err != nil) && named {
			return true
		}
	}
	return false
}

// spots says where an argument leads, from each folder that the command may be in.
func (g *grader) spots(a arg) []spot {
	if a.how == unknown {
		return []spot{{anywhere, a.text + "…", nil}}
	}
	if strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "~") {
		if s := g.spot(a.text); s.place == public && strings.Contains(a.text+"/", "/../") {
			return []spot{{outside, a.text, nil}} // folders of the system are full of links
		}
		return []spot{g.spot(a.text)}
	}
	var out []spot
	for _, d := range g.at.dirs {
		switch {
		case d == "?":
			out = append(out, spot{anywhere, a.text, nil})
		case d == "~", strings.HasPrefix(d, "~/"), strings.HasPrefix(d, "/"):
			out = append(out, g.spot(d+"/"+a.text))
		case g.aside(d, a.text):
			out = append(out, spot{outside, a.text, nil})
		default:
			out = append(out, g.spot(path.Join(d, a.text)))
		}
	}
	return out
}

// aside tells whether ".." in a path stands behind a link, and so for the folder above what the link leads to.
func (g *grader) aside(dir, p string) bool {
	if g.files == nil || !strings.Contains(p, "..") {
		return false
	}
	at := dir
	for name := range strings.SplitSeq(p, "/") {
		if name == ".." && at != "." && at != ".." && !strings.HasPrefix(at, "../") {
			if real, err := g.resolve(at); err != nil || real != at {
				return true
			}
		}
		at = path.Join(at, name)
	}
	return false
}

func (g *grader) spot(p string) spot {
	if strings.HasPrefix(p, "~") {
		return spot{outside, path.Clean(p), nil}
	}
	p = path.Clean(p)
	if !path.IsAbs(p) {
		if p == ".." || strings.HasPrefix(p, "../") {
			return spot{outside, p, nil}
		}
		return g.within(p)
	}
	if kind, ok := ofSystem(p); ok {
		return spot{kind, p, nil}
	}
	if g.files != nil {
		if real, err := g.resolve(fixed(p)); err == nil {
			return g.linked(spot{inside, path.Join(real, strings.TrimPrefix(p, fixed(p))), nil})
		}
	}
	for _, t := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if strings.HasPrefix(p, t+"/") {
			return spot{temporary, p, nil}
		}
	}
	return spot{outside, p, nil}
}

// resolve asks the workspace once where a path leads.
func (g *grader) resolve(p string) (string, error) {
	r, ok := g.resolved[p]
	if !ok {
		r.path, r.err = g.files.Resolve(p)
		if g.resolved == nil {
			g.resolved = map[string]resolved{}
		}
		g.resolved[p] = r
	}
	return r.path, r.err
}

type resolved struct {
	path string
	err  error
}

// within says where a path below the workspace leads once links are followed.
func (g *grader) within(p string) spot {
	s := spot{inside, p, nil}
	if g.files == nil {
		return s
	}
	real, err := g.resolve(fixed(p))
	switch {
	case err != nil:
		s.place = outside
	case real != fixed(p):
		s.also = []string{path.Join(real, strings.TrimPrefix(p, fixed(p)))}
	}
	return g.linked(s)
}

// linked adds what else a path of the workspace is a name of by a hard link, if that may hold credentials.
func (g *grader) linked(s spot) spot {
	if s.place == inside {
		if secret := g.files.Linked(s.path); secret != "" {
			s.also = append(s.also, secret)
		}
	}
	return s
}

// fixed is the leading part of a path that holds no pattern.
func fixed(p string) string {
	i := strings.IndexAny(p, "*?[")
	if i < 0 {
		return p
	}
	i = strings.LastIndexByte(p[:i], '/')
	switch {
	case i > 0:
		return p[:i]
	case i == 0:
		return "/"
	}
	return "."
}

// ofSystem names places of the machine whose meaning is the same everywhere.
func ofSystem(p string) (place, bool) {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty":
		return nowhere, true
	}
	if rest, ok := strings.CutPrefix(p, "/dev/fd/"); ok && digits(rest) {
		return nowhere, true
	}
	if strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "/dev/shm/") {
		return device, true
	}
	if secretOfSystem(p) {
		return outside, true
	}
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/proc", "/sys", "/etc/alternatives", "/etc/apt", "/etc/ssl/certs"} {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return public, true
		}
	}
	name, ok := strings.CutPrefix(p, "/etc/")
	if ok && slices.Contains([]string{
		"os-release", "lsb-release", "debian_version", "alpine-release", "redhat-release", "issue", "hostname", "hosts", "services", "protocols", "shells",
		"timezone", "localtime", "mime.types", "resolv.conf", "nsswitch.conf",
	}, name) {
		return public, true
	}
	return 0, false
}

// read notes that the content of a path is read.
func (g *grader) read(a arg) {
	if a.fd {
		return
	}
	for _, s := range g.spots(a) {
		if s.place == device && strings.HasPrefix(s.path, "/dev/tcp/") || strings.HasPrefix(s.path, "/dev/udp/") {
			g.network(Fetch, s.path)
			continue
		}
		if s.place != nowhere {
			g.effect(Read, s.path, true)
		}
		if strings.Contains(a.text, "://") {
			g.network(Fetch, a.text)
		}
		switch {
		case s.secret():
			g.add(Medium, RiskSecret)
		case s.place == outside, s.place == device:
			g.add(Medium, RiskReads)
		case s.place == anywhere:
			g.add(Medium, RiskUnresolved)
		}
	}
}

// look notes that names, sizes and times are read.
func (g *grader) look(a arg) {
	for _, s := range g.spots(a) {
		if s.place == outside || s.place == device {
			g.effect(Read, s.path, true)
			g.add(Medium, RiskReads)
		}
		if s.place == anywhere {
			g.add(Medium, RiskUnresolved)
		}
	}
}

// write notes that a path is made or changed.
func (g *grader) write(a arg) {
	if a.fd {
		return
	}
	for _, s := range g.spots(a) {
		if s.place == nowhere {
			continue
		}
		if strings.HasPrefix(s.path, "/dev/tcp/") || strings.HasPrefix(s.path, "/dev/udp/") {
			g.network(Send, s.path)
			continue
		}
		g.written = append(g.written, s.path)
		g.changes(Write, s)
	}
}

// remove notes that a path is deleted; all says that everything below it is.
func (g *grader) remove(a arg, all bool) {
	for _, s := range g.spots(a) {
		g.changes(Delete, s)
		base := strings.Trim(path.Base(s.path), "*?./")
		if all || g.bulk || s.place == anywhere || s.place == temporary && a.how != exact || base == "" && a.how == pattern {
			g.add(High, RiskDestroys)
		}
	}
}

// move notes that a path is read and then gone.
func (g *grader) move(a arg) {
	g.read(a)
	for _, s := range g.spots(a) {
		g.changes(Delete, s)
	}
}

func (g *grader) changes(kind EffectKind, s spot) {
	git := strings.Contains("/"+strings.ToLower(s.path)+"/", "/.git/")
	g.effect(kind, s.path, s.place == inside && !git)
	switch {
	case s.protected() && s.place != temporary:
		g.add(High, RiskProtected)
	case s.place == inside && s.secret():
		g.add(Medium, RiskSecret)
	}
	switch s.place {
	case inside, temporary:
		g.add(Medium, RiskChanges)
	case anywhere:
		g.add(Medium, RiskUnresolved)
	default:
		g.add(High, RiskOutside)
	}
}

// network notes that a command talks to an address, "" where it is not known.
func (g *grader) network(kind EffectKind, address string) {
	g.effect(kind, address, false)
	if kind == Send {
		g.add(High, RiskSends)
	}
	g.add(Medium, RiskNetwork)
}
