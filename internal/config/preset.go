package config

import (
	"net/url"
	"slices"
	"strings"
)

// Preset is a known endpoint.
type Preset struct {
	Name     string
	BaseURL  string
	Also     []string // origins that are the vendor's too, as of another region
	Variable string   // that holds the vendor's key; "": a local server, which needs none
	Model    string   // that is taken where none is named; "": the only one that the server lists
	Protocol string   // "": Chat Completions
	Prefix   string   // that the vendor's keys, and no other's, begin with; "": not known
}

// Local tells whether the preset is a server on this machine.
func (p Preset) Local() bool { return p.Variable == "" }

// moved tells whether a variable gives the preset another address than its own.
func (p Preset) moved() bool {
	own, _ := preset(p.Name)
	return p.BaseURL != own.BaseURL
}

// Presets lists the known endpoints; the first whose variable is set is taken where nothing is configured.
//
// Base URLs and variables are from the vendors' documents as of autumn 2026. Default models are DeepSeek's by choice, and
// for others what charm.land/catwalk v0.52.1 has as the vendor's default, but for Mistral, whose alias names no version.
func Presets() []Preset {
	return []Preset{
		{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", Variable: "DEEPSEEK_API_KEY", Model: "deepseek-flash"},
		{Name: "openai", BaseURL: "https://api.openai.com/v1", Variable: "OPENAI_API_KEY", Model: "gpt-5.6-sol", Prefix: "sk-proj-"},
		{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", Variable: "ANTHROPIC_API_KEY", Model: "claude-sonnet-4-6", Protocol: anthropic, Prefix: "sk-ant-"},
		{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", Variable: "OPENROUTER_API_KEY", Model: "anthropic/claude-sonnet-4.6", Prefix: "sk-or-"},
		{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Variable: "GEMINI_API_KEY", Model: "gemini-3.7-flash", Prefix: "AIza"},
		{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", Also: []string{"https://api.moonshot.cn"}, Variable: "MOONSHOT_API_KEY", Model: "kimi-k3"},
		{Name: "minimax", BaseURL: "https://api.minimax.io/v1", Also: []string{"https://api.minimaxi.com"}, Variable: "MINIMAX_API_KEY", Model: "MiniMax-M2.7"},
		{Name: "zhipu", BaseURL: "https://open.bigmodel.cn/api/paas/v4", Variable: "ZHIPU_API_KEY", Model: "glm-4.7"},
		{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", Variable: "ZAI_API_KEY", Model: "glm-5.2"},
		{Name: "dashscope", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Also: []string{"https://dashscope.aliyuncs.com"}, Variable: "DASHSCOPE_API_KEY", Model: "qwen3.6-plus"},
		{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", Variable: "MISTRAL_API_KEY", Model: "mistral-medium-latest"},
		{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", Variable: "GROQ_API_KEY", Model: "moonshotai/kimi-k2-instruct-0905", Prefix: "gsk_"},
		{Name: "xai", BaseURL: "https://api.x.ai/v1", Variable: "XAI_API_KEY", Model: "grok-4.5", Prefix: "xai-"},
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1"},
		{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1"},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1"},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1"},
	}
}

// preset finds a preset by its name.
func preset(name string) (Preset, bool) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// VendorOf tells whose key this is by how it begins, "" where that says nothing.
func VendorOf(key string) string {
	for _, p := range Presets() {
		if p.Prefix != "" && strings.HasPrefix(key, p.Prefix) {
			return p.Name
		}
	}
	return ""
}

// origin is what a key belongs to: scheme, host and port, in one spelling. "" for what is no http or https address.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host + ":" + port
}

// serves tells whether a base URL is one of the preset's own: the same host to the letter, the same port and scheme, so
// that no key travels unencrypted or to a host that merely looks alike.
func (p Preset) serves(base string) bool {
	o := origin(base)
	return o != "" && (o == origin(p.BaseURL) || slices.ContainsFunc(p.Also, func(a string) bool { return o == origin(a) }))
}
