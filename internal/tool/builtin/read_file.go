package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// maxRead bounds the numbered lines that one call gives, in bytes. What is said about them fits into what is left of
// 100 KB.
const maxRead = 99_000

//go:embed read_file.md
var readFileText string

type readFile struct{ *core }

// Spec implements [tool.Tool].
func (readFile) Spec() event.ToolSpec {
	return spec("read_file", readFileText, `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","description":"first line, from 1"},"limit":{"type":"integer","description":"number of lines"}},"required":["path"]}`)
}

// Prepare implements [tool.Tool].
func (r readFile) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Path          string
		Offset, Limit int
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if a.Offset < 0 || a.Limit < 0 {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: "offset and limit count lines from 1"}
	}
	t, err := r.locate(a.Path)
	if err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: r.does("read_file", policy.Read, t), Parallel: true, Preview: shown(t.rel),
		Run: func(context.Context, tool.Host) (*tool.Result, error) { return r.run(t, max(a.Offset, 1), a.Limit) },
	}, nil
}

func (r readFile) run(t target, offset, limit int) (*tool.Result, error) {
	if err := r.recheck(t); err != nil {
		return nil, err
	}
	f, err := r.tree.Read(t.rel, t.real, workspace.MaxFile)
	if err != nil {
		return nil, refusal(err)
	}
	saw, _ := r.remembered(t)
	whole, enc, err := workspace.DecodeAs(saw.enc, f.Bytes)
	if err != nil {
		return nil, text(t, f.Bytes)
	}
	body := bytes.TrimPrefix(whole, []byte(mark))
	total := bytes.Count(body, []byte("\n"))
	if n := len(body); n > 0 && body[n-1] != '\n' {
		total++
	}
	if offset > max(total, 1) {
		return nil, &tool.Refusal{Code: "past_end", Text: fmt.Sprintf("%s has only %s; offset %d is past the end", t.rel, count(total, "line", "lines"), offset)}
	}
	r.remember(t, f.SHA256, enc)
	lines, last, uncut := number(body, offset, limit)
	notes := notes(string(whole), enc)
	switch {
	case total == 0:
		notes = append(notes, "the file is empty")
	case !uncut:
		notes = append(notes, fmt.Sprintf("line %d is cut; read the rest with run_command", last))
	}
	if total > 0 && (offset > 1 || last < total) {
		note := fmt.Sprintf("lines %d-%d of %d", offset, last, total)
		if last < total {
			note += fmt.Sprintf("; go on with offset %d", last+1)
		}
		notes = append(notes, note)
	}
	if len(notes) > 0 {
		lines += "[" + strings.Join(notes, ". ") + "]\n"
	}
	return &tool.Result{Content: lines, Bytes: int64(len(f.Bytes)), Cut: last < total || !uncut}, nil
}

// number writes lines with their numbers until the limit of lines or of bytes. It says which line was the last, and
// whether that one is whole; a line that alone is too long is cut.
func number(data []byte, offset, limit int) (out string, last int, whole bool) {
	var b strings.Builder
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if n < offset {
			continue
		}
		if limit > 0 && n >= offset+limit {
			break
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		show := strings.ToValidUTF8(string(line[:min(len(line), maxRead)]), "\uFFFD")
		if b.Len() > 0 && b.Len()+len(show)+8 > maxRead {
			break
		}
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\t')
		b.WriteString(show)
		b.WriteByte('\n')
		last = n
		if len(line) > maxRead {
			return b.String(), last, false
		}
	}
	return b.String(), last, true
}

// notes says what the numbered lines don't show.
func notes(text string, enc workspace.Encoding) []string {
	var out []string
	switch name := enc.Name(); {
	case enc.Stray() && name != "":
		out = append(out, "bytes that are not UTF-8 are shown as \uFFFD, and edit_file keeps them")
	case enc.Stray():
		out = append(out, "the encoding is not known: bytes that are not UTF-8 are shown as \uFFFD, and edit_file keeps them")
	case name != "UTF-8":
		out = append(out, "the encoding is "+name+", and edit_file and write_file keep it")
	}
	if strings.HasPrefix(text, mark) {
		out = append(out, "a byte order mark stands before line 1, and edit_file keeps it")
	}
	if ends := lineEnds(text); ends != "" && ends != endsLF {
		out = append(out, "line ends are "+ends)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		out = append(out, "no newline at the end")
	}
	return out
}
