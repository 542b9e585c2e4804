package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"overt/internal/provider"
)

// TestModelLists reads what kinds of servers say of their models.
//
// covers L095 F120
func TestModelLists(t *testing.T) {
	for _, c := range []struct{ name, protocol, list, server, want string }{
		{
			"OpenAI", provider.Chat, `{"object":"list","data":[{"id":"gpt-5.6-sol","object":"model","created":1,"owned_by":"openai"},{"id":"b"}]}`, "",
			"gpt-5.6-sol 0 0 ? ?  | b 0 0 ? ? ",
		},
		{
			"Anthropic", provider.Messages, `{"data":[{"type":"model","id":"claude-x","display_name":"X","max_input_tokens":200000,"max_tokens":64000,"capabilities":{"image_input":{"supported":true},"effort":{"supported":true,"low":{"supported":true},"high":{"supported":true},"max":{"supported":false}}}}],"has_more":false}`, "",
			"claude-x 200000 64000 true ? low,high",
		},
		{
			"OpenRouter", provider.Chat, `{"data":[{"id":"a/b","context_length":1000000,"top_provider":{"context_length":200000,"max_completion_tokens":32000},"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003","input_cache_write":"0.00000375"}},{"id":"auto","pricing":{"prompt":"-1","completion":"-1"},"architecture":{"input_modalities":["text"]},"top_provider":{"context_length":null}},{"id":"a/b:free","pricing":{"prompt":"0","completion":"0"}}]}`, "",
			"a/b 200000 32000 true 3/0.3/3.75/15  | auto 0 0 false ?  | a/b:free 0 0 ? 0/?/?/0 ",
		},
		{
			"Together", provider.Chat, `[{"id":"m","type":"chat","context_length":131072,"pricing":{"hourly":0,"input":0.88,"output":0.9,"base":0}}]`, "",
			"m 131072 0 ? 0.88/?/?/0.9 ",
		},
		{"Groq", provider.Responses, `{"data":[{"id":"q","owned_by":"Groq","context_window":131072,"max_completion_tokens":40960}]}`, "", "q 131072 40960 ? ? "},
		{"Mistral", provider.Chat, `{"data":[{"id":"mistral-x","max_context_length":128000,"capabilities":{"completion_chat":true,"vision":false}}]}`, "", "mistral-x 128000 0 false ? "},
		{"Moonshot", provider.Chat, `{"data":[{"id":"kimi","context_length":262144,"supports_image_in":true}]}`, "", "kimi 262144 0 true ? "},
		{"vLLM", provider.Chat, `{"data":[{"id":"q","owned_by":"vllm","max_model_len":32768}]}`, provider.VLLM, "q 32768 0 ? ? "},
		{
			"llama.cpp", provider.Chat, `{"models":[{"name":"/x.gguf","capabilities":["completion"]}],"object":"list","data":[{"id":"/x.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"n_params":1}}]}`, provider.LlamaCpp,
			"/x.gguf 0 0 ? ? ",
		},
		{"llama.cpp, newer", provider.Chat, `{"data":[{"id":"x","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"n_ctx":4096}}]}`, provider.LlamaCpp, "x 4096 0 ? ? "},
		{"Ollama", provider.Chat, `{"data":[{"id":"qwen3:8b","owned_by":"library"}]}`, provider.Ollama, "qwen3:8b 0 0 ? ? "},
		{"Gemini", provider.Chat, `{"models":[{"name":"models/gemini-x","inputTokenLimit":1048576,"outputTokenLimit":65536}]}`, "", "gemini-x 1048576 65536 ? ? "},
		{"LiteLLM", provider.Chat, `{"data":[{"model_name":"m","model_info":{"max_input_tokens":1000,"max_output_tokens":"200","input_cost_per_token":1e-06,"output_cost_per_token":2e-06,"supports_vision":true}}]}`, "", "m 1000 200 true 1/?/?/2 "},
		{"numbers as texts, and nonsense", provider.Chat, `{"data":[{"id":"m","context_length":"8192","max_completion_tokens":-1,"pricing":{"prompt":"x","completion":1}},{"id":""},{"id":7}]}`, "", "m 8192 0 ? ? "},
		{"empty", provider.Chat, `{"data":[]}`, "", ""},
	} {
		var at string
		var got http.Header
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at, got = r.Method+" "+r.URL.String(), r.Header
			fmt.Fprint(w, c.list)
		}))
		_, secret := provider.Header(c.protocol, provider.Profile{}, "key")
		list, err := provider.Models(ctxOf(t), newWire(t, &sink{}).HTTP(), c.protocol, server.URL, secret)
		server.Close()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var lines []string
		for _, m := range list.Models {
			lines = append(lines, m.ID+" "+show(m.Facts))
		}
		if text := strings.Join(lines, " | "); text != c.want || list.Server != c.server {
			t.Errorf("%s: %q of %q, want %q of %q", c.name, text, list.Server, c.want, c.server)
		}
		want, sent := "GET /v1/models", got.Get("Authorization") == "Bearer key"
		if c.protocol == provider.Messages {
			want, sent = "GET /v1/models?limit=1000", got.Get("X-Api-Key") == "key"
		}
		if at != want || !sent {
			t.Errorf("%s: %s %v", c.name, at, got)
		}
	}
}

