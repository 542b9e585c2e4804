package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// examined is what `doctor --json` gives.
type examined struct {
	Version            string
	Problems, Warnings int
	Checks             []struct {
		Section, Check, Status, Text string
		Next, Path                   *string
		Line, Column                 *int
	}
}

// fault is something wrong that is planted, and what doctor makes of it.
type fault struct {
	plant  func(t *testing.T, p *place) []string // gives the arguments
	check  string
	status string
	text   string // in the check's text
	next   string // in the next action
	exit   int
	shop   func(t *testing.T) *shop // the endpoint; nil: none is needed
	keyed  bool                     // the key is to reach the server
	slow   bool                     // it waits for its time to pass: one form is enough
}

const doctorKey = "overt-test-key-0123456789"

// set gives a process variables, and doctor arguments.
func set(env []string, args ...string) func(*testing.T, *place) []string {
	return func(_ *testing.T, p *place) []string {
		p.env = append(p.env, env...)
		return args
	}
}

// configured writes the person's file.
func configured(p *place, text string) string {
	p.t.Helper()
	dir := filepath.Join(filepath.Dir(p.dir), "config", "overt")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func plain(h http.HandlerFunc) func(*testing.T) *shop {
	return func(t *testing.T) *shop { return openShop(t, nil, h) }
}

// networkFaults are those of the way to the server. Their arguments follow the base URL, model and key.
func networkFaults() map[string]fault {
	return map[string]fault{
		"fine":            {shop: plain(goods), check: "model", status: "ok", text: "model alpha-large is one of 2", keyed: true},
		"an unknown name": {plant: set(nil, "-u", "https://model.invalid/v1"), check: "name", status: "problem", text: "model.invalid", next: "online", exit: 1},
		"nobody listens": {
			plant: func(t *testing.T, _ *place) []string { return []string{"-u", "http://" + closedPort(t) + "/v1"} },
			check: "connect", status: "problem", text: "connection refused", next: "start the server, or correct the address (flag --base-url)", exit: 1,
		},
		"a redirect": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.invalid"+r.URL.Path+"?session=1", http.StatusPermanentRedirect)
		}), check: "redirect", status: "problem", text: "HTTP 308: the server redirects to https://elsewhere.invalid/v1/models", next: "set the base URL to https://elsewhere.invalid/v1 (now: flag --base-url)", exit: 1, keyed: true},
		"a redirect of tasks alone": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				http.Redirect(w, r, "https://elsewhere.invalid/x/v1/chat/completions", http.StatusMovedPermanently)
				return
			}
			goods(w, r)
		}), check: "redirect", status: "problem", text: "elsewhere.invalid", next: "set the base URL to https://elsewhere.invalid/x/v1", exit: 1, keyed: true},
		"a page to sign in at, for tasks without a key": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			goods(w, r)
		}), check: "answer", status: "ok", text: "a list of models", keyed: true},
		"a key for tasks alone": {shop: plain(answers(403, "application/json", `{"error":{"message":"Missing scopes: api.model.read"}}`)), check: "answer", status: "warning", text: "not for this key", next: "check the key", keyed: true},
		"a page to sign in at": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login", http.StatusFound)
		}), check: "redirect", status: "problem", text: "/login", next: "page to sign in at", exit: 1, keyed: true},
		"401": {
			shop: plain(answers(401, "application/json", `{"error":{"message":"bad key"}}`)), check: "answer", status: "problem",
			text: "refuses the key (HTTP 401)", next: "check the key (flag --api-key)", exit: 1, keyed: true,
		},
		"404": {
			shop: plain(goods), plant: func(*testing.T, *place) []string { return []string{"+/wrong/v1"} }, check: "answer", status: "problem",
			text: "HTTP 404: there is nothing at", next: "/v1 (now: flag --base-url)", exit: 1, keyed: true,
		},
		"404 everywhere": {shop: plain(answers(404, "text/plain", "nothing")), check: "answer", status: "warning", text: "it may work: try a task", next: "usually ends in /v1", keyed: true},
		"404 for HEAD alone": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
				w.WriteHeader(http.StatusNotFound)
			}
		}), check: "answer", status: "warning", text: "HTTP 404", next: "if tasks fail with 404, too", keyed: true},
		"no list, and tasks moved": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			w.WriteHeader(http.StatusNotFound)
		}), check: "redirect", status: "problem", text: "/login", next: "page to sign in at", exit: 1, keyed: true},
		"a page to sign in at, for the list alone": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			http.Redirect(w, r, "/login?to=x", http.StatusFound)
		}), check: "redirect", status: "warning", text: "it may work: try a task", next: "if a task fails, too", keyed: true},
		"no list alone": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(map[bool]int{true: 405, false: 404}[r.URL.Path == "/v1/chat/completions"])
		}), check: "answer", status: "unknown", text: "lists no models", keyed: true},
		"no list, no HEAD": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(map[bool]int{true: 501, false: 404}[r.Method == http.MethodHead])
		}), check: "answer", status: "warning", text: "lists no models", next: "the path of the base URL is wrong", keyed: true},
		"a web page": {shop: plain(answers(200, "text/html", "<html>welcome</html>")), check: "answer", status: "problem", text: "a web page", next: "usually ends in /v1", exit: 1, keyed: true},
		"no JSON":    {shop: plain(answers(200, "text/plain", "hello")), check: "answer", status: "problem", text: "no JSON", next: "usually ends in /v1", exit: 1, keyed: true},
		"in trouble": {shop: plain(answers(503, "application/json", `{"error":{"message":"Loading model"}}`)), check: "answer", status: "problem", text: "HTTP 503", next: "try again", exit: 1, keyed: true},
		"silence":    {shop: plain(hangs(make(chan bool, 9))), check: "answer", status: "problem", text: "no answer: nothing came in time", next: "look at the server's log", exit: 1, keyed: true, slow: true},
		"silence before TLS": {
			plant: func(t *testing.T, _ *place) []string { return []string{"-u", "https://" + silent(t) + "/v1"} },
			check: "tls", status: "problem", text: "failed: nothing came in time", next: "try again", exit: 1, slow: true,
		},
		"too many": {shop: plain(answers(429, "application/json", `{}`)), check: "answer", status: "warning", text: "HTTP 429", next: "wait", keyed: true},
		"an unknown model": {
			shop: plain(goods), plant: set(nil, "-m", "alpha-lrge"), check: "model", status: "problem", text: "alpha-lrge is none of the 2",
			next: "alpha-large (flag --model)", exit: 1, keyed: true,
		},
		"no model": {shop: plain(goods), plant: set(nil, "-m", ""), check: "model", status: "problem", text: "alpha-large, beta-small", next: "--model", exit: 1, keyed: true},
		"a wrong clock": {shop: plain(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat))
			goods(w, r)
		}), check: "clock", status: "warning", text: "2h0m0s behind", next: "set this machine's clock", keyed: true},
		"https to a server without TLS": {
			shop: plain(goods), plant: func(*testing.T, *place) []string { return []string{"~https"} }, check: "tls", status: "problem",
			text: "does not speak TLS", next: "set the base URL to http://127.0.0.1", exit: 1,
		},
		"http to a server with TLS": {
			shop:  func(t *testing.T) *shop { return openShop(t, newAuthority(t).sign("127.0.0.1", time.Now()), goods) },
			plant: func(*testing.T, *place) []string { return []string{"~http"} }, check: "answer", status: "problem", text: "wants https", next: "set the base URL to https://127.0.0.1", exit: 1,
		},
		"a proxy that is down": {plant: func(t *testing.T, p *place) []string {
			p.env = append(p.env, "HTTP_PROXY=http://me:pa55word-pa55word@"+closedPort(t))
			return []string{"-u", "http://model.invalid/v1"}
		}, check: "connect", status: "problem", text: "no connection to 127.0.0.1", next: "correct or unset HTTP_PROXY, or put model.invalid into NO_PROXY", exit: 1},
		"a proxy that refuses": {plant: func(t *testing.T, p *place) []string {
			s := openShop(t, nil, answers(407, "text/plain", "who are you?"))
			p.env = append(p.env, "HTTPS_PROXY="+s.URL)
			return []string{"-u", "https://model.invalid/v1"}
		}, check: "tunnel", status: "problem", text: "does not let us through to model.invalid (HTTP 407)", next: "put user and password into HTTPS_PROXY", exit: 1},
		"a proxy that is none": {
			plant: set([]string{"HTTPS_PROXY=http://me:pa55word-pa55word@[::1"}, "-u", "https://model.invalid/v1"), check: "proxy", status: "problem",
			text: "HTTPS_PROXY is not the address of a proxy", next: "http://HOST:PORT", exit: 1,
		},
	}
}

