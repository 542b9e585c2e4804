package prompt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
)

// Repeats says where a text came into the thread from that no person wrote: the tool whose result holds it and what that was
// asked for ("read_file README.md"), or the source and name of a fragment. "" if it stands nowhere, or if the person has written
// it too, as words of its own. Letter case does not count, and %65 is e.
func (t *Thread) Repeats(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToLower(text)
	from := ""
	results := []*llm.Message{}
	for i := range t.messages {
		m := &t.messages[i]
		switch {
		case m.Role == llm.User && slices.ContainsFunc(m.Blocks, func(b llm.Block) bool {
			return b.Type == llm.Text && !t.fragment(b.Owner) && wrote(b.Text, text)
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
		if r := m.Blocks[0].Result; strings.HasPrefix(r.Content, dataMark) && holds(r.Content, text) {
			from = r.Name + t.asked(r.ID)
		}
	}
	for _, f := range t.taken {
		if from == "" && f.source != SourceSystem && holds(f.text, text) {
			from = f.source + " " + f.name
		}
	}
	return from
}

// fragment tells whether an owner is that of a text that a source has given, or of a picture that a tool has read.
func (t *Thread) fragment(own string) bool {
	if t.attached[own] {
		return true
	}
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

// holds tells whether a text of somebody has another one, in lower case, in it, however that is written.
func holds(all, text string) bool {
	all = strings.ToLower(all)
	if strings.Contains(all, text) {
		return true
	}
	if !strings.Contains(all, "%") {
		return false
	}
	plain := make([]byte, 0, len(all))
	for i := 0; i < len(all); i++ {
		if i+2 < len(all) && all[i] == '%' {
			if c, err := strconv.ParseUint(all[i+1:i+3], 16, 8); err == nil {
				plain = append(plain, byte(c))
				i += 2
				continue
			}
		}
		plain = append(plain, all[i])
	}
	return strings.Contains(strings.ToLower(string(plain)), text)
}

// wrote tells whether a text of the person has another one, in lower case, in it, not as a part of a longer name.
func wrote(all, text string) bool {
	name := func(c byte) bool {
		return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c > '~'
	}
	all = strings.ToLower(all)
	for at := 0; ; {
		i := strings.Index(all[at:], text)
		if i < 0 {
			return false
		}
		before, after := all[:at+i], all[at+i+len(text):]
		dot := strings.HasPrefix(after, ".") && len(after) > 1 && name(after[1])
		if (before == "" || !name(before[len(before)-1])) && (after == "" || !name(after[0])) && !dot {
			return true
		}
		at += i + 1
	}
}
