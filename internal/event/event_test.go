package event_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/event"
)

var update = flag.Bool("update", false, "write golden files of kinds that have none")

// samples has one payload of every kind, with every field set.
func samples() []event.Payload {
	n := func(v int64) *int64 { return &v }
	usage := event.Usage{Fresh: n(10), CacheRead: n(0), CacheWrite: n(1), Output: n(5), Reasoning: n(2), Coverage: "complete", Raw: json.RawMessage(`{"prompt_tokens":11}`)}
	body := event.Body{Bytes: 9, SHA256: "ab", Masked: 1}
	x := event.Exchange{Request: body, Response: body, FirstByteMS: 3, DurationMS: 4}
	return []event.Payload{
		event.SessionStarted{Version: "1", Client: "cli", Dir: "/w", PID: 7},
		event.SessionEnded{Reason: "closed"},
		event.TaskCreated{Title: "t", Origin: "person"},
		event.TaskChanged{Title: "t", State: "cancelled", Reason: "r", By: "person"},
		event.TaskErased{By: "person", Facts: 3, Bytes: 4},
		event.HeadMoved{From: 1, To: 2, Reason: "branch"},
		event.BranchCreated{Reason: "fork", From: 2, Nodes: 1},
		event.RunAccepted{RunKind: "turn", Client: "cli", Limits: event.Limits{Steps: 3}},
		event.RunStarted{},
		event.RunCompleted{Answer: "msg_1", Steps: 2, Usage: usage, Denied: 1},
		event.RunFailed{Code: "provider", Detail: "d", Class: "auth", HTTP: 401, Steps: 1, Usage: usage, Denied: 1},
		event.RunCancelled{By: "person", Steps: 1, Usage: usage, Denied: 1},
		event.RunInterrupted{Reason: "process died", Open: []string{"tcl_1"}, Ended: []string{"tcl_1"}},
		event.ContextHead{Cause: "first", Provider: "p", Protocol: "openai-chat", Model: "m", Params: json.RawMessage(`{"MaxTokens":1}`), Fragments: []string{"system/built-in"}, Tools: []event.ToolSpec{{Name: "x", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}}},
		event.ContextPacked{Items: []event.PackedItem{{Source: "s", Name: "n", Version: "v", Reason: "r", Priority: 1, Estimate: 2, Choice: "include"}}},
		event.ContextTaken{Source: "s", Name: "n", Version: "v", Place: "here", Reason: "r", Text: "t", Supersedes: 3, Untrusted: true},
		event.MessageAdded{Role: "assistant", Origin: "model", Cut: "length", Dropped: 1, Blocks: []event.Block{
			{Type: "text", Text: "hi"},
			{Type: "reasoning", Text: "hm", Carrier: "reasoning_content"},
			{Type: "call", Call: &event.ToolCall{ID: "tcl_1", Given: "a1", Name: "x", Args: `{"a": "é<&>"}`}},
		}},
		event.PicturesLeft{Count: 2, Reason: "image input is not supported"},
		event.CallStarted{Lane: "l", Purpose: "chat", Attempt: 2, Provider: "p", Protocol: "q", Model: "m", Head: 3, Leaf: 4, Estimate: 5, Repairs: 1},
		event.CallCompleted{HTTP: 200, ProviderID: "c1", Finish: "stop", RawFinish: "stop", Usage: usage, Exchange: x},
		event.CallFailed{Class: "rate", Code: "c", HTTP: 429, Message: "m", Partial: true, RetryIn: n(500), Usage: usage, Exchange: x},
		event.ToolDecided{Name: "x", Args: "{}", Effects: []event.Effect{{Kind: "read", Target: "a"}}, Verdict: "deny", Rule: "r", Reasons: []string{"c"}, Preview: "p", Unasked: true},
		event.ToolStarted{Name: "x", ReadOnly: true, Dir: ".", Group: &event.Group{ID: 5, Start: 6}},
		event.ToolCompleted{Name: "x", Status: "error", Code: "c", Content: "out", Trusted: true, Bytes: 3, Cut: true, Meta: json.RawMessage(`{"exit":1}`)},
		event.QuestionAsked{About: "tool", ToolCall: "tcl_1", Name: "x", Options: []string{"yes", "no"}, Show: "s", Reasons: []string{"c"}},
		event.QuestionAnswered{Choice: "yes", By: "person"},
		event.PermissionGranted{Rule: "run_command(go test:*)", Verdict: "allow", Given: []string{"go", "test"}, Scope: "task", Question: "qst_1", By: "person"},
		event.PermissionRevoked{By: "person"},
		event.WorkspaceTrusted{Digest: "ab", Files: []event.TrustedFile{{Path: ".overt/config.json", SHA256: "ab", Text: "{}"}}, By: "person"},
		event.QueueAdded{Mode: "steer", Text: "t"},
		event.QueueChanged{State: "held", By: "runtime"},
		event.PlanChanged{Items: []event.PlanItem{{ID: "a", Text: "t", State: "done"}, {ID: "b", Text: "u", State: "pending", Needs: []string{"a"}}}},
		event.JobStarted{Job: "job_1", Command: "c", Group: &event.Group{ID: 5, Start: 6}, Owner: &event.Group{ID: 7, Start: 8}},
		event.JobEnded{Job: "job_1", State: "exit 0", Bytes: 9},
		event.FileChanged{Path: "a", Op: "edit", By: "agent", Before: "1", After: "2", Diff: "d"},
		event.CheckpointTaken{Call: "tcl_1", Paths: []string{"a"}, Outside: 2, Uncovered: []event.Uncovered{{What: "large", N: 1, Paths: []string{"b"}}}},
		event.CheckpointClosed{
			Call: "tcl_1", Paths: []string{"a"}, Changes: []event.Change{{Path: "a", Op: "edit", Type: "link", Mode: "755", Before: "1", After: "2", Diff: "d"}}, More: 3,
			LeftOut: []event.Uncovered{{What: "large", N: 1, Paths: []string{"b"}}},
		},
		event.UndoStarted{Targets: []string{"chk_1"}, Redo: true, Force: true, Paths: 2, Plan: "ab"},
		event.UndoCompleted{Targets: []string{"chk_1"}, Redo: true, Restored: 1, Deleted: 2, Conflicts: []event.Conflict{{Path: "a", Why: "changed"}}, Left: 1, Interrupted: true},
	}
}

