package app

import (
	"testing"

	"overt/internal/config"
	"overt/internal/redact"
)

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"DEEPSEEK_API_KEY": true, "API_KEY": true, "GITHUB_TOKEN": true, "token": true, "MY_SECRET": true, "PGPASSWORD": false, "DB_PASSWORD": true,
		"SSH_PASSPHRASE": true, "AWS_SECRET_ACCESS_KEY": true, "AUTHORS": false, "TOKENS": false, "KEY": false, "PRIMARY_KEY": false, "SSH_AUTH_SOCK": false, "": false,
	} {
		if got := secretName(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

// TestLearnSecrets: what must not be written is known to the masker; paths and ordinary values are not.
func TestLearnSecrets(t *testing.T) {
	mask := redact.New()
	learnSecrets(mask, &config.Config{
		APIKey: config.Setting{Key: config.APIKey, Value: "sk-short1"}, BaseURL: config.Setting{Key: config.BaseURL, Value: "http://some-user:pa55w0rd@127.0.0.1:9/v1?key=qqqq-3333"},
		Providers: []config.Entry{{APIKey: config.Setting{Key: "providers.x.api_key", Value: "other-key"}, Headers: []config.Setting{
			{Key: "providers.x.headers.X-Team", Value: "falters"},
			{Key: "providers.x.headers.X-Api-Key", Value: "k4711x"},
			{Key: "providers.x.headers.Authorization", Value: "Bearer b4711x"},
			{Key: "providers.x.headers.X-Gate", Value: "0123456789abcdef"},
		}}},
	}, []string{"GH_TOKEN=ghp-0123456789", "TLS_PRIVATE_KEY=/etc/ssl/private.pem", "LANG=en_US.UTF-8", "SHORT_TOKEN=abc"})
	for text, masked := range map[string]bool{
		"sk-short1": true, "other-key": true, "some-user": true, "pa55w0rd": true, "qqqq-3333": true, "ghp-0123456789": true,
		"/etc/ssl/private.pem": false, "en_US.UTF-8": false, "abc": false,
		"falters": false, "k4711x": true, "b4711x": true, "0123456789abcdef": true,
	} {
		if got := mask.String(text) != text; got != masked {
			t.Errorf("%s: masked %t, want %t", text, got, masked)
		}
	}
}

func TestFolder(t *testing.T) {
	a, b := folder("/s", "/home/x/my project/Ünï"), folder("/s", "/home/y/Ünï")
	if a == b {
		t.Errorf("two workspaces share %s", a)
	}
	if got := folder("/s", "/w"); got != "/s/workspaces/w-"+got[len(got)-12:] {
		t.Errorf("%s", got)
	}
}
