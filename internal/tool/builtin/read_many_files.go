package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// maxMany is how many files one call reads.
const maxMany = 20

//go:embed read_many_files.md
var readManyFilesText string

type readManyFiles struct{ *core }

// Spec implements [tool.Tool].
func (readManyFiles) Spec() event.ToolSpec {
	return spec("read_many_files", readManyFilesText, `{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}},"required":["paths"]}`)
}

// Prepare implements [tool.Tool].
func (r readManyFiles) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Paths []string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	list, action, err := r.locateAll("read_many_files", policy.Read, a.Paths, maxMany)
	if err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: action, Parallel: true, Preview: names(list),
		Run: func(context.Context, tool.Host) (*tool.Result, error) { return r.run(list) },
	}, nil
}

// locateAll locates up to a number of paths, each once, and names what is done to them.
func (c *core) locateAll(name string, kind policy.EffectKind, paths []string, most int) ([]target, policy.Action, error) {
	action := policy.Action{Tool: name}
	if len(paths) == 0 || len(paths) > most {
		return nil, action, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("paths names %d files; it takes 1 to %d", len(paths), most)}
	}
	var list []target
	for _, p := range paths {
		t, err := c.locate(p)
		if err != nil {
			return nil, action, err
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
			action.Effects = append(action.Effects, c.does(name, kind, t).Effects...)
		}
	}
	return list, action, nil
}

// names lists targets for a person.
func names(list []target) string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = shown(t.rel)
	}
	return strings.Join(out, " ")
}

// part is one of several files, as it is shown.
type part struct {
	head, lines, note string
	bytes             int64
}

func (r readManyFiles) run(list []target) (*tool.Result, error) {
	parts := make([]part, len(list))
	room := maxRead
	for i, t := range list {
		p, err := r.part(t)
		if err != nil {
			return nil, err
		}
		parts[i] = p
		room -= len(p.head) + len(p.note) + 120 // for what is said where lines are left out
	}
	out := &tool.Result{}
	share := fair(parts, room)
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.head)
		lines := p.lines
		if len(lines) > share {
			lines = lines[:strings.LastIndexByte(lines[:max(share, 0)], '\n')+1]
			next := strings.Count(lines, "\n") + 1
			p.note += fmt.Sprintf("[cut before line %d, since all files together are too long; read_file with offset %d goes on]\n", next, next)
			out.Cut = true
		}
		b.WriteString(lines)
		b.WriteString(p.note)
		out.Bytes += p.bytes
	}
	out.Content = b.String()
	return out, nil
}

// fair is how many bytes each part may take, so that small ones are whole and large ones share what is left.
func fair(parts []part, room int) int {
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = len(p.lines)
	}
	slices.Sort(sizes)
	for i, n := range sizes {
		if share := room / (len(sizes) - i); n > share {
			return share
		}
		room -= n
	}
	return maxRead
}

// part reads one file. What is wrong with it is said in its place: the others are of use all the same.
func (r readManyFiles) part(t target) (part, error) {
	p := part{head: "==> " + shown(t.rel) + " <==\n"}
	say := func(err error) (part, error) {
		no, ok := errors.AsType[*tool.Refusal](err)
		if !ok {
			return part{}, err
		}
		p.note = "[" + no.Text + "]\n"
		return p, nil
	}
	if err := r.recheck(t); err != nil {
		return say(err)
	}
	f, err := r.tree.Read(t.rel, t.real, workspace.MaxFile)
	if err != nil {
		return say(refusal(err))
	}
	saw, _ := r.remembered(t)
	whole, enc, err := workspace.DecodeAs(saw.enc, f.Bytes)
	if err != nil {
		return say(text(t, f.Bytes))
	}
	r.remember(t, f.SHA256, enc)
	p.bytes = int64(len(f.Bytes))
	notes := notes(string(whole), enc)
	body := bytes.TrimPrefix(whole, []byte(mark))
	lines, last, uncut := number(body, 1, 0)
	p.lines = lines
	total := bytes.Count(body, []byte("\n"))
	if n := len(body); n > 0 && body[n-1] != '\n' {
		total++
	}
	switch {
	case total == 0:
		notes = append(notes, "the file is empty")
	case !uncut:
		notes = append(notes, fmt.Sprintf("line %d is cut; read the rest with run_command", last))
	case last < total:
		notes = append(notes, fmt.Sprintf("it has %d lines", total))
	}
	if len(notes) > 0 {
		p.note = "[" + strings.Join(notes, ". ") + "]\n"
	}
	return p, nil
}