// TestGolden reads the stored form of every kind and version that was ever written. A golden file is never edited: a
// changed meaning is a new version beside the old one.
func TestGolden(t *testing.T) {
	seen := map[event.Kind]bool{}
	for _, p := range samples() {
		seen[p.Kind()] = true
		name := filepath.Join("testdata", "kinds", fmt.Sprintf("%s.v%d.json", p.Kind(), p.Kind().Version()))
		got, err := event.Encode(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && *update {
			err = os.WriteFile(name, append(got, '\n'), 0o644)
			want = append(got, '\n')
		}
		if err != nil {
			t.Errorf("%v (run the test with -update for a new kind)", err)
			continue
		}
		if string(want) != string(got)+"\n" {
			t.Errorf("%s: the stored form is\n%s\nwant\n%s", p.Kind(), got, want)
		}
	}
	for _, k := range event.Kinds() {
		if !seen[k] {
			t.Errorf("no sample of %s", k)
		}
	}
	files, err := filepath.Glob("testdata/kinds/*.json")
	if err != nil || len(files) < len(event.Kinds()) {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kind, v, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".json"), ".v")
		var version int
		if _, err := fmt.Sscan(v, &version); err != nil {
			t.Fatal(err)
		}
		p, err := event.Decode(event.Kind(kind), version, data, nil)
		if _, unknown := p.(event.Unknown); err != nil || unknown {
			t.Errorf("%s: %T, %v", name, p, err)
		}
	}
}

func TestUnknownKindsPassThrough(t *testing.T) {
	const stored = `{"b":1,"a":"<x>"}`
	for _, tt := range []struct {
		kind event.Kind
		v    int
	}{{"from.the.future", 1}, {event.KindRunStarted, 99}} {
		p, err := event.Decode(tt.kind, tt.v, []byte(stored), nil)
		if err != nil || p.Kind() != tt.kind {
			t.Fatalf("%v, %v", p, err)
		}
		if out, err := event.Encode(p, nil, nil); err != nil || string(out) != stored {
			t.Errorf("encoded as %s, %v", out, err)
		}
	}
}

