package provider

import (
	"strings"

	"overt/internal/llm"
)

// carrierTags is the carrier of reasoning that stood between tags in the text.
const carrierTags = "tags"

// tags takes reasoning out of a text that begins with it, between tags. Only at the very start of an answer do they mean
// anything; later they are text, as in an answer about them. Sources: DeepSeek-R1, QwQ and Qwen3 (think), MiniMax, Seed-OSS,
// Magistral, Gemma and gpt-oss (channels), and others by report.
type tags struct {
	state tagState
	held  string // what may be the beginning of a tag
	close string
	// in is the carrier of texts that are reasoning by their field already, in which only tags that a server has left are
	// looked for; "": of text.
	in string
}

type tagState int

const (
	tagStart  tagState = iota // nothing but blanks has come
	tagOpened                 // the same, and the opening tag stands in the prompt
	tagInside                 // of reasoning
	tagGap                    // between the closing tag and the text
	tagAfter                  // of text
	tagNone                   // there are none
)

// harmony opens the answer of gpt-oss behind its reasoning.
const harmony = "<|start|>assistant<|channel|>final<|message|>"

func openingTags() [9]string {
	return [...]string{
		"<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]", "<|begin_of_thought|>", "<|channel>thought",
		"<|channel|>analysis<|message|>",
	}
}

func closingTag(open string) string {
	switch open {
	case "[THINK]":
		return "[/THINK]"
	case "<|begin_of_thought|>":
		return "<|end_of_thought|>"
	case "<|channel>thought":
		return "<channel|>"
	case "<|channel|>analysis<|message|>":
		return "<|end|>"
	}
	return "</" + open[1:]
}

// add takes the next piece of text.
func (t *tags) add(a *answer, s string) {
	s = t.held + s
	t.held = ""
	for s != "" {
		switch t.state {
		case tagStart, tagOpened:
			if s = t.start(s); t.state == tagStart || t.state == tagOpened {
				return
			}
		case tagInside:
			if i := strings.Index(s, t.close); i >= 0 {
				a.put(llm.Reasoning, orElse(t.in, carrierTags), s[:i])
				t.state, s = tagGap, s[i+len(t.close):]
				continue
			}
			n := len(s) - partial(s, t.close)
			a.put(llm.Reasoning, orElse(t.in, carrierTags), s[:n])
			t.held = s[n:]
			return
		case tagGap: // without the line ends that follow the tag
			s = strings.TrimLeft(s, "\n")
			if rest, ok := strings.CutPrefix(s, harmony); ok {
				s = rest
			} else if s != "" && strings.HasPrefix(harmony, s) {
				t.held = s
				return
			}
			if s != "" {
				t.state = tagAfter
			}
		case tagNone:
			a.put(llm.Reasoning, t.in, s)
			return
		default:
			a.put(llm.Text, "", s)
			return
		}
	}
}

// blanksMax bounds the blanks that may stand before a tag.
const blanksMax = 1024

// start looks for a tag at the beginning; it returns what is behind it, or the whole once there can be none.
func (t *tags) start(s string) string {
	body := strings.TrimLeft(s, " \t\r\n")
	if len(s)-len(body) > blanksMax {
		t.none()
		return s
	}
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
	t.none()
	return s
}

// none: there is no opening tag.
func (t *tags) none() {
	switch {
	case t.state == tagOpened:
		t.state, t.close = tagInside, closingTag("<think>")
	case t.in != "":
		t.state = tagNone
	default:
		t.state = tagAfter
	}
}

// end gives out what was held back, and rest.
func (t *tags) end(a *answer, rest string) {
	t.add(a, rest)
	s := t.held
	if t.held = ""; s == "" {
		return
	}
	if t.state == tagStart || t.state == tagOpened {
		t.none()
	}
	if t.state == tagInside || t.state == tagNone {
		a.put(llm.Reasoning, orElse(t.in, carrierTags), s)
		return
	}
	t.state = tagAfter
	a.put(llm.Text, "", s)
}

// repeats knows pieces of a text that a server sends twice: one that is the last one again, or all that has come. It must look
// like prose: rows of dashes are meant.
type repeats struct {
	last string
	all  strings.Builder
}

func (r *repeats) is(v raw) bool {
	s := string(v[1 : len(v)-1])
	if len(s) >= 20 && strings.Count(s, " ") > 1 && (s == r.last || s == r.all.String()) {
		return true
	}
	r.last = s
	r.all.WriteString(s)
	return false
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
