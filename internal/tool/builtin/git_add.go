package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

// maxStaged is how many paths one call of git_add names.
const maxStaged = 100

//go:embed git_add.md
var gitAddText string

type gitAdd struct{ *core }

// Spec implements [tool.Tool].
func (gitAdd) Spec() event.ToolSpec {
	return spec("git_add", gitAddText, `{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}},"required":["paths"]}`)
}

// Prepare implements [tool.Tool].
func (g gitAdd) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Paths []string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if len(a.Paths) == 0 || len(a.Paths) > maxStaged {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("paths names %d files; it takes 1 to %d", len(a.Paths), maxStaged)}
	}
	action := policy.Action{Tool: "git_add"}
	var list []target
	for _, p := range a.Paths {
		t, err := g.named(p)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
			action.Effects = append(action.Effects, t.action("git_add", policy.Write).Effects...)
		}
	}
	return &tool.Prepared{
		Action: action, Preview: "git add " + names(list),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return g.run(ctx, list) },
	}, nil
}

// run stages file by file. "git add" itself would look into submodules, each with a configuration of its own.
func (g gitAdd) run(ctx context.Context, list []target) (*tool.Result, error) {
	specs := []string{"--"}
	for _, t := range list {
		if err := g.unmoved(t); err != nil {
			return nil, err
		}
		if t.real == "." {
			specs = specs[:1]
			break
		}
		specs = append(specs, t.real)
	}
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, slices.Concat([]string{"ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"}, specs)...)
	if err != nil {
		return nil, err
	}
	found, all := listed(out)
	if !all {
		return nil, &tool.Refusal{Code: "too_large", Text: "more files have changed than can be looked through; nothing was staged. Name fewer folders"}
	}
	ignored, err := r.ignored(ctx, list)
	if err != nil {
		return nil, err
	}
	closed := g.closed("git_add", list...)
	var stage, left, others []string
	for _, p := range found {
		info, err := g.tree.Stat(strings.TrimSuffix(p, "/"), strings.TrimSuffix(p, "/"))
		switch {
		case err == nil && info.Kind == "folder": // of another repository
			others = append(others, p)
		case closed(p):
			left = append(left, p)
		default:
			stage = append(stage, p)
		}
	}
	var b strings.Builder
	if len(stage) == 0 {
		b.WriteString("Nothing was staged: there is nothing that differs from what is staged already.\n")
	} else {
		if _, err := r.git(ctx, slices.Concat([]string{"update-index", "--add", "--remove", "--"}, stage)...); err != nil {
			return nil, err
		}
		leftOut(&b, "staged", stage)
	}
	leftOut(&b, "not staged, since they may hold secrets or rules forbid it; name one to stage it", left)
	leftOut(&b, "not staged, since .gitignore leaves them out", ignored)
	leftOut(&b, "not staged, since they are repositories of their own", others)
	return &tool.Result{Content: b.String()}, nil
}

// ignored gives those of the targets that are ignored.
func (r *repository) ignored(ctx context.Context, list []target) (out []string, err error) {
	specs := []string{"--"}
	for _, t := range list {
		if t.real != "." {
			specs = append(specs, t.real)
		}
	}
	if len(specs) == 1 {
		return nil, nil
	}
	text, err := r.git(ctx, slices.Concat([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}, specs)...)
	if err != nil {
		return nil, err
	}
	found, _ := listed(text)
	for _, p := range found { // a folder that is named holds ignored files, as it may
		if p = strings.TrimSuffix(p, "/"); slices.Contains(specs, p) {
			out = append(out, p)
		}
	}
	return out, nil
}