// tlsFaults are those of certificates: who signed it, for whom, around when, and what the server takes the time for.
func tlsFaults(t *testing.T) map[string]fault {
	ca := newAuthority(t)
	serve := func(name string, around, date time.Time) func(*testing.T) *shop {
		return func(t *testing.T) *shop {
			return openShop(t, ca.sign(name, around), func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
				goods(w, r)
			})
		}
	}
	now, past, future := time.Now(), time.Now().Add(-50*time.Hour), time.Now().Add(50*time.Hour)
	trusted := set([]string{"SSL_CERT_FILE=" + ca.file})
	return map[string]fault{
		"TLS that holds": {shop: serve("127.0.0.1", now, now), plant: trusted, check: "tls", status: "ok", text: "by Own Authority", keyed: true},
		"an unknown authority": {
			shop: serve("127.0.0.1", now, now), check: "tls", status: "problem", text: "authority that this machine does not know: CN=Own Authority",
			next: "SSL_CERT_FILE", exit: 1,
		},
		"another host's":   {shop: serve("other.example", now, now), plant: trusted, check: "tls", status: "problem", text: "but for: other.example", next: "use a name that the certificate has", exit: 1},
		"an expired one":   {shop: serve("127.0.0.1", past, now), plant: trusted, check: "tls", status: "problem", text: "has expired", next: "needs a new certificate", exit: 1},
		"one by our clock": {shop: serve("127.0.0.1", future, future), plant: trusted, check: "tls", status: "problem", text: "not valid before", next: "set this machine's clock", exit: 1},
		"no such file": {
			shop: serve("127.0.0.1", now, now), plant: set([]string{"SSL_CERT_FILE=/nowhere/ca.pem"}), check: "tls", status: "problem", text: "/nowhere/ca.pem can't be read",
			next: "unset SSL_CERT_FILE", exit: 1,
		},
	}
}

