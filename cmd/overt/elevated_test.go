//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sudo puts a stand-in for sudo into the place: it demands a terminal, asks there for a password, and notes its arguments.
func (p *place) sudo() {
	p.t.Helper()
	bin := filepath.Join(filepath.Dir(p.dir), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		p.t.Fatal(err)
	}
	text := `#!/bin/sh
printf '%s\n' "$#" "$@" >"$HOME/argv"
stty -echo </dev/tty || exit 90
printf '[sudo] password: ' >/dev/tty
read -r word </dev/tty
stty echo </dev/tty
echo >/dev/tty
[ "$word" = sesame ] || { echo 'Sorry.' >/dev/tty; exit 1; }
shift 3
exec "$@"
`
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
	home := filepath.Join(filepath.Dir(p.dir), "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.env[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
}

func (p *place) argv() string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "home", "argv"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(data)
}

func elevated(command string, more ...any) strictReply {
	args := map[string]any{"command": command, "elevated": true}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return strictReply{Calls: []strictCall{{Name: "run_command", Args: args}}}
}

// TestElevated: sudo asks on the person's terminal, gets the command as one argument and never -n; its output is kept, and
// nothing of it lasts. One question comes before it, and each time.
//
// covers L247 L248 L249 L250
func TestElevated(t *testing.T) {
	s := startStrict(t, "", runs("mkdir sub; cd sub; x=1"), elevated("cd /; x=2; echo out; echo \"it's $0\" >&2; tty; cat"), runs("pwd; echo $x"),
		elevated("echo never"), elevated("echo started; sleep 60", "timeout", 1), strictReply{Text: "All done."})
	p := newPlace(t)
	p.sudo()
	x := p.terminal(t, "-u", s.URL, "-m", "strict")
	x.shows("> ")
	x.types("go\r")
	x.shows("or never: ")
	x.types("yes\r")
	x.shows(filepath.Join(filepath.Dir(p.dir), "bin", "sudo") + " -u root -- ")
	x.shows("run this command? yes, no (Ctrl-C) or never: ") // no answer covers the next one
	if p.argv() != "" {
		t.Error("sudo ran before it was allowed")
	}
	x.types("yes\r")
	x.shows("[sudo] password: ")
	x.types("sesame\r")
	x.shows("pwd; echo $x") // which only reads
	x.shows("echo never")
	x.shows("never: ")
	x.types("yes\r")
	x.shows("[sudo] password: ")
	x.types("wrong\r")
	x.shows("Sorry.")
	x.shows("sleep 60")
	x.shows("never: ")
	x.types("yes\r")
	x.shows("[sudo] password: ")
	x.types("sesame\r")
	x.shows("All done.")
	x.shows("> ")
	x.types("\x04") // the keyboard is ours again
	x.ends(0)

	if strings.Contains(x.out.String(), "sesame") {
		t.Error("the password is seen")
	}
	argv := strings.SplitN(p.argv(), "\n", 7)
	if len(argv) != 7 || strings.Join(argv[:4], " ") != "6 -u root --" || !strings.HasSuffix(argv[4], "sh") || argv[5] != "-c" || argv[6] != "echo started; sleep 60\n" {
		t.Errorf("sudo got %q", argv)
	}
	var results []string
	for _, e := range p.show().Events {
		if e.Kind == "tool.completed" {
			results = append(results, string(e.Data))
		}
	}
	for i, want := range []string{"now in sub", "exit 0\\nout\\nit's ", p.dir + "/sub\\n1\\n", "exit 1", "timed out after 1 s"} {
		if i >= len(results) || !strings.Contains(results[i], want) {
			t.Errorf("result %d lacks %q: %q", i, want, results)
		}
	}
	if strings.Contains(strings.Join(results, ""), "password") {
		t.Errorf("what sudo asks is in a result: %q", results)
	}
	s.valid(t)
}

// TestElevatedWithoutTerminal: refused at once; nobody is asked and nothing runs. File tools know nothing of it.
//
// covers L264
func TestElevatedWithoutTerminal(t *testing.T) {
	s := startStrict(t, "", elevated("touch root"), strictReply{Text: "Not possible."})
	p := newPlace(t)
	p.sudo()
	r := p.run("-u", s.URL, "-m", "strict", "--permission", "full", "go").want(t, 0)
	if p.argv() != "" || p.exists("root") || !strings.Contains(string(s.exchanges()[1].Request), "needs a person at a terminal") {
		t.Errorf("%s %s", r.out, r.err)
	}
	if n := strings.Count(string(s.exchanges()[0].Request), `"elevated"`); n != 1 {
		t.Errorf("%d tools can be elevated", n)
	}
}
