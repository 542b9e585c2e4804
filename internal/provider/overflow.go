package provider

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// signatures are texts that say that a request does not fit the window, lower case. The groups are the window (n) and what the
// request has (m), in tokens, as far as the text names them. Each is of a server that is named beside it.
var signatures = sync.OnceValue(func() []*regexp.Regexp {
	const (
		n = `(?P<n>[0-9][0-9,_]*)`
		m = `(?P<m>[0-9][0-9,_]*)`
	)
	var out []*regexp.Regexp
	for _, s := range []string{
		`maximum context length is ` + n + ` tokens.{0,60}(?:resulted in|requested about|requested) ` + m + ` tokens`,                       // OpenAI, DeepSeek, OpenRouter, vLLM
		`maximum context length is ` + n + ` tokens.{0,120}(?:at least|request has) ` + m + ` input tokens`,                                 // vLLM
		`maximum context length is ` + n + ` tokens`,                                                                                        // the same without the other
		`input token count \(?` + m + `\)? exceeds the maximum number of tokens allowed \(?` + n,                                            // Gemini
		`exceeded model token limit: ` + n + `(?: \(requested: ` + m + `)?`,                                                                 // Moonshot
		`prompt is too long: ` + m + ` tokens > ` + n,                                                                                       // Anthropic
		`exceed context limit: ` + m + ` \+ [0-9,]+ > ` + n,                                                                                 // Anthropic
		`range of input length should be \[[0-9]+, ?` + n,                                                                                   // DashScope
		`(?:contains ` + m + ` tokens.{0,40})?too large for model with ` + n + ` maximum context length`,                                    // Mistral
		`maximum prompt length is ` + n + `(?: but the request contains ` + m + `)?`,                                                        // xAI
		`current length is ` + m + ` while limit is ` + n,                                                                                   // Cerebras
		`inputs. ?tokens \+ .?max_new_tokens.? must be <= ` + n,                                                                             // TGI, Together
		`input too long: ` + m + ` input tokens, limit is ` + n,                                                                             // Vercel
		`prompt token count of ` + m + ` exceeds the limit of ` + n,                                                                         // Copilot
		`input length \(?` + m + `\)?.{0,40}exceeds.{0,60}context length \(?` + n,                                                           // vLLM
		`(?:passed ` + m + ` input tokens.{0,40})?context length is only ` + n,                                                              // vLLM
		`(?:\((?:total )?(?:length )?` + m + `(?: tokens)?\) )?is longer than the (?:model's context|maximum model) length (?:of )?\(?` + n, // SGLang, vLLM
		`(?:request \(` + m + ` tokens\) )?exceeds the available context size \(` + n,                                                       // llama.cpp
		`(?:keep the first ` + m + ` tokens.{0,120})?context length of only ` + n,                                                           // LM Studio
		`(?:prompt too long: ` + m + ` tokens )?exceeds max context window of ` + n,                                                         // oMLX
		`maximum input length is ` + n,                                                                                                      // generic
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
		"exceeded model token limit", "maximum prompt length", "too large for model", "max_tokens must be at least 1, got -",
	}
}

// overflow tells whether a fault says that the request does not fit, with the window and what the request has, if it names them.
func overflow(status int, f fault) (window, has int64, ok bool) {
	s := f.search
	if hasAny(s, []string{"string_above_max_length", "string too long", "image exceeds", "image is too large", "image size"}) {
		return 0, 0, false
	}
	for _, sig := range signatures() {
		if m := sig.FindStringSubmatch(s); m != nil {
			group := func(name string) (n int64) {
				if i := sig.SubexpIndex(name); i >= 0 {
					n = tokens(m[i])
				}
				return n
			}
			return group("n"), group("m"), true
		}
	}
	if hasAny(s, overflowWords()) || status == 413 || f.code == "1261" {
		return f.window, f.prompt, true
	}
	return 0, 0, false
}

func tokens(s string) int64 {
	n, _ := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 64)
	return n
}
