package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSetTogether: settings that several programs set at once are all there afterwards.
func TestSetTogether(t *testing.T) {
	p := newPlace(t)
	want := map[string]string{"max_steps": "3", "retries": "4", "model": "m", "quiet": "true", "temperature": "1", "timeout": "9s", "budget_files": "5", "protocol": "openai-chat"}
	var all []*process
	for k, v := range want {
		all = append(all, p.start("config", "set", k, v))
	}
	for _, x := range all {
		x.wait().want(t, 0)
	}
	for k, v := range want {
		if r := p.run("config", "get", k).want(t, 0); r.out != v+"\n" {
			t.Errorf("%s is %s", k, r.out)
		}
	}
	files, err := os.ReadDir(filepath.Join(filepath.Dir(p.dir), "config", "overt"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
}

// TestSetThroughLink: a link that leads to a file that is not there yet stays a link.
func TestSetThroughLink(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(filepath.Dir(p.dir), "config", "overt")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../dotfiles.json", filepath.Join(dir, "config.json")); err != nil {
		t.Fatal(err)
	}
	if r := p.run("config", "check").want(t, 3); !strings.Contains(r.err, "it is a link to nothing") {
		t.Error(r.err)
	}
	p.run("config", "set", "model", "m").want(t, 0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "dotfiles.json"))
	if to, lerr := os.Readlink(filepath.Join(dir, "config.json")); err != nil || lerr != nil || to != "../../dotfiles.json" || !strings.Contains(string(text), `"model": "m"`) {
		t.Errorf("%v %v %s %s", err, lerr, to, text)
	}
}

// TestSetInLinkedFolder: a link is relative to the folder that it stands in, not to the link to that folder.
func TestSetInLinkedFolder(t *testing.T) {
	p := newPlace(t)
	for _, dir := range []string{"real/deep/overt", "real/common", "cfg"} {
		p.make(dir)
	}
	p.write("real/common/x.json", `{"model": "m"}`)
	for at, to := range map[string]string{"real/deep/overt/config.json": "../../common/x.json", "cfg/overt": "../real/deep/overt"} {
		if err := os.Symlink(to, filepath.Join(p.dir, filepath.FromSlash(at))); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "XDG_CONFIG_HOME="+filepath.Join(p.dir, "cfg"))
	p.run("config", "set", "max_steps", "7").want(t, 0)
	if text := p.read("real/common/x.json"); !strings.Contains(text, `"max_steps": 7`) || p.exists("common") {
		t.Error(text)
	}
	// a file that gets a key is closed to others
	c := p.command("config", "set", "api_key", "-")
	c.Stdin = strings.NewReader("key-0123456789\n")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "real/common/x.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestShowMasks: what a variable holds that is a secret by its name is shown nowhere.
func TestShowMasks(t *testing.T) {
	p := newPlace(t)
	p.env = append(p.env, "VAULT_TOKEN=vault-cccccccccccc")
	p.write("mine.json", `{"model": "ollama/m", "system": "s ${VAULT_TOKEN}", "api_key_command": ["curl", "-H", "X: ${VAULT_TOKEN}"]}`)
	for _, args := range [][]string{{"show"}, {"show", "--json"}, {"get", "api_key_command"}, {"get", "system"}, {"set", "system", "new"}} {
		r := p.run(append([]string{"-c", "mine.json", "config"}, args...)...).want(t, 0)
		if strings.Contains(r.out+r.err, "vault-cccc") {
			t.Errorf("%v: %s%s", args, r.out, r.err)
		}
	}
}

// TestOtherKeysAreSecret: a key in a file that is not in force is in no request, no record and no command's environment.
func TestOtherKeysAreSecret(t *testing.T) {
	const key, pass = "FILEKEY-abcdef123456", "pa55w0rd-0123456789"
	for name, args := range map[string][]string{"withheld": nil, "overridden": {"-k", "another-0123456789"}, "a part": nil} {
		t.Run(name, func(t *testing.T) {
			show := strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "cat mine.json; echo; env | grep -c FILEKEY; true"}}}}
			s := startStrict(t, "", show, strictReply{Text: "done"})
			p := newPlace(t)
			p.env = append(p.env, "WORK_CRED="+key)
			if name == "a part" {
				key := "ORG:${WORK_CRED}"
				p.write("mine.json", fmt.Sprintf(`{"base_url": %q, "api_key": %q, "permission": "full"}`, s.URL, key))
			} else {
				p.write("mine.json", fmt.Sprintf(`{"base_url": "https://me:%s@a.example/v1", "api_key": "${WORK_CRED}", "permission": "full"} // %s`, pass, key))
			}
			r := p.run(append([]string{"-c", "mine.json", "-u", s.URL, "-m", "strict", "x"}, args...)...).want(t, 0)
			if !strings.Contains(r.err, "│ 0") {
				t.Errorf("the command's environment has it: %s", r.err)
			}
			for _, x := range s.exchanges() {
				if strings.Contains(string(x.Request), key) || strings.Contains(string(x.Request), pass) || name != "a part" && strings.Contains(fmt.Sprint(x.Header), key) {
					t.Errorf("sent: %s", x.Request)
				}
			}
			for _, args := range [][]string{{"trace", "--call", "2", "--raw", "request"}, {"task", "show", "--json"}} {
				if r := p.run(args...).want(t, 0); strings.Contains(r.out, key) || strings.Contains(r.out, pass) {
					t.Errorf("%v: %s", args, r.out)
				}
			}
		})
	}
}

