package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// settings writes the person's file.
func (p *place) settings(text string) {
	p.t.Helper()
	path := filepath.Join(filepath.Dir(p.dir), "config", "overt", "config.json")
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// kept gives the files in which it is kept what endpoints said of their models.
func (p *place) kept() []string {
	p.t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state", "overt", "user", "models", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// modelShop lists two models, of which it says more of one.
func modelShop(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/models" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"data":[{"id":"alpha-large","context_window":131072,"max_completion_tokens":8192,"pricing":{"prompt":"0.000001","completion":"0.000002"}},{"id":"beta-small"}]}`)
}

// covers F006 F120 F138
func TestModels(t *testing.T) {
	s := openShop(t, nil, modelShop)
	p := newPlace(t)
	p.settings(`{"api_key": "sk-mine-0001", "providers": {"shop": {"base_url": "` + s.URL + `/v1", "api_key": "sk-shop-0002", "model": "beta-small",
		"models": {"beta-small": {"window": 4096, "images": true, "prices": {"input": 0.5, "output": 1}}}}}}`)
	r := p.run("models", "-m", "shop/beta-small")
	r.want(t, 0)
	for _, want := range []string{
		"alpha-large  yes     131,072  8,192   –       –       1 / – / – / 2", "endpoint: window, output, prices",
		"beta-small   yes     4,096    –       yes     –       0.5 / – / – / 1", "config: window, images, prices",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if list := p.kept(); len(list) != 0 {
		t.Errorf("a look has kept %q", list)
	}
	if _, auth := s.seen(); len(auth) != 1 || auth[0] != "Bearer sk-shop-0002" {
		t.Errorf("%q", auth)
	}
	if r = p.run("models", "-m", "shop/beta-small", "LARGE", "alp"); r.status != 0 || strings.Contains(r.out, "beta") || !strings.Contains(r.out, "alpha-large") {
		t.Errorf("%+v", r)
	}
	if r = p.run("models", "-m", "shop/beta-small", "gamma"); r.status != 1 || r.out != "" || r.err != "overt: no model of shop fits \"gamma\"\n" {
		t.Errorf("%+v", r)
	}
	p.run("models", "--refresh", "-m", "shop/beta-small").want(t, 0)
	list := p.kept()
	if len(list) != 1 {
		t.Fatalf("%q", list)
	}
	if info, err := os.Stat(list[0]); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	before, err := os.ReadFile(list[0])
	if err != nil || strings.Contains(string(before), "sk-") {
		t.Errorf("%s, %v", before, err)
	}

	// Without the server, its last word counts; asking for a new one fails, and changes nothing.
	s.Close()
	r = p.run("models", "-m", "shop/beta-small", "--json")
	r.want(t, 0)
	var got struct {
		Provider string
		BaseURL  string `json:"base_url"`
		Asked    *string
		Error    *string
		Models   []struct {
			Model  string
			Listed bool
			Window *int64
			Prices map[string]any
			From   map[string]string
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err, r.out)
	}
	if got.Provider != "shop" || got.BaseURL != s.URL+"/v1" || got.Asked == nil || got.Error == nil || len(got.Models) != 2 || !got.Models[0].Listed || *got.Models[0].Window != 131072 ||
		got.Models[0].From["window"] != "endpoint" || got.Models[0].Prices["cache_read"] != nil || got.Models[0].Prices["output"] != 2.0 {
		t.Errorf("%s", r.out)
	}
	if r = p.run("models", "-m", "shop/beta-small"); r.status != 0 || !strings.Contains(r.err, "this is what it said on ") || !strings.Contains(r.out, "131,072") {
		t.Errorf("%+v", r)
	}
	if r = p.run("models", "-m", "shop/beta-small", "--refresh"); r.status != 1 || !strings.Contains(r.err, "shop did not list its models (connection refused") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	if after, err := os.ReadFile(list[0]); err != nil || string(after) != string(before) {
		t.Errorf("%s, %v", after, err)
	}
}

// TestModelsWithoutNetwork: what the catalogue knows is there, and said to be all.
func TestModelsWithoutNetwork(t *testing.T) {
	p := newPlace(t)
	p.env = append(p.env, "DEEPSEEK_API_KEY=sk-none-0001")
	p.settings(`{"proxy": "http://127.0.0.1:1"}`)
	r := p.run("models", "v4")
	r.want(t, 0)
	if !strings.Contains(r.err, "deepseek did not list its models (") || !strings.Contains(r.err, "this is what the catalogue of this program knows") ||
		!strings.Contains(r.out, "deepseek-v4-pro    no      1,000,000  384,000  no      low,high,max  0.435 / 0.003625 / – / 0.87") {
		t.Errorf("%s\n%s", r.err, r.out)
	}
	if r = p.run("models", "--refresh", "flash"); r.status != 1 || !strings.Contains(r.out, "deepseek-flash") {
		t.Errorf("%+v", r)
	}
	newPlace(t).run("models").want(t, 3)
}

// TestModelsErrors: what answers with something else than a list is told; a redirect is not followed.
//
// covers L096
func TestModelsErrors(t *testing.T) {
	other := openShop(t, nil, modelShop)
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"a page":     {answers(200, "text/html", "<html>sign in</html>"), "HTTP 200, no list of models"},
		"no key":     {answers(401, "application/json", `{"error":{}}`), "HTTP 401, no list of models"},
		"empty list": {answers(200, "application/json", `{"data":[]}`), ""},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/models", http.StatusTemporaryRedirect)
		}, "the server redirects to " + other.URL + "/v1; set that as the base URL if you trust it"},
	} {
		s := openShop(t, nil, c.h)
		r := newPlace(t).run("models", "-u", s.URL, "-m", "x", "-k", "sk-told-0001")
		switch {
		case c.want == "":
			if r.status != 1 || r.err != "overt: 127.0.0.1 lists no model, and the catalogue of this program knows none there\n" {
				t.Errorf("%s: %+v", name, r)
			}
		case r.status != 1 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "sk-told"):
			t.Errorf("%s: %+v", name, r)
		}
	}
	if asked, _ := other.seen(); len(asked) != 0 {
		t.Errorf("%q", asked)
	}
	// Without a key nobody is asked, and the catalogue is shown; what does not fit has one reason.
	p := newPlace(t)
	if r := p.run("models", "-m", "anthropic/x"); r.status != 0 || !strings.Contains(r.out, "claude") || strings.Count(r.err, "\n") != 1 ||
		!strings.Contains(r.err, "it wants a key: set ANTHROPIC_API_KEY") || !strings.Contains(r.err, "this is what the catalogue") {
		t.Errorf("%+v", r)
	}
	if r := p.run("models", "-m", "anthropic/x", "no such"); r.status != 1 || r.out != "" || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, `none that fits "no such"`) {
		t.Errorf("%+v", r)
	}
}

