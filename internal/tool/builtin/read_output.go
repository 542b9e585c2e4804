package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
)

// maxPiece is how many bytes of a line of an output are shown as one; what is longer counts as several lines, so that
// all of it can be had.
const maxPiece = 32_000

//go:embed read_output.md
var readOutputText string

// Kept is an output that was kept whole.
type Kept struct {
	Open   func(ctx context.Context) io.Reader // from its beginning
	Bytes  int64
	Raw    bool // as a command wrote it, control characters and all
	Capped bool // there was more than was kept
}

// What is wrong with the id of an output; see [Options].
var (
	ErrNoOutput   = errors.New("no such output")
	ErrOutputGone = errors.New("the output has been pruned")
)

type readOutput struct{ *core }

// Spec implements [tool.Tool].
func (readOutput) Spec() event.ToolSpec {
	return spec("read_output", readOutputText, `{"type":"object","properties":{"id":{"type":"string"},"offset":{"type":"integer","description":"first line, from 1; negative: counted from the end"},"limit":{"type":"integer","description":"number of lines"}},"required":["id"]}`)
}

// Prepare implements [tool.Tool].
func (r readOutput) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		ID            string
		Offset, Limit int
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if a.Limit < 0 {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("limit is %d; it is a number of lines, from 1", a.Limit)}
	}
	return &tool.Prepared{
		Action: policy.Action{Tool: "read_output"}, Parallel: true, Preview: a.ID,
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) {
			return r.run(ctx, a.ID, a.Offset, a.Limit)
		},
	}, nil
}

func (r readOutput) run(ctx context.Context, id string, offset, limit int) (*tool.Result, error) {
	kept, head, err := r.kept(ctx, id)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		whole := &page{from: 1, limit: 1}
		if err := whole.read(ctx, kept); err != nil {
			return nil, err
		}
		offset = whole.total + offset + 1
	}
	p := &page{from: max(offset, 1), limit: limit}
	p.out.WriteString(head)
	if err := p.read(ctx, kept); err != nil {
		return nil, err
	}
	if p.from > max(p.total, 1) {
		return nil, &tool.Refusal{Code: "past_end", Text: fmt.Sprintf("%s has only %s; offset %d is past the end", id, count(p.total, "line", "lines"), offset)}
	}
	p.note(kept)
	return &tool.Result{Content: p.out.String(), Bytes: kept.Bytes, Cut: p.last < p.total}, nil
}

// kept finds an output or the log of a job, and gives what to say first; or it refuses with the reason.
func (r readOutput) kept(ctx context.Context, id string) (Kept, string, error) {
	if strings.HasPrefix(id, "job_") {
		j := r.shell.Job(id)
		if j == nil {
			return Kept{}, "", &tool.Refusal{Code: "no_job", Text: r.noJob(id)}
		}
		kept, head := r.jobLog(j)
		return kept, head, nil
	}
	if r.output == nil {
		return Kept{}, "", &tool.Refusal{Code: "no_output", Text: "outputs are not kept here"}
	}
	kept, err := r.output(ctx, id)
	switch {
	case errors.Is(err, ErrNoOutput):
		return Kept{}, "", &tool.Refusal{Code: "no_output", Text: fmt.Sprintf("this task has no output with the id %q; results that were cut name it (out_…)", id)}
	case errors.Is(err, ErrOutputGone):
		return Kept{}, "", &tool.Refusal{Code: "output_gone", Text: fmt.Sprintf("%s was kept once and has been deleted to save space; run the call again if it is needed", id)}
	}
	return kept, "", err
}

// page takes the lines of an output one after another, and writes those that it is to have.
type page struct {
	from, limit int // first line, and how many; 0: as many as fit

	out   strings.Builder
	line  []byte // the unfinished line
	total int    // finished lines so far
	last  int    // the last that is in out
	full  bool
}

func (p *page) read(ctx context.Context, kept Kept) error {
	from := &stoppable{ctx, kept.Open(ctx)}
	err := error(nil)
	if kept.Raw {
		err = shell.Clean(from, p.write)
	} else {
		_, err = io.Copy(writer(p.write), from)
	}
	if err == nil && len(p.line) > 0 {
		p.end()
	}
	return err
}

// stoppable is a reader that ends with a context.
type stoppable struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (s *stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.from.Read(b)
}

// writer is a function of texts as an [io.Writer].
type writer func(string)

// Write implements [io.Writer].
func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

func (p *page) write(text string) {
	for text != "" {
		line, rest, whole := strings.Cut(text, "\n")
		for len(p.line)+len(line) > maxPiece {
			n := maxPiece - len(p.line)
			p.line = append(p.line, line[:n]...)
			line = line[n:]
			p.piece(line[0])
		}
		p.line = append(p.line, line...)
		if whole {
			p.end()
		}
		text = rest
	}
}

// piece finishes a line that is long enough and goes on with a byte. It is broken between characters.
func (p *page) piece(next byte) {
	n := len(p.line)
	for starts := utf8.RuneStart(next); !starts && len(p.line)-n < utf8.UTFMax; {
		n--
		starts = utf8.RuneStart(p.line[n])
	}
	rest := slices.Clone(p.line[n:])
	p.line = p.line[:n]
	p.end()
	p.line = append(p.line, rest...)
}

// end finishes the line.
func (p *page) end() {
	p.total++
	if p.total >= p.from && !p.full {
		show := strings.ToValidUTF8(string(p.line), "\uFFFD")
		if p.out.Len()+len(show)+12 > maxRead {
			p.full = true
		} else {
			p.out.WriteString(strconv.Itoa(p.total) + "\t" + show + "\n")
			p.last = p.total
			p.full = p.limit > 0 && p.total+1 >= p.from+p.limit
		}
	}
	p.line = p.line[:0]
}

// note says what part of the output this was.
func (p *page) note(kept Kept) {
	switch {
	case p.total == 0 && kept.Bytes > 0:
		fmt.Fprintf(&p.out, "[%s without any text; od -c shows such where the command is run again", count(int(kept.Bytes), "byte", "bytes"))
	case p.total == 0:
		p.out.WriteString("[the output is empty")
	case p.last < p.total:
		fmt.Fprintf(&p.out, "[lines %d-%d of %d; go on with offset %d", p.from, p.last, p.total, p.last+1)
	default:
		fmt.Fprintf(&p.out, "[lines %d-%d of %d; this is the end", p.from, p.last, p.total)
		if kept.Capped {
			p.out.WriteString(" of what was kept, not of the output")
		}
	}
	p.out.WriteString("]\n")
}