// TestDoctorFaultsOfTheWay plants what can be wrong between here and a model server.
//
// covers L163 L164 L166
func TestDoctorFaultsOfTheWay(t *testing.T) {
	all := networkFaults()
	for name, f := range tlsFaults(t) {
		all[name] = f
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			args := []string{"-k", doctorKey, "-m", "alpha-large"}
			var s *shop
			base := ""
			if f.shop != nil {
				s = f.shop(t)
				base = s.URL + "/v1"
			}
			if f.plant != nil {
				for _, a := range f.plant(t, p) {
					if path, ok := strings.CutPrefix(a, "+"); ok {
						base = s.URL + path
					} else if scheme, ok := strings.CutPrefix(a, "~"); ok {
						base = scheme + base[strings.Index(base, "://"):]
					} else {
						args = append(args, a)
					}
				}
			}
			if s != nil {
				args = append(args, "-u", base)
			}
			f.look(t, p, args)
			if s == nil {
				return
			}
			asked, auth := s.seen()
			if f.keyed != slices.Contains(auth, "Bearer "+doctorKey) {
				t.Errorf("the key came: %v, want %v", auth, f.keyed)
			}
			for _, a := range asked {
				if !strings.HasPrefix(a, "GET ") && !strings.HasPrefix(a, "HEAD ") {
					t.Errorf("the server was sent %s", a)
				}
			}
		})
	}
}

