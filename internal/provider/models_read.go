package provider

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
)

// readList reads a list of models: that of OpenAI ({"data": […]}), which everybody else has made their own and many have added to,
// Together's, which is an array, and those of Gemini, Ollama and LM Studio ({"models": […]}). false: the text is none.
func readList(text []byte) (List, bool) {
	doc, ok := parse(text)
	if !ok {
		return List{}, false
	}
	array := doc
	if doc.kind() == '{' {
		if array = doc.get("data"); array.kind() != '[' {
			array = doc.get("models")
		}
	}
	if array.kind() != '[' {
		return List{}, false
	}
	out := List{Models: []Listed{}}
	for m := range array.elements() {
		if m.kind() != '{' {
			return List{}, false
		}
		if len(out.Models) == maxModels {
			break
		}
		id := idOf(m, "id", "key", "name", "model_name")
		if id == "" {
			continue
		}
		out.Models = append(out.Models, Listed{strings.TrimPrefix(id, "models/"), readFacts(m)})
		if out.Server == "" {
			out.Server = servers()[m.get("owned_by").text()]
		}
	}
	return out, true
}

// readFacts reads what a list says of a model. What is written by whom:
//
//	max_input_tokens, max_tokens, capabilities.{image_input,effort}                 Anthropic
//	context_length, top_provider, pricing (dollars for a token), architecture       OpenRouter
//	context_length, pricing (dollars for a million tokens)                          Together
//	context_length, supports_image_in                                               Moonshot
//	context_window, max_completion_tokens                                           Groq
//	max_context_length, capabilities.vision                                         Mistral
//	max_model_len                                                                   vLLM
//	meta.n_ctx (meta.n_ctx_train is what the model was made for, not what it has)   llama.cpp
//	inputTokenLimit, outputTokenLimit                                               Gemini
//	model_info                                                                      LiteLLM
func readFacts(m raw) Facts {
	top, info, can := m.get("top_provider"), m.get("model_info"), m.get("capabilities")
	f := Facts{
		Window: firstCount(
			top.get("context_length"), m.get("max_input_tokens"), m.get("max_model_len"), m.get("context_window"), m.get("context_length"),
			m.get("max_context_length"), m.get("inputTokenLimit"), m.get("meta").get("n_ctx"), info.get("max_input_tokens"),
		),
		MaxOutput: firstCount(top.get("max_completion_tokens"), m.get("max_completion_tokens"), m.get("outputTokenLimit"), info.get("max_output_tokens")),
	}
	if f.MaxOutput == 0 && firstCount(m.get("max_input_tokens")) > 0 { // elsewhere it may be of both
		f.MaxOutput = firstCount(m.get("max_tokens"))
	}
	for _, v := range []raw{can.get("image_input").get("supported"), can.get("vision"), m.get("supports_image_in"), info.get("supports_vision")} {
		if s := string(v); f.Images == nil && (s == "true" || s == "false") {
			yes := s == "true"
			f.Images = &yes
		}
	}
	if in := m.get("architecture").get("input_modalities"); in.kind() == '[' && f.Images == nil {
		yes := slices.Contains(texts(in), "image")
		f.Images = &yes
	}
	effort := can.get("effort")
	for _, level := range llm.Efforts() {
		if string(effort.get(level).get("supported")) == "true" {
			f.Efforts = append(f.Efforts, level)
		}
	}
	f.Prices = readPrices(m.get("pricing"), info)
	return f
}

// perMillion is how many nano-dollars for a million tokens one dollar for a token is.
const perMillion = 1e15

// readPrices reads a price list: OpenRouter's and LiteLLM's are for a token, Together's for a million.
func readPrices(pricing, info raw) *llm.Prices {
	for _, form := range []struct {
		from raw
		unit float64
		name [4]string
	}{
		{pricing, perMillion, [4]string{"prompt", "input_cache_read", "input_cache_write", "completion"}},
		{pricing, perMillion / 1e6, [4]string{"input", "cached_input", "", "output"}},
		{info, perMillion, [4]string{"input_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost", "output_cost_per_token"}},
	} {
		var got [4]*int64
		for i, name := range form.name {
			v := form.from.get(name)
			s := string(v)
			if v.kind() == '"' {
				s = v.text()
			}
			if x, err := strconv.ParseFloat(s, 64); err == nil && x >= 0 && x*form.unit < math.MaxInt64/2 { // below 0 it varies
				n := int64(x*form.unit + 0.5)
				got[i] = &n
			}
		}
		if got[0] != nil && got[3] != nil {
			return &llm.Prices{Fresh: got[0], CacheRead: got[1], CacheWrite: got[2], Output: got[3]}
		}
	}
	return nil
}

// firstCount is the first value that is a whole number above 0; 0 if none is.
func firstCount(values ...raw) int64 {
	for _, v := range values {
		if n, ok := v.number(); ok && n > 0 {
			return n
		}
	}
	return 0
}

// idOf is the first member that is a text and not empty.
func idOf(m raw, names ...string) string {
	for _, name := range names {
		if s := m.get(name).text(); s != "" {
			return s
		}
	}
	return ""
}

func texts(array raw) (out []string) {
	for v := range array.elements() {
		out = append(out, v.text())
	}
	return out
}