// TestWhichModel: an endpoint is named with its port, and what it lists with how many these are. At an address that is not there another protocol
// is thought of; at one where only the model is not, not.
func TestWhichModel(t *testing.T) {
	s := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `{"data":[{"id":"a"},{"id":"b"}]}`)
		case strings.HasSuffix(r.URL.Path, "/messages"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"type":"error","error":{"type":"not_found_error","message":"model: nosuch"}}`)
		default:
			http.NotFound(w, r)
		}
	})
	p := newPlace(t)
	if r := p.run("-u", s.URL+"/v1", "hi"); r.status != 3 || !strings.Contains(r.err, strings.TrimPrefix(s.URL, "http://")+" lists 2 models, and none is named: a, b\n") {
		t.Errorf("%+v", r)
	}
	if r := p.run("-u", s.URL+"/v1", "-m", "a", "hi"); r.status != 1 || !strings.Contains(r.err, "or the server speaks another protocol: --protocol openai-responses, --protocol anthropic-messages\n") {
		t.Errorf("%+v", r)
	}
	if r := p.run("-u", s.URL+"/v1", "-m", "nosuch", "--protocol", "anthropic-messages", "hi"); r.status != 1 || strings.Contains(r.err, "another protocol") {
		t.Errorf("%+v", r)
	}
}

// chatSays answers Chat Completions with a text and a usage, and other requests by their path.
func chatSays(usage string, others map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if body, ok := others[r.URL.Path]; ok {
			fmt.Fprint(w, body)
			return
		}
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":%s}`, usage)
	}
}