// TestTextsApart: long texts go out and come back, secrets are masked in every text, and JSON from elsewhere that looks
// like a reference is none.
func TestTextsApart(t *testing.T) {
	var kept []string
	keep := func(b []byte) (int64, error) { kept = append(kept, string(b)); return int64(len(kept)), nil }
	load := func(id int64) ([]byte, error) { return []byte(kept[id-1]), nil }
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[masked:pw]") }
	long := strings.Repeat(`quote " back \ é `, 500)
	p := event.ToolCompleted{Name: "x", Status: "ok", Content: long + "hunter2", Meta: json.RawMessage(`{"$blob":1,"k":"hunter2","hunter2":0}`)}
	data, err := event.Encode(p, mask, keep)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 1000 || len(kept) != 1 {
		t.Fatalf("%d bytes, %d texts kept", len(data), len(kept))
	}
	got, err := event.Decode(event.KindToolCompleted, 1, data, load)
	if err != nil {
		t.Fatal(err)
	}
	back := got.(event.ToolCompleted)
	if back.Content != long+"[masked:pw]" {
		t.Errorf("content differs: %.80q", back.Content)
	}
	var meta map[string]any
	if err := json.Unmarshal(back.Meta, &meta); err != nil || !reflect.DeepEqual(meta, map[string]any{"$blob": 1.0, "k": "[masked:pw]", "[masked:pw]": 0.0}) {
		t.Errorf("meta = %v, %v", meta, err)
	}
}

