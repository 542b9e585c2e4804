// Command floor is the least that a coding agent can do: it sends the task, runs the shell commands that the model asks
// for, sends what they print, and writes the answer. It keeps nothing, asks nothing and shows nothing else. What the
// agent takes beyond it, package bench measures.
//
//	floor BASE-URL PROMPT
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type call struct {
	Index    int      `json:"index"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type request struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Tools    json.RawMessage `json:"tools"`
	Messages []message       `json:"messages"`
}

const tools = `[{"type":"function","function":{"name":"run_command","description":"Run a shell command.",` +
	`"parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: floor BASE-URL PROMPT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(base, prompt string) error {
	history := []message{
		{Role: "system", Content: "You are a coding agent. Use run_command to work in the current folder."},
		{Role: "user", Content: prompt},
	}
	for {
		answer, err := send(base, history)
		if err != nil {
			return err
		}
		history = append(history, answer)
		if len(answer.Calls) == 0 {
			_, err := io.WriteString(os.Stdout, answer.Content+"\n")
			return err
		}
		for _, c := range answer.Calls {
			var args struct{ Command string }
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
				return err
			}
			out, _ := exec.Command("sh", "-c", args.Command).CombinedOutput() // how it ended is the model's business
			history = append(history, message{Role: "tool", CallID: c.ID, Content: string(out)})
		}
	}
}

// send makes one request and puts the answer together as it streams.
func send(base string, history []message) (message, error) {
	body, err := json.Marshal(request{Model: "floor", Stream: true, Tools: json.RawMessage(tools), Messages: history})
	if err != nil {
		return message{}, err
	}
	resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return message{}, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	answer := message{Role: "assistant"}
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []call `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return answer, err
		}
		for _, choice := range chunk.Choices {
			text.WriteString(choice.Delta.Content)
			for _, c := range choice.Delta.ToolCalls {
				for len(answer.Calls) <= c.Index {
					answer.Calls = append(answer.Calls, call{Index: len(answer.Calls), Type: "function"})
				}
				to := &answer.Calls[c.Index]
				to.ID += c.ID
				to.Function.Name += c.Function.Name
				to.Function.Arguments += c.Function.Arguments
			}
		}
	}
	answer.Content = text.String()
	return answer, lines.Err()
}
