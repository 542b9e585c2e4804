package provider

import (
	"encoding/json"
	"slices"

	"overt/internal/llm"
)

// usage puts a usage object into disjoint buckets. prompt_tokens holds what was cached, completion_tokens the reasoning;
// where the total says that a server counts reasoning apart, as xAI does, it is added. What is no whole
// number from 0 to 2^53-1 is unknown: nothing is repaired. Names by openai-openapi 2.3.0; those of DeepSeek, Moonshot, Mistral and llama.cpp
// (whose timings stand beside) for what was cached.
func usage(u, timings raw) llm.Usage {
	prompt := count(u, "prompt_tokens", "input_tokens")
	output := count(u, "completion_tokens", "output_tokens")
	details := u.get("prompt_tokens_details")
	for _, name := range []string{"input_tokens_details", "prompt_token_details"} { // the second is a slip of Mistral's
		if details.null() {
			details = u.get(name)
		}
	}
	cached := count(details, "cached_tokens")
	if cached == nil {
		cached = count(u, "prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")
	}
	if cached == nil {
		cached = count(timings, "cache_n")
	}
	written := count(details, "cache_write_tokens", "cache_creation_input_tokens") // the second is DashScope's
	outDetails := u.get("completion_tokens_details")
	if outDetails.null() {
		outDetails = u.get("output_tokens_details")
	}
	reasoning := count(outDetails, "reasoning_tokens")
	if total := count(u, "total_tokens"); total != nil && prompt != nil && output != nil && reasoning != nil &&
		*reasoning > 0 && *total == *prompt+*output+*reasoning {
		*output += *reasoning
	}
	out := llm.Usage{CacheRead: cached, CacheWrite: written, Output: output, Reasoning: reasoning, Raw: received(u)}
	if prompt != nil {
		fresh := *prompt
		for _, part := range []*int64{cached, written} {
			if part != nil {
				fresh -= *part
			}
		}
		if fresh < 0 { // xAI leaves out of the prompt what was cached
			fresh = *prompt
		}
		out.Fresh = &fresh
	}
	return out
}

// maxUsage bounds a usage object that is kept as it came; of a larger one the numbers are.
const maxUsage = 16 << 10

func received(u raw) json.RawMessage {
	if len(u) > maxUsage {
		return nil
	}
	return slices.Clone(json.RawMessage(u))
}

// maxCount is the largest whole number that every JSON reader takes for what it is (RFC 8259, section 6).
const maxCount = 1<<53 - 1

// count gives the first member that is a whole number from 0 on; nil if none is.
func count(u raw, names ...string) *int64 {
	for _, name := range names {
		if v := u.get(name); v.kind() != '"' {
			if n, ok := v.number(); ok && n >= 0 && n <= maxCount {
				return &n
			}
		}
	}
	return nil
}
