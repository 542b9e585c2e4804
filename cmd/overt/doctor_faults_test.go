package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// fileFaults are those of files and settings. None of them asks the network.
func fileFaults() map[string]fault {
	local := []string{"-u", "http://127.0.0.1:1/v1", "-m", "x", "-k", doctorKey}
	file := func(text string, env ...string) func(*testing.T, *place) []string {
		return func(_ *testing.T, p *place) []string {
			configured(p, text)
			p.env = append(p.env, env...)
			return nil
		}
	}
	return map[string]fault{
		"no key": {check: "setting", status: "problem", text: "no model is configured", next: "set a key", exit: 1},
		"the vendor's key is missing": {
			plant: set([]string{"GROQ_API_KEY=gsk_0123456789012"}, "-m", "openai/x"), check: "setting", status: "problem", text: "openai needs a key",
			next: "set a key", exit: 1,
		},
		"bad JSON": {plant: file("{\n  \"model\": \"deepseek/\",\n  \"temperature\" 1\n}\n"), check: "setting", status: "problem", text: "config.json:3:17: ", next: "mend line 3 of ", exit: 1},
		"a setting that is none": {
			plant: file(`{"modle": "x"}`), check: "setting", status: "problem", text: `config.json:1:2: there is no setting "modle"; "model" is meant`,
			next: "mend line 1", exit: 1,
		},
		"a value out of range": {plant: set([]string{"OVERT_TEMPERATURE=9"}, local...), check: "setting", status: "problem", text: "temperature is \"9\"", next: "environment OVERT_TEMPERATURE", exit: 1},
		"a rule on no tool":    {plant: set(nil, append(local, "--deny", "run_comand")...), check: "setting", status: "problem", text: "there is no tool run_comand", next: "flag --deny", exit: 1},
		"a file that can't be read": {plant: func(t *testing.T, p *place) []string {
			p.make("dir")
			return append(local, "--config", filepath.Join(p.dir, "dir"))
		}, check: "setting", status: "problem", text: "the settings, which flag --config names, can't be read: is a directory", next: "flag --config", exit: 1},
		"the usual file can't be read": {plant: func(t *testing.T, p *place) []string {
			if err := os.MkdirAll(filepath.Join(filepath.Dir(p.dir), "config", "overt", "config.json"), 0o700); err != nil {
				t.Fatal(err)
			}
			return local
		}, check: "setting", status: "problem", text: "config.json: the settings can't be read: it is no plain file", next: "config.json a file that you can read", exit: 1},
		"a file that is named and missing": {plant: set([]string{"OVERT_CONFIG=/nowhere/c.json"}, local...), check: "setting", status: "problem", text: "/nowhere/c.json", next: "OVERT_CONFIG", exit: 1},
		"a project's file that is broken": {plant: func(t *testing.T, p *place) []string {
			p.write(".overt/config.json", "{")
			return local
		}, check: "setting", status: "problem", text: ".overt/config.json:1:2", next: "mend line 1", exit: 1},
		"a project that wants more": {plant: func(t *testing.T, p *place) []string {
			p.write(".overt/config.json", `{"deny": ["run_command(rm:*)"], "model": "evil/x", "base_url": "http://evil.example"}`)
			return local
		}, check: "project", status: "warning", text: "not taken, trusted or not: base_url", next: "put into your own file"},
		"a project that is not trusted": {plant: func(t *testing.T, p *place) []string {
			p.write(".overt/config.json", `{"model": "evil/x"}`)
			return local
		}, check: "project", status: "warning", text: "not taken before you trust this workspace: model", next: "overt permission trust"},
		"a project that forbids": {plant: func(t *testing.T, p *place) []string {
			p.write(".overt/config.json", `{"deny": ["run_command(rm:*)", "write_file"]}`)
			return local
		}, check: "project", status: "ok", text: "deny rules in force: 2"},
		"a system prompt that is missing": {plant: set(nil, append(local, "-s", "@/nowhere/system.md")...), check: "setting", status: "problem", text: "the system prompt can't be read", next: "flag --system", exit: 1},
		"a variable that shadows": {plant: func(t *testing.T, p *place) []string {
			configured(p, `{"permission": "ask"}`)
			p.env = append(p.env, "OVERT_PERMISSION=full")
			return local
		}, check: "shadow", status: "warning", text: "environment OVERT_PERMISSION sets permission, and hides ", next: "unset OVERT_PERMISSION"},
		"a flag that shadows": {plant: func(t *testing.T, p *place) []string {
			p.env = append(p.env, "OVERT_PERMISSION=full")
			return append(local, "--permission", "ask")
		}, check: "shadow", status: "ok", text: "flag --permission sets permission, and hides environment OVERT_PERMISSION"},
		"a key that shadows": {
			plant: set([]string{"OVERT_API_KEY=stale-stale-stale-1", "DEEPSEEK_API_KEY=right-right-right-2"}), check: "shadow", status: "warning",
			text: "environment OVERT_API_KEY is the key for deepseek, and DEEPSEEK_API_KEY is not used", next: "unset OVERT_API_KEY",
		},
		"a variable of nothing":         {plant: set([]string{"OVERT_MODLE=x"}, local...), check: "unused", status: "warning", text: "OVERT_MODLE has no effect", next: "OVERT_MODEL is meant"},
		"a temperature without effect":  {plant: set([]string{"DEEPSEEK_API_KEY=" + doctorKey}, "-t", "0.2"), check: "unused", status: "warning", text: "temperature (flag --temperature) has no effect", next: "take it out"},
		"a temperature that is refused": {plant: set([]string{"OPENAI_API_KEY=" + doctorKey}, "-t", "0.2"), check: "unused", status: "warning", text: "takes no temperature", next: "take it out"},
		"a time-out after the end":      {plant: set(nil, append(local, "--timeout", "60s", "--request-timeout", "90s")...), check: "unused", status: "warning", text: "request_timeout (flag --request-timeout) has no effect", next: "take it out"},
		"allow where all is allowed":    {plant: set(nil, append(local, "--permission", "full", "--allow", "write_file")...), check: "unused", status: "warning", text: "allow rules (flag --allow) have no effect", next: "take it out"},
		"OPENAI_BASE_URL for another":   {plant: set([]string{"OPENAI_BASE_URL=http://gw.example/v1", "DEEPSEEK_API_KEY=" + doctorKey}), check: "unused", status: "warning", text: "OPENAI_BASE_URL has no effect: the endpoint is deepseek", next: "--model openai/NAME"},
		"a variable of another vendor":  {plant: set([]string{"GROQ_API_KEY=gsk_01234567890"}, local...), check: "unused", status: "ok", text: "GROQ_API_KEY is not used: the endpoint is 127.0.0.1"},
		"the file's key stays at home": {plant: func(_ *testing.T, p *place) []string {
			configured(p, `{"api_key": "home-home-home-1"}`)
			return local[:4]
		}, check: "unused", status: "ok", text: "config.json:1 belongs to another endpoint"},
		"the file's key is missed": {plant: func(_ *testing.T, p *place) []string {
			configured(p, `{"api_key": "home-home-home-1"}`)
			return []string{"--offline", "-u", "https://models.example/v1", "-m", "x"}
		}, check: "unused", status: "warning", text: "config.json:1 belongs to another endpoint", next: "providers"},
		"ALL_PROXY":                      {plant: set([]string{"ALL_PROXY=http://p.example:1"}, local...), check: "unused", status: "warning", text: "ALL_PROXY has no effect", next: "set HTTPS_PROXY"},
		"another vendor's key":           {plant: set(nil, "-u", "https://api.deepseek.com/v1", "-k", "gsk_overt-test-0123456789"), check: "key", status: "problem", text: "it looks like groq's, and the endpoint is deepseek's", next: "set a key of deepseek, or choose the other vendor: --model groq/NAME", exit: 1},
		"a short key":                    {plant: set(nil, "-u", "http://127.0.0.1:1/v1", "-m", "x", "-k", "abcdefgh"), check: "key", status: "warning", text: "the key has 8 characters", next: "longer"},
		"a key in the open":              {plant: set(nil, "-u", "http://api.example.org/v1", "-m", "x", "-k", doctorKey), check: "key", status: "warning", text: "travels over http", next: "use https"},
		"a quoted key":                   {plant: set([]string{`OVERT_API_KEY="quoted-key-0123456789"`}, local[:4]...), check: "key", status: "problem", text: "blanks or quotes", next: "environment OVERT_API_KEY", exit: 1},
		"a proxy in the way of nothing":  {plant: set([]string{"HTTP_PROXY=http://p.example:1"}, local...), check: "proxy", status: "ok", text: "HTTP_PROXY is not used for 127.0.0.1"},
		"a proxy with a password in use": {plant: set([]string{"HTTPS_PROXY=http://me:pa55word-pa55word@p.example:1", "DEEPSEEK_API_KEY=" + doctorKey}), check: "proxy", status: "ok", text: "proxy http://p.example:1, with user and password (HTTPS_PROXY)"},
		"a key that others can read": {plant: func(t *testing.T, p *place) []string {
			path := configured(p, `{"base_url": "http://127.0.0.1:1/v1", "model": "x", "api_key": "`+doctorKey+`"}`)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			return nil
		}, check: "file", status: "warning", text: "holds a key and can be read by others (-rw-r--r--)", next: "chmod 600 "},
		"settings that others can write": {plant: func(t *testing.T, p *place) []string {
			if err := os.Chmod(configured(p, `{"model": "x"}`), 0o666); err != nil {
				t.Fatal(err)
			}
			return local
		}, check: "file", status: "warning", text: "can be changed by others", next: "chmod 600 "},
		"no git": {plant: func(t *testing.T, p *place) []string {
			overt, err := exec.LookPath("overt")
			if err != nil {
				t.Fatal(err)
			}
			p.env = append(p.env, "PATH="+filepath.Dir(overt))
			return local
		}, check: "git", status: "warning", text: "git can't be run", next: "install git"},
		"a state folder that others can write": {plant: func(t *testing.T, p *place) []string {
			dir := filepath.Join(filepath.Dir(p.dir), "state", "overt")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o777); err != nil { // past the umask
				t.Fatal(err)
			}
			return local
		}, check: "state", status: "problem", text: "can be changed by others (-rwxrwxrwx)", next: "chmod 700 ", exit: 1},
		"a state folder that is a file": {plant: func(t *testing.T, p *place) []string {
			p.write("file", "")
			p.env = append(p.env, "XDG_STATE_HOME="+filepath.Join(p.dir, "file"))
			return local
		}, check: "state", status: "problem", text: "is no folder", next: "XDG_STATE_HOME", exit: 1},
		"nowhere for records": {
			plant: set([]string{"HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME="}, local...), check: "setting", status: "problem", text: "nowhere to keep the record",
			next: "set HOME", exit: 1,
		},
	}
}

