package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

//go:embed write_file.md
var writeFileText string

type writeFile struct{ *core }

// Spec implements [tool.Tool].
func (writeFile) Spec() event.ToolSpec {
	return spec("write_file", writeFileText, `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)
}

// Prepare implements [tool.Tool].
func (w writeFile) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Path, Content string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if err := unmasked(a.Path, a.Content); err != nil {
		return nil, err
	}
	if strings.ContainsRune(a.Content, 0) {
		return nil, &tool.Refusal{Code: workspace.CodeBinary, Text: "content holds a NUL byte; write_file writes text only. Use run_command (printf, xxd -r)"}
	}
	t, err := w.locate(a.Path)
	if err != nil {
		return nil, err
	}
	p := &tool.Prepared{Action: w.does("write_file", policy.Write, t), Preview: "write " + shown(t.rel), Paths: []string{t.real}}
	if w.hidden(t, p.Action) {
		p.Run = func(context.Context, tool.Host) (*tool.Result, error) {
			if err := w.recheck(t); err != nil {
				return nil, err
			}
			ch, err := w.make(t, a.Content)
			if err != nil {
				return nil, err
			}
			return w.run(ch)
		}
		return p, nil // until it is allowed, not even an error tells what is in the file
	}
	ch, err := w.make(t, a.Content)
	if err != nil {
		return nil, err
	}
	p.Preview = ch.preview()
	p.Run = func(context.Context, tool.Host) (*tool.Result, error) { return w.run(ch) }
	return p, nil
}

// make computes the change from what is there now.
func (w writeFile) make(t target, content string) (change, error) {
	hidden := w.hidden(t, w.does("write_file", policy.Write, t))
	f, err := w.tree.Read(t.rel, t.real, workspace.MaxFile)
	var pe *workspace.PathError
	if errors.As(err, &pe) && pe.Code == workspace.CodeMissing {
		if err := workspace.Placeholder("content", content, ""); err != nil {
			return change{}, refusal(err)
		}
		return change{target: t, op: opCreate, after: []byte(content), hidden: hidden}, nil
	}
	if err != nil {
		return change{}, refusal(err)
	}
	saw, known := w.remembered(t)
	was, enc, err := workspace.DecodeAs(saw.enc, f.Bytes)
	if err != nil {
		return change{}, text(t, f.Bytes)
	}
	if !known {
		return change{}, &tool.Refusal{Code: "not_read", Text: t.rel + " exists and you have not read it; read it first with read_file, or change it with edit_file"}
	}
	if err := w.current(t, f.SHA256); err != nil {
		return change{}, err
	}
	if err := workspace.Placeholder("content", content, string(was)); err != nil {
		return change{}, refusal(err)
	}
	content = enc.WithMark(content, string(was))
	after, err := enc.Encode(content)
	if err != nil {
		return change{}, refusal(err)
	}
	return change{target: t, op: opOverwrite, before: f.Bytes, after: after, was: string(was), is: content, seen: f.SHA256, enc: enc, hidden: hidden}, nil
}

func (w writeFile) run(ch change) (*tool.Result, error) {
	if err := w.recheck(ch.target); err != nil {
		return nil, err
	}
	if ch.op == opOverwrite && bytes.Equal(ch.before, ch.after) {
		return ch.done(shown(ch.rel) + " already has this content; nothing was written."), nil
	}
	fact, err := w.apply(ch)
	if err != nil {
		return nil, err
	}
	words := fmt.Sprintf("Created %s (%s).", shown(ch.rel), count(len(ch.after), "byte", "bytes"))
	if ch.op == opOverwrite {
		words = fmt.Sprintf("Overwrote %s (%s).%s", shown(ch.rel), count(len(ch.after), "byte", "bytes"), ch.form())
	}
	return ch.done(words, fact), nil
}
