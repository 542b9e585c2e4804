package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

//go:embed git_commit.md
var gitCommitText string

type gitCommit struct{ *core }

// Spec implements [tool.Tool].
func (gitCommit) Spec() event.ToolSpec {
	return spec("git_commit", gitCommitText, `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`)
}

// Prepare implements [tool.Tool]. It looks at what is staged, for whoever is to agree; that changes nothing.
func (g gitCommit) Prepare(ctx context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Message string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if err := unmasked(a.Message); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Message) == "" || strings.ContainsRune(a.Message, 0) {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: "message is empty, or no text; say what the commit does and why"}
	}
	preview := "git commit\n\n" + strings.TrimSpace(a.Message) + "\n"
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := r.staged(ctx)
	if err != nil {
		return nil, err
	}
	if staged != "" {
		preview += "\n" + staged
	}
	return &tool.Prepared{
		Action: target{".", "."}.action("git_commit", policy.Write), Preview: preview,
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return g.run(ctx, a.Message) },
	}, nil
}

// staged says in short what is staged, "" if nothing is.
func (r *repository) staged(ctx context.Context) (string, error) {
	return r.git(ctx, "diff", "--cached", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--stat=100", "--stat-count=40")
}

func (g gitCommit) run(ctx context.Context, message string) (*tool.Result, error) {
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := r.staged(ctx)
	if err != nil {
		return nil, err
	}
	if _, merging := g.tree.Stat(".git/MERGE_HEAD", ".git/MERGE_HEAD"); staged == "" && merging != nil {
		return nil, &tool.Refusal{Code: "nothing_staged", Text: "nothing is staged, so there is nothing to commit; stage files with git_add"}
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--message="+message); err != nil {
		return nil, err
	}
	made, err := r.git(ctx, "log", "-n", "1", "--no-patch", "--format=Committed %h%d: %s")
	if err != nil {
		return nil, err
	}
	made += staged
	if hooks := r.skipped(); hooks != "" {
		made += "[not run: " + hooks + "]\n"
	}
	return &tool.Result{Content: made}, nil
}

// skipped names the hooks that a commit by hand would have run.
func (r *repository) skipped() string {
	if r.hooks != "" {
		return "the hooks in " + shown(r.hooks)
	}
	var found []string
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"} {
		hook := ".git/hooks/" + name
		if info, err := r.tree.Stat(hook, hook); err == nil && info.Mode&0o111 != 0 {
			found = append(found, "the hook "+name)
		}
	}
	return strings.Join(found, ", ")
}
