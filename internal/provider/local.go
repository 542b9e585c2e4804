package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Kinds of servers that say, elsewhere than in their list of models, how much a model that they have loaded can see.
const (
	Ollama   = "ollama"
	LlamaCpp = "llamacpp"
	LMStudio = "lmstudio"
	VLLM     = "vllm"
)

// servers are kinds by what their lists name as the owner of a model.
func servers() map[string]string {
	return map[string]string{"library": Ollama, "llamacpp": LlamaCpp, "organization_owner": LMStudio, "vllm": VLLM}
}

// Cuts tells whether a kind of server leaves out what it has no room for, and answers as if nothing were missing: Ollama always,
// LM Studio by a setting.
func Cuts(server string) bool { return server == Ollama || server == LMStudio }

// loadedTimeout bounds how long a server of one's own is waited for.
const loadedTimeout = 2 * time.Second

// ErrNotLoaded says that the server has not loaded the model, so that nobody knows how much it will see.
var ErrNotLoaded = errors.New("the model is not loaded")

// Loaded asks a server of a kind what a model can see as it is loaded now, which may be far less than it was made for:
//
//	Ollama     GET /api/ps, models[].context_length; POST /api/show, capabilities[]
//	llama.cpp  GET /props, default_generation_settings.n_ctx (for each slot), modalities.vision
//	LM Studio  GET /api/v1/models, models[].loaded_instances[].config.context_length; before 0.4 GET /api/v0/models, loaded_context_length
//	vLLM       GET /v1/models, max_model_len
//
// What it does not say stays unknown; [ErrNotLoaded] if it is asked too early, or the server does not know the model.
func Loaded(ctx context.Context, c *http.Client, server, protocol, endpoint, model string, header http.Header) (Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, loadedTimeout)
	defer cancel()
	root, err := rootOf(endpoint)
	if err != nil {
		return Facts{}, err
	}
	get := func(method, path, body string) (raw, error) {
		status, text, err := fetch(ctx, c, method, root+path, header, body)
		if err != nil {
			return nil, err
		}
		doc, ok := parse(text)
		if status != http.StatusOK || !ok || doc.kind() != '{' {
			return nil, fmt.Errorf("HTTP %d from %s", status, path)
		}
		return doc, nil
	}
	switch server {
	case Ollama:
		return ollamaFacts(get, model)
	case LlamaCpp:
		doc, err := get(http.MethodGet, "/props", "")
		if err != nil {
			return Facts{}, err
		}
		return Facts{Window: firstCount(doc.get("default_generation_settings").get("n_ctx")), Images: truth(doc.get("modalities").get("vision"))}, nil
	case LMStudio:
		return lmStudioFacts(get, model)
	case VLLM:
		list, err := Models(ctx, c, protocol, endpoint, header)
		if err != nil {
			return Facts{}, err
		}
		for _, m := range list.Models {
			if m.ID == model {
				return m.Facts, nil
			}
		}
		return Facts{}, ErrNotLoaded
	}
	return Facts{}, nil
}

type getter func(method, path, body string) (raw, error)

func ollamaFacts(get getter, model string) (Facts, error) {
	doc, err := get(http.MethodGet, "/api/ps", "")
	if err != nil {
		return Facts{}, err
	}
	same := func(name string) bool { return name == model || name == model+":latest" }
	err = ErrNotLoaded
	var f Facts
	for m := range doc.get("models").elements() {
		if same(m.get("name").text()) || same(m.get("model").text()) {
			f.Window, err = firstCount(m.get("context_length")), nil
		}
	}
	if err != nil {
		return f, err
	}
	if doc, showErr := get(http.MethodPost, "/api/show", string(appendString([]byte(`{"model":`), model))+"}"); showErr == nil {
		if can := doc.get("capabilities"); can.kind() == '[' {
			yes := strings.Contains(" "+strings.Join(texts(can), " ")+" ", " vision ")
			f.Images = &yes
		}
	}
	return f, nil
}

func lmStudioFacts(get getter, model string) (Facts, error) {
	doc, err := get(http.MethodGet, "/api/v1/models", "")
	if err != nil {
		if doc, err = get(http.MethodGet, "/api/v0/models", ""); err != nil {
			return Facts{}, err
		}
	}
	for m := range doc.get("data").elements() { // the older form
		if m.get("id").text() == model {
			if n := firstCount(m.get("loaded_context_length")); n > 0 {
				yes := m.get("type").text() == "vlm"
				return Facts{Window: n, Images: &yes}, nil
			}
		}
	}
	for m := range doc.get("models").elements() {
		f := Facts{Images: truth(m.get("capabilities").get("vision"))}
		for x := range m.get("loaded_instances").elements() {
			n := firstCount(x.get("config").get("context_length"))
			switch {
			case x.get("id").text() == model:
				f.Window = n
				return f, nil
			case m.get("key").text() == model && n > 0 && (f.Window == 0 || n < f.Window): // whichever answers
				f.Window = n
			}
		}
		if f.Window > 0 {
			return f, nil
		}
	}
	return Facts{}, ErrNotLoaded
}

func truth(v raw) *bool {
	if s := string(v); s == "true" || s == "false" {
		yes := s == "true"
		return &yes
	}
	return nil
}

// rootOf is a base URL without its version and what follows, where servers have their own routes.
func rootOf(endpoint string) (string, error) {
	whole, err := below(endpoint, "/models")
	if err != nil {
		return "", err
	}
	u, err := url.Parse(whole)
	if err != nil {
		return "", err
	}
	u.RawQuery = ""
	path := strings.Split(strings.TrimSuffix(u.Path, "/models"), "/")
	for len(path) > 0 && versioned(path[len(path)-1]) {
		path = path[:len(path)-1]
	}
	u.Path = strings.Join(path, "/")
	return u.String(), nil
}
