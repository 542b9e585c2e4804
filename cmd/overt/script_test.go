package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"overt/internal/shell"
)

// TestScript runs testdata/script. A script starts in the empty workspace $WORK/w and has these commands besides those
// of testscript:
//
//	server NAME FILE [KEY]        start a strict model server with the replies in FILE; $NAME is its base URL
//	server-check NAME             what is on record of each call is what the server received and sent, to the byte
//	requests NAME N               the server got N requests
//	request NAME N FILE           write the Nth request, indented, to FILE
//	extends NAME N M              the Nth request is the Mth with something added
//	exits STATUS PROGRAM ARGS...  run a program that ends with a status
//	interrupt FILE                send SIGINT to what runs in the background once FILE exists
//	exits STATUS                  how that ended, after it was awaited
//	chain KIND                    standard output was a stream of events: unbroken, and ended by KIND
//	secret TEXT                   TEXT stands nowhere in the record, in no form
//	crlf FILE...                  give files CR LF line ends and take the last one away
//	picture FILE SIDE [BYTES]     make a picture of the form that the name ends with, and make the file longer
//	pictures NAME N COUNT         the Nth request has so many pictures, each as a file that picture has made
//
// covers L235
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, home(e.WorkDir)...)
			e.Cd = filepath.Join(e.WorkDir, "w")
			e.Values[stateKey{}] = &scriptState{servers: map[string]*strictServer{}}
			// The mark keeps a checkout around the temporary folder from being the workspace.
			return os.MkdirAll(filepath.Join(e.Cd, ".overt"), 0o755)
		},
		Condition: func(name string) (bool, error) {
			if name != "sandbox" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return shell.SandboxSupport() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": cmdServer, "server-check": cmdServerCheck, "requests": cmdRequests, "request": cmdRequest, "extends": cmdExtends,
			"exits": cmdExits, "interrupt": cmdInterrupt, "chain": cmdChain, "secret": cmdSecret, "crlf": cmdCRLF,
			"picture": cmdPicture, "pictures": cmdPictures,
		},
	})
}

// scriptState is what the commands of one script share.
type scriptState struct {
	pictures []string // in base64
	servers  map[string]*strictServer
	stopped  *exec.Cmd
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *scriptState { return ts.Value(stateKey{}).(*scriptState) }

// scriptArgs stops a script whose command is written wrongly.
func scriptArgs(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func serverOf(ts *testscript.TestScript, name string) *strictServer {
	s := stateOf(ts).servers[name]
	if s == nil {
		ts.Fatalf("no server is named %q", name)
	}
	return s
}

func cmdServer(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && (len(args) == 2 || len(args) == 3), "server NAME FILE [KEY]")
	var replies []strictReply
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[1])))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&replies))
	key := ""
	if len(args) == 3 {
		key = args[2]
	}
	s := startStrict(scriptTB{ts: ts}, key, replies...)
	ts.Defer(func() { s.http.Close() })
	stateOf(ts).servers[args[0]] = s
	ts.Setenv(args[0], s.URL)
}

// scriptTB lets a script start what tests start.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (b scriptTB) Helper()          {}
func (b scriptTB) Cleanup(f func()) { b.ts.Defer(f) }
func (b scriptTB) Fatal(a ...any)   { b.ts.Fatalf("%v", a) }

func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 2, "requests NAME N")
	if got := strconv.Itoa(len(serverOf(ts, args[0]).exchanges())); got != args[1] {
		ts.Fatalf("%s requests came, want %s", got, args[1])
	}
}

func requestOf(ts *testscript.TestScript, server, n string) []byte {
	list := serverOf(ts, server).exchanges()
	i, err := strconv.Atoi(n)
	if err != nil || i < 1 || i > len(list) {
		ts.Fatalf("request %s of %d", n, len(list))
	}
	return list[i-1].Request
}

func cmdRequest(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 3, "request NAME N FILE")
	var b bytes.Buffer
	ts.Check(json.Indent(&b, requestOf(ts, args[0], args[1]), "", " "))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o644))
}

func cmdExtends(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 3, "extends NAME N M")
	if later, earlier := requestOf(ts, args[0], args[1]), requestOf(ts, args[0], args[2]); !extends(later, earlier) {
		ts.Fatalf("request %s does not extend request %s:\n%s\n%s", args[1], args[2], later, earlier)
	}
}

// cmdServerCheck compares the record with what the server saw. A hung answer need only be on record as far as it came.
func cmdServerCheck(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 1, "server-check NAME")
	var tasks []struct{ Task string }
	ts.Check(json.Unmarshal(output(ts, "task", "list", "--json"), &tasks))
	type call struct {
		Call, Run     string
		HTTPStatus    *int   `json:"http_status"`
		RequestBytes  *int64 `json:"request_bytes"`
		ResponseBytes *int64 `json:"response_bytes"`
		Masked        *int
		task          string
	}
	var calls []call
	for _, t := range tasks {
		var list []call
		ts.Check(json.Unmarshal(output(ts, "trace", t.Task, "--json"), &list))
		for _, c := range list {
			c.task = t.Task
			calls = append(calls, c)
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return strings.Compare(a.Run, b.Run) }) // ids begin with the time
	list := serverOf(ts, args[0]).exchanges()
	if len(list) != len(calls) {
		ts.Fatalf("%d calls are on record, %d came to the server", len(calls), len(list))
	}
	for i, c := range calls {
		x := list[i]
		if x.Problem != "" && x.Status == 400 {
			ts.Fatalf("request %d was refused: %s\n%s", i+1, x.Problem, x.Request)
		}
		request := output(ts, "trace", c.task, "--call", c.Call, "--raw", "request")
		response := output(ts, "trace", c.task, "--call", c.Call, "--raw", "response")
		masked := c.Masked != nil && *c.Masked > 0
		if masked && bytes.Equal(request, x.Request) && bytes.Equal(response, x.Response) {
			ts.Fatalf("call %d: said to be masked, and is not", i+1)
		}
		if !recorded(request, x.Request, masked) {
			ts.Fatalf("call %d: the request on record is not the one that came\nrecord: %q\nserver: %q", i+1, request, x.Request)
		}
		if x.Hung && bytes.HasPrefix(x.Response, response) {
			continue
		}
		if !recorded(response, x.Response, masked) {
			ts.Fatalf("call %d: the response on record is not the one that was sent\nrecord: %q\nserver: %q", i+1, response, x.Response)
		}
		if c.HTTPStatus == nil || *c.HTTPStatus != x.Status || c.RequestBytes == nil || *c.RequestBytes != int64(len(request)) ||
			c.ResponseBytes == nil || *c.ResponseBytes != int64(len(response)) {
			ts.Fatalf("call %d: status or sizes are wrong: %s", i+1, mustJSON(c))
		}
	}
}

