package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/redact"
	"overt/internal/shell"
	"overt/internal/store"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
)

// kept gives a pipeline whose outputs are kept, and the record that keeps them.
func kept(t *testing.T, files map[string]string) (*pipeline, *store.Store) {
	t.Helper()
	mask := redact.New()
	mask.Add("KEY", "sk-0123456789abcdef")
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &pipeline{bench: setUp(t, files)}
	rules := func() policy.Rules { return policy.Rules{Profile: policy.Full} }
	set, err := tool.NewSet(builtin.Core(builtin.Options{
		Tree: p.tree, Shell: shell.NewSession(p.tree.Root(), shell.Environ(nil)), Rules: rules,
		Output: func(ctx context.Context, id string) (builtin.Kept, error) {
			o, err := s.Output(ctx, "tsk_1", id)
			switch {
			case errors.Is(err, store.ErrOutputGone):
				return builtin.Kept{}, builtin.ErrOutputGone
			case errors.Is(err, store.ErrNoOutput):
				return builtin.Kept{}, builtin.ErrNoOutput
			case err != nil:
				return builtin.Kept{}, err
			}
			return builtin.Kept{Open: o.Open, Bytes: o.Bytes, Raw: o.Raw, Capped: o.Capped}, nil
		},
	})...)
	if err != nil {
		t.Fatal(err)
	}
	p.dispatcher = &tool.Dispatcher{Set: set, Rules: rules, Keep: func(sc event.Scope, call string, raw bool) tool.Keeper {
		return s.Captures().Spool(sc.Task, call, raw)
	}}
	return p, s
}

// page calls read_output and gives the lines without their numbers, and the note.
func (p *pipeline) page(arguments string) (lines []string, note string) {
	p.Helper()
	_, out := p.send("read_output", arguments)
	if out.Status != event.StatusOK || out.Trusted || len(out.Content) > 100_000 {
		p.Fatalf("%s: %s %s, %d bytes", arguments, out.Status, out.Content, len(out.Content))
	}
	all := strings.Split(strings.TrimSuffix(out.Content, "\n"), "\n")
	for _, l := range all[:len(all)-1] {
		_, text, ok := strings.Cut(l, "\t")
		if !ok {
			p.Fatalf("%s: line %q", arguments, l)
		}
		lines = append(lines, text)
	}
	return lines, all[len(all)-1]
}

// whole pages through an output as a model would, following the notes.
func (p *pipeline) whole(id string) (text string, pages int) {
	p.Helper()
	offset := 1
	for {
		lines, note := p.page(fmt.Sprintf(`{"id": %q, "offset": %d}`, id, offset))
		text += strings.Join(lines, "\n") + "\n"
		pages++
		m := regexp.MustCompile(`go on with offset (\d+)`).FindStringSubmatch(note)
		if m == nil {
			if !strings.Contains(note, "this is the end") {
				p.Fatalf("the last page says %s", note)
			}
			return text, pages
		}
		offset, _ = strconv.Atoi(m[1])
	}
}

// TestHugeOutput: of 14.9 MB the model gets both ends and how to get the rest, and can page through all of it.
func TestHugeOutput(t *testing.T) {
	p, _ := kept(t, nil)
	_, out := p.send("run_command", `{"command": "seq 1 2000000"}`)
	if out.Status != event.StatusOK || !out.Cut || out.Bytes != 14_888_896 || len(out.Content) > 10_200 {
		t.Fatalf("%s, %d bytes, cut %v, content %d", out.Status, out.Bytes, out.Cut, len(out.Content))
	}
	if out.Output == nil || out.Output.Bytes != 14_888_896 || out.Output.ID != "out_1-1" || out.Output.Capped {
		t.Fatalf("kept %+v", out.Output)
	}
	const gap = "\n1221\n[14878906 of 14888896 characters left out, from line 1222 on; read_output out_1-1 shows all]\n1999377\n"
	if !strings.Contains(out.Content, gap) || !strings.HasSuffix(out.Content, "\n2000000\n") {
		i := strings.Index(out.Content, "[")
		t.Fatalf("says %.200q", out.Content[max(0, i-10):])
	}
	lines, note := p.page(`{"id": "out_1-1", "offset": 1222, "limit": 3}`)
	if strings.Join(lines, " ") != "1222 1223 1224" || note != "[lines 1222-1224 of 2000000; go on with offset 1225]" {
		t.Errorf("%q %s", lines, note)
	}
	lines, note = p.page(`{"id": "out_1-1", "offset": -2}`)
	if strings.Join(lines, " ") != "1999999 2000000" || note != "[lines 1999999-2000000 of 2000000; this is the end]" {
		t.Errorf("%q %s", lines, note)
	}
}