// TestLoadedWindow: once a server of one's own has answered, it is asked what the model is loaded with; that is kept, and asked no sooner and
// no more than once. What it silently leaves out is told.
func TestLoadedWindow(t *testing.T) {
	s := openShop(t, nil, chatSays(`{"prompt_tokens":4096,"completion_tokens":1,"total_tokens":4097}`, map[string]string{
		"/api/ps": `{"models":[{"name":"q:latest","context_length":4096}]}`, "/api/show": `{"capabilities":["completion","tools"]}`,
	}))
	p := newPlace(t)
	p.settings(`{"providers": {"ollama": {"base_url": "` + s.URL + `/v1", "model": "q"}}}`)
	r := p.run("-m", "ollama/q", "--no-stream", "hello")
	r.want(t, 0)
	if asked, _ := s.seen(); strings.Join(asked, ", ") != "POST /v1/chat/completions, GET /api/ps, POST /api/show" {
		t.Errorf("%q", asked)
	}
	if strings.Contains(r.err, "left out") {
		t.Errorf("%s", r.err)
	}
	list := p.kept()
	if len(list) != 1 {
		t.Fatalf("%q: %s", list, r.err)
	}
	if text, err := os.ReadFile(list[0]); err != nil || !strings.Contains(string(text), `"server":"ollama","models":[{"id":"q","unlisted":true,"window":4096,"images":false}]`) {
		t.Errorf("%s, %v", text, err)
	}
	if r = p.run("models", "-m", "ollama/q"); !strings.Contains(r.out, "q      no      4,096   –       no") {
		t.Errorf("%+v", r)
	}

	p.write("long.txt", strings.Repeat("a long text ", 4000))
	c := p.command("-m", "ollama/q", "--no-stream", "-C", p.dir, strings.Repeat("a long text ", 4000))
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the server read only 4,096 of about 1") || !strings.Contains(string(out), "OLLAMA_CONTEXT_LENGTH") {
		t.Errorf("%s, %v", out, err)
	}
}

