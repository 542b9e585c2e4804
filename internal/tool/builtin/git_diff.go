package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

//go:embed git_diff.md
var gitDiffText string

type gitDiff struct{ *core }

// Spec implements [tool.Tool].
func (gitDiff) Spec() event.ToolSpec {
	return spec("git_diff", gitDiffText, `{"type":"object","properties":{"path":{"type":"string"},"staged":{"type":"boolean"}}}`)
}

// Prepare implements [tool.Tool].
func (g gitDiff) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Path   string
		Staged bool
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	t, err := g.named(orRoot(a.Path))
	if err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: g.does("git_diff", policy.Read, t), Parallel: true, Preview: shown(t.rel),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return g.run(ctx, t, a.Staged) },
	}, nil
}

func (g gitDiff) run(ctx context.Context, t target, staged bool) (*tool.Result, error) {
	if err := g.unmoved(t); err != nil {
		return nil, err
	}
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	diff := []string{"diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-relative"}
	if staged {
		diff = append(diff, "--cached")
	}
	out, err := r.git(ctx, slices.Concat(diff, []string{"--name-only", "--no-renames", "-z"}, pathspec(t.real))...)
	if err != nil {
		return nil, err
	}
	names, all := listed(out)
	if !all {
		return nil, &tool.Refusal{Code: "too_large", Text: "more files have changed than can be looked through; give a path"}
	}
	closed := g.closed("git_diff", t)
	var open, left []string
	for _, p := range names {
		if closed(p) {
			left = append(left, p)
		} else {
			open = append(open, p)
		}
	}
	// A file in whose place a folder has come would bring what is below with it.
	open = slices.DeleteFunc(open, func(p string) bool {
		return slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, p+"/") })
	})
	text := ""
	if len(open) > 0 {
		if text, err = r.git(ctx, slices.Concat(diff, []string{"--"}, open)...); err != nil {
			return nil, err
		}
	}
	result := gitResult(text, "give a path")
	var b strings.Builder
	b.WriteString(result.Content)
	if len(names) == 0 {
		b.WriteString("[no changes]\n")
	}
	leftOut(&b, "not shown, since they may hold secrets or rules forbid it", left)
	result.Content = b.String()
	return result, nil
}
