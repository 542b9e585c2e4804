package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

// maxRanked is how many types, folders and build files a summary names.
const maxRanked = 15

//go:embed summarize_workspace.md
var summarizeWorkspaceText string

type summarizeWorkspace struct{ *core }

// Spec implements [tool.Tool].
func (summarizeWorkspace) Spec() event.ToolSpec {
	return spec("summarize_workspace", summarizeWorkspaceText, `{"type":"object","properties":{}}`)
}

// Prepare implements [tool.Tool].
func (s summarizeWorkspace) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	return &tool.Prepared{
		Action: target{".", "."}.action("summarize_workspace", policy.Read), Parallel: true, Preview: ".",
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return s.run(ctx) },
	}, nil
}

func (s summarizeWorkspace) run(ctx context.Context) (*tool.Result, error) {
	found, err := s.tree.Summarize(ctx, s.forbidden("summarize_workspace"))
	if err != nil {
		return nil, refusal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s, ignored ones left out\n", count(found.Files, "file", "files"), count(found.Folders, "folder", "folders"))
	if found.More {
		b.WriteString("[only as far as was counted: there are more]\n")
	}
	rank(&b, "types", found.Types, func(name string) string { return cmp.Or(name, "no ending") })
	rank(&b, "folders", found.Top, func(name string) string {
		if name == "." {
			return "."
		}
		return name + "/"
	})
	if len(found.Build) > 0 {
		b.WriteString("build files: ")
		for i, p := range found.Build[:min(len(found.Build), maxRanked)] {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(shown(p))
		}
		if more := len(found.Build) - maxRanked; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteByte('\n')
	}
	b.WriteString(s.versions())
	leftOut(&b, "not counted, since rules forbid it", found.Skipped)
	return &tool.Result{Content: b.String(), Cut: found.More}, nil
}

// rank names what there is most of.
func rank(b *strings.Builder, what string, counts map[string]int, show func(string) string) {
	if len(counts) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(counts[y]-counts[x], strings.Compare(x, y))
	})
	var out []string
	for _, name := range names[:min(len(names), maxRanked)] {
		out = append(out, fmt.Sprintf("%s %d", shown(show(name)), counts[name]))
	}
	if more := len(names) - maxRanked; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(b, "%s: %s\n", what, strings.Join(out, ", "))
}

// versions says what keeps the versions of the workspace, from a look at files alone: no program runs.
func (s summarizeWorkspace) versions() string {
	const most = 1 << 10
	head, _, err := s.tree.Head(".git/HEAD", ".git/HEAD", most)
	line := strings.TrimSpace(string(head))
	if branch, ok := strings.CutPrefix(line, "ref: refs/heads/"); err == nil && ok {
		return "git: on branch " + shown(branch) + "\n"
	}
	if err == nil && line != "" {
		return "git: no branch, at " + shown(line[:min(len(line), 12)]) + "\n"
	}
	if info, err := s.tree.Stat(".git", ".git"); err == nil && info.Kind == "file" {
		return "git: a worktree or submodule of another repository\n"
	}
	return "git: no repository\n"
}
