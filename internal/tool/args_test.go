package tool_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

// echo is a tool that gives back its arguments.
type echo struct{ name string }

func (e echo) Spec() event.ToolSpec {
	return event.ToolSpec{Name: e.name, Description: "d", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"},"on":{"type":"boolean"},"lines":{"type":"array","items":{"type":"integer"}}},"required":["path"]}`)}
}

func (e echo) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	return &tool.Prepared{
		Action: policy.Action{Tool: e.name, Effects: []policy.Effect{{Kind: policy.Read, Target: "x"}}}, Parallel: true,
		Run: func(context.Context, tool.Host) (*tool.Result, error) {
			return &tool.Result{Content: string(args)}, nil
		},
	}, nil
}

// dispatch runs calls and gives the outcomes by call id.
func dispatch(t *testing.T, tools []tool.Tool, calls ...event.ToolCall) (map[string]event.ToolCompleted, tool.Summary) {
	t.Helper()
	set, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	var log event.Memory
	d := &tool.Dispatcher{Set: set, Rules: func() policy.Rules { return policy.Rules{Profile: policy.Full} }}
	sum, err := d.Dispatch(context.Background(), event.Scope{Task: "t"}, &log, calls)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]event.ToolCompleted{}
	for f, err := range log.Read(context.Background(), event.Path{Task: "t", Facts: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := f.Data.(event.ToolCompleted); ok {
			if _, twice := out[f.Subject]; twice {
				t.Errorf("two outcomes of %s", f.Subject)
			}
			out[f.Subject] = p
		}
	}
	return out, sum
}

// covers L197 L200
func TestArguments(t *testing.T) {
	tests := map[string]struct{ args, want, code, says string }{
		"as they should be":           {args: `{"path": "x", "n": 1}`, want: `{"path": "x", "n": 1}`},
		"double-encoded":              {args: `"{\"path\":\"x\"}"`, want: `{"path":"x"}`},
		"numbers and truth as text":   {args: `{"path":"x","n":"7","on":"true"}`, want: `{"n":7,"on":true,"path":"x"}`},
		"a list as text":              {args: `{"path":"x","lines":"[1,2]"}`, want: `{"lines":[1,2],"path":"x"}`},
		"a number for a list":         {args: `{"path":"x","lines":3}`, want: `{"lines":[3],"path":"x"}`},
		"big numbers stay":            {args: `{"path":"x","lines":12345678901234567}`, want: `{"lines":[12345678901234567],"path":"x"}`},
		"text that is text stays":     {args: `{"path":"7"}`, want: `{"path":"7"}`},
		"a whole number with a point": {args: `{"path":"x","n":2.0}`, want: `{"n":2,"path":"x"}`},
		"null for what is left out":   {args: `{"path":"x","n":null}`, want: `{"path":"x","n":null}`},
		"more than is described":      {args: `{"path":"x","risk":"low"}`, want: `{"path":"x"}`},
		"a name in capitals too":      {args: `{"path":"x","Path":"y"}`, want: `{"path":"x"}`},
		"a name in capitals only":     {args: `{"Path":"y"}`, code: tool.CodeBadArguments, says: "path is missing"},
		"a comma too many":            {args: `{"path":"x","lines":[1,2,],}`, want: `{"path":"x","lines":[1,2]}`},
		"a line end in a string":      {args: "{\"path\":\"a\nb\\\\\t\x01\"}", want: `{"path":"a\nb\\\t\u0001"}`},
		"a backslash at a line end":   {args: "{\"path\":\"gcc \\\n -o x\"}", code: tool.CodeBadArguments, says: "JSON object"},
		"a backslash before a tab":    {args: "{\"path\":\"a\\\tb\"}", code: tool.CodeBadArguments, says: "JSON object"},
		"a comma alone":               {args: `{,}`, code: tool.CodeBadArguments, says: "JSON object"},
		"a list as text, and more":    {args: `{"path":"x","lines":"[1,2]]"}`, code: tool.CodeBadArguments, says: "lines must be an array"},
		"a fence":                     {args: "```json\n{\"path\":\"x\"}\n```", want: `{"path":"x"}`},
		"a comma in a string":         {args: `{"path":",}"}`, want: `{"path":",}"}`},
		"a comma and nothing":         {args: `{"path":"x",`, code: tool.CodeBadArguments, says: "JSON object"},
		"cut in a string":             {args: "{\"path\":\"x\n", code: tool.CodeBadArguments, says: "JSON object"},
		"a bracket too many":          {args: `{"path":"x"}}`, code: tool.CodeBadArguments, says: "one JSON object"},
		"a huge number":               {args: `{"path":"x","n":99999999999999999999}`, code: tool.CodeBadArguments, says: "n is out of range"},
		"a list of wrong things":      {args: `{"path":"x","lines":[1,"two"]}`, code: tool.CodeBadArguments, says: "lines[1] must be an integer"},
		"what is missing":             {args: `{"n":1}`, code: tool.CodeBadArguments, says: "path is missing"},
		"null for what is required":   {args: `{"path":null}`, code: tool.CodeBadArguments, says: "path must be a string"},
		"nothing":                     {args: "", code: tool.CodeBadArguments, says: "path"},
		"null":                        {args: "null", code: tool.CodeBadArguments, says: "path"},
		"a list":                      {args: "[]", code: tool.CodeBadArguments, says: "are not one JSON object (array)"},
		"cut":                         {args: `{"path":"x`, code: tool.CodeBadArguments, says: "JSON object"},
		"two objects":                 {args: `{"path":"x"}{"path":"y"}`, code: tool.CodeBadArguments, says: "one JSON object"},
		"wrong type":                  {args: `{"path":["x"]}`, code: tool.CodeBadArguments, says: "path"},
		"half a number":               {args: `{"path":"x","n":1.5}`, code: tool.CodeBadArguments, says: "n"},
		"not a number":                {args: `{"path":"x","n":"seven"}`, code: tool.CodeBadArguments, says: "n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, sum := dispatch(t, []tool.Tool{echo{"look"}}, event.ToolCall{ID: "1", Name: "look", Args: tt.args})
			got := out["1"]
			if got.Code != tt.code || tt.code == "" && got.Content != tt.want || !strings.Contains(got.Content, tt.says) {
				t.Errorf("%s %s: %s", got.Status, got.Code, got.Content)
			}
			if bad := tt.code != ""; (sum.Malformed == 1) != bad {
				t.Errorf("malformed = %d", sum.Malformed)
			}
		})
	}
}

