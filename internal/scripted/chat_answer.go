package scripted

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// created stands in every answer: a clock would make two runs differ.
const created = 1767225600

// piece is the most bytes of text in one chunk; a name of a tool comes whole.
const piece = 16

// The JSON of answers, in the order of OpenAI's. Source: openai/openai-openapi 2.3.0, CreateChatCompletionResponse and
// CreateChatCompletionStreamResponse; reasoning_content is DeepSeek's addition.
type (
	answer struct {
		ID      string      `json:"id"`
		Object  string      `json:"object"`
		Created int64       `json:"created"`
		Model   string      `json:"model"`
		Choices []choice    `json:"choices"`
		Usage   *answerCost `json:"usage,omitempty"`
	}
	choice struct {
		Index   int      `json:"index"`
		Message *message `json:"message,omitempty"`
		Delta   *message `json:"delta,omitempty"`
		Finish  *string  `json:"finish_reason"`
	}
	message struct {
		Role      string       `json:"role,omitempty"`
		Content   *string      `json:"content,omitempty"`
		Refusal   *string      `json:"refusal,omitempty"`
		Reasoning string       `json:"reasoning_content,omitempty"`
		Calls     []answerCall `json:"tool_calls,omitempty"`
	}
	answerCall struct {
		Index    *int           `json:"index,omitempty"`
		ID       string         `json:"id,omitempty"`
		Type     string         `json:"type,omitempty"`
		Function answerFunction `json:"function"`
	}
	answerFunction struct {
		Name string `json:"name,omitempty"`
		Args string `json:"arguments"`
	}
	answerCost struct {
		Prompt     int           `json:"prompt_tokens"`
		Completion int           `json:"completion_tokens"`
		Total      int           `json:"total_tokens"`
		Details    answerDetails `json:"prompt_tokens_details"`
		Output     *outputDetail `json:"completion_tokens_details,omitempty"`
	}
	answerDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens,omitempty"`
	}
	outputDetail struct {
		Reasoning int `json:"reasoning_tokens"`
	}
)

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the types above always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func cost(u *Usage) *answerCost {
	out := &answerCost{u.Prompt, u.Completion, u.Prompt + u.Completion, answerDetails{u.Cached, u.Written}, nil}
	if u.Reasoning > 0 {
		out.Output = &outputDetail{u.Reasoning}
	}
	return out
}

// whole implements [dialect].
func (chat) whole(r Reply, req Request, id string) []byte {
	m := message{Role: "assistant", Reasoning: r.Reasoning}
	switch {
	case r.Refusal:
		m.Refusal = &r.Text
	case r.Text != "" || len(r.Calls) == 0:
		m.Content = &r.Text
	}
	for _, c := range r.Calls {
		m.Calls = append(m.Calls, answerCall{ID: c.ID, Type: "function", Function: answerFunction{c.Name, c.Args}})
	}
	return encode(answer{
		ID: id, Object: "chat.completion", Created: created, Model: req.Model,
		Choices: []choice{{Message: &m, Finish: &r.Finish}}, Usage: cost(r.Usage),
	})
}

// events implements [dialect]. The last one is the end mark.
func (c chat) events(r Reply, req Request, id string) [][]byte {
	var out [][]byte
	add := func(choices []choice, u *answerCost) {
		data := encode(answer{ID: id, Object: "chat.completion.chunk", Created: created, Model: req.Model, Choices: choices, Usage: u})
		out = append(out, []byte("data: "+string(data)+"\n\n"))
	}
	delta := func(m message) { add([]choice{{Delta: &m}}, nil) }
	empty := ""
	delta(message{Role: "assistant", Content: &empty})
	for _, p := range pieces(r.Reasoning) {
		delta(message{Reasoning: p})
	}
	for _, p := range pieces(r.Text) {
		if r.Refusal {
			delta(message{Refusal: &p})
			continue
		}
		delta(message{Content: &p})
	}
	if r.Fault != nil {
		p := &problem{kind: r.Fault.Kind, code: r.Fault.Code, message: r.Fault.Message}
		return append(out, []byte("data: "+string(c.refusal(p))+"\n\n"))
	}
	for i, c := range r.Calls {
		delta(message{Calls: []answerCall{{Index: &i, ID: c.ID, Type: "function", Function: answerFunction{Name: c.Name}}}})
		for _, p := range pieces(c.Args) {
			delta(message{Calls: []answerCall{{Index: &i, Function: answerFunction{Args: p}}}})
		}
	}
	add([]choice{{Delta: &message{}, Finish: &r.Finish}}, nil)
	if req.IncludeUsage {
		add([]choice{}, cost(r.Usage))
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

// pieces cuts a text at rune borders.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := min(piece, len(s))
		for n < len(s) && n > 1 && !utf8.RuneStart(s[n]) {
			n--
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// models implements [dialect].
func (openAI) models(names []string) []byte {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	for _, n := range names {
		list.Data = append(list.Data, model{n, "model", created, "overt"})
	}
	return encode(list)
}
