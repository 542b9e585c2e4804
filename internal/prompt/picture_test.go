package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/prompt"
)

func image(name string) event.Image {
	return event.Image{Hash: strings.Repeat("0", 60) + name, Media: "image/png", Bytes: 12_001, Name: name + ".png"}
}

// shape writes each message as its role and the types of its blocks; a picture by the end of its hash.
func shape(r *llm.Request) string {
	var out []string
	for _, m := range r.Messages {
		s := string(m.Role) + ":"
		for _, b := range m.Blocks {
			if b.Image != nil {
				s += " <" + strings.TrimLeft(b.Image.Hash, "0") + ">"
			} else {
				s += " " + string(b.Type)
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// looked has a task with a picture of the person and a step that reads two beside a file.
func looked(t *testing.T) *history {
	h := &history{t: t}
	h.drafts(prompt.Choose(&h.thread, head("m", "read_image"), nil))
	one := image("one")
	h.add("msg_1", event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{{Type: "image", Image: &one}, {Type: "text", Text: "what is it?"}}})
	calls := h.assistant("", event.ToolCall{Given: "a", Name: "read_image", Args: "{}"}, event.ToolCall{Given: "b", Name: "read_file", Args: "{}"}, event.ToolCall{Given: "c", Name: "read_image", Args: "{}"})
	h.add(calls[2].ID, event.ToolCompleted{Name: "read_image", Status: "ok", Content: "y", Images: []event.Image{image("three")}}) // sooner
	h.result(calls[1], "x")
	h.add(calls[0].ID, event.ToolCompleted{Name: "read_image", Status: "ok", Content: "x", Images: []event.Image{image("two")}})
	return h
}

func (h *history) build() *llm.Request {
	h.t.Helper()
	r, _, err := prompt.Build(&h.thread)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// TestPicturesOfTools: they come after all results of the step, in the order of the calls, and stay there.
//
// covers L215 L216
func TestPicturesOfTools(t *testing.T) {
	h := looked(t)
	const want = "user: <one> text\nassistant: call call call\ntool: result\ntool: result\ntool: result\nuser: text <two> text <three>"
	first := h.build()
	if got := shape(first); got != want {
		t.Errorf("the request is\n%s\nwant\n%s", got, want)
	}
	h.assistant("two cats")
	h.user("and the dog?")
	later := h.build()
	if got := shape(later); got != want+"\nassistant: text\nuser: text" {
		t.Errorf("then it is\n%s", got)
	}
	for i, m := range first.Messages {
		if later.Messages[i].Key != m.Key || m.Key == "" {
			t.Errorf("message %d is another one: %q, %q", i, m.Key, later.Messages[i].Key)
		}
	}
	if n := prompt.Pictures(later); n != 3 {
		t.Errorf("%d pictures", n)
	}
	// It is no message: no number leads to it, and a fork after the answer has it.
	seen := 0
	for f, err := range h.log.Read(t.Context(), event.Path{Task: "tsk_1"}) {
		if _, ok := f.Data.(event.MessageAdded); err != nil || ok {
			seen++
		}
	}
	if seen != 4 {
		t.Errorf("%d messages are on record", seen)
	}
	// What a tool read was not written by the person, though it stands in their role.
	if from := h.thread.Repeats("two.png"); from != "" {
		t.Errorf("a name comes from %q", from)
	}
	h.add("", event.ContextTaken{Source: "instruction", Name: "AGENTS.md", Place: prompt.PlaceHere, Text: "see two.png"})
	if from := h.thread.Repeats("two.png"); from != "instruction AGENTS.md" {
		t.Errorf("a name comes from %q", from)
	}
}

// TestFragmentsBesidePictures: texts of sources stand between the pictures and the text of the person.
func TestFragmentsBesidePictures(t *testing.T) {
	h := &history{t: t}
	one, two := image("one"), image("two")
	h.add("", event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{{Type: "image", Image: &one}, {Type: "image", Image: &two}, {Type: "text", Text: "q"}}})
	h.drafts(prompt.Choose(&h.thread, head("m"), []prompt.Fragment{text("instruction", "AGENTS.md", "be kind", prompt.PlaceHere)}))
	r := h.build()
	if got := shape(r); got != "user: <one> <two> text text" {
		t.Error(got)
	}
	if b := r.Messages[0].Blocks; b[3].Text != "q" {
		t.Errorf("%+v", b)
	}
}

// TestPicturesLeft: once a server has refused them, requests say so in their place, and nothing before the first of them changes;
// another model gets them again.
//
// covers L219
func TestPicturesLeft(t *testing.T) {
	h := looked(t)
	before := h.build()
	left := h.add("cal_1", event.PicturesLeft{Count: 3, Reason: "image input is not supported"})
	if !left.Kind.Node() || h.thread.Leaf() != left.Seq {
		t.Error("the thread does not stand on it")
	}
	r := h.build()
	if got := shape(r); got != "user: text text\nassistant: call call call\ntool: result\ntool: result\ntool: result\nuser: text text text text" {
		t.Errorf("the request is\n%s", got)
	}
	if got := r.Messages[0].Blocks[0].Text; got != `[the picture "one.png" (image/png, 13 kB) is not shown: the model's server does not take it. Say so if it is needed]` {
		t.Error(got)
	}
	if prompt.Pictures(before) != 3 || shape(before) == shape(r) {
		t.Error("the request that was sent has changed")
	}
	for i, m := range r.Messages {
		if same := m.Key == before.Messages[i].Key; same != (i > 0 && i < 5) {
			t.Errorf("message %d: key %q, before %q", i, m.Key, before.Messages[i].Key)
		}
	}
	// A thread that is read again gives the same requests, now and as it was.
	for leaf, want := range map[event.Seq]*llm.Request{0: r, left.Seq - 1: before} {
		var again prompt.Thread
		for f := range h.log.Read(t.Context(), event.Path{Task: "tsk_1", Leaf: leaf}) {
			again.Apply(f)
		}
		if got, _, err := prompt.Build(&again); err != nil || !slices.Equal(body(got), body(want)) {
			t.Errorf("up to %d: %v\n%s", leaf, err, shape(got))
		}
	}
	h.assistant("I can't see it.")
	h.drafts(prompt.Choose(&h.thread, head("m", "other_tool"), nil))
	h.user("and now?")
	if n := prompt.Pictures(h.build()); n != 0 {
		t.Errorf("%d pictures with other tools", n)
	}
	h.drafts(prompt.Choose(&h.thread, head("sees"), nil))
	if n := prompt.Pictures(h.build()); n != 3 {
		t.Errorf("another model gets %d pictures", n)
	}
}
