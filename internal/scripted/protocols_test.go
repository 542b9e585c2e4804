package scripted_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"overt/internal/scripted"
)

// send posts a body to one of the protocols, with the header that it wants.
func send(t *testing.T, url, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if path == "/messages" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Api-Key", "k")
	}
	req.Header.Set("Authorization", "Bearer k")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const (
	helloResponses = `{"model":"m","input":"hi"}`
	helloMessages  = `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"hi"}]}`
)

// TestOtherForms: the same script in the words of Responses and of Messages.
func TestOtherForms(t *testing.T) {
	replies := []scripted.Reply{
		{Text: "a", Reasoning: "r", Seal: "seal", Phase: "commentary", Calls: []scripted.Call{{ID: "c", Name: "f", Args: `{"x":1}`}}, Usage: &scripted.Usage{Prompt: 10, Cached: 4, Written: 2, Completion: 3, Reasoning: 1}},
		{Text: "no", Refusal: true},
		{Text: "cut", Finish: "length"},
		{Fault: &scripted.Fault{Status: 429, Message: "wait"}},
		{Fault: &scripted.Fault{Message: "broke"}},
	}
	for path, want := range map[string][]string{
		"/responses": {
			`"output":[{"encrypted_content":"seal","id":"rs_resp_scripted_1","summary":[{"text":"r","type":"summary_text"}],"type":"reasoning"},` +
				`{"content":[{"annotations":[],"logprobs":[],"text":"a","type":"output_text"}],"id":"msg_resp_scripted_1","phase":"commentary","role":"assistant","status":"completed","type":"message"},` +
				`{"arguments":"{\"x\":1}","call_id":"c","id":"fc_c","name":"f","status":"completed","type":"function_call"}],"parallel_tool_calls":true,"status":"completed","store":false,` +
				`"usage":{"input_tokens":10,"input_tokens_details":{"cache_write_tokens":2,"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":13}`,
			`{"refusal":"no","type":"refusal"}`, `"incomplete_details":{"reason":"max_output_tokens"}`,
			`{"error":{"message":"wait","type":"requests"`, `{"error":{"message":"broke","type":"server_error"`,
		},
		"/messages": {
			`"content":[{"signature":"seal","thinking":"r","type":"thinking"},{"text":"a","type":"text"},{"id":"c","input":{"x":1},"name":"f","type":"tool_use"}],"id":"msg_scripted_1","model":"m","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message",` +
				`"usage":{"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"input_tokens":4,"output_tokens":3,"output_tokens_details":{"thinking_tokens":1}}`,
			`"stop_reason":"refusal"`, `"stop_reason":"max_tokens"`, `"error":{"message":"wait","type":"rate_limit_error"}`, `"error":{"message":"broke","type":"api_error"}`,
		},
	} {
		hello := map[string]string{"/responses": helloResponses, "/messages": helloMessages}[path]
		_, url := start(t, scripted.Script{Key: "k", Replies: append(replies, replies...)})
		for i, part := range want {
			status, got := send(t, url, path, hello)
			if !strings.Contains(got, part) || (status == 429) != (i == 3) {
				t.Errorf("%s: %d %s\nwant %s", path, status, got, part)
			}
		}
		for i, part := range want {
			_, got := send(t, url, path, strings.Replace(hello, `{`, `{"stream":true,`, 1))
			switch {
			case i == 3: // an error of a status is no stream
			case i == 4:
				if !strings.Contains(got, "event: error\ndata: {") || strings.Contains(got, "response.completed") || strings.Contains(got, "message_stop") {
					t.Errorf("%s: %s", path, got)
				}
			case path == "/responses":
				if !strings.Contains(strings.ReplaceAll(got, "_6", "_1"), part) { // the last event has the whole
					t.Errorf("%s: %s\nwant %s", path, got, part)
				}
			default:
				if !strings.HasSuffix(got, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") || !strings.Contains(got, `"stop_reason":"`) {
					t.Errorf("%s: %s", path, got)
				}
			}
			for line := range strings.Lines(got) {
				if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) {
					t.Errorf("%s: %s", path, data)
				}
			}
		}
	}
}

// TestNextSeesOneForm: whoever answers need not know the protocol.
func TestNextSeesOneForm(t *testing.T) {
	for path, body := range map[string]string{
		"/responses": `{"model":"m","instructions":"s","tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}],"input":[{"role":"user","content":"u"},` +
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"r"}]}`,
		"/messages": `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s"}],"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"u"},` +
			`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"}]}]}`,
	} {
		var got string
		_, url := start(t, scripted.Script{Next: func(r scripted.Request) scripted.Reply {
			b, _ := json.Marshal(r.Messages)
			got = string(b)
			return scripted.Reply{Text: r.Path}
		}})
		if status, answer := send(t, url, path, body); status != 200 || !strings.Contains(answer, path) {
			t.Errorf("%d %s", status, answer)
		}
		want := `[{"Role":"system","Content":"s","Reasoning":null,"ToolCallID":"","Calls":null},{"Role":"user","Content":"u","Reasoning":null,"ToolCallID":"","Calls":null},` +
			`{"Role":"assistant","Content":"a","Reasoning":null,"ToolCallID":"","Calls":[{"ID":"1","Name":"f","Args":"{}"}]},{"Role":"tool","Content":"r","Reasoning":null,"ToolCallID":"1","Calls":null}]`
		if got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// rule is a request and what is wrong with it; part "": nothing is.
type rule struct{ name, body, part string }

// strict sends what the rules say to a server that has sealed a call ("c1", reasoning "why", seal "seal", model m) before.
func strict(t *testing.T, path, hello string, rules []rule) {
	_, url := start(t, scripted.Script{Next: func(r scripted.Request) scripted.Reply {
		if r.Last().Content == "hi" {
			return scripted.Reply{Reasoning: "why", Seal: "seal", Calls: []scripted.Call{{ID: "c1", Name: "f", Args: "{}"}}}
		}
		return scripted.Reply{Text: "fine"}
	}})
	if status, got := send(t, url, path, hello); status != 200 {
		t.Fatal(got)
	}
	for _, c := range rules {
		t.Run(c.name, func(t *testing.T) {
			status, got := send(t, url, path, c.body)
			if (status == 200) != (c.part == "") || !strings.Contains(got, c.part) {
				t.Errorf("%d %s, want %q", status, got, c.part)
			}
		})
	}
}

// covers L246
func TestStrictResponses(t *testing.T) {
	const (
		u     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
		a     = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`
		call  = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
		res   = `{"type":"function_call_output","call_id":"c1","output":"r"}`
		think = `{"type":"reasoning","id":"rs_resp_scripted_1","summary":[],"encrypted_content":"seal"}`
		tool  = `{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}`
	)
	input := func(items ...string) string {
		return `{"model":"m","store":false,"input":[` + strings.Join(items, ",") + `]}`
	}
	with := func(s string) string { return strings.Replace(input(u), `{`, `{`+s+`,`, 1) }
	strict(t, "/responses", helloResponses, []rule{
		{"plain", input(u), ""},
		{"pair", input(u, call, res, u), ""},
		{"sealed", input(u, think, call, res), ""},
		{"sealed, before text", input(u, think, a, u), ""},
		{"tools", with(`"tools":[` + tool + `],"tool_choice":"none","reasoning":{"effort":"high","summary":"auto"},"include":["reasoning.encrypted_content"]`), ""},
		{"not JSON", `{`, "could not parse"},
		{"unknown field", with(`"messages":[]`), "Unknown parameter: 'messages'"},
		{"no model", `{"input":"x"}`, "Missing required parameter: 'model'"},
		{"no input", `{"model":"m"}`, "Invalid type for 'input'"},
		{"empty input", input(), "empty array"},
		{"nested function", with(`"tools":[{"type":"function","function":{"name":"f"},"strict":false}]`), "does not match pattern"},
		{"no strict", with(`"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]`), "Missing required parameter: 'tools[0].strict'"},
		{"strict null", with(`"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":null}]`), "expected a boolean"},
		{"strict without additionalProperties", with(`"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":true}]`), "additionalProperties"},
		{"choice without tools", with(`"tool_choice":"none"`), "only allowed when 'tools'"},
		{"named choice", with(`"tools":[` + tool + `],"tool_choice":{"type":"function","name":"f"}`), ""},
		{"few tokens", with(`"max_output_tokens":1`), "Expected a value >= 16"},
		{"effort", with(`"reasoning":{"effort":"ultra"}`), "Invalid value: 'ultra'"},
		{"orphan output", input(u, res), "No tool call found"},
		{"orphan call", input(u, call), "No tool output found for function call c1"},
		{"call not answered at once", input(u, call, u, res), "No tool output found"},
		{"call twice", input(u, call, res, call, res), "Duplicate item"},
		{"arguments", input(u, `{"type":"function_call","call_id":"c1","name":"f","arguments":{}}`, res), "expected an array of items"},
		{"arguments cut", input(u, `{"type":"function_call","call_id":"c1","name":"f","arguments":"{"}`, res), "must be in JSON format"},
		{"output no text", input(u, call, `{"type":"function_call_output","call_id":"c1","output":{}}`), "expected a string"},
		{"reasoning alone", input(u, think), "without its required following item"},
		{"reasoning before the user", input(u, think, u), "without its required following item"},
		{"call without its reasoning", input(u, `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}`, res), "without its required 'reasoning' item"},
		{"another seal", input(u, strings.Replace(think, `"seal"`, `"other"`, 1), call, res), "could not be verified"},
		{"seal of another model", strings.Replace(input(u, think, call, res), `"m"`, `"n"`, 1), "could not be verified"},
		{"reasoning without a seal", input(u, `{"type":"reasoning","id":"rs","summary":[]}`, call, res), "not persisted"},
		{"reasoning without a summary", input(u, strings.Replace(think, `"summary":[],`, "", 1), call, res), "summary"},
		{"kind of text", input(`{"type":"message","role":"user","content":[{"type":"text","text":"x"}]}`), "Supported values are: 'input_text'"},
		{"kind of the model's text", input(u, `{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "Supported values are: 'output_text'"},
		{"blank", input(`{"type":"message","role":"user","content":[{"type":"input_text","text":" "}]}`), "text content is empty"},
		{"phase", input(u, strings.Replace(a, `"role"`, `"phase":"middle","role"`, 1)), "Invalid value: 'middle'"},
		{"phase of the user", input(strings.Replace(u, `"role"`, `"phase":"commentary","role"`, 1)), "Invalid value"},
		{"picture", input(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`), ""},
		{"picture as an object", input(`{"role":"user","content":[{"type":"input_image","image_url":{"url":"x"}}]}`), "expected a string"},
		{"no picture", input(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`), "does not represent a valid image"},
		{"invented member", input(`{"role":"user","content":[{"type":"input_text","text":"x","media":"y"}]}`), "Unknown parameter: 'input[0].content[0].media'"},
		{"kind of item", input(u, `{"type":"item_reference","id":"x"}`), "Invalid value: 'item_reference'"},
	})
}

// covers L246
func TestStrictMessages(t *testing.T) {
	const (
		u     = `{"role":"user","content":"go"}`
		a     = `{"role":"assistant","content":"a"}`
		tool  = `{"name":"f","input_schema":{"type":"object"}}`
		use   = `{"type":"tool_use","id":"c1","name":"f","input":{}}`
		other = `{"type":"tool_use","id":"c2","name":"f","input":{}}`
		think = `{"type":"thinking","thinking":"why","signature":"seal"}`
	)
	res := func(id string) string { return `{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}` }
	model := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	person := func(blocks ...string) string {
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	msgs := func(m ...string) string {
		return `{"model":"m","max_tokens":2000,"tools":[` + tool + `],"messages":[` + strings.Join(m, ",") + `]}`
	}
	with := func(s string) string { return strings.Replace(msgs(u), `{`, `{`+s+`,`, 1) }
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	marked := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	strict(t, "/messages", helloMessages, []rule{
		{"plain", msgs(u), ""},
		{"pair", msgs(u, model(other), person(res("c2"))), ""},
		{"signed", msgs(u, model(think, use), person(res("c1"))), ""},
		{"signed before, and not sent", msgs(u, model(use), person(res("c1"), text("and?")), a, u), ""},
		{"not thinking", strings.Replace(msgs(u, model(use), person(res("c1"))), `{`, `{"thinking":{"type":"disabled"},`, 1), ""},
		{"text behind results", msgs(u, model(other), person(res("c2"), text("and"))), ""},
		{"four marks", msgs(person(marked, marked, marked, marked)), ""},
		{"five marks", msgs(person(marked, marked, marked, marked, marked)), "A maximum of 4 blocks"},
		{"mark", msgs(person(strings.Replace(marked, "ephemeral", "forever", 1))), "ephemeral"},
		{"unknown field", with(`"foo":1`), "foo: Extra inputs are not permitted"},
		{"no model", `{"max_tokens":1,"messages":[` + u + `]}`, "model: Field required"},
		{"no limit", `{"model":"m","messages":[` + u + `]}`, "max_tokens: Field required"},
		{"limit 0", `{"model":"m","max_tokens":0,"messages":[` + u + `]}`, "greater than or equal to 1"},
		{"no messages", `{"model":"m","max_tokens":1,"messages":[]}`, "at least one message"},
		{"first of the model", msgs(a), "first message must use"},
		{"system as a message", msgs(`{"role":"system","content":"s"}`, u), "Input should be 'user' or 'assistant'"},
		{"two of the user", msgs(u, u), "roles must alternate"},
		{"two of the model", msgs(u, a, a), "roles must alternate"},
		{"empty text", msgs(person(text(""))), "must be non-empty"},
		{"blank text", msgs(person(text(" "))), "non-whitespace"},
		{"nothing", msgs(u, model(), u), "must have non-empty content"},
		{"blank end", msgs(u, model(text("x "))), "trailing whitespace"},
		{"orphan call", msgs(u, model(other)), "`tool_use` ids were found without"},
		{"call not answered at once", msgs(u, model(other), u), "`tool_use` ids were found without"},
		{"orphan result", msgs(person(res("c9"))), "unexpected `tool_use_id`"},
		{"answered twice", msgs(u, model(other), person(res("c2"), res("c2"))), "unexpected `tool_use_id`"},
		{"text before results", msgs(u, model(other), person(text("x"), res("c2"))), "`tool_use` ids were found without"},
		{"call twice", msgs(u, model(other), person(res("c2")), model(other), person(res("c2"))), "ids must be unique"},
		{"id", msgs(u, model(strings.Replace(other, "c2", "functions.f:0", 1)), person(res("functions.f:0"))), "String should match pattern"},
		{"input no object", msgs(u, model(strings.Replace(other, "{}", `"{}"`, 1)), person(res("c2"))), "valid dictionary"},
		{"call without tools", `{"model":"m","max_tokens":9,"messages":[` + u + "," + model(other) + "," + person(res("c2")) + `]}`, "must define tools"},
		{"thought left out", msgs(u, model(use), person(res("c1"))), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"thought behind the call", msgs(u, model(use, think), person(res("c1"))), "Expected `thinking`"},
		{"another thought", msgs(u, model(strings.Replace(think, "why", "other", 1), use), person(res("c1"))), "cannot be modified"},
		{"another signature", msgs(u, model(strings.Replace(think, "seal", "other", 1), use), person(res("c1"))), "Invalid `signature`"},
		{"no signature", msgs(u, model(`{"type":"thinking","thinking":"why"}`, use), person(res("c1"))), "signature: Field required"},
		{"thought of another model", strings.Replace(msgs(u, model(think, use), person(res("c1"))), `"m"`, `"n"`, 1), "Invalid `signature`"},
		{"budget below", with(`"thinking":{"type":"enabled","budget_tokens":9}`), "greater than or equal to 1024"},
		{"budget above", with(`"thinking":{"type":"enabled","budget_tokens":2000}`), "must be greater than `thinking.budget_tokens`"},
		{"no budget", with(`"thinking":{"type":"enabled"}`), "Field required"},
		{"temperature beside thinking", with(`"temperature":0.5,"thinking":{"type":"adaptive"}`), "may only be set to 1"},
		{"forced beside thinking", with(`"tool_choice":{"type":"any"},"thinking":{"type":"adaptive"}`), "may not be enabled"},
		{"effort", with(`"output_config":{"effort":"minimal"}`), "output_config.effort"},
		{"choice as a text", with(`"tool_choice":"none"`), "Input should be valid"},
		{"choice", with(`"tool_choice":{"type":"required"}`), "expected tags"},
		{"choice without tools", `{"model":"m","max_tokens":9,"tool_choice":{"type":"auto"},"messages":[` + u + `]}`, "while providing tools"},
		{"tool in OpenAI's form", `{"model":"m","max_tokens":9,"tools":[{"name":"f","parameters":{"type":"object"}}],"messages":[` + u + `]}`, "input_schema: Field required"},
		{"tool twice", `{"model":"m","max_tokens":9,"tools":[` + tool + "," + tool + `],"messages":[` + u + `]}`, "must be unique"},
		{"empty system", with(`"system":""`), "must be non-empty"},
		{"picture", msgs(person(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`)), ""},
		{"picture in OpenAI's form", msgs(person(`{"type":"image_url","image_url":{"url":"x"}}`)), "expected tags"},
		{"no source", msgs(person(`{"type":"image"}`)), "image.source: Field required"},
		{"no picture", msgs(person(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`)), "does not represent a valid image"},
		{"invented member", msgs(person(`{"type":"text","text":"x","media":"y"}`)), "content.0.text.media: Extra inputs are not permitted"},
		{"media", msgs(person(`{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AAAA"}}`)), "image/webp"},
	})
	_, url := start(t, scripted.Script{})
	status, got, err := post(t, url, "", `{}`)
	if err != nil || status != 400 || !strings.Contains(got, "model") {
		t.Errorf("%d %s %v", status, got, err)
	}
	resp, err := http.Post(url+"/messages", "application/json", strings.NewReader(helloMessages))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 || !strings.Contains(string(b), "anthropic-version: header is required") {
		t.Errorf("%d %s", resp.StatusCode, b)
	}
}
