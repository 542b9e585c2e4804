package config_test

import (
	"reflect"
	"testing"

	"overt/internal/config"
)

func TestOwner(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.openai.com/v1": "openai", "https://API.openai.com:443": "openai", "https://api.moonshot.cn/v1": "moonshot",
		"http://api.openai.com/v1": "", "https://api.openai.com.example.org": "", "http://127.0.0.1:11434/v1": "", "": "", "://": "",
	} {
		if got := config.Owner(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestLocalPresets(t *testing.T) {
	list := config.LocalPresets(env(m{"OLLAMA_HOST": "127.0.0.1:99"}))
	if len(list) != 4 || list[0].BaseURL != "http://127.0.0.1:99/v1" {
		t.Errorf("%+v", list)
	}
}

func TestNearest(t *testing.T) {
	models := []string{"deepseek-flash", "deepseek-v4-pro", "gpt-5.6-sol", "qwen3:8b", "x", ""}
	for name, want := range map[string][]string{
		"deepseek-flsh": {"deepseek-flash"}, "DeepSeek-Flash": {"deepseek-flash"}, "qwen3": {"qwen3:8b"}, "deepseek": {"deepseek-flash", "deepseek-v4-pro"}, "claude": nil,
	} {
		if got := config.Nearest(name, models, 2); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
