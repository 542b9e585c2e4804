//go:build unix

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/store"
	"overt/internal/tool"
)

// writer is a tool that writes a file of the workspace and says so.
type writer struct {
	root  string
	grade policy.Grade

	unstarted error // why it can't be started; nil: it can
}

func (writer) Spec() event.ToolSpec {
	return event.ToolSpec{Name: "write", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (w writer) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	p := &tool.Prepared{Action: policy.Action{Tool: "write", Effects: []policy.Effect{{Kind: policy.Write, Target: "a"}}}, Paths: []string{"a"}}
	if w.grade != "" {
		p.Action.Effects[0].Kind, p.Action.Risk, p.Paths = policy.Run, &policy.Risk{Grade: w.grade}, nil
	}
	if w.unstarted != nil {
		p.Launch = func(context.Context, bool) (*event.Group, error) { return nil, w.unstarted }
	}
	p.Run = func(context.Context, tool.Host) (*tool.Result, error) {
		return &tool.Result{Content: "done", Facts: []event.Payload{event.FileChanged{Path: "a", Op: "overwrite", By: "agent", Diff: "the diff"}}},
			os.WriteFile(filepath.Join(w.root, "a"), []byte("two"), 0o644)
	}
	return p, nil
}

// bracketed dispatches one call with checkpoints, and gives the facts.
func bracketed(t *testing.T, w writer, files func(context.Context) (*store.Files, error)) []event.Fact {
	t.Helper()
	return dispatched(t, w, policy.Rules{Profile: policy.Full}, checkpoint.Options{Files: files})
}

func dispatched(t *testing.T, w writer, rules policy.Rules, o checkpoint.Options, set ...func(*checkpoint.Options)) []event.Fact {
	t.Helper()
	o.Root = w.root
	for _, f := range set {
		f(&o)
	}
	if err := os.WriteFile(filepath.Join(w.root, "a"), []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	k, err := checkpoint.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	tools, err := tool.NewSet(w)
	if err != nil {
		t.Fatal(err)
	}
	var log event.Memory
	d := &tool.Dispatcher{Set: tools, Rules: func() policy.Rules { return rules }, Checkpoints: k}
	if _, err := d.Dispatch(context.Background(), event.Scope{Task: "t"}, &log, []event.ToolCall{{ID: "tcl_x-1.1", Name: "write", Args: "{}"}}); err != nil {
		t.Fatal(err)
	}
	var out []event.Fact
	for f, err := range log.Read(context.Background(), event.Path{Task: "t", Facts: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func kinds(facts []event.Fact) (out []event.Kind) {
	for _, f := range facts {
		out = append(out, f.Kind)
	}
	return out
}

// TestBracket: what is kept is on record before the effect, what changed with the outcome, once.
func TestBracket(t *testing.T) {
	s, err := store.Open(context.Background(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	facts := bracketed(t, writer{root: t.TempDir()}, s.Files)
	want := []event.Kind{event.KindToolDecided, event.KindCheckpointTaken, event.KindToolStarted, event.KindCheckpointClosed, event.KindToolCompleted}
	if got := kinds(facts); !slices.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	if started := facts[2].Data.(event.ToolStarted); started.Checkpoint != "chk_x-1.1" || facts[1].Subject != "chk_x-1.1" {
		t.Errorf("%+v", started)
	}
	c := facts[3].Data.(event.CheckpointClosed)
	if c.Call != "tcl_x-1.1" || len(c.Changes) != 1 || c.Changes[0].Diff != "the diff" || c.Changes[0].Op != "overwrite" || c.Changes[0].Before == "" {
		t.Errorf("%+v", c)
	}
}

// TestOnlyReadingIsNotBracketed: a command that is graded low is not, and then a tool's own word stands.
func TestOnlyReadingIsNotBracketed(t *testing.T) {
	facts := bracketed(t, writer{root: t.TempDir(), grade: policy.Low}, func(context.Context) (*store.Files, error) {
		return nil, errors.New("nobody needs it")
	})
	if got := kinds(facts); slices.Contains(got, event.KindCheckpointTaken) || !slices.Contains(got, event.KindFileChanged) {
		t.Errorf("%v", got)
	}
}

// TestWhatIsNotKeptDoesNotRun: a call whose files can't be kept has no effect, and the model hears why.
func TestWhatIsNotKeptDoesNotRun(t *testing.T) {
	w := writer{root: t.TempDir(), grade: policy.Medium}
	facts := bracketed(t, w, func(context.Context) (*store.Files, error) { return nil, fmt.Errorf("no room") })
	last, ok := facts[len(facts)-1].Data.(event.ToolCompleted)
	if !ok || last.Status != event.StatusError || last.Code != "not_kept" {
		t.Errorf("%+v", facts[len(facts)-1])
	}
	if data, _ := os.ReadFile(filepath.Join(w.root, "a")); string(data) != "one" || slices.Contains(kinds(facts), event.KindToolStarted) {
		t.Errorf("it ran: %q", data)
	}
}

// TestConfinedNeedsItsBracket: where nothing is kept, and so nothing could be put back, a confined command does not run.
func TestConfinedNeedsItsBracket(t *testing.T) {
	w := writer{root: t.TempDir(), grade: policy.Medium}
	home := func(o *checkpoint.Options) { o.Home = w.root }
	many := func(o *checkpoint.Options) { o.Entries = 1 }
	if err := os.WriteFile(filepath.Join(w.root, "b"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, set := range []func(*checkpoint.Options){home, many} {
		s, err := store.Open(context.Background(), store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		facts := dispatched(t, w, policy.Rules{Profile: policy.Auto, Sandbox: true}, checkpoint.Options{Files: s.Files}, set)
		last, ok := facts[len(facts)-1].Data.(event.ToolCompleted)
		if !ok || last.Code != "not_kept" || !strings.Contains(last.Content, "unconfined: true") || slices.Contains(kinds(facts), event.KindToolStarted) {
			t.Errorf("%+v", facts[len(facts)-1])
		}
		if data, _ := os.ReadFile(filepath.Join(w.root, "a")); string(data) != "one" {
			t.Errorf("it ran: %q", data)
		}
	}
}

// TestUnstartedTellsOfOthers: what others changed is on record also where the call that found it did not start.
func TestUnstartedTellsOfOthers(t *testing.T) {
	ctx := context.Background()
	w := writer{root: t.TempDir(), grade: policy.Medium, unstarted: &tool.Refusal{Code: "no_shell", Text: "no shell"}}
	s, err := store.Open(ctx, store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k, err := checkpoint.Open(checkpoint.Options{Root: w.root, Files: s.Files})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, _, err := k.Before(ctx, event.Scope{Task: "t"}, "chk_1", nil, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := k.Drop(ctx, "chk_1"); err != nil {
		t.Fatal(err)
	}
	facts := bracketed(t, w, s.Files) // which makes a file first
	i := slices.IndexFunc(facts, func(f event.Fact) bool {
		c, ok := f.Data.(event.FileChanged)
		return ok && c.Path == "a" && c.By == "outside"
	})
	if last, ok := facts[len(facts)-1].Data.(event.ToolCompleted); i < 0 || !ok || last.Code != "no_shell" || slices.Contains(kinds(facts), event.KindCheckpointTaken) {
		t.Errorf("%v", kinds(facts))
	}
}

// TestNoRoomIsSaid: a call whose files can't be kept for want of space says so by its code.
func TestNoRoomIsSaid(t *testing.T) {
	facts := bracketed(t, writer{root: t.TempDir(), grade: policy.Medium}, func(context.Context) (*store.Files, error) {
		return nil, fmt.Errorf("open files.db: %w", syscall.ENOSPC)
	})
	if last, ok := facts[len(facts)-1].Data.(event.ToolCompleted); !ok || last.Code != "storage_full" {
		t.Errorf("%+v", facts[len(facts)-1])
	}
}
