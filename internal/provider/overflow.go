package provider

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// signatures are texts that say that a request does not fit the window, lower case; the group is the window. Each is of
// a server that is named beside it.
var signatures = sync.OnceValue(func() []*regexp.Regexp {
	const n = `([0-9][0-9,_]*)`
	var out []*regexp.Regexp
	for _, s := range []string{
		`maximum context length is ` + n + ` tokens`,                                           // OpenAI, DeepSeek, OpenRouter, vLLM
		`input token count \(?[0-9,]+\)? exceeds the maximum number of tokens allowed \(?` + n, // Gemini
		`exceeded model token limit: ` + n,                                                     // Moonshot
		`prompt is too long: [0-9,]+ tokens > ` + n,                                            // Anthropic
		`exceed context limit: [0-9,]+ \+ [0-9,]+ > ` + n,                                      // Anthropic
		`range of input length should be \[[0-9]+, ?` + n,                                      // DashScope
		`too large for model with ` + n + ` maximum context length`,                            // Mistral
		`maximum prompt length is ` + n,                                                        // xAI
		`current length is [0-9,]+ while limit is ` + n,                                        // Cerebras
		`inputs. ?tokens \+ .?max_new_tokens.? must be <= ` + n,                                // TGI, Together
		`input too long: [0-9,]+ input tokens, limit is ` + n,                                  // Vercel
		`prompt token count of [0-9,]+ exceeds the limit of ` + n,                              // Copilot
		`input length \(?[0-9,]+\)?.{0,40}exceeds.{0,60}context length \(?` + n,                // vLLM
		`context length is only ` + n,                                                          // vLLM
		`longer than the model's context length \(?` + n,                                       // SGLang
		`exceeds the available context size \(` + n,                                            // llama.cpp
		`context length of only ` + n,                                                          // LM Studio
		`exceeds max context window of ` + n,                                                   // oMLX
		`maximum input length is ` + n,                                                         // generic
	} {
		out = append(out, regexp.MustCompile(s))
	}
	return out
})

// overflowWords are texts that say the same without a number.
func overflowWords() []string {
	return []string{
		"context_length_exceeded", "exceeds the context window", "prompt is too long", "exceed context limit",
		"input is too long for requested model", "too many total text bytes", "exceeds the maximum number of tokens allowed",
		"context window exceeds limit", "prompt exceeds max length", "reduce the length of the messages",
		"model_max_prompt_tokens_exceeded", "is longer than the model's context length", "exceed_context_size_error",
		"exceeds the available context size", "context size has been exceeded", "greater than the context length",
		"exceeds maximum context length", "input length exceeds", "contextwindowexceedederror", "context length exceeded",
		"too many tokens", "token limit exceeded", "request entity too large", "request_too_large", "reduce the length",
		"model's maximum context limit", "input tokens exceed the configured limit", "model_context_window_exceeded",
		"exceeded model token limit", "maximum prompt length", "too large for model",
	}
}

// overflow tells whether a fault says that the request does not fit, and the window if it names it.
func overflow(status int, f fault) (window int64, ok bool) {
	s := f.search
	if hasAny(s, []string{"string_above_max_length", "string too long", "image exceeds", "image is too large", "image size"}) {
		return 0, false
	}
	for _, sig := range signatures() {
		if m := sig.FindStringSubmatch(s); m != nil {
			return tokens(m[1]), true
		}
	}
	if hasAny(s, overflowWords()) || status == 413 || f.code == "1261" {
		return f.window, true
	}
	return 0, false
}

func tokens(s string) int64 {
	n, _ := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 64)
	return n
}
