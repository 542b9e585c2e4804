package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/trace"
)

// streamView writes one event per line: facts as they are committed, deltas without a number.
type streamView struct{ p *program }

// refused writes an end that is not on record, and so has no number.
func (v *streamView) refused(m message, err error) error {
	return errors.Join(err, v.p.writeJSON(struct {
		Kind event.Kind      `json:"kind"`
		Data event.RunFailed `json:"data"`
	}{event.KindRunFailed, event.RunFailed{Code: "refused", Detail: m.text, Usage: event.Usage{Coverage: "unavailable"}}}))
}

func (v *streamView) event(e trace.Event) error {
	if e.Prev < 0 {
		return nil // of a run before this one
	}
	return v.p.writeJSON(e)
}

func (v *streamView) follows() bool { return true }

func (v *streamView) delta(d event.Delta) error {
	kind := "call.delta"
	if strings.HasPrefix(d.Subject, "tcl_") {
		kind = "tool.delta"
	}
	return v.p.writeJSON(struct {
		Kind    string `json:"kind"`
		Subject string `json:"subject"`
		Part    string `json:"part"`
		From    int    `json:"from"`
		Text    string `json:"text"`
	}{kind, d.Subject, d.Part, d.From, d.Text})
}

// result is the object that --output json ends with. Null is unknown or does not apply.
type result struct {
	Task    *string      `json:"task"`
	Turn    *string      `json:"turn"`
	Status  string       `json:"status"`
	Answer  *string      `json:"answer"`
	Usage   *trace.Usage `json:"usage"`
	Cost    *trace.Cost  `json:"cost"`
	Changes []change     `json:"changes"`
	Denied  []denial     `json:"denied"`
	Goal    *struct{}    `json:"goal"`
	Error   *resultError `json:"error"`

	asked event.ToolDecided // the last call that was asked about
}

type change struct {
	Path string `json:"path"`
	Op   string `json:"op"`
	Diff string `json:"diff,omitempty"`
}

type denial struct {
	Tool    string   `json:"tool"`
	What    string   `json:"what"`
	Reasons []string `json:"reasons"`
	Allow   string   `json:"allow,omitempty"` // what to pass so that it runs
}

type resultError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Class   string `json:"class,omitempty"`
	HTTP    int    `json:"http,omitempty"`
}

func newResult() *result { return &result{Changes: []change{}, Denied: []denial{}} }

// add folds an event.
func (r *result) add(e trace.Event) {
	if e.Prev < 0 {
		return
	}
	r.Task, r.Turn = &e.Task, &e.Turn
	switch d := e.Payload.(type) {
	case event.MessageAdded:
		if d.Role == "assistant" {
			text := messageText(d)
			r.Answer = &text
		}
	case event.FileChanged, event.CheckpointClosed:
		for _, c := range fileChanges(d) {
			r.Changes = append(r.Changes, change{c.Path, c.Op, c.Diff})
		}
	case event.ToolDecided:
		switch d.Verdict {
		case "deny":
			r.Denied = append(r.Denied, denied(d))
		case "ask":
			r.asked = d
		}
	case event.QuestionAnswered:
		if d.Choice == event.AnswerNone {
			r.asked.Unasked = true
			r.Denied = append(r.Denied, denied(r.asked))
		}
	case event.RunCompleted:
		r.end("completed", d.Usage, d.Cost, nil)
	case event.RunCancelled:
		r.end("cancelled", d.Usage, d.Cost, nil)
	case event.RunFailed:
		r.end("failed", d.Usage, d.Cost, &resultError{d.Code, d.Detail, d.Class, d.HTTP})
	}
}

// fileChanges gives what the agent changed, without the folders and a repository's own files.
func fileChanges(p event.Payload) []event.Change {
	return slices.DeleteFunc(slices.Clone(event.Changes(p)), func(c event.Change) bool {
		return c.Type == "folder" || slices.Contains(strings.Split(c.Path, "/"), ".git")
	})
}

func (r *result) end(status string, u event.Usage, c *event.Cost, err *resultError) {
	r.Status, r.Usage, r.Cost, r.Error = status, trace.NewUsage(u), trace.NewCost(c), err
	if status != "completed" {
		r.Answer = nil // what there is of a text is no answer; it is on record
	}
}

// resultView writes one object at the end.
type resultView struct {
	p *program
	r *result
}

func (v *resultView) refused(m message, err error) error {
	v.r.Status, v.r.Error = "refused", &resultError{Code: "refused", Message: m.text}
	return errors.Join(err, v.p.writeJSON(v.r))
}

func (v *resultView) event(e trace.Event) error {
	v.r.add(e)
	if e.Kind.Ends() && e.Prev >= 0 {
		return v.p.writeJSON(v.r)
	}
	return nil
}

func (v *resultView) delta(event.Delta) error { return nil }
func (v *resultView) follows() bool           { return false }

// messageText is the text of a message, without reasoning and calls.
func messageText(m event.MessageAdded) string {
	var b strings.Builder
	for _, x := range m.Blocks {
		if x.Type == "text" {
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

// writeJSON writes a value as one line of JSON.
func (p *program) writeJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
