package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// TestNoLimitOfSteps: a turn may take any number of steps, unless a limit was set; 0 is none.
//
// covers F069 L075
func TestNoLimitOfSteps(t *testing.T) {
	const steps = 120
	for _, flags := range [][]string{nil, {"--max-steps", "0"}} {
		n := 0
		s := startStrictFunc(t, func(strictRequest, int) (strictReply, bool) {
			if n++; n > steps {
				return strictReply{Text: "Done."}, true
			}
			return strictReply{Calls: []strictCall{{Name: "list_files", Args: map[string]any{"glob": fmt.Sprint(n)}}}}, true
		})
		p := newPlace(t)
		if r := p.run(append(flags, "-u", s.URL, "-m", "strict", "look")...).want(t, 0); r.out != "Done.\n" || len(s.exchanges()) != steps+1 {
			t.Errorf("%v: %q after %d requests", flags, r.out, len(s.exchanges()))
		}
		s.valid(t)
	}
}

// TestDeltasFit: what is shown while it arrives says where it belongs, in characters of the masked text; put together,
// it is what is on record.
//
// covers F078
func TestDeltasFit(t *testing.T) {
	const secret = "tok-0123456789-abc"
	const want = "Grüße, 世界: [masked:SOME_TOKEN], twice: [masked:SOME_TOKEN] 🥊."
	whole := []rune(want)
	p := newPlace(t)
	p.env = append(p.env, "SOME_TOKEN="+secret)
	for range 50 { // deltas may be left out where the answer is there before anyone looks
		s := startStrict(t, "", strictReply{Text: "Grüße, 世界: " + secret + ", twice: " + secret + " 🥊.", Piece: 3})
		r := p.run("-u", s.URL, "-m", "strict", "--output", "stream-json", "x").want(t, 0)
		deltas := 0
		for line := range strings.Lines(r.out) {
			var d struct {
				Kind, Part, Text string
				From             int
			}
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			if d.Kind != "call.delta" || d.Part != "text" {
				continue
			}
			deltas++
			if text := []rune(d.Text); d.From+len(text) > len(whole) || string(whole[d.From:d.From+len(text)]) != d.Text {
				t.Fatalf("%q does not stand at %d of %q", d.Text, d.From, want)
			}
		}
		if !strings.Contains(r.out, `"text":"`+want+`"`) {
			t.Fatalf("the message is not masked as its deltas are:\n%s", r.out)
		}
		if deltas > 1 {
			return
		}
	}
	t.Error("no answer came in deltas")
}

// TestBrokenHistoryIsSaid: a history that no server would take, as another program could leave it, is mended in the
// request, and one line says so. The record stays as it is.
//
// covers L243 L244
func TestBrokenHistoryIsSaid(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "one"}, strictReply{Text: "two"})
	p := newPlace(t)
	p.run("-u", s.URL, "-m", "strict", "first").want(t, 0)
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state/overt/workspaces/*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, store.Options{Dir: dirs[0]})
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.Append(ctx, event.Batch{Scope: event.Scope{Task: p.show().Task}, Facts: []event.Draft{
		{Subject: "tcl_gone", Data: event.ToolCompleted{Name: "read_file", Status: event.StatusOK, Content: "of no call"}},
		{Data: event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{
			{Type: "call", Call: &event.ToolCall{ID: "tcl_lost", Given: "lost", Name: "run_command", Args: `{"command":"touch x"}`}},
		}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	before := p.show().Events
	r := p.run("-u", s.URL, "-m", "strict", "--continue", "go on").want(t, 0)
	s.valid(t)
	if r.out != "two\n" || strings.Count(r.err, "calls and results without their other half, mended in the request: 2\n") != 1 || p.exists("x") {
		t.Errorf("%+v", r)
	}
	last := s.exchanges()[1].Request
	if !bytes.Contains(last, []byte("No result of this call is known. Do not assume that it ran or that it did not.")) || bytes.Contains(last, []byte("of no call")) {
		t.Errorf("sent %s", last)
	}
	keeps(t, p.show().Events, before)
}