// TestSealBroken: what is sealed is kept where nothing was masked, and left out where it would no longer fit.
func TestSealBroken(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[masked:pw]") }
	p := event.MessageAdded{Role: "assistant", Blocks: []event.Block{
		{Type: "reasoning", Text: "say hunter2", Carrier: "thinking", Opaque: json.RawMessage(`"sig"`)},
		{Type: "reasoning", Text: "fine", Carrier: "thinking", Opaque: json.RawMessage(`"sig"`)},
		{Type: "reasoning", Carrier: "item", Opaque: json.RawMessage(`{"summary":"hunter2"}`)},
	}}
	data, err := event.Encode(p, mask, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := event.Decode(event.KindMessageAdded, 1, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := got.(event.MessageAdded).Blocks
	if b[0].Text != "say [masked:pw]" || b[0].Opaque != nil || string(b[1].Opaque) != `"sig"` || b[2].Opaque != nil || p.Blocks[0].Opaque == nil {
		t.Errorf("%s", data)
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept [][]byte
		p := event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{
			{Type: "text", Text: rapid.String().Draw(t, "text")},
			{Type: "call", Call: &event.ToolCall{ID: "i", Args: strings.Repeat(rapid.StringN(1, 8, 16).Draw(t, "args"), rapid.IntRange(1, 2000).Draw(t, "times"))}},
		}}
		data, err := event.Encode(p, func(s string) string { return s }, func(b []byte) (int64, error) { kept = append(kept, b); return int64(len(kept)), nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.Decode(event.KindMessageAdded, 1, data, func(id int64) ([]byte, error) { return kept[id-1], nil })
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v\n%+v\n%v", got, p, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, p := range samples() {
		data, _ := event.Encode(p, nil, nil)
		f.Add(string(p.Kind()), data)
	}
	f.Add("tool.completed", []byte(`{"content":{"$blob":1}}`))
	f.Add("tool.completed", []byte(`{"content":"`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		event.Decode(event.Kind(kind), 1, data, func(int64) ([]byte, error) { return []byte("x"), nil })
	})
}

func TestMemory(t *testing.T) {
	ctx := context.Background()
	var m event.Memory
	text := func(s string) event.Draft {
		return event.Draft{Data: event.MessageAdded{Role: "user", Blocks: []event.Block{{Type: "text", Text: s}}}}
	}
	a := event.Scope{Task: "a"}
	f, err := m.Append(ctx, event.Batch{Scope: a, Facts: []event.Draft{text("1"), {Data: event.RunStarted{}}, text("2")}})
	if err != nil || f[0].Parent != 0 || f[2].Parent != f[0].Seq {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := m.Append(ctx, event.Batch{Scope: a, Guard: &event.Guard{Head: f[0].Seq}, Facts: []event.Draft{text("no")}}); !errors.Is(err, event.ErrMoved) {
		t.Errorf("guard: %v", err)
	}
	one, err := m.Append(ctx, event.Batch{Scope: a, Key: "k", Fingerprint: "x", Facts: []event.Draft{text("3")}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Append(ctx, event.Batch{Scope: a, Key: "k", Fingerprint: "x", Facts: []event.Draft{text("3")}})
	if err != nil || !reflect.DeepEqual(one, again) {
		t.Errorf("key again: %v, %v", again, err)
	}
	if _, err := m.Append(ctx, event.Batch{Scope: a, Key: "k", Fingerprint: "y"}); !errors.Is(err, event.ErrKeyReused) {
		t.Errorf("key for something else: %v", err)
	}
	root := event.Seq(0)
	side, err := m.Append(ctx, event.Batch{Scope: a, Facts: []event.Draft{{Parent: &root, Data: text("side").Data}}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(p event.Path) (out []event.Seq) {
		for f, err := range m.Read(ctx, p) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, f.Seq)
		}
		return out
	}
	if got := read(event.Path{Task: "a"}); !slices.Equal(got, []event.Seq{1, 3, 4}) {
		t.Errorf("path = %v", got)
	}
	if got := read(event.Path{Task: "a", Leaf: side[0].Seq}); !slices.Equal(got, []event.Seq{5}) {
		t.Errorf("side path = %v", got)
	}
	if got := read(event.Path{Task: "a", Facts: true, After: 2}); !slices.Equal(got, []event.Seq{3, 4, 5}) {
		t.Errorf("facts = %v", got)
	}
}

// TestMemoryConditions: what must hold of a task is checked before anything is written.
func TestMemoryConditions(t *testing.T) {
	ctx := context.Background()
	var m event.Memory
	a := event.Scope{Task: "a", Run: "run_1"}
	add := func(c *event.If, p ...event.Payload) error {
		b := event.Batch{Scope: a, If: c}
		for _, p := range p {
			b.Facts = append(b.Facts, event.Draft{Data: p})
		}
		_, err := m.Append(ctx, b)
		return err
	}
	active := &event.If{States: []string{event.TaskActive}, Idle: true}
	var state *event.StateError
	if err := add(active, event.RunStarted{}); !errors.As(err, &state) || *state != (event.StateError{Task: "a"}) {
		t.Errorf("no task: %v", err)
	}
	if err := add(nil, event.TaskCreated{Title: "t"}, event.RunAccepted{}); err != nil {
		t.Fatal(err)
	}
	if err := add(active, event.TaskChanged{State: event.TaskPaused}); !errors.Is(err, event.ErrActive) {
		t.Errorf("with a run: %v", err)
	}
	if err := add(&event.If{States: active.States}, event.TaskChanged{Title: "u"}, event.RunFailed{}); err != nil {
		t.Error(err)
	}
	if err := add(active, event.TaskChanged{State: event.TaskPaused}); err != nil {
		t.Error(err)
	}
	if err := add(active, event.TaskChanged{State: event.TaskActive}); !errors.As(err, &state) || state.State != event.TaskPaused {
		t.Errorf("in another state: %v", err)
	}
}

// TestMemoryFork: a task that is put on a node of another one goes on from there.
func TestMemoryFork(t *testing.T) {
	ctx := context.Background()
	var m event.Memory
	text := event.Draft{Data: event.MessageAdded{Role: "user"}}
	if _, err := m.Append(ctx, event.Batch{Scope: event.Scope{Task: "a"}, Facts: []event.Draft{text, text}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Append(ctx, event.Batch{Scope: event.Scope{Task: "b"}, Facts: []event.Draft{{Data: event.HeadMoved{To: 1}}, text}}); err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string][]event.Seq{"a": {1, 2}, "b": {1, 4}} {
		var got []event.Seq
		for f, err := range m.Read(ctx, event.Path{Task: task}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", task, got, want)
		}
	}
}

// TestBlobs: references are found, and what only looks like one is not.
func TestBlobs(t *testing.T) {
	p := event.MessageAdded{Blocks: []event.Block{
		{Text: strings.Repeat("a", event.LongText)}, {Text: `{"$blob":9}`}, {Text: strings.Repeat("b", event.LongText)},
	}}
	n := int64(4)
	data, err := event.Encode(p, nil, func([]byte) (int64, error) { n++; return n, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := event.Blobs(data); err != nil || !slices.Equal(got, []int64{5, 6}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := event.Blobs([]byte(`{"a":{"$blob":`)); err == nil {
		t.Error("a reference that is cut off")
	}
}
