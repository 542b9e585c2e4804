package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// respond gives what a model makes of one reply that is a document.
func respond(t *testing.T, protocol, body string, header http.Header) *llm.Response {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	m := provider.New(provider.Options{Wire: newWire(t, &sink{}), Protocol: protocol, Endpoint: server.URL, Model: "m", MaxOutput: 100})
	r, err := m.Stream(ctxOf(t), say("hi"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	chatReply = `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":%s}`
	respReply = `{"id":"x","object":"response","status":"completed","output":[{"type":"message","role":"assistant","id":"i","content":[{"type":"output_text","text":"a"}]}],"usage":%s}`
	messReply = `{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":%s}`
)

// TestCostOfUsageStyles has the usage of two calls as each style of server reports it, the prices of the catalogue, and the sum of all
// tokens by bucket times the price, in dollars, by hand.
//
// covers F127
func TestCostOfUsageStyles(t *testing.T) {
	for _, c := range []struct {
		name, protocol, form string
		usage                [2]string
		endpoint, model      string
		nano                 int64
	}{
		{
			"OpenAI", provider.Chat, chatReply,
			[2]string{
				`{"prompt_tokens":100000,"completion_tokens":3000,"total_tokens":103000,"prompt_tokens_details":{"cached_tokens":60000,"cache_write_tokens":10000},"completion_tokens_details":{"reasoning_tokens":2000}}`,
				`{"prompt_tokens":50000,"completion_tokens":1000,"total_tokens":51000}`,
			},
			"https://api.openai.com/v1", "gpt-5.6-sol",
			80_000*5_000 + 60_000*500 + 10_000*6_250 + 4_000*30_000, // 0.4 + 0.03 + 0.0625 + 0.12
		},
		{
			"OpenAI Responses", provider.Responses, respReply,
			[2]string{
				`{"input_tokens":100000,"input_tokens_details":{"cached_tokens":60000,"cache_write_tokens":0},"output_tokens":3000,"output_tokens_details":{"reasoning_tokens":2000},"total_tokens":103000}`,
				`{"input_tokens":1,"output_tokens":1,"total_tokens":2}`,
			},
			"https://api.openai.com/v1", "gpt-5.6-sol",
			40_001*5_000 + 60_000*500 + 3_001*30_000,
		},
		{
			"Anthropic", provider.Messages, messReply,
			[2]string{
				`{"input_tokens":1000,"cache_creation_input_tokens":20000,"cache_read_input_tokens":300000,"output_tokens":4000}`,
				`{"input_tokens":10,"output_tokens":5}`,
			},
			"https://api.anthropic.com", "claude-sonnet-4-6",
			1_010*3_000 + 20_000*3_750 + 300_000*300 + 4_005*15_000,
		},
		{
			"xAI", provider.Chat, chatReply, // reasoning is not in the completion; what was cached may not be in the prompt
			[2]string{
				`{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":4500,"completion_tokens_details":{"reasoning_tokens":3000},"prompt_tokens_details":{"cached_tokens":400}}`,
				`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":2000}}`,
			},
			"https://api.x.ai/v1", "grok-4.5",
			700*2_000 + 2_400*0 + 3_505*6_000, // the price for reading is put in below
		},
		{
			"DeepSeek", provider.Chat, chatReply,
			[2]string{
				`{"prompt_tokens":10000,"completion_tokens":500,"total_tokens":10500,"prompt_cache_hit_tokens":8000,"prompt_cache_miss_tokens":2000,"completion_tokens_details":{"reasoning_tokens":300}}`,
				`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":10}`,
			},
			"https://api.deepseek.com", "deepseek-v4-pro",
			(2_010*435_000 + 8_000*3_625 + 505*870_000) / 1000,
		},
		{
			"Gemini", provider.Chat, chatReply, // thoughts are in the total alone
			[2]string{
				`{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1500,"completion_tokens_details":{"reasoning_tokens":400}}`,
				`{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}`,
			},
			"https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro-preview",
			1_007*2_000 + 501*12_000,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := provider.Known(c.endpoint, c.model).Prices
			if p == nil {
				t.Fatal("no prices")
			}
			want := c.nano
			if c.name == "xAI" {
				want += 2_400 * *p.CacheRead / 1_000_000
				if *p.CacheRead == 0 || *p.Fresh != 2e9 || *p.Output != 6e9 {
					t.Fatalf("prices %d %d", *p.Fresh, *p.Output)
				}
			}
			sum := int64(0)
			for _, u := range c.usage {
				r := respond(t, c.protocol, fmt.Sprintf(c.form, u), nil)
				cost, ok := p.Cost(r.Usage)
				if !ok || r.Usage.Cost != nil {
					t.Fatalf("%+v", r.Usage)
				}
				sum += cost
			}
			if sum != want {
				t.Errorf("%d nano-dollars, want %d", sum, want)
			}
		})
	}
}

func TestReportedCost(t *testing.T) {
	lite := func(v string) http.Header { return http.Header{"X-Litellm-Response-Cost": {v}} }
	for _, c := range []struct {
		name, usage string
		header      http.Header
		want        string
	}{
		{"OpenRouter", `{"prompt_tokens":1,"completion_tokens":1,"cost":0.00042}`, nil, "0.00042"},
		{"OpenRouter, a key of one's own", `{"cost":0.0001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.002}}`, nil, "0.0021"},
		{"OpenRouter, its own key", `{"cost":0.0021,"is_byok":false,"cost_details":{"upstream_inference_cost":0.002}}`, nil, "0.0021"},
		{"free", `{"cost":0}`, nil, "0"},
		{"LiteLLM", `{"prompt_tokens":1,"completion_tokens":1}`, lite("0.0003"), "0.0003"},
		{"LiteLLM, before it knows", `{"prompt_tokens":1}`, lite("0.0"), "?"},
		{"no number", `{"cost":"0.1"}`, lite("none"), "?"},
		{"below zero", `{"cost":-1}`, nil, "?"},
		{"an object", `{"cost":{"total":1}}`, nil, "?"},
		{"no usage", `null`, nil, "?"},
	} {
		got := "?"
		if cost := respond(t, provider.Chat, fmt.Sprintf(chatReply, c.usage), c.header).Usage.Cost; cost != nil {
			got = fmt.Sprint(*cost)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