// TestSetSaysWhatHolds: who changes a setting is told what was in the file before, whether anything was changed, and whether something else
// is in force all the same; what is shown of a model can be set again.
func TestSetSaysWhatHolds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := filepath.Join(filepath.Dir(p.dir), "config", "overt", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(want string, args ...string) {
		t.Helper()
		if r := p.run(append([]string{"config"}, args...)...).want(t, 0); strings.ReplaceAll(r.out+r.err, path, "FILE") != want {
			t.Errorf("%q says %q, want %q", args, r.out+r.err, want)
		}
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("the file is %q, want %q", got, want)
		}
	}

	entry := `{
  "model": "work/big",
  "providers": {"work": {"base_url": "http://127.0.0.1:9/v1", KEY}}
}
`
	file(strings.Replace(entry, "KEY", `"api_key": "of-the-entry-1"`, 1))
	said("work/big\n", "get", "model")
	said("model is set in FILE (before: work/big)\n", "set", "model", "work/other")
	said("model is set in FILE (before: work/other)\n", "set", "model", "work/big")
	said("api_key is set in FILE (before: -)\novert: api_key of the file is not used as things stand: FILE:3 says otherwise\n", "set", "api_key", "of-the-top-12")
	said("api_key is set in FILE (before: set (13 characters))\novert: api_key of the file is not used as things stand: FILE:3 says otherwise\n", "set", "api_key", "of-the-top")
	file(strings.Replace(entry, "KEY", `"api_key_command": ["false"]`, 1))
	said("api_key is set in FILE (before: -)\novert: api_key of the file is not used as things stand: FILE:3 says otherwise\n", "set", "api_key", "of-the-top-12")
	out := p.run("config", "show").want(t, 0).out
	if !regexp.MustCompile(`(?m)^api_key +asked of api_key_command +.*config\.json:3\n +set \(13 characters\) +`).MatchString(out) {
		t.Errorf("show says %q", out)
	}
	p.env = append(p.env, "OVERT_MODEL=work/third")
	said("model is set in FILE (before: work/big)\novert: model of the file is not used as things stand: environment OVERT_MODEL says otherwise\n", "set", "model", "work/fourth")
	said("work/third\n", "get", "model")

	file("{}\n")
	said("retention.captures_max is set in FILE (before: -)\n", "set", "retention.captures_max", "1GB")
	said("retention.captures_age is set in FILE (before: -)\n", "set", "retention.captures_age", "30d")
	said("retention.captures_age is no longer set in FILE (before: 30d)\n", "set", "retention.captures_age", "--unset")
	said("retention.captures_max is no longer set in FILE (before: 1GB)\n", "set", "retention.captures_max", "--unset")
	holds("{}\n")
	said("retention.captures_max is not set in FILE; nothing was changed\n", "set", "retention.captures_max", "--unset")
	for _, kept := range []string{`{"retention":{/* mine */"captures_max":"1GB"}}`, `{"retention":{"captures_max":"1GB"/* mine */}}`} {
		file(kept)
		p.run("config", "set", "retention.captures_max", "--unset").want(t, 0)
		if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), "retention") {
			t.Errorf("%q, %v", got, err)
		}
	}
	crooked := `{"model":"a/b","tools":true}`
	file(crooked)
	said("stream is not set in FILE; nothing was changed\n", "set", "stream", "--unset")
	holds(crooked)
}

// TestNamedFile: a settings file that is named and not there is the command line's fault where that names it, and a setting that does not
// hold where a variable does; the message says which.
func TestNamedFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gone := filepath.Join(p.dir, "gone.json")
	r := p.run("-c", gone, "hi").want(t, 2)
	if r.err != "overt: "+gone+": the settings, which flag --config names, can't be read: no such file or directory\n" {
		t.Errorf("it says %q", r.err)
	}
	p.env = append(p.env, "OVERT_CONFIG="+gone)
	for _, args := range [][]string{{"hi"}, {"config", "check"}, {"config", "show"}} {
		if r := p.run(args...).want(t, 3); r.err != "overt: "+gone+": the settings, which environment OVERT_CONFIG names, can't be read: no such file or directory\n" {
			t.Errorf("%q says %q", args, r.err)
		}
	}
}
