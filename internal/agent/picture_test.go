package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/prompt"
	"overt/internal/tool"
)

// seen is an outcome that brings a picture.
func seen(context.Context) (*tool.Result, error) {
	return &tool.Result{Content: "seen", Images: []event.Image{{Hash: "ab", Media: "image/png", Bytes: 9, Name: "a.png"}}}, nil
}

// TestPicturesKnown: a model that is known to take no pictures gets none of those that a thread has from before.
func TestPicturesKnown(t *testing.T) {
	no := false
	s := &scene{info: llm.Info{Images: &no}, during: seen, model: &model{script: []reply{
		calls(llm.ToolCalls, call("a", "change", `{"path":"a"}`)), calls(llm.ToolCalls, call("b", "look", `{"path":"b"}`)), says("ok"),
	}}}
	s.turn(t, context.Background())
	for i, r := range s.model.requests {
		if n := prompt.Pictures(r); n != 0 {
			t.Errorf("request %d has %d pictures", i+1, n)
		}
	}
	var left []event.PicturesLeft
	for _, f := range s.facts(t) {
		if p, ok := f.Data.(event.PicturesLeft); ok {
			left = append(left, p)
		}
	}
	if len(left) != 1 || left[0] != (event.PicturesLeft{Count: 1}) || len(s.model.requests) != 3 {
		t.Errorf("%+v in %d requests", left, len(s.model.requests))
	}
}

// TestPicturesRefused: the request is sent once more without pictures, and so are those after it; never a third time.
//
// covers L219
func TestPicturesRefused(t *testing.T) {
	blind := &llm.Error{Class: llm.Pictures, HTTP: 500, Message: "image input is not supported"}
	busy := &llm.Error{Class: llm.Overload, HTTP: 503}
	look := func(id string) reply { return calls(llm.ToolCalls, call(id, "change", `{"path":"`+id+`"}`)) }
	for name, tt := range map[string]struct {
		script []reply
		left   []int  // pictures that each left.pictures counts
		sent   string // pictures in each request
		end    string // class of the failure; "": it completed
	}{
		"once more, then all along": {[]reply{look("a"), {err: blind}, look("b"), says("ok")}, []int{1}, "0 1 0 0", ""},
		"in vain":                   {[]reply{look("a"), {err: blind}, {err: blind}}, []int{1}, "0 1 0", "invalid"},
		"besides the retries":       {[]reply{look("a"), {err: busy}, {err: blind}, {err: busy}, says("ok")}, []int{1}, "0 1 1 0 0", ""},
		"without a picture":         {[]reply{{err: blind}}, nil, "0", "invalid"},
		"after text":                {[]reply{look("a"), {show: "I see", err: blind}}, nil, "0 1", "image"},
		"both in one step":          {[]reply{calls(llm.ToolCalls, call("a", "change", `{"path":"a"}`), call("b", "change", `{"path":"b"}`)), {err: blind}, says("ok")}, []int{2}, "0 2 0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{model: &model{script: tt.script}, during: seen}
			out := s.turn(t, context.Background())
			failed, _ := out.Fact.Data.(event.RunFailed)
			if failed.Class != tt.end {
				t.Errorf("%+v", out.Fact.Data)
			}
			var sent []string
			for _, r := range s.model.requests {
				sent = append(sent, fmt.Sprint(prompt.Pictures(r)))
			}
			if got := strings.Join(sent, " "); got != tt.sent {
				t.Errorf("pictures sent: %s, want %s", got, tt.sent)
			}
			var left []int
			for i, f := range s.facts(t) {
				switch p := f.Data.(type) {
				case event.PicturesLeft:
					before, ok := s.facts(t)[i-1].Data.(event.CallFailed)
					if left = append(left, p.Count); p.Reason != blind.Message || !ok || before.Class != "image" || before.RetryIn == nil || *before.RetryIn != 0 {
						t.Errorf("%+v after %+v", p, before)
					}
				case event.ToolCompleted:
					if len(p.Images) != 1 {
						t.Errorf("the fact has lost its picture: %+v", p)
					}
				}
			}
			if fmt.Sprint(left) != fmt.Sprint(tt.left) {
				t.Errorf("left out: %v, want %v", left, tt.left)
			}
			for _, d := range s.waits {
				if d > 2*time.Second {
					t.Errorf("waited %v", d)
				}
			}
		})
	}
}
