package tool

import (
	"path"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
)

// MayPlant tells by a path alone, relative to the workspace, whether a change there may be [Planted].
func MayPlant(p string) bool {
	return policy.Planted(p) || slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return slices.ContainsFunc([]string{".git", ".github", ".config"}, func(s string) bool { return strings.EqualFold(name, s) }) || repositoryName(name)
	})
}

// Planted tells which changes a confined command may not make: of what others run or obey later, unasked. Beside what policy
// names by its path these are repositories that it made or led elsewhere, with a .git or bare, since Git obeys the configuration
// and hooks in them; and folders that it made for nothing else. A folder comes before what is in it; there tells whether something
// stands at a path.
func Planted(changes []event.Change, there func(path string) bool) []bool {
	r := repositories{there: there, bare: map[string]bool{}, made: map[string]bool{}}
	for _, c := range changes {
		dir, name := path.Split(c.Path)
		if repositoryPart(name) && (c.Op == "create" || c.Op == "overwrite") {
			r.made[path.Clean(dir)] = true
		}
	}
	out := make([]bool, len(changes))
	var whole []string // folders that are put back with all that is in them
	for i, c := range changes {
		switch {
		case strings.EqualFold(path.Base(c.Path), ".git") && (c.Op == "create" || c.Op != "delete" && c.Type != "folder"):
			whole = append(whole, c.Path+"/")
			out[i] = true
		default:
			out[i] = policy.Planted(c.Path) || slices.ContainsFunc(whole, func(dir string) bool { return strings.HasPrefix(c.Path, dir) }) || r.has(c.Path)
		}
	}
	emptied(changes, out)
	return out
}

// emptied adds folders that were made and would be left with nothing in them, and those without which nothing could be put back.
func emptied(changes []event.Change, planted []bool) {
	holds, keeps := map[string]bool{}, map[string]bool{} // folders by whether something in them is planted, or is not
	for i, c := range slices.Backward(changes) {
		switch {
		case c.Type != "folder" || !holds[c.Path]:
		case c.Op == "delete", c.Op == "create" && !keeps[c.Path]:
			planted[i] = true
		}
		if planted[i] {
			holds[path.Dir(c.Path)] = true
		} else {
			keeps[path.Dir(c.Path)] = true
		}
	}
}

// repositories finds those that have no .git.
type repositories struct {
	there func(string) bool
	bare  map[string]bool // whether folders are one
	made  map[string]bool // folders in which something was made that makes one
}

// has tells whether a path is what Git obeys in such a repository, or makes it one and is new.
func (r *repositories) has(p string) bool {
	parts := strings.Split(p, "/")
	for i, name := range parts {
		if strings.EqualFold(name, ".git") {
			return false // what is in it is told by its path
		}
		if !repositoryName(name) {
			continue
		}
		dir := path.Join(append([]string{"."}, parts[:i]...)...)
		if r.is(dir) && (r.made[dir] || !repositoryPart(name) || policy.LeadsToObjects(strings.Join(parts[i:], "/"))) {
			return true
		}
	}
	return false
}

func (r *repositories) is(dir string) bool {
	is, known := r.bare[dir]
	if !known {
		has := func(name string) bool { return r.there(path.Join(dir, name)) }
		is = has("HEAD") && (has("commondir") || has("objects") && has("refs"))
		r.bare[dir] = is
	}
	return is
}

// repositoryPart tells whether something of the name makes a folder a repository.
func repositoryPart(name string) bool {
	return slices.ContainsFunc([]string{"HEAD", "objects", "refs", "commondir"}, func(s string) bool { return strings.EqualFold(s, name) })
}

// repositoryName tells whether something of the name makes a folder a repository, or is obeyed in it.
func repositoryName(name string) bool {
	return repositoryPart(name) || slices.Contains([]string{"config", "config.worktree", "gitdir", "hooks", "info"}, strings.ToLower(name))
}
