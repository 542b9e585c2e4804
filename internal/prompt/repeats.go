package prompt

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// Repeats says where a text came into the thread from that no person wrote: the tool whose result holds it and what that was
// asked for ("read_file README.md"), or the source and name of a fragment. "" if it stands nowhere, or if the person has written
// it too.
func (t *Thread) Repeats(text string) string {
	if text == "" {
		return ""
	}
	from := ""
	results := []*llm.Message{}
	for i := range t.messages {
		m := &t.messages[i]
		switch {
		case m.Role == llm.User && slices.ContainsFunc(m.Blocks, func(b llm.Block) bool {
			return b.Type == llm.Text && !t.fragment(b.Owner) && strings.Contains(b.Text, text)
		}):
			return ""
		case m.Role == llm.Tool:
			results = append(results, m)
		}
	}
	for i := range t.batch {
		if t.batch[i].result != nil {
			results = append(results, t.batch[i].result)
		}
	}
	for _, m := range results {
		if r := m.Blocks[0].Result; strings.HasPrefix(r.Content, dataMark) && strings.Contains(r.Content, text) {
			from = r.Name + t.asked(r.ID)
		}
	}
	for _, f := range t.taken {
		if from == "" && f.source != SourceSystem && strings.Contains(f.text, text) {
			from = f.source + " " + f.name
		}
	}
	return from
}

// fragment tells whether an owner is that of a text that a source has given.
func (t *Thread) fragment(own string) bool {
	for _, f := range t.taken {
		if owner(f.node) == own {
			return true
		}
	}
	return false
}

// asked gives what a call was asked for, in a word: the first argument that names something.
func (t *Thread) asked(id string) string {
	for i := range t.messages {
		for _, b := range t.messages[i].Blocks {
			if b.Call == nil || b.Call.ID != id {
				continue
			}
			var args map[string]any
			if json.Unmarshal([]byte(b.Call.Arguments), &args) != nil {
				return ""
			}
			for _, name := range []string{"path", "url", "command", "pattern", "id"} {
				if v, ok := args[name].(string); ok {
					return " " + v
				}
			}
		}
	}
	return ""
}