// TestLookKeepsTheList: what a server has loaded stands over what its list says of the model, and takes nothing else from it. A model that the list
// does not have is not said to be in it.
func TestLookKeepsTheList(t *testing.T) {
	for _, kind := range []struct {
		name, window string
		others       map[string]string
	}{
		{"ollama", "4,096", map[string]string{"/api/ps": `{"models":[{"name":"q","context_length":4096}]}`}},
		{"llamacpp", "8,192", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":8192}}`}},
		{"vllm", "1,000", nil},
	} {
		others := map[string]string{"/v1/models": `{"data":[{"id":"q","context_length":1000,"max_completion_tokens":100,"capabilities":{"effort":{"low":{"supported":true}}},"pricing":{"prompt":"0.000001","completion":"0.000002"}}]}`}
		maps.Copy(others, kind.others)
		s := openShop(t, nil, chatSays(`{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}`, others))
		p := newPlace(t)
		p.settings(`{"providers": {"` + kind.name + `": {"base_url": "` + s.URL + `/v1", "model": "q"}}}`)
		said := func(want string) {
			t.Helper()
			for _, args := range [][]string{{"models"}, {"models", "--refresh"}, {"models"}} {
				if r := p.run(append(args, "-m", kind.name+"/q")...); r.status != 0 || !strings.Contains(r.out, want) {
					t.Errorf("%s: no %q in %+v", kind.name, want, r)
				}
			}
		}
		want := "q      yes     " + kind.window + "   100     –       low     1 / – / – / 2"
		said(want)
		p.run("-m", kind.name+"/q", "--no-stream", "hello").want(t, 0)
		list := p.kept()
		if text, err := os.ReadFile(list[0]); err != nil || !strings.Contains(string(text), `"window":`+strings.ReplaceAll(kind.window, ",", "")+`,"max_output":100,"efforts":["low"],"prices":`) {
			t.Errorf("%s: %s, %v", kind.name, text, err)
		}
		said(want)
		p.run("probe", "-m", kind.name+"/q") // whatever it finds
		said(want)
		for range 2 {
			r := p.run("models", "--refresh", "-m", kind.name+"/nosuch", "--json")
			r.want(t, 0)
			var got struct{ Models []struct{ Model, Listed any } }
			if err := json.Unmarshal([]byte(r.out), &got); err != nil {
				t.Fatal(err)
			}
			for _, m := range got.Models {
				if (m.Model == "q") != (m.Listed == true) || m.Model == "nosuch" && kind.name != "llamacpp" { // which answers whatever it is called
					t.Errorf("%s: %+v", kind.name, m)
				}
			}
		}
	}
}

// TestCosts: the sum of a run, of its calls and of the workspace, as an estimate by the person's prices, and as the server says.
func TestCosts(t *testing.T) {
	s := openShop(t, nil, chatSays(`{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"prompt_tokens_details":{"cached_tokens":400}}`, nil))
	told := openShop(t, nil, chatSays(`{"prompt_tokens":10,"completion_tokens":1,"cost":0.5}`, nil))
	p := newPlace(t)
	p.settings(`{"providers": {"here": {"base_url": "` + s.URL + `/v1", "model": "m", "models": {"m": {"prices": {"input": 2, "cache_read": 0.5, "output": 10}}}},
		"there": {"base_url": "` + told.URL + `/v1", "model": "m"}}}`)
	r := p.run("-m", "here/m", "--no-stream", "--output", "json", "one")
	r.want(t, 0)
	if want := `"cost":{"usd":0.0024,"estimate":true,"unknown_calls":0}`; !strings.Contains(r.out, want) { // 600 × 2 + 400 × 0.5 + 100 × 10, by a million
		t.Errorf("no %s in %s", want, r.out)
	}
	if r = p.run("-m", "here/m", "--no-stream", "two"); !strings.Contains(r.err, "out, ~$0.0024 · ") {
		t.Errorf("%+v", r)
	}
	if r = p.run("-m", "here/other", "--no-stream", "--output", "json", "three"); !strings.Contains(r.out, `"cost":null`) {
		t.Errorf("%+v", r)
	}
	if r = p.run("-m", "there/m", "--no-stream", "four"); !strings.Contains(r.err, "out, $0.5000 · ") {
		t.Errorf("%+v", r)
	}
	if r = p.run("trace"); !strings.Contains(r.out, "$0.5000") {
		t.Errorf("%+v", r)
	}
	if r = p.run("usage", "--by", "task"); !strings.Contains(r.out, "≥ ~$0.5048") {
		t.Errorf("%+v", r)
	}
}

// TestOutputLimit: a protocol that wants a limit in each request gets what is known of the model.
func TestOutputLimit(t *testing.T) {
	var sent string
	s := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	})
	p := newPlace(t)
	p.settings(`{"providers": {"here": {"base_url": "` + s.URL + `", "protocol": "anthropic-messages", "model": "m", "models": {"m": {"max_output": 12345}}}}}`)
	p.run("-m", "here/m", "--no-stream", "one").want(t, 0)
	if !strings.Contains(sent, `"max_tokens":12345`) {
		t.Error(sent)
	}
}

// TestTemperatureWhileThinking: who thinks leaves the temperature out of account.
//
// covers L057
func TestTemperatureWhileThinking(t *testing.T) {
	for thinking, want := range map[string]bool{"auto": true, "on": true, "off": false} {
		p := newPlace(t)
		p.env = append(p.env, "DEEPSEEK_API_KEY=sk-none-0001")
		r := p.run("doctor", "--offline", "-t", "0.2", "--thinking", thinking)
		if got := strings.Contains(r.out, "temperature (flag --temperature) has no effect"); got != want {
			t.Errorf("%s: %s", thinking, r.out)
		}
	}
}
