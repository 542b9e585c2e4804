package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// maxContext is how many lines are shown on each side of a match at most.
const maxContext = 10

//go:embed search_text.md
var searchTextText string

type searchText struct{ *core }

// Spec implements [tool.Tool].
func (searchText) Spec() event.ToolSpec {
	return spec("search_text", searchTextText, `{"type":"object","properties":{"pattern":{"type":"string","description":"RE2"},"path":{"type":"string","description":"file or folder; default: the workspace"},"glob":{"type":"string","description":"which files, as *.go"},"ignore_case":{"type":"boolean"},"context":{"type":"integer","description":"lines around each match, at most 10"},"limit":{"type":"integer","description":"matches, at most 100"}},"required":["pattern"]}`)
}

// Prepare implements [tool.Tool].
func (s searchText) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Pattern, Path, Glob string
		IgnoreCase          bool `json:"ignore_case"`
		Context, Limit      int
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if a.Pattern == "" {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: "pattern is empty; give the text or RE2 expression to look for"}
	}
	t, err := s.locate(orRoot(a.Path))
	if err != nil {
		return nil, err
	}
	q := workspace.SearchQuery{
		Pattern: a.Pattern, Path: t.rel, Glob: a.Glob, IgnoreCase: a.IgnoreCase,
		Context: min(max(a.Context, 0), maxContext), Limit: a.Limit, Skip: s.unreadable(), Secret: policy.Secret,
	}
	return &tool.Prepared{
		Action: s.does("search_text", policy.Read, t), Parallel: true, Preview: a.Pattern + " in " + shown(t.rel),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return s.run(ctx, t, q) },
	}, nil
}

// unreadable tells which files a search over a folder leaves out: its effect names the folder only.
func (s searchText) unreadable() func(path string) bool {
	searched, read := s.forbidden("search_text"), s.forbidden("read_file")
	return func(path string) bool { return policy.Secret(path) || searched(path) || read(path) }
}

func (s searchText) run(ctx context.Context, t target, q workspace.SearchQuery) (*tool.Result, error) {
	if err := s.recheck(t); err != nil {
		return nil, err
	}
	found, err := s.tree.Search(ctx, q)
	if err != nil {
		return nil, refusal(err)
	}
	var b strings.Builder
	for i, l := range found.Lines {
		if i > 0 && q.Context > 0 {
			if last := found.Lines[i-1]; last.Path != l.Path || last.Number+1 != l.Number {
				b.WriteString("--\n")
			}
		}
		mark := "-"
		if l.Hit {
			mark = ":"
		}
		fmt.Fprintf(&b, "%s%s%d%s%s\n", shown(l.Path), mark, l.Number, mark, l.Text)
	}
	if found.Hits == 0 {
		fmt.Fprintf(&b, "[no match in %s]\n", count(found.Files, "file", "files"))
	}
	if found.More {
		fmt.Fprintf(&b, "[the first %s; narrow pattern, path or glob for the rest]\n", count(found.Hits, "match", "matches"))
	}
	leftOut(&b, "not searched, since they may hold secrets or rules forbid it", found.Skipped)
	leftOut(&b, "not searched, over 32 MiB", found.Large)
	leftOut(&b, "not searched, binary", found.Binary)
	return &tool.Result{Content: b.String(), Cut: found.More}, nil
}

func leftOut(b *strings.Builder, why string, paths []string) {
	const most = 5
	if len(paths) == 0 {
		return
	}
	var names []string
	for _, p := range paths[:min(len(paths), most)] {
		names = append(names, shown(p))
	}
	fmt.Fprintf(b, "[%s: %s", why, strings.Join(names, ", "))
	if len(paths) > most {
		fmt.Fprintf(b, " and %d more", len(paths)-most)
	}
	b.WriteString("]\n")
}
