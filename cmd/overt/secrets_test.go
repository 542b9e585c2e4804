package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/scripted"
)

// planted are the secrets of a run, each in its own place.
type planted struct{ key, header, proxy, user, query string }

// all gives the forms in which they may appear.
func (s planted) all() (out []string) {
	for _, secret := range []string{s.key, s.header, s.proxy, s.user, s.query} {
		if secret != "" {
			out = append(out, secret)
		}
	}
	for _, pair := range []string{"me:" + s.proxy, "me:" + s.user} {
		if !strings.HasSuffix(pair, ":") {
			out = append(out, base64.StdEncoding.EncodeToString([]byte(pair)))
		}
	}
	return out
}

// secretPlaces are the ways in which a key comes to the program.
var secretPlaces = map[string]struct {
	config string // of the provider's entry
	env    string
}{
	"in the settings":      {`"api_key": "KEY HERE"`, ""},
	"of a command":         {`"api_key_command": ["printf", "%s\\n", "KEY HERE"]`, ""},
	"of a variable":        {`"api_key": "${TEAM_KEY}"`, "TEAM_KEY="},
	"in the address alone": {"", ""},
}

// TestSecretsStayOut: after a run that shows the model every secret it has, and in which the server, its errors, commands and
// the model itself repeat them, no file of the record and no output holds one: neither key, nor field of the header, nor
// password of the proxy, nor what stands in the address.
func TestSecretsStayOut(t *testing.T) {
	for _, protocol := range []string{"openai-chat", "openai-responses", "anthropic-messages"} {
		for name, place := range secretPlaces {
			t.Run(protocol+" key "+name, func(t *testing.T) {
				t.Parallel()
				s := planted{key: "planted-key-4711", header: "planted-header-4711", proxy: "planted-proxy-4711", user: "planted-user-4711", query: "planted-query-4711"}
				key := ""
				if place.config == "" {
					s.key = ""
				} else {
					s.user = "" // a key and a user can't both sign
					key = strings.ReplaceAll(place.config, "KEY HERE", s.key) + ", "
				}
				secretRun(t, protocol, key, place.env, s)
			})
		}
	}
}

func secretRun(t *testing.T, protocol, key, env string, s planted) {
	every := strings.Join([]string{s.key, s.header, s.proxy, s.user, s.query}, " ")
	show, _ := json.Marshal(map[string]string{"command": "env; cat config.json; cat config.json >&2"})
	args, _ := json.Marshal(map[string]string{"command": "echo " + every})
	thought := "the key is " + every
	if protocol == "anthropic-messages" {
		thought = "a key" // what is sealed must come back as it was
	}
	file, _ := json.Marshal(map[string]string{"path": "out.txt", "content": every})
	replies := []scripted.Reply{
		{Fault: &scripted.Fault{Status: http.StatusTooManyRequests, Message: "slow down, " + every}},
		{Text: "I saw " + every, Reasoning: thought, Calls: []scripted.Call{{Name: "run_command", Args: string(show)}, {Name: "run_command", Args: string(args)}}},
		{Fault: &scripted.Fault{Message: "broken, " + every}},
		{Calls: []scripted.Call{{Name: "write_file", Args: string(file)}, {Name: "no_such_tool", Args: `{"a":"` + every + `"}`}}},
		{Text: "You sent " + every},
		{Fault: &scripted.Fault{Status: http.StatusUnauthorized, Message: "who is " + every}},
	}
	server := scripted.New(scripted.Script{Replies: replies})
	seen := make(chan http.Header, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pw, ok := proxyAuth(r); !ok || pw != s.proxy {
			http.Error(w, "who are you", http.StatusProxyAuthRequired)
			return
		}
		if r.Method == http.MethodPost {
			seen <- r.Header.Clone()
		}
		w.Header().Set("X-Echo", every)
		server.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	user := ""
	if s.user != "" {
		user = "me:" + s.user + "@"
	}
	p := newPlace(t)
	if env != "" {
		p.env = append(p.env, env+s.key)
	}
	text := fmt.Sprintf(`{"permission": "full", "providers": {"here": {"base_url": "http://%smodel.example/v1?key=%s", "protocol": %q, %s"headers": {"X-Team": "Token %s"}, "proxy": %q}}}`,
		user, s.query, protocol, key, s.header, strings.Replace(proxy.URL, "://", "://me:"+s.proxy+"@", 1))
	p.config(text)
	p.write("config.json", text)

	var said strings.Builder
	run := func(args ...string) ran {
		r := p.run(args...)
		said.WriteString(strings.Join(args, " ") + ": " + r.out + r.err + "\n")
		return r
	}
	run("-v", "-m", "here/m", "--output", "stream-json", "go").want(t, 0)
	run("-v", "-m", "here/m", "--continue", "once more").want(t, 3)
	header := <-seen
	if s.key != "" && header.Get("Authorization") != "Bearer "+s.key && header.Get("X-Api-Key") != s.key || header.Get("X-Team") != "Token "+s.header {
		t.Errorf("sent %v", header)
	}
	proxy.Close()
	run("-v", "-m", "here/m", "--retries", "0", "and with the proxy gone").want(t, 1)
	for _, args := range [][]string{
		{"task", "show", "last"},
		{"task", "show", "--json"},
		{"task", "list", "--json"},
		{"trace"},
		{"trace", "--json"},
		{"usage"},
		{"doctor", "-m", "here/m"},
		{"models", "-m", "here/m"},
		{"config", "show"},
		{"config", "show", "--json"},
		{"db", "check"},
		{"db", "backup"},
		{"permission", "list"},
		{"undo", "--dry-run"},
	} {
		run(args...)
	}
	bodies := 0
	for n := 1; n <= len(replies); n++ {
		run("trace", "--call", fmt.Sprint(n))
		for _, side := range []string{"request", "response"} {
			if r := run("trace", "--call", fmt.Sprint(n), "--raw", side); r.status == 0 {
				bodies++
			}
		}
	}
	if bodies < 2 {
		t.Errorf("%d bodies were shown", bodies)
	}
	if n := strings.Count(said.String(), "[masked:"); n < 20 {
		t.Errorf("secrets were masked at %d places only: the run did not show them", n)
	}
	look := func(where, text string) {
		for _, secret := range s.all() {
			for _, form := range []string{secret, url.QueryEscape(secret)} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s holds %s: …%q…", where, form, text[max(0, i-100):min(len(text), i+60)])
					break
				}
			}
		}
	}
	look("the output", said.String())
	if err := filepath.WalkDir(filepath.Dir(p.dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "config.json" {
			return err
		}
		data, err := os.ReadFile(path)
		look(path, string(data))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
