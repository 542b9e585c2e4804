package provider

import (
	"regexp"
	"strings"
	"sync"

	"overt/internal/llm"
)

// leastAnswer is the smallest limit of an answer that is worth asking for, in tokens.
const leastAnswer = 256

// answerLimits are texts that say how long an answer may be, lower case. The groups are that limit (most), a number that it
// must be below, or window and input, which leave the rest for it. Each is of a server that is named beside it.
var answerLimits = sync.OnceValue(func() (out []*regexp.Regexp) {
	const (
		most   = `(?P<most>[0-9][0-9,_]*)`
		below  = `(?P<below>[0-9][0-9,_]*)`
		window = `(?P<window>[0-9][0-9,_]*)`
		input  = `(?P<input>[0-9][0-9,_]*)`
	)
	for _, s := range []string{
		`supports at most ` + most + ` (?:completion|output) tokens`,                                                                   // OpenAI
		`max_tokens: [0-9,]+ > ` + most + `, which is the maximum`,                                                                     // Anthropic
		`range of max_tokens (?:should be|is) \[[0-9]+, ?` + most,                                                                      // DashScope, DeepSeek
		`max_(?:completion_)?tokens.{0,3} must be (?:less than or equal to|<=|at most) .?` + most,                                      // Groq and others
		`max_?(?:output_?)?tokens.{0,60}range is from [0-9]+ \(inclusive\) to ` + below + ` \(exclusive\)`,                             // Gemini
		`fewer max_tokens.{0,80}can only afford ` + most,                                                                               // OpenRouter
		`maximum context length is ` + window + ` tokens.{0,80}requested (?:about )?[0-9,]+ tokens \(` + input + ` (?:in the|of text)`, // OpenAI, DeepSeek, OpenRouter
		`maximum context length is ` + window + ` tokens.{0,80}requested [0-9,]+ output tokens.{0,60}at least ` + input,                // vLLM
		`maximum context length is ` + window + ` tokens and your request has ` + input + ` input tokens`,                              // vLLM
		`exceed context limit: ` + input + ` \+ [0-9,]+ > ` + window,                                                                   // Anthropic
	} {
		out = append(out, regexp.MustCompile(s))
	}
	return out
})

// answerLimit gives the limit of an answer that a text allows, 0 if it names none or leaves none; and the window that it names.
func answerLimit(s string) (most int, window int64) {
	for _, re := range answerLimits() {
		m := re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		group := func(name string) int64 {
			if i := re.SubexpIndex(name); i >= 0 {
				return tokens(m[i])
			}
			return 0
		}
		window = group("window")
		return int(max(group("most"), group("below")-1, window-group("input"), 0)), window
	}
	return 0, 0
}

// mend finds out whether the refused request can be changed so that it is taken.
func mend(out *llm.Error, f fault) {
	s := f.search
	switch {
	case strings.Contains(s, "tool_use_failed"):
		out.Mend = llm.Resend // Groq's: the call that the model wrote is none
	case hasAny(s, []string{
		"invalid_encrypted_content", "encrypted content could not be", "encrypted_content could not be", "invalid `signature`",
		"invalid signature in thinking", "corrupted thought signature",
	}):
		out.Mend = llm.Unseal
	default:
		if most, window := answerLimit(s); most >= leastAnswer {
			out.Mend, out.MaxTokens = llm.Shorten, most
		} else if window > 0 { // the input alone is too much
			out.Class, out.Window = llm.Overflow, window
		} else if out.Class == llm.Invalid && (f.param == streamOptions || strings.Contains(s, streamOptions)) {
			out.Mend = llm.Uncount
		}
	}
}

// streamOptions is the member that asks a stream of Chat Completions for its usage.
const streamOptions = "stream_options"

// Measurable tells whether an error of a server names a member of a request that it does not take, and that a probe could find out about.
func Measurable(text string) bool {
	text = strings.ToLower(text)
	return hasAny(text, []string{
		"unknown", "unrecognized", "unrecognised", "not recognized", "unsupported", "not support", "not permitted", "not allowed", "unexpected", "extra", "invalid", "unable to",
	}) && hasAny(text, []string{
		streamOptions, "max_tokens", completionTokens, "max_output_tokens", "reasoning_effort", "output_config", "thinking", "chat_template_kwargs",
		"reasoning_content", "tool_calls", "tools", "tool_choice",
	})
}

// toolWords are texts that say that tools, in the form of the protocol, are not taken at all.
func toolWords() []string {
	return []string{
		"does not support tools", "tool choice requires --enable-auto-tool-choice", "no endpoints found that support tool use",
		"does not support tool calling", "does not support function calling", "tool calling is not supported", "tools is not supported",
		"tools are not supported", "function calling is not supported", "function calling is not enabled", "tool use is not supported",
		"`tools` is not supported", "tools param requires --jinja", "unsupported parameter: 'tools'",
	}
}
