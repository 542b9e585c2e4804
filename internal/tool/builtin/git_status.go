package builtin

import (
	"context"
	_ "embed"
	"encoding/json"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

//go:embed git_status.md
var gitStatusText string

type gitStatus struct{ *core }

// Spec implements [tool.Tool].
func (gitStatus) Spec() event.ToolSpec {
	return spec("git_status", gitStatusText, `{"type":"object","properties":{}}`)
}

// Prepare implements [tool.Tool].
func (g gitStatus) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	return &tool.Prepared{
		Action: target{".", "."}.action("git_status", policy.Read), Parallel: true, Preview: ".",
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return g.run(ctx) },
	}, nil
}

func (g gitStatus) run(ctx context.Context) (*tool.Result, error) {
	r, err := g.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, "status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	return gitResult(out, "use git_diff or list_files on a folder"), nil
}

// gitResult is an output of Git as the model reads it; next says how the rest of one that is cut can be seen.
func gitResult(out, next string) *tool.Result {
	r := &tool.Result{Content: out, Bytes: int64(len(out)), Cut: len(out) >= gitOutput}
	if r.Cut {
		r.Content += "\n[cut here after 64 KB: " + next + "]\n"
	}
	return r
}
