package provider

import (
	"strings"

	"overt/internal/llm"
)

// tagged is the carrier of reasoning that stood between tags in the text.
const tagged = "tags"

// tags takes reasoning out of a text that begins with it, between tags. Only at the very start of an answer do they mean
// anything; later they are text, as in an answer about them. Sources: DeepSeek-R1, QwQ and Qwen3 (think), MiniMax, Seed-OSS,
// Magistral and others by report.
type tags struct {
	state tagState
	held  string // what may be the beginning of a tag
	close string
}

type tagState int

const (
	tagStart  tagState = iota // nothing but blanks has come
	tagInside                 // of reasoning
	tagAfter                  // of text
)

func openingTags() [7]string {
	return [...]string{"<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]", "<|begin_of_thought|>"}
}

func closingTag(open string) string {
	switch open {
	case "[THINK]":
		return "[/THINK]"
	case "<|begin_of_thought|>":
		return "<|end_of_thought|>"
	}
	return "</" + open[1:]
}

// add takes the next piece of text.
func (t *tags) add(a *answer, s string) {
	s = t.held + s
	t.held = ""
	for s != "" {
		switch t.state {
		case tagStart:
			if s = t.start(a, s); t.state == tagStart {
				return
			}
		case tagInside:
			if i := strings.Index(s, t.close); i >= 0 {
				a.put(llm.Reasoning, tagged, s[:i])
				t.state, s = tagAfter, strings.TrimLeft(s[i+len(t.close):], "\n")
				continue
			}
			n := len(s) - partial(s, t.close)
			a.put(llm.Reasoning, tagged, s[:n])
			t.held = s[n:]
			return
		default:
			a.put(llm.Text, "", s)
			return
		}
	}
}

// start looks for a tag at the beginning; it returns what is behind it, or the whole once there can be none.
func (t *tags) start(a *answer, s string) string {
	body := strings.TrimLeft(s, " \t\r\n")
	for _, open := range openingTags() {
		if rest, ok := strings.CutPrefix(body, open); ok {
			t.state, t.close = tagInside, closingTag(open)
			return rest
		}
		if strings.HasPrefix(open, body) {
			t.held = s
			return ""
		}
	}
	t.state = tagAfter
	return s
}

// end gives out what was held back, and rest.
func (t *tags) end(a *answer, rest string) {
	t.add(a, rest)
	s := t.held
	t.held = ""
	switch {
	case s == "":
	case t.state == tagInside:
		a.put(llm.Reasoning, tagged, s)
	default:
		t.state = tagAfter
		a.put(llm.Text, "", s)
	}
}

// partial gives the length of the longest end of s that mark begins with.
func partial(s, mark string) int {
	for n := min(len(mark)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}