// odd is a tool whose schema holds what servers do not agree on.
type odd struct{ schema string }

func (o odd) Spec() event.ToolSpec {
	return event.ToolSpec{Name: "odd", Description: "d", Schema: json.RawMessage(o.schema)}
}

func (odd) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	return nil, &tool.Refusal{Code: "never", Text: "never"}
}

// TestSchemasOutsideThePart: what the arguments can't be checked against is not called.
func TestSchemasOutsideThePart(t *testing.T) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}`, `{"type":"array"}`, `{"type":"object","required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"text"}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `[]`,
	} {
		out, _ := dispatch(t, []tool.Tool{odd{s}}, event.ToolCall{ID: "1", Name: "odd", Args: "{}"})
		if got := out["1"]; got.Code != tool.CodeBadArguments || !strings.Contains(got.Content, "cannot be checked") {
			t.Errorf("%s: %+v", s, got)
		}
	}
}

// covers F072 L212
func TestUnknownTool(t *testing.T) {
	out, sum := dispatch(t, []tool.Tool{echo{"look"}, echo{"see"}},
		event.ToolCall{ID: "1", Name: "search_files", Args: "{}"}, event.ToolCall{ID: "2", Name: "", Args: "{}"}, event.ToolCall{ID: "3", Name: "look", Args: `{"path":"x"}`})
	if got := out["1"]; got.Code != tool.CodeUnknownTool || !strings.Contains(got.Content, "look, see") {
		t.Errorf("1: %+v", got)
	}
	if out["2"].Status != event.StatusError || out["3"].Status != event.StatusOK || sum.Malformed != 2 {
		t.Errorf("2: %+v, 3: %+v, %+v", out["2"], out["3"], sum)
	}
}

func TestSetRefusesBadNames(t *testing.T) {
	for _, tools := range [][]tool.Tool{{echo{"a"}, echo{"a"}}, {echo{"A b"}}, {echo{""}}} {
		if _, err := tool.NewSet(tools...); err == nil {
			t.Errorf("%v: no error", tools)
		}
	}
}

// covers L196
func TestLongResultsAreCut(t *testing.T) {
	long := strings.Repeat("é", tool.MaxContent)
	out, _ := dispatch(t, []tool.Tool{echo{"look"}}, event.ToolCall{ID: "1", Name: "look", Args: `{"path":"` + long + `"}`})
	got := out["1"]
	if !got.Cut || len(got.Content) > tool.MaxContent+100 || !strings.Contains(got.Content, "[cut here:") || got.Bytes < int64(len(long)) {
		t.Errorf("cut %t, %d bytes kept of %d", got.Cut, len(got.Content), got.Bytes)
	}
}

// TestManyReadersAtOnce: each call has one outcome, however many run side by side.
func TestManyReadersAtOnce(t *testing.T) {
	var calls []event.ToolCall
	for i := range 40 {
		calls = append(calls, event.ToolCall{ID: string(rune('A' + i)), Name: "look", Args: `{"path":"x"}`})
	}
	if out, _ := dispatch(t, []tool.Tool{echo{"look"}}, calls...); len(out) != len(calls) {
		t.Errorf("%d outcomes of %d calls", len(out), len(calls))
	}
}

// FuzzArguments: whatever a model writes, what a tool gets fits its schema, has nothing else in it, and would be taken
// again as it is.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"path":"x"}`, "```json\n{\"path\":\"a\tb\",}\n```", `"{\"path\":\"x\"}"`, `{"path":"x","lines":"[1,2]","on":"true","n":2.0}`, `{"path`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		out, sum := dispatch(t, []tool.Tool{echo{"look"}}, event.ToolCall{ID: "1", Name: "look", Args: args})
		if sum.Malformed == 1 || out["1"].Code != "" {
			return
		}
		got := out["1"].Content
		var v map[string]any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Fatalf("%q became %q: %v", args, got, err)
		}
		if _, ok := v["path"].(string); !ok {
			t.Fatalf("%q became %q without a path", args, got)
		}
		for name := range v {
			if !slices.Contains([]string{"path", "n", "on", "lines"}, name) {
				t.Fatalf("%q became %q with %s", args, got, name)
			}
		}
		again, _ := dispatch(t, []tool.Tool{echo{"look"}}, event.ToolCall{ID: "1", Name: "look", Args: got})
		if again["1"].Content != got {
			t.Fatalf("%q became %q, and that %q", args, got, again["1"].Content)
		}
	})
}