// TestDoctorFaultsOfFiles plants what can be wrong with files, settings and folders.
//
// covers L163 L165 L166 L167
func TestDoctorFaultsOfFiles(t *testing.T) {
	for name, f := range fileFaults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			args := []string{"--offline"}
			if f.plant != nil {
				args = append(args, f.plant(t, p)...)
			}
			f.look(t, p, args)
		})
	}
}

// recorded makes a record with a task in it, and gives its folder.
func recordedIn(t *testing.T, p *place) string {
	t.Helper()
	s := startStrict(t, "", strictReply{Text: "done"})
	p.run("-u", s.URL, "-m", "strict", "hello").want(t, 0)
	list, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state", "overt", "workspaces", "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// TestDoctorFaultsOfRecords plants what can be wrong with the databases of a workspace.
//
// covers L163
func TestDoctorFaultsOfRecords(t *testing.T) {
	sqlite := func(t *testing.T, dir, file string) *sql.Conn {
		db, err := sql.Open("sqlite", filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		c, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	does := func(t *testing.T, c *sql.Conn, query string) {
		if _, err := c.ExecContext(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]struct {
		plant func(t *testing.T, dir string)
		fault
	}{
		"none": {func(*testing.T, string) {}, fault{check: "database", status: "ok", text: "overt.db opens (form "}},
		"locked": {func(t *testing.T, dir string) {
			does(t, sqlite(t, dir, "overt.db"), `BEGIN IMMEDIATE`)
		}, fault{check: "database", status: "problem", text: "overt.db locked for 5 seconds", next: fmt.Sprintf("see what process %d does", os.Getpid()), exit: 1, slow: true}},
		"at work": {func(t *testing.T, dir string) {
			s, err := store.Open(context.Background(), store.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			lease, err := s.Lease(context.Background(), "test", "ses_X")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lease.Release() }) // without a hold on it, it would be given back
			if _, err := s.Append(context.Background(), event.Batch{Facts: []event.Draft{{Data: event.SessionStarted{}}}}); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "lease", status: "ok", text: fmt.Sprintf("process %d is at work here (test)", os.Getpid())}},
		"newer": {func(t *testing.T, dir string) {
			c := sqlite(t, dir, "overt.db")
			does(t, c, `INSERT INTO migration (name, applied) VALUES ('9999_future', '2030-01-01T00:00:00Z')`)
		}, fault{check: "database", status: "problem", text: `written by a newer overt (it has "9999_future")`, next: "use that one", exit: 1}},
		"foreign": {func(t *testing.T, dir string) {
			for _, end := range []string{"", "-wal", "-shm"} {
				os.Remove(filepath.Join(dir, "captures.db"+end))
			}
			does(t, sqlite(t, dir, "captures.db"), `CREATE TABLE recipe (name TEXT)`)
		}, fault{check: "database", status: "problem", text: "captures.db is no file of overt's", next: "move it away", exit: 1}},
		"damaged": {func(t *testing.T, dir string) {
			info, err := os.Stat(filepath.Join(dir, "overt.db"))
			if err == nil {
				err = os.Truncate(filepath.Join(dir, "overt.db"), info.Size()/2)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, fault{check: "database", status: "problem", text: "overt.db is damaged", next: "overt db restore", exit: 1}},
		"a text": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "overt.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "database", status: "problem", text: "overt.db is damaged", next: "overt db check", exit: 1}},
		"missing": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "captures.db")); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "database", status: "warning", text: "captures.db is missing or empty", next: "overt db status"}},
		"facts missing": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "overt.db")); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "database", status: "problem", text: "overt.db is gone, though", next: "overt db restore PATH", exit: 1}},
		"of another record": {func(t *testing.T, dir string) {
			does(t, sqlite(t, dir, "captures.db"), `PRAGMA user_version = 1`)
		}, fault{check: "database", status: "problem", text: "captures.db belongs to the record of another workspace", next: "move it away", exit: 1}},
		"with migrations of another program": {func(t *testing.T, dir string) {
			for _, end := range []string{"", "-wal", "-shm"} {
				os.Remove(filepath.Join(dir, "overt.db"+end))
			}
			does(t, sqlite(t, dir, "overt.db"), `CREATE TABLE migration (name TEXT); INSERT INTO migration VALUES ('0001-users')`)
		}, fault{check: "database", status: "problem", text: "overt.db is no file of overt's", next: "move it away", exit: 1}},
		"an interrupted restore": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "restoring.json"), []byte(`{"from": "/b/1", "aside": "/r/aside/a", "in": ["overt.db"], "out": ["overt.db"], "files": [{"name": "overt.db"}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "restoring", status: "problem", text: "restoring the record from /b/1 was interrupted", next: "overt db restore", exit: 1}},
		"an interrupted restore that says nothing": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "restoring.json"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "restoring", status: "problem", text: "how far a restore came can't be read from", next: "move that file away", exit: 1}},
		"open to others": {func(t *testing.T, dir string) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}, fault{check: "state", status: "problem", text: "can be changed by others", next: "chmod 700", exit: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			f.plant(t, recordedIn(t, p))
			f.look(t, p, []string{"--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"})
		})
	}
}

// TestDoctorKeyStaysHome: another vendor's key reaches nobody, though the way to the vendor is gone to its end.
func TestDoctorKeyStaysHome(t *testing.T) {
	ca := newAuthority(t)
	s := openShop(t, ca.sign("api.deepseek.com", time.Now()), answers(401, "application/json", `{"error":{"message":"no key"}}`))
	proxy := openShop(t, nil, tunnels(s.Listener.Addr().String()))
	p := newPlace(t)
	p.env = append(p.env, "HTTPS_PROXY="+proxy.URL, "SSL_CERT_FILE="+ca.file)
	args := []string{"-u", "https://api.deepseek.com/v1", "-k"}
	fault{check: "key", status: "problem", text: "of the wrong vendor", next: "set a key of deepseek", exit: 1}.look(t, p, append(args, "gsk_overt-test-0123456789"))
	fault{check: "answer", status: "unknown", text: "none was sent", exit: 1}.look(t, p, append(args, "gsk_overt-test-0123456789"))
	asked, auth := s.seen()
	if len(asked) == 0 || len(auth) > 0 {
		t.Errorf("asked %v with %v", asked, auth)
	}
	fault{check: "answer", status: "problem", text: "refuses the key (HTTP 401)", next: "check the key", exit: 1}.look(t, p, append(args, doctorKey))
	if _, auth = s.seen(); !slices.Contains(auth, "Bearer "+doctorKey) {
		t.Errorf("its own key did not come: %v", auth)
	}
	fault{check: "tunnel", status: "ok", text: "lets us through", exit: 1}.look(t, p, append(args, doctorKey))
}

// TestDoctorKeyOfNoEndpoint: while the settings leave open which endpoint is meant, nobody is sent anything.
func TestDoctorKeyOfNoEndpoint(t *testing.T) {
	proxy := openShop(t, nil, answers(502, "text/plain", ""))
	for name, f := range map[string]struct {
		file string
		args []string
	}{
		"an address that is none":   {"", []string{"-u", "localhost:8080", "-k", doctorKey}},
		"a file that does not load": {`{"base_url": "https://mine.example/v1",, "model": "x"}`, []string{"-k", doctorKey}},
		"a key with a wrong name":   {`{"base_ulr": "https://mine.example/v1"}`, []string{"-k", doctorKey}},
		"a file that is missing":    {"", []string{"-c", "nowhere.json", "-k", doctorKey}},
		"a protocol of ours":        {`{"protocol": "smtp"}`, []string{"-k", doctorKey}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "HTTPS_PROXY="+proxy.URL, "HTTP_PROXY="+proxy.URL, "DEEPSEEK_API_KEY=another-key-0123456789")
			if f.file != "" {
				configured(p, f.file)
			}
			fault{check: "endpoint", status: "skipped", text: "may decide them", exit: 1}.look(t, p, f.args)
		})
	}
	if asked, _ := proxy.seen(); len(asked) > 0 {
		t.Errorf("it asked %v", asked)
	}
}

// TestDoctorKeyCommand: the person's own program is asked for the key, and what it says is not shown.
func TestDoctorKeyCommand(t *testing.T) {
	s := openShop(t, nil, goods)
	p := newPlace(t)
	write := func(command string) {
		configured(p, `{"base_url": "`+s.URL+`/v1", "model": "beta-small", "api_key_command": ["sh", "-c", "`+command+`"]}`)
	}
	write("echo " + doctorKey)
	fault{check: "key", status: "ok", text: "key: set, 25 characters"}.look(t, p, nil)
	if _, auth := s.seen(); !slices.Contains(auth, "Bearer "+doctorKey) {
		t.Errorf("the key did not come: %v", auth)
	}
	fault{check: "key", status: "skipped", text: "was not asked for the key"}.look(t, p, []string{"--offline"})
	write("echo locked >&2; exit 3")
	fault{check: "setting", status: "problem", text: "gave no key: exit status 3: locked", next: "mend line 1", exit: 1}.look(t, p, nil)
}