// output runs overt in the script's workspace, without a word in the script's log.
func output(ts *testscript.TestScript, args ...string) []byte {
	c := exec.Command("overt", args...)
	c.Dir, c.Env = ts.MkAbs("."), append(home(ts.Getenv("WORK")), "PATH="+ts.Getenv("PATH"))
	out, err := c.Output()
	if err != nil {
		ts.Fatalf("overt %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// recorded compares; where secrets were masked, a placeholder stands for any text.
func recorded(got, want []byte, masked bool) bool {
	if !masked {
		return bytes.Equal(got, want)
	}
	pattern := regexp.MustCompile(`\\\[masked:[^\]]*\\\]`).ReplaceAllString(regexp.QuoteMeta(string(got)), `.+?`)
	return regexp.MustCompile(`(?s)^` + pattern + `$`).Match(want)
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) > 0, "exits STATUS [PROGRAM ARGS...]")
	status := 0
	if len(args) == 1 {
		p := stateOf(ts).stopped
		if p == nil || p.ProcessState == nil {
			ts.Fatalf("nothing was interrupted and awaited")
		}
		status = p.ProcessState.ExitCode()
	} else {
		err := ts.Exec(args[1], args[2:]...)
		var e *exec.ExitError
		if errors.As(err, &e) {
			status, err = e.ExitCode(), nil
		}
		ts.Check(err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// cmdInterrupt signals what was started last in the background.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 1, "interrupt FILE")
	if err := await(func() bool { _, err := os.Stat(ts.MkAbs(args[0])); return err == nil }); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	list := ts.BackgroundCmds()
	if len(list) == 0 {
		ts.Fatalf("nothing runs in the background")
	}
	p := list[len(list)-1]
	stateOf(ts).stopped = p
	ts.Check(p.Process.Signal(os.Interrupt))
}

// cmdChain reads standard output as the events of one run.
func cmdChain(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 1, "chain KIND")
	prev, last := int64(0), ""
	for i, line := range strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n") {
		var e streamEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			ts.Fatalf("line %d is no JSON: %v\n%s", i+1, err, line)
		}
		last = e.Kind
		if e.Seq == nil {
			if !strings.HasSuffix(e.Kind, ".delta") {
				ts.Fatalf("line %d has no number: %s", i+1, line)
			}
			continue
		}
		if i == 0 && e.Kind != "run.accepted" && e.Kind != "task.created" {
			ts.Fatalf("the stream begins with %s", e.Kind)
		}
		if *e.Prev != prev || *e.Seq <= prev {
			ts.Fatalf("line %d: prev is %d after %d", i+1, *e.Prev, prev)
		}
		prev = *e.Seq
	}
	if last != args[0] {
		ts.Fatalf("the last line is %s, want %s", last, args[0])
	}
}

// cmdSecret looks for a text in the files of the record, and in what can be read out of them, which is compressed there.
func cmdSecret(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 1, "secret TEXT")
	quoted, err := json.Marshal(args[0])
	ts.Check(err)
	forms := []string{args[0], string(quoted[1 : len(quoted)-1]), base64.RawStdEncoding.EncodeToString([]byte(args[0]))}
	look := func(where string, data []byte) {
		for _, form := range forms {
			if bytes.Contains(data, []byte(form)) {
				ts.Fatalf("%s holds %q", where, form)
			}
		}
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(ts.Getenv("XDG_STATE_HOME")), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		look(path, data)
		return err
	}))
	var tasks []struct{ Task string }
	ts.Check(json.Unmarshal(output(ts, "task", "list", "--json"), &tasks))
	for _, t := range tasks {
		look("task show", output(ts, "task", "show", t.Task, "--json"))
		look("trace", output(ts, "trace", t.Task))
		var calls []struct{ Call string }
		ts.Check(json.Unmarshal(output(ts, "trace", t.Task, "--json"), &calls))
		for _, c := range calls {
			look("headers of "+c.Call, output(ts, "trace", t.Task, "--call", c.Call))
			look("request of "+c.Call, output(ts, "trace", t.Task, "--call", c.Call, "--raw", "request"))
			look("response of "+c.Call, output(ts, "trace", t.Task, "--call", c.Call, "--raw", "response"))
		}
	}
}

func cmdCRLF(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) > 0, "crlf FILE...")
	for _, name := range args {
		text := strings.ReplaceAll(strings.TrimSuffix(ts.ReadFile(name), "\n"), "\n", "\r\n")
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}