// TestReadOutput reads back what commands and tools gave, by the pages that a model would ask for.
func TestReadOutput(t *testing.T) {
	long := strings.Repeat("ä", 50_000)
	p, _ := kept(t, map[string]string{"wide": strings.Repeat("x\n"+strings.Repeat(strings.Repeat("y", 300)+"\n", 20), 120)})
	for _, c := range []struct {
		name, call, arguments string
		want                  string // the whole, once read; "": nothing is to be kept
		cut                   bool
	}{
		{"short", "run_command", `{"command": "echo hello"}`, "", false},
		{"silent", "run_command", `{"command": "true"}`, "", false},
		{"both ends are shown", "run_command", `{"command": "seq -w 1 1000"}`, "", false},
		{"lines", "run_command", `{"command": "seq 1 50000"}`, lines(50_000), true},
		{"a failure", "run_command", `{"command": "seq 1 5000; exit 3"}`, lines(5000), true},
		{"a time-out", "run_command", `{"command": "seq 1 5000; sleep 60", "timeout": 1}`, lines(5000), true},
		{"one long line", "run_command", `{"command": "head -c 50000 /dev/zero | sed 's/\\x0/ä/g'"}`, broken(long), true},
		{"colours", "run_command", `{"command": "printf '\\033[31mred\\033[0m\\r\\n'"}`, "red\n", false},
		{"progress", "run_command", `{"command": "for i in $(seq 1 9999); do printf '%s\\r' $i; done; echo"}`, "9999\n", false},
		{"a secret", "run_command", `{"command": "seq 1 5000; echo sk-0123456789; echo sk-012345678''9abcdef"}`, lines(5000) + "sk-0123456789\n[masked:KEY]\n", true},
		{"a search", "search_text", `{"pattern": "^x", "context": 10, "path": "wide"}`, "", true},
	} {
		_, out := p.send(c.call, c.arguments)
		if out.Cut != c.cut || (out.Output != nil) != (c.want != "" || c.call == "search_text") {
			t.Errorf("%s: cut %v, kept %+v", c.name, out.Cut, out.Output)
			continue
		}
		if out.Output == nil {
			continue
		}
		if c.cut != strings.Contains(out.Content, "read_output "+out.Output.ID+" shows all]") {
			t.Errorf("%s: the note is wrong: %.300q", c.name, out.Content)
		}
		got, pages := p.whole(out.Output.ID)
		if c.want != "" && got != c.want {
			t.Errorf("%s: read %d bytes, want %d: %.60q", c.name, len(got), len(c.want), got)
		}
		if c.call == "search_text" && (pages < 1 || strings.Count(got, "wide:") != 100) {
			t.Errorf("%s: %d hits on %d pages", c.name, strings.Count(got, "wide:"), pages)
		}
	}
}

// lines is what seq prints.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

// broken is a long line as read_output shows it.
func broken(s string) string {
	var out string
	for len(s) > 32_000 {
		out += s[:32_000] + "\n"
		s = s[32_000:]
	}
	return out + s + "\n"
}

// TestReadOutputPieces: how an output comes in makes no difference, and no character is broken.
func TestReadOutputPieces(t *testing.T) {
	set := func(text string, raw bool, read func(io.Reader) io.Reader) tool.Tool {
		for _, x := range builtin.Core(builtin.Options{Output: func(context.Context, string) (builtin.Kept, error) {
			return builtin.Kept{Raw: raw, Open: func(context.Context) io.Reader { return read(strings.NewReader(text)) }}, nil
		}}) {
			if x.Spec().Name == "read_output" {
				return x
			}
		}
		return nil
	}
	rapid.Check(t, func(r *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 4).Draw(r, "lines") {
			text.WriteString(strings.Repeat("a", rapid.IntRange(0, 5).Draw(r, "shift")))
			text.WriteString(strings.Repeat(rapid.SampledFrom([]string{"x", "é", "界", "😀"}).Draw(r, "character"), rapid.IntRange(0, 12_000).Draw(r, "length")))
			text.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", ""}).Draw(r, "end"))
		}
		raw := rapid.Bool().Draw(r, "raw")
		offset := rapid.SampledFrom([]int{0, 1, 2, -1, -2}).Draw(r, "offset")
		call := func(read func(io.Reader) io.Reader) (string, error) {
			p, err := set(text.String(), raw, read).Prepare(t.Context(), fmt.Appendf(nil, `{"id":"x","offset":%d}`, offset))
			if err != nil {
				r.Fatal(err)
			}
			got, err := p.Run(t.Context(), &host{})
			if err != nil {
				return "", err
			}
			return got.Content, nil
		}
		want, err1 := call(func(from io.Reader) io.Reader { return from })
		for name, read := range map[string]func(io.Reader) io.Reader{"byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader, "data and its end": iotest.DataErrReader} {
			if got, err2 := call(read); got != want || fmt.Sprint(err1) != fmt.Sprint(err2) {
				r.Fatalf("%s: %v, %v; %d and %d bytes", name, err1, err2, len(got), len(want))
			}
		}
		if strings.Contains(want, "\uFFFD") {
			r.Fatal("a character was broken")
		}
	})
}

