package provider_test

import (
	"testing"
)

// covers F128 F129
func TestUsage(t *testing.T) {
	for _, c := range []struct{ name, tail, want string }{ // fresh, cache read, cache write, output, reasoning
		{"none", ``, "- - - - - "},
		{"null", `,"usage":null`, "- - - - - "},
		{"plain", `,"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}`, "10 - - 3 - "},
		{"zero is a value", `,"usage":{"prompt_tokens":0,"completion_tokens":0}`, "0 - - 0 - "},
		{"OpenAI", `,"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":20}}`, "30 60 10 30 20 "},
		{"xAI", `,"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":45,"completion_tokens_details":{"reasoning_tokens":30}}`, "10 - - 35 30 "},
		{"cached above prompt", `,"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":12}}`, "10 12 - 5 - "},
		{"DeepSeek", `,"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}`, "2 8 - 5 - "},
		{"Moonshot", `,"usage":{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":4}`, "6 4 - 5 - "},
		{"Mistral", `,"usage":{"prompt_tokens":10,"completion_tokens":5,"num_cached_tokens":4}`, "6 4 - 5 - "},
		{"llama.cpp", `,"usage":{"prompt_tokens":10,"completion_tokens":5},"timings":{"cache_n":9}`, "1 9 - 5 - "},
		{"Groq", `,"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}}`, "10 - - 5 - "},
		{"a text", `,"usage":{"prompt_tokens":"10","completion_tokens":5.0}`, "- - - 5 - "},
		{"no whole numbers", `,"usage":{"prompt_tokens":"ten","completion_tokens":5.5}`, "- - - - - "},
		{"below zero", `,"usage":{"prompt_tokens":10,"completion_tokens":-5}`, "10 - - - - "},
		{"below zero, cached", `,"usage":{"prompt_tokens":-5,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":-1}}`, "- - - 5 - "},
		{"beyond what is safe", `,"usage":{"prompt_tokens":9007199254740993,"completion_tokens":9007199254740991}`, "- - - 9007199254740991 - "},
		{"huge", `,"usage":{"prompt_tokens":1e300,"completion_tokens":99999999999999999999}`, "- - - - - "},
	} {
		body := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]" + c.tail + "}\n\ndata: [DONE]\n\n"
		r, err := reply(t, body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := showUsage(r.Usage); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	last, err := reply(t, `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":1}}]}`+"\n\n"+
		`data: {"choices":[{"delta":{},"usage":{"prompt_tokens":1,"completion_tokens":2}}],"usage":null}`+"\n\ndata: {\"choices\":[],\"usage\":{}}\n\n")
	if err != nil || showUsage(last.Usage) != "1 - - 2 - " || string(last.Usage.Raw) != `{"prompt_tokens":1,"completion_tokens":2}` {
		t.Errorf("the last of several: %s %s %v", showUsage(last.Usage), last.Usage.Raw, err)
	}
}
