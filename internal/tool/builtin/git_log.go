package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

// Commits that git_log shows.
const (
	defaultCommits = 20
	maxCommits     = 200
)

//go:embed git_log.md
var gitLogText string

type gitLog struct{ *core }

// Spec implements [tool.Tool].
func (gitLog) Spec() event.ToolSpec {
	return spec("git_log", gitLogText, `{"type":"object","properties":{"limit":{"type":"integer","description":"default 20, at most 200"},"path":{"type":"string"}}}`)
}

// Prepare implements [tool.Tool].
func (g gitLog) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	a := struct {
		Limit int
		Path  string
	}{Limit: defaultCommits}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if a.Limit < 1 || a.Limit > maxCommits {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("limit is %d; it takes 1 to %d", a.Limit, maxCommits)}
	}
	t, err := g.named(orRoot(a.Path))
	if err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: t.action("git_log", policy.Read), Parallel: true, Preview: shown(t.rel),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return g.run(ctx, t, a.Limit) },
	}, nil
}

func (g gitLog) run(ctx context.Context, t target, limit int) (*tool.Result, error) {
	if err := g.unmoved(t); err != nil {
		return nil, err
	}
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	if head, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil || head == "" {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &tool.Result{Content: "[no commits yet]\n"}, nil
	}
	out, err := r.git(ctx, slices.Concat([]string{
		"log", "--no-ext-diff", "--no-textconv", "--no-patch", "--date=format:%Y-%m-%d %H:%M", "--format=%h %ad %an: %s%d", "-n", strconv.Itoa(limit),
	}, pathspec(t.real))...)
	if err != nil {
		return nil, err
	}
	if out == "" {
		out = "[no commits]\n"
	}
	return gitResult(out, "give a limit"), nil
}