func TestReadOutputRefusals(t *testing.T) {
	p, s := kept(t, nil)
	_, out := p.send("run_command", `{"command": "seq 1 5000"}`)
	_, zeros := p.send("run_command", `{"command": "head -c 3 /dev/zero"}`)
	other := s.Captures().Spool("tsk_2", "tcl_2-1", true)
	io.WriteString(other, "of another task")
	if _, err := other.Keep(); err != nil {
		t.Fatal(err)
	}
	gone := event.Output{ID: "out_3-1", Bytes: 1}
	if _, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_1", Run: "run_3"}, Facts: []event.Draft{
		{Subject: "tcl_3-1", Data: event.ToolCompleted{Name: "run_command", Status: event.StatusOK, Output: &gone}},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arguments, code, says string }{
		{`{"id": "out_9-9"}`, "no_output", `no output with the id "out_9-9"`},
		{`{"id": ""}`, "no_output", `""`},
		{`{"id": "out_2-1"}`, "no_output", "this task has no output"},
		{`{"id": "out_3-1"}`, "output_gone", "run the call again"},
		{`{"id": "` + out.Output.ID + `", "offset": 5001}`, "past_end", "only 5000 lines; offset 5001 is past the end"},
		{`{"id": "` + out.Output.ID + `", "limit": -1}`, "bad_arguments", "limit is -1"},
		{`{}`, "bad_arguments", "id is missing"},
	} {
		_, got := p.send("read_output", c.arguments)
		if got.Status != event.StatusError || got.Code != c.code || !strings.Contains(got.Content, c.says) {
			t.Errorf("%s: %s %s %q", c.arguments, got.Status, got.Code, got.Content)
		}
	}
	for _, c := range []struct{ arguments, note string }{
		{`{"id": "` + out.Output.ID + `", "offset": 0, "limit": 1}`, "[lines 1-1 of 5000; go on with offset 2]"},
		{`{"id": "` + out.Output.ID + `", "offset": -9999, "limit": 1}`, "[lines 1-1 of 5000; go on with offset 2]"},
		{`{"id": "` + out.Output.ID + `", "offset": 5000}`, "[lines 5000-5000 of 5000; this is the end]"},
		{`{"id": "` + zeros.Output.ID + `"}`, "[3 bytes without any text; od -c shows such where the command is run again]"},
	} {
		if _, note := p.page(c.arguments); note != c.note {
			t.Errorf("%s: %s", c.arguments, note)
		}
	}
	if err := s.Captures().Prune(t.Context(), time.Now().Add(time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	// Only what the record names was kept once: here the outcome is in another log.
	if _, got := p.send("read_output", `{"id": "`+out.Output.ID+`"}`); got.Code != "no_output" {
		t.Errorf("%s %q", got.Code, got.Content)
	}
}

// TestCappedOutput: of an output over the limit the last page says that there was more.
func TestCappedOutput(t *testing.T) {
	p, _ := kept(t, nil)
	_, out := p.send("run_command", `{"command": "head -c 70000000 /dev/zero | tr '\\0' '\\n'"}`)
	if out.Output == nil || !out.Output.Capped || out.Output.Bytes != store.MaxOutput || out.Bytes != 70_000_000 {
		t.Fatalf("%+v, %d bytes", out.Output, out.Bytes)
	}
	if !strings.Contains(out.Content, "shows the first 64 MiB of all]") {
		t.Errorf("says %.200q", strings.TrimLeft(out.Content[strings.Index(out.Content, "["):], "\n"))
	}
	if _, note := p.page(`{"id": "` + out.Output.ID + `", "offset": -1}`); note != "[lines 67108864-67108864 of 67108864; this is the end of what was kept, not of the output]" {
		t.Error(note)
	}
}