// TestNoModelList: what is no list is told from one without models.
//
// covers L096
func TestNoModelList(t *testing.T) {
	for _, body := range []string{"", "<html>", "nonsense", `{"data":null}`, `{}`, `{"data":["a"]}`, `{"error":{"message":"x"}}`, `"data"`, strings.Repeat("[", 1<<20)} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		_, err := provider.Models(ctxOf(t), newWire(t, &sink{}).HTTP(), provider.Chat, server.URL, nil)
		server.Close()
		if err == nil || err.Error() != "HTTP 200, no list of models" {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

// TestModelsElsewhere: a redirect is one by its status, and a list that is too large is not called something else.
func TestModelsElsewhere(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string // of the error
	}{
		{http.StatusOK, `{"data":[{"id":"a"}]}`, ""},
		{http.StatusCreated, `{"data":[]}`, "HTTP 201, no list of models"},
		{http.StatusFound, "", "the server redirects to http://other.example/v1; set that as the base URL if you trust it"},
		{http.StatusOK, `{"data":[{"id":"` + strings.Repeat("a", 8<<20) + `"}]}`, "the list of models is larger than 8 MB"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://user:pw@other.example/v1/models?key=k")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		_, err := provider.Models(ctxOf(t), newWire(t, &sink{}).HTTP(), provider.Chat, server.URL, nil)
		server.Close()
		if err == nil != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%d: %v, want %q", c.status, err, c.want)
		}
	}
}

// TestLoaded: what a model can see on a server of one's own is what it was loaded with.
func TestLoaded(t *testing.T) {
	ollama := map[string]string{
		"GET /api/ps":    `{"models":[{"name":"other","context_length":9},{"name":"q:latest","model":"q:latest","context_length":4096}]}`,
		"POST /api/show": `{"capabilities":["completion","tools","vision"],"model_info":{"q.context_length":131072}}`,
	}
	for _, c := range []struct {
		name, server, base, model string
		says                      map[string]string
		want                      string
		fails                     bool
	}{
		{"Ollama", provider.Ollama, "/v1", "q", ollama, "4096 0 true ? ", false},
		{"Ollama, asked too early", provider.Ollama, "/v1/", "r", ollama, "", true},
		{"Ollama, without the second", provider.Ollama, "", "q", map[string]string{"GET /api/ps": ollama["GET /api/ps"]}, "4096 0 ? ? ", false},
		{"llama.cpp", provider.LlamaCpp, "/v1", "x", map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":8192},"total_slots":4,"modalities":{"vision":false,"audio":false}}`}, "8192 0 false ? ", false},
		{"below a path", provider.LlamaCpp, "/llm/v1", "x", map[string]string{"GET /llm/props": `{"default_generation_settings":{"n_ctx":1}}`}, "1 0 ? ? ", false},
		{"LM Studio", provider.LMStudio, "/v1", "m", map[string]string{"GET /api/v1/models": `{"models":[{"key":"m","max_context_length":131072,"loaded_instances":[{"id":"m:2","config":{"context_length":8192}},{"id":"m:3","config":{"context_length":4096}}],"capabilities":{"vision":true}}]}`}, "4096 0 true ? ", false},
		{"LM Studio, not loaded", provider.LMStudio, "/v1", "m", map[string]string{"GET /api/v1/models": `{"models":[{"key":"m","max_context_length":131072,"loaded_instances":[]}]}`}, "", true},
		{"LM Studio, older", provider.LMStudio, "/v1", "m", map[string]string{"GET /api/v0/models": `{"data":[{"id":"m","type":"llm","max_context_length":131072,"loaded_context_length":4096}]}`}, "4096 0 false ? ", false},
		{"vLLM", provider.VLLM, "/v1", "m", map[string]string{"GET /v1/models": `{"data":[{"id":"m","max_model_len":7}]}`}, "7 0 ? ? ", false},
		{"vLLM, not loaded", provider.VLLM, "/v1", "m", map[string]string{"GET /v1/models": `{"data":[{"id":"n","max_model_len":7}]}`}, "", true},
		{"another server", provider.Ollama, "/v1", "m", nil, "", true},
		{"of no kind", "", "/v1", "m", nil, "0 0 ? ? ", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := c.says[r.Method+" "+r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, body)
		}))
		f, err := provider.Loaded(ctxOf(t), newWire(t, &sink{}).HTTP(), c.server, provider.Chat, server.URL+c.base, c.model, nil)
		server.Close()
		if c.fails != (err != nil) || !c.fails && show(f) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, show(f), err, c.want)
		}
		if early := strings.Contains(c.name, "early") || strings.Contains(c.name, "not loaded"); early != errors.Is(err, provider.ErrNotLoaded) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLongModelList: a list without end is cut, so that nothing that is done for each model takes for ever.
func TestLongModelList(t *testing.T) {
	ids, ok := provider.ReadModels([]byte(`{"data":[` + strings.Repeat(`{"id":"a"},`, 30_000) + `{"id":"b"}]}`))
	if !ok || len(ids) != 20_000 {
		t.Errorf("%v, %d models", ok, len(ids))
	}
}

func FuzzModelList(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","context_length":1,"pricing":{"prompt":"1e-6","completion":"0"}}]}`))
	f.Add([]byte(`[{"id":"a","meta":{"n_ctx":1e9}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if ids, ok := provider.ReadModels(text); !ok && len(ids) > 0 {
			t.Errorf("no list, and yet %q", ids)
		}
	})
}
