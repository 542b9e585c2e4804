package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// aimockTask is what aimock answers: a task of four steps with text, reasoning, calls at once, and letters of several bytes.
// What asks in the context "falters" gets a failure of the server, a reset and a refusal for its rate first, each once, at
// the first three steps.
const aimockTask = `{"fixtures": [
	{"match": {"turnIndex": 0, "context": "falters", "sequenceIndex": 0}, "chaos": {"dropRate": 1}, "response": {"content": "never"}},
	{"match": {"toolCallId": "call_write", "context": "falters", "sequenceIndex": 0}, "chaos": {"disconnectRate": 1}, "response": {"content": "never"}},
	{"match": {"toolCallId": "call_list", "context": "falters", "sequenceIndex": 0}, "chaos": {"rateLimitRate": 1}, "response": {"content": "never"}},
	{"match": {"toolCallId": "call_write"}, "response": {"toolCalls": [
		{"id": "call_read", "name": "read_file", "arguments": "{\"path\": \"notes.txt\"}"}, {"id": "call_list", "name": "list_files", "arguments": "{}"}]}},
	{"match": {"toolCallId": "call_list"}, "response": {"content": "Now the change.", "reasoning": "Only one word.", "toolCalls": [
		{"id": "call_edit", "name": "edit_file", "arguments": "{\"path\": \"notes.txt\", \"old_string\": \"kůň\", \"new_string\": \"pes\"}"}]}},
	{"match": {"toolCallId": "call_edit"}, "response": {"content": "The horse is a dog now: 🐕."}},
	{"match": {"turnIndex": 0}, "response": {"content": "I write it down: žluťoučký 🥊.", "reasoning": "A file first.", "toolCalls": [
		{"id": "call_write", "name": "write_file", "arguments": "{\"path\": \"notes.txt\", \"content\": \"žluťoučký kůň\\n🥊\\n\"}"}]}}
]}`

// startAimock starts aimock, a model server by others, and gives its address.
func startAimock(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs("../../.cache/peers/aimock/node_modules/@copilotkit/aimock/dist/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(program, "../../../../../.installed")); err != nil {
		t.Skip("aimock is not installed: scripts/peers aimock")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "task.json"), []byte(aimockTask), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", program, "-p", "0", "-h", "127.0.0.1", "-f", dir, "--validate-on-load", "--strict", "-c", "3", "--log-level", "info")
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "AIMOCK_STRICT_TURN_INDEX=1"}, home(dir)...)
	out := &lockedBuffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Skip("aimock needs node: ", err)
	}
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }()
	t.Cleanup(func() { c.Process.Kill(); <-ended })
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		if m := regexp.MustCompile(`listening on (http://\S+)`).FindStringSubmatch(out.String()); m != nil {
			return m[1]
		}
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("aimock ended: %s", out)
		case <-deadline:
			t.Fatalf("aimock is not ready: %s", out)
		}
	}
}

// aimockPlace is a place whose requests carry header fields, by which aimock knows them and is told how to misbehave.
func aimockPlace(t *testing.T, url, protocol, header string) *place {
	p := newPlace(t)
	aimockConfig(t, p, url, protocol, header)
	return p
}

func aimockConfig(t *testing.T, p *place, url, protocol, header string) {
	t.Helper()
	p.config(fmt.Sprintf(`{"permission": "full", "retries": 1, "providers": {"mock": {"base_url": %q, "protocol": %q, "api_key": "mock", "headers": {"X-Test-Id": %q%s}}}}`,
		url+"/v1", protocol, t.Name(), header))
}

// aimockRequest is a request as aimock understood it.
type aimockRequest struct {
	Path string
	Body struct {
		Messages []struct {
			Role      string
			Content   any
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
	}
	Response struct{ Status int }
}

// journal gives the requests of a test. Each must be a history in which every call has its one result at its place.
func journal(t *testing.T, url string) (list []aimockRequest) {
	t.Helper()
	r, err := http.Get(url + "/__aimock/journal?testId=" + t.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for n, x := range list {
		var open []string
		for i, m := range x.Body.Messages {
			if m.Role == "tool" {
				if len(open) == 0 || open[0] != m.ToolCallID {
					t.Errorf("request %d, message %d is the result of %q; %q are waited for", n, i, m.ToolCallID, open)
					break
				}
				open = open[1:]
				continue
			}
			if len(open) > 0 && m.Role != "assistant" { // calls that are made at once may stand in messages of their own
				t.Errorf("request %d, message %d: %q have no result", n, i, open)
			}
			for _, c := range m.ToolCalls {
				open = append(open, c.ID)
				if !json.Valid([]byte(c.Function.Arguments)) {
					t.Errorf("request %d, message %d: arguments %q", n, i, c.Function.Arguments)
				}
			}
		}
		if len(open) > 0 {
			t.Errorf("request %d ends without results of %q", n, open)
		}
	}
	return list
}

// TestAimock: a model server that others have written is spoken to in each protocol, and misbehaves. The task is done, in
// spite of one failure at a step too; where nothing but failures comes, they are few, and the task goes on afterwards.
func TestAimock(t *testing.T) {
	t.Parallel()
	url := startAimock(t)
	t.Run("aimock", func(t *testing.T) { // ends when all have
		for protocol, path := range map[string]string{"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic-messages": "/v1/messages"} {
			done := func(t *testing.T, p *place, out string, failures int) {
				t.Helper()
				if !strings.Contains(out, "The horse is a dog now: 🐕.") {
					t.Errorf("said %s", out)
				}
				if got := p.read("notes.txt"); got != "žluťoučký pes\n🥊\n" {
					t.Errorf("the file is %q", got)
				}
				list := journal(t, url)
				if len(list) != 4+failures {
					t.Errorf("%d requests, want %d", len(list), 4+failures)
				}
				for i, x := range list {
					if x.Path != path {
						t.Errorf("request %d went to %s", i, x.Path)
					}
				}
				last, _ := json.Marshal(list[len(list)-1].Body)
				for _, word := range []string{"I write it down: žluťoučký 🥊.", "Now the change.", "notes.txt", "kůň"} {
					if !strings.Contains(string(last), word) {
						t.Errorf("the last request does not have %q: %s", word, last)
					}
				}
			}
			t.Run(protocol, func(t *testing.T) {
				t.Parallel()
				p := aimockPlace(t, url, protocol, "")
				done(t, p, p.run("-m", "mock/m", "go").want(t, 0).out, 0)
			})
			t.Run(protocol+" falters", func(t *testing.T) {
				t.Parallel()
				p := aimockPlace(t, url, protocol, `, "X-AIMock-Context": "falters"`)
				done(t, p, p.run("-m", "mock/m", "go").want(t, 0).out, 3)
			})
			for _, chaos := range []string{"Drop", "Malformed", "Disconnect", "RateLimit"} {
				t.Run(protocol+" "+chaos, func(t *testing.T) {
					t.Parallel()
					p := aimockPlace(t, url, protocol, `, "X-AIMock-Chaos-`+chaos+`": "1"`)
					p.run("-m", "mock/m", "go").want(t, 1)
					if n := len(journal(t, url)); n == 0 || n > 2 {
						t.Errorf("%d requests, want 2 at most", n)
					}
					failed := len(journal(t, url))
					aimockConfig(t, p, url, protocol, "")
					done(t, p, p.run("-m", "mock/m", "--continue", "go on").want(t, 0).out, failed)
				})
			}
		}
	})
}