// look runs doctor in both forms and wants the fault to be found, said and counted.
func (f fault) look(t *testing.T, p *place, args []string) {
	t.Helper()
	r := p.run(append([]string{"doctor", "--json"}, args...)...).want(t, f.exit)
	var all examined
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v in %s", err, r.out)
	}
	if (all.Problems > 0) != (f.exit == 1) || f.status == "warning" && all.Warnings == 0 {
		t.Errorf("%d problems and %d warnings, status %d", all.Problems, all.Warnings, f.exit)
	}
	found := false
	for _, c := range all.Checks {
		next := ""
		if c.Next != nil {
			next = *c.Next
		}
		found = found || c.Check == f.check && c.Status == f.status && strings.Contains(c.Text, f.text) && strings.Contains(next, f.next)
		if (c.Status == "problem" || c.Status == "warning") && next == "" {
			t.Errorf("nothing is said to do about: %s", c.Text)
		}
	}
	if !found {
		t.Errorf("want a %s of %s: %q, next %q; got\n%s", f.status, f.check, f.text, f.next, strings.ReplaceAll(r.out, "},{", "},\n{"))
	}
	if f.slow {
		return
	}
	text := p.run(append([]string{"doctor"}, args...)...).want(t, f.exit)
	mark := map[string]string{"ok": "[ok]", "warning": "[! ]", "problem": "[x ]", "unknown": "[? ]", "skipped": "[- ]"}[f.status]
	line := `(?m)^  ` + regexp.QuoteMeta(mark) + ` .*` + regexp.QuoteMeta(f.text)
	if f.next != "" {
		line += `.*\n       -> .*` + regexp.QuoteMeta(f.next)
	}
	if !regexp.MustCompile(line).MatchString(text.out) {
		t.Errorf("the text lacks %s:\n%s", line, text.out)
	}
	for _, out := range []string{r.out, r.err, text.out, text.err} {
		for _, never := range []string{doctorKey, "pa55word", "%!", "\x1b"} {
			if strings.Contains(out, never) {
				t.Errorf("%q stands in %s", never, out)
			}
		}
	}
}

// TestDoctorOffline: --offline makes no connection, and says what it left out.
//
// covers L085
func TestDoctorOffline(t *testing.T) {
	s := openShop(t, nil, goods)
	p := newPlace(t)
	p.env = append(p.env, "OLLAMA_HOST="+strings.TrimPrefix(s.URL, "http://"))
	fault{check: "offline", status: "skipped", text: "not looked at (--offline)"}.look(t, p, []string{"--offline", "-u", s.URL + "/v1", "-k", doctorKey, "-m", "x"})
	fault{check: "local", status: "skipped", text: "not looked for (--offline)", exit: 1}.look(t, p, []string{"--offline"})
	if asked, _ := s.seen(); len(asked) > 0 {
		t.Errorf("it asked %v", asked)
	}
	// With the network, the local server is named, and not chosen.
	fault{check: "local", status: "ok", text: "ollama at " + s.URL + "/v1; models: 2 (alpha-large, beta-small)", next: "overt -u " + s.URL + "/v1 -m alpha-large", exit: 1}.look(t, p, nil)
}

