package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// messages checks the history: roles take turns, each call has its result in the next message, in front of everything else,
// and thinking comes back as it was.
func (r *blockReader) messages(in []inBlocks) *problem {
	last := lastTurn(in)
	for i, m := range in {
		at := fmt.Sprintf("messages.%d", i)
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return bad("", "%s.role: Input should be 'user' or 'assistant'", at)
		case i == 0 && m.Role != "user":
			return bad("", "messages: first message must use the \"user\" role")
		case i > 0 && in[i-1].Role == m.Role:
			return bad("", "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"%s\" roles in a row", m.Role)
		}
		blocks, p := blocksOf(m.Content, at+".content")
		if p != nil {
			return p
		}
		if len(blocks) == 0 {
			return bad("", "%s: all messages must have non-empty content except for the optional final assistant message", at)
		}
		for n, b := range blocks {
			if p := r.mark(b.Cache, fmt.Sprintf("%s.content.%d", at, n)); p != nil {
				return p
			}
		}
		if m.Role == "assistant" {
			p = r.assistant(blocks, at, i > last)
		} else {
			p = r.user(blocks, at)
		}
		if p != nil {
			return p
		}
	}
	if len(r.open) > 0 {
		return r.unanswered(fmt.Sprintf("messages.%d", len(in)-1))
	}
	if n := len(in) - 1; in[n].Role == "assistant" {
		if text := r.out[len(r.out)-1].Content; strings.TrimRight(text, " \n\t\r") != text {
			return bad("", "messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return nil
}

// lastTurn gives the number of the last message in which a person speaks: behind it, thinking must come back.
func lastTurn(in []inBlocks) int {
	for i := len(in) - 1; i >= 0; i-- {
		blocks, _ := blocksOf(in[i].Content, "")
		if in[i].Role == "user" && !slices.ContainsFunc(blocks, func(b inBlock) bool { return b.Type == "tool_result" }) {
			return i
		}
	}
	return -1
}

func (r *blockReader) unanswered(at string) *problem {
	return bad("", "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(r.open, ", "))
}

// user checks a message of the user: results come first.
func (r *blockReader) user(blocks []inBlock, at string) *problem {
	text, others := "", false
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content.%d", at, i)
		switch b.Type {
		case "tool_result":
			n := slices.Index(r.open, b.ToolUseID)
			if n < 0 {
				return bad("", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", at, b.ToolUseID)
			}
			if others {
				return r.unanswered(at)
			}
			r.open = slices.Delete(r.open, n, n+1)
			result, p := resultText(b.Content, at)
			if p != nil {
				return p
			}
			r.out = append(r.out, Message{Role: "tool", Content: result, ToolCallID: b.ToolUseID})
			continue
		case "text":
			if p := r.text(b, "messages"); p != nil {
				return p
			}
			text += *b.Text
		case "image":
			if p := picture(b, at); p != nil {
				return p
			}
			text += pictureText
		default:
			return bad("", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'image', 'text', 'tool_result'", at, b.Type)
		}
		others = true
	}
	if len(r.open) > 0 {
		return r.unanswered(at)
	}
	if others {
		r.out = append(r.out, Message{Role: "user", Content: text})
	}
	return nil
}

func resultText(raw json.RawMessage, at string) (string, *problem) {
	if len(raw) == 0 {
		return "", nil
	}
	blocks, p := blocksOf(raw, at+".tool_result.content")
	if p != nil {
		return "", p
	}
	text := ""
	for _, b := range blocks {
		if b.Text != nil {
			text += *b.Text
		}
	}
	if strings.ContainsRune(text, 0) {
		return "", bad("", "%s.tool_result.content: \\u0000 cannot be converted to text", at)
	}
	return text, nil
}

func picture(b inBlock, at string) *problem {
	switch {
	case b.Source == nil:
		return bad("", "%s.image.source: Field required", at)
	case b.Source.Type == "url" && strings.HasPrefix(b.Source.URL, "https://"):
		return nil
	case b.Source.Type != "base64":
		return bad("", "%s.image.source: Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'url'", at, b.Source.Type)
	}
	if why := checkPicture(b.Source.Media, b.Source.Data); why != "" {
		return bad("", "%s.image.source.base64.data: %s", at, why)
	}
	return nil
}

// assistant checks a message of the model. now: nobody has spoken since, so what was thought must be there.
func (r *blockReader) assistant(blocks []inBlock, at string, now bool) *problem {
	m := Message{Role: "assistant"}
	var thoughts []inBlock // that came before the calls
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content.%d", at, i)
		switch b.Type {
		case "text":
			if p := r.text(b, "messages"); p != nil {
				return p
			}
			m.Content += *b.Text
		case "thinking":
			if p := r.thinking(b, at); p != nil {
				return p
			}
			m.Reasoning = b.Thinking
			thoughts = append(thoughts, b)
		case "redacted_thinking":
			if b.Data == "" {
				return bad("", "%s.redacted_thinking.data: Field required", at)
			}
			thoughts = append(thoughts, b)
		case "tool_use":
			if p := r.call(b, at); p != nil {
				return p
			}
			if from, ok := r.known.byCall[b.ID]; ok && now && r.thinks && from.model == r.model && len(thoughts) == 0 {
				return bad("", "%s.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", at)
			}
			m.Calls = append(m.Calls, Call{b.ID, b.Name, string(b.Input)})
			r.open = append(r.open, b.ID)
		default:
			return bad("", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'redacted_thinking', 'text', 'thinking', 'tool_use'", at, b.Type)
		}
	}
	r.out = append(r.out, m)
	return nil
}

// thinking checks that a thought is one that was signed here.
func (r *blockReader) thinking(b inBlock, at string) *problem {
	switch {
	case b.Thinking == nil:
		return bad("", "%s.thinking.thinking: Field required", at)
	case b.Signature == nil:
		return bad("", "%s.thinking.signature: Field required", at)
	case b.Cache != nil:
		return bad("", "%s.thinking.cache_control: Extra inputs are not permitted", at)
	}
	from, ok := r.known.bySeal[*b.Signature]
	switch {
	case !ok || from.model != r.model:
		return bad("", "%s: Invalid `signature` in `thinking` block", at)
	case from.reasoning != *b.Thinking:
		return bad("", "%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", at)
	}
	return nil
}

func (r *blockReader) call(b inBlock, at string) *problem {
	var input map[string]json.RawMessage
	switch {
	case !r.tools:
		return bad("", "Requests which include `tool_use` or `tool_result` blocks must define tools")
	case !regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(b.ID):
		return bad("", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	case slices.Contains(r.ids, b.ID):
		return bad("", "messages: `tool_use` ids must be unique")
	case !goodName(b.Name):
		return bad("", "%s.tool_use.name: String should match pattern '%s'", at, namePattern)
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return bad("", "%s.tool_use.input: Input should be a valid dictionary", at)
	}
	r.ids = append(r.ids, b.ID)
	return nil
}
