package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// maxCountedLines is the size in bytes up to which the lines of a file are counted.
const maxCountedLines = 4 << 20

//go:embed stat_path.md
var statPathText string

type statPath struct{ *core }

// Spec implements [tool.Tool].
func (statPath) Spec() event.ToolSpec {
	return spec("stat_path", statPathText, `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
}

// Prepare implements [tool.Tool].
func (s statPath) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Path string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	rel, err := s.tree.Rel(meant(a.Path))
	if err != nil {
		return nil, refusal(err)
	}
	name, err := s.tree.Name(rel)
	if err != nil {
		return nil, refusal(err)
	}
	// The name itself is what is asked about; what it leads to, if that is in the workspace, is described with it.
	own, to := target{rel, name}, ""
	action := own.action("stat_path", policy.Read)
	if real, err := s.tree.Resolve(rel); err == nil && real != name {
		to = real
		action.Effects = slices.Insert(action.Effects, 0, policy.Effect{Kind: policy.Read, Target: real})
	}
	return &tool.Prepared{
		Action: action, Parallel: true, Preview: shown(rel),
		Run: func(context.Context, tool.Host) (*tool.Result, error) { return s.run(own, to) },
	}, nil
}

func (s statPath) run(own target, to string) (*tool.Result, error) {
	name, err := s.tree.Name(own.rel)
	if err != nil {
		return nil, refusal(err)
	}
	real, leads := s.tree.Resolve(own.rel)
	if name != own.real || leads == nil && to != "" && real != to {
		return nil, &tool.Refusal{Code: "changed", Text: own.rel + " now leads elsewhere than when this call was checked. Send the call again"}
	}
	info, err := s.tree.Stat(own.rel, own.real)
	if err != nil {
		return nil, refusal(err)
	}
	var b strings.Builder
	s.describe(&b, own.rel, own.real, info)
	if info.Kind != "link" {
		return &tool.Result{Content: b.String()}, nil
	}
	fmt.Fprintf(&b, "leads to: %s\n", shown(info.Link))
	if leads != nil || to == "" {
		b.WriteString("[what it leads to is not in the workspace, or not there]\n")
		return &tool.Result{Content: b.String()}, nil
	}
	if info, err = s.tree.Stat(own.rel, to); err != nil {
		fmt.Fprintf(&b, "[nothing is at %s]\n", shown(to))
		return &tool.Result{Content: b.String()}, nil
	}
	b.WriteByte('\n')
	s.describe(&b, to, to, info)
	return &tool.Result{Content: b.String()}, nil
}

func (s statPath) describe(b *strings.Builder, rel, real string, info workspace.Info) {
	fmt.Fprintf(b, "path: %s\ntype: %s\n", shown(rel), info.Kind)
	if info.Kind == "file" {
		fmt.Fprintf(b, "size: %s\n", count(int(info.Size), "byte", "bytes"))
	}
	fmt.Fprintf(b, "mode: %04o\nmodified: %s\n", info.Mode.Perm(), info.Modified.UTC().Format(time.RFC3339))
	if info.Kind != "file" || info.Size > maxCountedLines {
		return
	}
	f, err := s.tree.Read(rel, real, maxCountedLines)
	if err != nil {
		return // what the system says of it stands all the same
	}
	text, enc, err := workspace.Decode(f.Bytes)
	if err != nil {
		b.WriteString("content: binary\n")
		return
	}
	lines := bytes.Count(text, []byte("\n"))
	if n := len(text); n > 0 && text[n-1] != '\n' {
		lines++
	}
	fmt.Fprintf(b, "lines: %d\n", lines)
	if notes := notes(string(text), enc); len(notes) > 0 {
		fmt.Fprintf(b, "[%s]\n", strings.Join(notes, ". "))
	}
}