// TestDoctorChangesNothing: neither a file nor a time of one is another one afterwards, with a record and without one.
func TestDoctorChangesNothing(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "done"})
	p := newPlace(t)
	state := func() string {
		h := sha256.New()
		err := filepath.WalkDir(filepath.Dir(p.dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(h, path, info.Mode(), info.Size(), info.ModTime())
			if d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				h.Write(data)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	for _, with := range []string{"no record", "a record"} {
		if with == "a record" {
			p.run("-u", s.URL, "-m", "strict", "hello").want(t, 0)
		}
		before := state()
		for range 2 {
			p.run("doctor", "--offline", "-u", s.URL, "-m", "strict").want(t, 0)
			if state() != before {
				t.Fatalf("with %s: something has changed", with)
			}
		}
	}
}

// TestDoctorJSON compares the whole form with testdata/doctor.json, what differs between machines replaced.
func TestDoctorJSON(t *testing.T) {
	p := newPlace(t)
	configured(p, "{\n  \"model\": \"deepseek/deepseek-v4-pro\",\n  \"temperature\": 0.5, // none\n  \"retries\": \"many\"\n}\n")
	p.env = append(p.env, "DEEPSEEK_API_KEY="+doctorKey, "GROQ_API_KEY=gsk_other-0123456789", "LANG=C.UTF-8", "TERM=dumb", "OVERT_MODLE=x")
	out := p.run("doctor", "--offline", "--json").want(t, 1).out
	for _, v := range [][2]string{
		{regexp.QuoteMeta(filepath.Dir(p.dir)), "BASE"},
		{`"version":"[^"]*"`, `"version":"VERSION"`},
		{`"overt [^ ]* [^ ]* [^"]*"`, `"overt VERSION OS/ARCH GO"`},
		{`\d+ MB free`, "N MB free"},
		{`"check":"shell","status":"ok","text":"[^"]*"`, `"check":"shell","status":"ok","text":"SHELL"`},
		{`"check":"sandbox","status":"[^"]*","text":"[^"]*","next":(null|"[^"]*")`, `"check":"sandbox","status":"ok","text":"SANDBOX","next":null`},
		{`git version [^"]*`, "git version N"},
		{`disk of [^:]*:`, "disk of FOLDER:"},
	} {
		out = regexp.MustCompile(v[0]).ReplaceAllString(out, v[1])
	}
	out = strings.ReplaceAll(out, "},{", "},\n{")
	golden := filepath.Join("testdata", "doctor.json")
	if *update {
		if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || out != string(want) {
		t.Errorf("it differs from %s (%v):\n%s", golden, err, out)
	}
}

// TestDoctorProxyPassedOver: Go goes without a proxy whose address it can't read, and says nothing.
func TestDoctorProxyPassedOver(t *testing.T) {
	p := newPlace(t)
	p.env = append(p.env, "HTTPS_PROXY=http://me:50%off@127.0.0.1:18801")
	r := p.run("doctor", "--offline", "-u", "https://gw.example.org/v1", "-m", "m", "-k", "key-0123456789").want(t, 1)
	if !strings.Contains(r.out, "HTTPS_PROXY is not the address of a proxy") || strings.Contains(r.out, "50%off") {
		t.Error(r.out)
	}
	p.env = append(p.env, "HTTPS_PROXY=127.0.0.1:18801", "NO_PROXY=gw.example.org")
	if r := p.run("doctor", "--offline", "-u", "https://gw.example.org/v1", "-m", "m", "-k", "key-0123456789").want(t, 0); !strings.Contains(r.out, "no proxy: HTTPS_PROXY is not used for gw.example.org") {
		t.Error(r.out)
	}
}

// TestDoctorUnnamedModel: where no model is named and the server gives no list to take one from, no task can begin, and doctor does not
// say that one may.
func TestDoctorUnnamedModel(t *testing.T) {
	t.Parallel()
	list := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			h(w, r)
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"a page to sign in at": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login?to=x", http.StatusFound) },
		"none":                 answers(404, "text/plain", "nothing"),
		"other JSON":           answers(200, "application/json", `{"hello": 1}`),
		"an empty one":         answers(200, "application/json", `{"data": []}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t, nil, list(h))
			p := newPlace(t)
			if r := p.run("doctor", "-u", s.URL+"/v1", "-k", doctorKey).want(t, 1); !strings.Contains(r.out, "no model is named, and the server gives no list to take one from") || !strings.Contains(r.out, "pass --model NAME") {
				t.Errorf("it says %s", r.out)
			}
			if r := p.run("doctor", "-u", s.URL+"/v1", "-k", doctorKey, "-m", "x").want(t, 0); strings.Contains(r.out, "no model is named") {
				t.Errorf("with a model it says %s", r.out)
			}
			if r := p.run("-u", s.URL+"/v1", "-k", doctorKey, "hi").want(t, 3); strings.Contains(r.err, "base URL") || !strings.Contains(r.err, "--model NAME") {
				t.Errorf("a task says %s", r.err)
			}
		})
	}
}
