package provider_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// TestPicturesRefused: an error over pictures is told from all others, in whatever form it comes.
//
// covers L221
func TestPicturesRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   llm.Class
	}{
		{"llama.cpp", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, llm.Pictures},
		{"DeepSeek", 400, "{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 9\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"invalid_request_error\"}}", llm.Pictures},
		{"OpenRouter", 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, llm.Pictures},
		{"Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64.data: Could not process image"}}`, llm.Pictures},
		{"Anthropic, too large", 413, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6931920 bytes > 5242880 bytes"}}`, llm.Pictures},
		{"Anthropic, other type", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0: Image does not match the provided media type image/png"}}`, llm.Pictures},
		{"OpenAI's member", 400, `{"error":{"message":"Invalid value.","type":"invalid_request_error","param":"messages[1].content[1].image_url","code":"invalid_value"}}`, llm.Pictures},
		{"OpenAI's words", 400, `{"error":{"message":"The image data you provided does not represent a valid image. Please check your input and try again.","type":"invalid_request_error","param":"input","code":"invalid_value"}}`, llm.Pictures},
		{"OpenAI, a model without", 400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error","param":"messages.[0].content.[1].type","code":null}}`, llm.Pictures},
		{"vLLM", 400, `{"object":"error","message":"At most 1 image(s) may be provided in one prompt.","type":"BadRequestError","param":null,"code":400}`, llm.Pictures},
		{"vLLM, a model without", 400, `{"object":"error","message":"m is not a multimodal model","type":"BadRequestError","param":null,"code":400}`, llm.Pictures},
		{"Ollama", 500, `{"error":"this model is missing data required for image input"}`, llm.Pictures},
		{"within an error of a gateway", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Could not process image\"}}"}}}`, llm.Pictures},
		{"in other words: image_url is not supported by this model, 400", 400, `{"error":{"message":"image_url is not supported by this model","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: invalid content type: image, 400", 400, `{"error":{"message":"invalid content type: image","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: Image URL is not supported, 400", 400, `{"error":{"message":"Image URL is not supported","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: Invalid value: image_url. Supported values are: text., 400", 400, `{"error":{"message":"Invalid value: image_url. Supported values are: text.","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: multimodal inputs are not supported, 422", 422, `{"error":{"message":"multimodal inputs are not supported","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: only text content is supported, 400", 400, `{"error":{"message":"only text content is supported","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: vision is not enabled, 400", 400, `{"error":{"message":"vision is not enabled","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: messages[1].content must be a string, 400", 400, `{"error":{"message":"messages[1].content must be a string","type":"invalid_request_error"}}`, llm.Pictures},
		{"in other words: multimodal inputs are not supported, 500", 500, `{"error":{"message":"multimodal inputs are not supported","type":"invalid_request_error"}}`, llm.Pictures},

		{"a tool's schema", 400, `{"error":{"message":"Invalid schema for function 'read_image': schema must be an object","type":"invalid_request_error","param":"tools[9].function.parameters","code":"invalid_function_parameters"}}`, llm.Invalid},
		{"another member", 400, `{"error":{"message":"Invalid value.","type":"invalid_request_error","param":"messages[1].content","code":"invalid_value"}}`, llm.Invalid},
		{"the key", 401, `{"error":{"message":"Could not process image: invalid key"}}`, llm.Auth},
		{"too often", 429, `{"error":{"message":"rate limit on image size reached"}}`, llm.Rate},
		{"the filter", 400, `{"error":{"message":"invalid image","code":"content_policy_violation"}}`, llm.Policy},
		{"the window", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`, llm.Overflow},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range worlds() {
				m, _ := w.against(t, raw(c.status, map[string]string{"Content-Type": "application/json"}, c.body))
				_, err := m.Stream(ctxOf(t), ask(), nil)
				if e := asError(t, err); e.Class != c.want || e.HTTP != c.status {
					t.Errorf("%s: %+v", w, e)
				}
			}
		})
	}
	// As an error inside a stream of status 200.
	w := world{provider.Chat, true}
	data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "Could not process image", "code": 400}})
	m, _ := w.against(t, raw(http.StatusOK, map[string]string{"Content-Type": "text/event-stream"}, "data: "+string(data)+"\n\n"))
	_, err := m.Stream(ctxOf(t), ask(), nil)
	if e := asError(t, err); e.Class != llm.Pictures {
		t.Errorf("%+v", e)
	}
}

func TestPicturesOf(t *testing.T) {
	wide := provider.PictureLimits{One: 32 << 20, All: 44 << 20, Count: 1000}
	for url, want := range map[string]provider.PictureLimits{
		"http://127.0.0.1:8080/v1":       wide,
		"https://relay.example/v1":       wide,
		"https://evilmistral.ai/v1":      wide,
		"https://api.mistral.ai/v1":      {One: 10 << 20, All: 15 << 20, Count: 8},
		"https://openrouter.ai./api/v1":  {One: 10 << 20, All: 15 << 20, Count: 100},
		"https://api.openai.com/v1":      {One: 25 << 20, All: 44 << 20, Count: 500},
		"https://api.anthropic.com":      {One: 15 << 18, All: 30 << 20, Count: 100, Side: 8000},
		"https://x.openai.azure.com/abc": {One: 25 << 20, All: 44 << 20, Count: 500},
	} {
		if got := provider.PicturesOf(provider.Chat, url); got != want {
			t.Errorf("%s: %+v", url, got)
		}
		if got := provider.PicturesOf(provider.Messages, url); strings.Contains(url, "127.0.0.1") {
			if got != wide {
				t.Errorf("%s by Messages: %+v", url, got)
			}
		} else if got.Count != 100 || got.Side != 8000 {
			t.Errorf("%s by Messages: %+v", url, got)
		}
	}
}

// TestPicturesAlternate: inputs that went without an answer are one message, whichever of them have pictures, and what was sent of
// the first stays as it was.
func TestPicturesAlternate(t *testing.T) {
	img := func(owner string) llm.Message {
		return llm.Message{Role: llm.User, Key: owner, Blocks: []llm.Block{{Type: llm.Picture, Owner: owner, Image: &llm.Image{Hash: "h", Media: "image/png", Bytes: 10}}, {Type: llm.Text, Owner: owner, Text: "what is " + owner}}}
	}
	say := func(owner string) llm.Message {
		return llm.Message{Role: llm.User, Key: owner, Blocks: []llm.Block{{Type: llm.Text, Owner: owner, Text: "and " + owner}}}
	}
	no := llm.Message{Role: llm.Assistant, Key: "a", Blocks: []llm.Block{{Type: llm.Text, Owner: "a", Text: "No."}}}
	for _, w := range worlds() {
		if w.protocol == provider.Responses {
			continue // its items need not alternate
		}
		t.Run(w.String(), func(t *testing.T) {
			history := []llm.Message{img("m1"), say("m2"), img("m3"), no, say("m4"), say("m5"), no, say("m6"), img("m7")}
			m, server, _ := w.start(t, scripted.Script{Alternate: true, Next: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "ok"} }}, withImages(onePicture))
			for n := range history {
				if history[n].Role == llm.Assistant {
					continue
				}
				r := &llm.Request{ID: "i", Messages: history[:n+1]}
				if _, err := m.Stream(ctxOf(t), r, nil); err != nil {
					t.Fatalf("%d messages: %v", n+1, err)
				}
				if len(r.Messages) != n+1 {
					t.Fatal("the request was changed")
				}
			}
			log := server.Log()
			for i := 1; i < len(log); i++ {
				if i == len(log)-1 { // m6 was a string
					continue
				}
				was, is := string(log[i-1].Request), string(log[i].Request)
				at := strings.LastIndex(was, "m"+strconv.Itoa(i))
				if was[:at+2] != is[:at+2] {
					t.Errorf("request %d begins otherwise than the one before:\n%s\n%s", i+1, is, was)
				}
			}
		})
	}
}
