package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"overt/internal/scripted"
)

// TestDoctorProtocols: the list of models is asked for as each protocol wants it, all of it, and an address that moved is told with what to set.
func TestDoctorProtocols(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprint("m", i))
	}
	for protocol, post := range map[string]string{"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic-messages": "/messages"} {
		s := scripted.New(scripted.Script{Key: "sk-right-secret-0001", Models: many})
		var version atomic.Bool
		server := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				version.Store(r.Header.Get("Anthropic-Version") != "")
			}
			if protocol == "anthropic-messages" && r.URL.Path == "/v1/models" && r.URL.Query().Get("limit") != "1000" {
				t.Errorf("%s: %s", protocol, r.URL)
			}
			s.ServeHTTP(w, r)
		})
		p := newPlace(t)
		p.env = append(p.env, "OVERT_API_KEY=sk-right-secret-0001")
		r := p.run("doctor", "-u", server.URL+"/v1", "-m", "m29", "--protocol", protocol)
		if r.status != 0 || !strings.Contains(r.out, "model m29 is one of 30") || version.Load() != (protocol == "anthropic-messages") {
			t.Errorf("%s: %d %s", protocol, r.status, r.out)
		}
		r = newPlace(t).run("doctor", "-u", server.URL+"/v1", "-m", "m29", "-k", "sk-wrong-secret-0002", "--protocol", protocol)
		if r.status != 1 || !strings.Contains(r.out, "HTTP 401") && !strings.Contains(r.out, "401") {
			t.Errorf("%s: %d %s", protocol, r.status, r.out)
		}
		moved := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, server.URL+r.URL.Path, http.StatusPermanentRedirect)
		})
		r = p.run("doctor", "-u", moved.URL+"/v1", "-m", "m29", "--protocol", protocol)
		if r.status != 1 || !strings.Contains(r.out, "-> set "+server.URL+"/v1") && !strings.Contains(r.out, server.URL+"/v1 ") && !strings.Contains(r.out, server.URL+"/v1\n") {
			t.Errorf("%s: %d %s", protocol, r.status, r.out)
		}
		// Where the list is there, and only the address of tasks has moved.
		half := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, post) {
				http.Redirect(w, r, server.URL+r.URL.Path, http.StatusPermanentRedirect)
				return
			}
			s.ServeHTTP(w, r)
		})
		r = p.run("doctor", "-u", half.URL+"/v1", "-m", "m29", "--protocol", protocol)
		if r.status != 1 || !strings.Contains(r.out, server.URL+"/v1") {
			t.Errorf("%s: %d %s", protocol, r.status, r.out)
		}
	}
}

// TestDoctorWindow: a server of one's own is asked how much it reads, as its kind is asked; offline nobody is.
func TestDoctorWindow(t *testing.T) {
	const list = `{"data":[{"id":"q"}]}`
	for name, c := range map[string]struct {
		kind   string
		others map[string]string
		want   string
	}{
		"ollama":     {"ollama", map[string]string{"/v1/models": list, "/api/ps": `{"models":[{"name":"q","context_length":65536}]}`}, "window of q as it is loaded: 65536 tokens\n"},
		"its cut":    {"ollama", map[string]string{"/v1/models": list, "/api/ps": `{"models":[{"name":"q","context_length":4096}]}`}, "leaves out what is beyond it"},
		"not loaded": {"ollama", map[string]string{"/v1/models": list, "/api/ps": `{"models":[]}`}, "q is not loaded"},
		"llama.cpp":  {"llamacpp", map[string]string{"/v1/models": list, "/props": `{"default_generation_settings":{"n_ctx":8192}}`}, "8192 tokens, hardly room"},
		"lm studio":  {"lmstudio", map[string]string{"/v1/models": list, "/api/v1/models": `{"models":[{"key":"q","loaded_instances":[{"id":"q","config":{"context_length":131072}}]}]}`}, "131072 tokens\n"},
		"vllm":       {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"q","owned_by":"vllm","max_model_len":40960}]}`}, "40960 tokens\n"},
		"silent":     {"llamacpp", map[string]string{"/v1/models": list}, "the window is not known: the server (llamacpp) does not say it"},
	} {
		s := openShop(t, nil, chatSays("null", c.others))
		p := newPlace(t)
		p.settings(`{"providers": {"` + c.kind + `": {"base_url": "` + s.URL + `/v1"}}}`)
		if r := p.run("doctor", "-m", c.kind+"/q"); !strings.Contains(r.out, c.want) {
			t.Errorf("%s: %s", name, r.out)
		}
		before, _ := s.seen()
		if r := p.run("doctor", "--offline", "-m", c.kind+"/q"); r.status != 0 || strings.Contains(r.out, "window") {
			t.Errorf("%s: %s", name, r.out)
		}
		if after, _ := s.seen(); len(after) != len(before) {
			t.Errorf("%s: %q", name, after)
		}
	}
}

// TestDoctorEffects: of parameters that don't reach the model, or not as they were said, this is said; and what was measured counts.
func TestDoctorEffects(t *testing.T) {
	for name, c := range map[string]struct {
		variable string
		args     []string
		want     string
		not      string
	}{
		"another level":          {"DEEPSEEK_API_KEY", []string{"--effort", "medium"}, "effort medium (flag --effort) is sent as high, the nearest that deepseek takes", "no effect"},
		"the level":              {"DEEPSEEK_API_KEY", []string{"--effort", "high"}, "", "effort"},
		"no effort":              {"MOONSHOT_API_KEY", []string{"-m", "moonshot/kimi-k2.6", "--effort", "high"}, "effort (flag --effort) has no effect: none is sent to moonshot", ""},
		"no switch":              {"GROQ_API_KEY", []string{"-m", "groq/x", "--thinking", "on"}, "thinking (flag --thinking) has no effect: no switch for it is known of groq", ""},
		"a switch":               {"DEEPSEEK_API_KEY", []string{"--thinking", "off"}, "", "thinking"},
		"temperature and thinks": {"ANTHROPIC_API_KEY", []string{"-m", "anthropic/claude-sonnet-4-5", "--thinking", "on", "-t", "1"}, "temperature (flag --temperature) has no effect: it is not sent while the model thinks", ""},
		"temperature":            {"ANTHROPIC_API_KEY", []string{"-m", "anthropic/claude-sonnet-4-5", "-t", "1"}, "", "temperature"},
	} {
		p := newPlace(t)
		p.env = append(p.env, c.variable+"=sk-none-secret-0001")
		r := p.run(append([]string{"doctor", "--offline"}, c.args...)...)
		if !strings.Contains(r.out, c.want) || c.not != "" && strings.Contains(r.out, c.not) {
			t.Errorf("%s: %s", name, r.out)
		}
	}
	s := school(t, pupil, func(_ string, q map[string]any) (int, string) {
		if q["reasoning_effort"] != nil {
			return 400, "Unrecognized request argument supplied: reasoning_effort"
		}
		return 0, ""
	})
	p := newPlace(t)
	p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
	args := []string{"-u", s.URL + "/v1", "-m", "scripted"}
	if r := p.run(append(args, "doctor", "--offline", "--effort", "low")...); strings.Contains(r.out, "measured on") || strings.Contains(r.out, "no effect") {
		t.Errorf("%s", r.out)
	}
	p.run(append(args, "probe")...).want(t, 0)
	r := p.run(append(args, "doctor", "--offline", "--effort", "low")...)
	for _, want := range []string{"[ok] measured on 2", ": no_effort true, images true\n", "effort (flag --effort) has no effect"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
}
