package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

//go:embed list_files.md
var listFilesText string

type listFiles struct{ *core }

// Spec implements [tool.Tool].
func (listFiles) Spec() event.ToolSpec {
	return spec("list_files", listFilesText, `{"type":"object","properties":{"path":{"type":"string","description":"folder; default: the workspace"},"depth":{"type":"integer","description":"0: this folder only; left out: all below, without ignored files"},"glob":{"type":"string","description":"as *.go or src/**/*.ts"}}}`)
}

// Prepare implements [tool.Tool].
func (l listFiles) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Path, Glob string
		Depth      *int
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	t, err := l.locate(orRoot(a.Path))
	if err != nil {
		return nil, err
	}
	q := workspace.ListQuery{Path: t.rel, Depth: -1, Glob: a.Glob, Skip: l.forbidden("list_files")}
	if a.Depth != nil {
		q.Depth = *a.Depth
	}
	return &tool.Prepared{
		Action: t.action("list_files", policy.Read), Parallel: true, Preview: shown(t.rel),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return l.run(ctx, t, q) },
	}, nil
}

func (l listFiles) run(ctx context.Context, t target, q workspace.ListQuery) (*tool.Result, error) {
	if err := l.recheck(t); err != nil {
		return nil, err
	}
	found, err := l.tree.List(ctx, q)
	if err != nil {
		return nil, refusal(err)
	}
	var b strings.Builder
	for _, e := range found.Entries {
		name := shown(e.Path)
		switch {
		case e.Kind == "folder":
			fmt.Fprintf(&b, "%s/\tfolder\n", name)
		case e.Kind == "link":
			fmt.Fprintf(&b, "%s -> %s\tlink\n", name, shown(e.Link))
		case e.Size >= 0:
			fmt.Fprintf(&b, "%s\t%s\t%d\n", name, e.Kind, e.Size)
		default:
			fmt.Fprintf(&b, "%s\t%s\n", name, e.Kind)
		}
	}
	switch {
	case found.More:
		fmt.Fprintf(&b, "[the first %d entries; narrow path, depth or glob for the rest]\n", workspace.MaxEntries)
	case len(found.Entries) == 0:
		b.WriteString("[nothing there]\n")
	}
	leftOut(&b, "not listed, since rules forbid it", found.Skipped)
	return &tool.Result{Content: b.String(), Cut: found.More}, nil
}

func orRoot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// shown quotes a name that would break its line, read as another, or pass for a quoted one. What it gives is taken for
// the name wherever a path is: see meant.
func shown(name string) string {
	if !utf8.ValidString(name) || strings.HasPrefix(name, `"`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || policy.Hidden(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// meant gives the name that a path stands for, which may be quoted as shown does it: names that are not UTF-8 can't be
// written in any other way. Other quotes are part of a name.
func meant(path string) string {
	quoted := strings.TrimSuffix(path, "/") // as a folder is listed
	if name, err := strconv.Unquote(quoted); err == nil && shown(name) == quoted {
		return name
	}
	return path
}
