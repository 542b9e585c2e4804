package builtin

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/workspace"
)

const (
	// gitTime bounds how long one command of Git takes.
	gitTime = 60 * time.Second
	// gitOutput is how much of an output there is at most, see [shell.Capture]: one of this size may be cut.
	gitOutput = 64 << 10
)

// repository runs Git on the repository whose top is the workspace, so that nothing which the repository brings along is run
// or leads elsewhere. A repository's own configuration can name programs for nearly everything that Git does: these are
// switched off one by one, and where there is no switch (filters), Git is not used.
type repository struct {
	*core
	hooks string // core.hooksPath of the configuration
}

// gitSwitches turn off what a configuration may name (git-config(1)); what is said on the command line is stronger than any file.
func gitSwitches() []string {
	var out []string
	for _, s := range []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=:", "core.askPass=", "core.sshCommand=false",
		"core.alternateRefsCommand=", "credential.helper=", "gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false", "log.showSignature=false",
		"submodule.recurse=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false", "safe.bareRepository=explicit",
		"core.quotePath=false", "color.ui=false",
	} {
		out = append(out, "-c", s)
	}
	return out
}

// environ is the environment of Git: without variables that name programs or places, but with the person's name and files of
// settings. No object is fetched that a partial clone has left out.
func (r *repository) environ() []string {
	keep := []string{
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	}
	out := slices.DeleteFunc(slices.Clone(r.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(keep, name)
	})
	return append(out,
		"GIT_WORK_TREE="+r.tree.Root(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.tree.Root()), "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:", "GIT_PAGER=cat", "LC_ALL=C")
}

// git runs a command of Git. That it fails is for the model to read.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	argv := slices.Concat([]string{"git", "-C", r.tree.Root(), "--no-pager", "--literal-pathspecs"}, gitSwitches(), args)
	out, err := shell.Capture(limited, argv, r.environ())
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &tool.Refusal{Code: "git", Text: "git " + args[0] + ": " + strings.ToValidUTF8(err.Error(), "\uFFFD")}
	}
	return string(out), nil
}

// openRepository makes sure that there is Git, that the workspace is the top of a repository which is its own, and that nothing
// would be run for it.
func (c *core) openRepository(ctx context.Context) (*repository, error) {
	r := &repository{core: c}
	if !c.program("git") {
		return nil, &tool.Refusal{Code: "no_git", Text: "git is not installed: it lies in no folder of PATH"}
	}
	if err := r.place(ctx); err != nil {
		return nil, err
	}
	return r, r.configured(ctx)
}

const notItsOwn = "; use run_command, and the person is asked"

// place makes sure of where the repository is. A file or a link that says it may say anything: a real worktree or submodule is
// known by the other side, which names the workspace in turn.
func (r *repository) place(ctx context.Context) error {
	info, err := r.tree.Stat(".git", ".git")
	if p, ok := errors.AsType[*workspace.PathError](err); ok && p.Code == workspace.CodeMissing {
		return &tool.Refusal{Code: "no_repository", Text: "the workspace is not the top of a Git repository: it has no .git"}
	}
	if err != nil {
		return refusal(err)
	}
	elsewhere := &tool.Refusal{Code: "elsewhere", Text: ".git leads to a repository that does not name this workspace as its own" + notItsOwn}
	switch info.Kind {
	case "folder":
		if _, err := r.tree.Stat(".git/commondir", ".git/commondir"); err == nil {
			return elsewhere
		}
		return nil
	case "file":
	default:
		return elsewhere
	}
	text, _, err := r.tree.Head(".git", ".git", maxPointer)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return elsewhere
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.tree.Root(), dir)
	}
	if _, inside := r.tree.Rel(dir); inside == nil { // where the workspace itself could say what is on the other side
		return elsewhere
	}
	if r.same(dir, pointer(filepath.Join(dir, "gitdir")), ".git") {
		return nil
	}
	tree, err := r.git(ctx, "config", "--file", filepath.Join(dir, "config"), "--get", "core.worktree")
	if err == nil && r.same(dir, strings.TrimSpace(tree), "") {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return elsewhere
}

// maxPointer bounds a file that names a folder.
const maxPointer = 4 << 10

// pointer reads a file that holds a path; "" if it does not.
func pointer(name string) string {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// same tells whether a path, as seen from a folder, is that of something in the workspace's top, or of the top itself.
func (r *repository) same(dir, to, name string) bool {
	if to == "" {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	if name != "" {
		if filepath.Base(to) != name {
			return false
		}
		to = filepath.Dir(to)
	}
	real, err := filepath.EvalSymlinks(to)
	return err == nil && real == r.tree.Root()
}

// configured looks at what the repository's own files of settings, and those that they include, would have Git run in spite of the
// switches: filters, and hooks that are settings. What the person's own files name is the person's.
func (r *repository) configured(ctx context.Context) error {
	list, err := r.git(ctx, "config", "--list", "--show-scope", "-z")
	if err != nil {
		return err
	}
	if len(list) >= gitOutput {
		return &tool.Refusal{Code: "git", Text: "the configuration of Git is too large to be looked through" + notItsOwn}
	}
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, _ := strings.Cut(fields[i+1], "\n")
		section, rest, _ := strings.Cut(key, ".")
		last := rest[strings.LastIndexByte(rest, '.')+1:]
		if key == "core.hookspath" && scope != "command" {
			r.hooks = value
		}
		if value == "" || scope != "local" && scope != "worktree" {
			continue
		}
		if section == "filter" && slices.Contains([]string{"clean", "smudge", "process"}, last) || section == "hook" && last == "command" {
			return &tool.Refusal{Code: "runs_programs", Text: "the repository's own configuration has Git run a program (" + shown(key) + ")" + notItsOwn}
		}
	}
	return nil
}

// pathspec names a path for Git; --literal-pathspecs takes it as it stands.
func pathspec(real string) []string {
	if real == "." {
		return nil
	}
	return []string{"--", real}
}

// named locates a path as Git knows it: by its own name, whatever a link leads to.
func (c *core) named(p string) (target, error) {
	rel, err := c.tree.Rel(meant(p))
	if err != nil {
		return target{}, refusal(err)
	}
	name, err := c.tree.Name(rel)
	if err != nil {
		return target{}, refusal(err)
	}
	return target{rel, name}, nil
}

// unmoved makes sure that a path is still what it was when it was decided on.
func (c *core) unmoved(t target) error {
	name, err := c.tree.Name(t.rel)
	if err != nil {
		return refusal(err)
	}
	if name != t.real {
		return &tool.Refusal{Code: "changed", Text: t.rel + " now leads elsewhere than when this call was checked; nothing was done. Send the call again"}
	}
	return nil
}

// closed tells which paths a call that names folders leaves out: those that may hold secrets, and those that rules forbid. What
// the call names itself was decided on.
func (c *core) closed(name string, given ...target) func(p string) bool {
	forbidden := c.forbidden(name)
	return func(p string) bool {
		if slices.ContainsFunc(given, func(t target) bool { return t.real == p }) {
			return false
		}
		return policy.Secret(p) || forbidden(p) || c.tree.Linked(p, policy.Secret) != ""
	}
}

// listed splits names that end with NUL, each once. False: there are more than could be read.
func listed(out string) ([]string, bool) {
	list := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(p string) bool { return p == "" || path.Clean(p) == "." })
	return list, len(out) < gitOutput
}
