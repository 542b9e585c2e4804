package provider_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
	"overt/internal/wire"
)

// recordAgain is how recordings are renewed: "requests" keeps their replies and writes what is sent now, which needs no
// server; the address of a llama-server that runs (see scripts/real-server) records its sessions anew; "scripted" those with
// the scripted server.
var recordAgain = flag.String("record", "", "write testdata/recordings anew: requests, scripted, or the `URL` of a llama-server")

// session is a recorded task: what is sent depends on the replies, so that each request shows how the replies before it
// were read.
type session struct {
	server string // scripted or llama
	w      world
}

func sessions() (out []session) {
	for _, w := range worlds() {
		out = append(out, session{"scripted", w}, session{"llama", w})
	}
	return out
}

func (s session) name() string { return s.server + " " + s.w.String() }

func (s session) file(suffix string) string {
	return filepath.Join("testdata/recordings", strings.ReplaceAll(s.name(), " ", "-")+suffix)
}

// script is the replies of the scripted server.
func (s session) script() scripted.Script {
	return scripted.Script{Replies: []scripted.Reply{
		everything(),
		{Fault: &scripted.Fault{Status: 429, Message: "slow down"}},
		{Text: "cut off here", Calls: []scripted.Call{{ID: "c", Name: "read", Args: `{"path":"b"}`}}, Cut: 2},
		{Calls: []scripted.Call{{ID: "d", Name: "bash", Args: `{"command":"printf '\\t%s' \"é\""}`}}},
		{Text: "half a se", Finish: "length"},
		{Reasoning: "nearly there", Text: "All is done. 永"},
	}}
}

// drive makes the calls of a task over c and tells what each came to.
func (s session) drive(t *testing.T, c *wire.Client, endpoint string) string {
	t.Helper()
	o := provider.Options{Wire: c, Endpoint: endpoint, Key: "sk-planted-4711", Name: "test", Model: "m", Profile: provider.Profile{Reasoning: provider.Always, ReasoningField: "reasoning_content"}}
	s.w.set(&o)
	m := provider.New(o)
	q := &llm.Request{
		Lane: "lane", System: []llm.Block{{Type: llm.Text, Text: "Use the tools.", Owner: "s"}}, Tools: toolSpecs(),
		Messages: []llm.Message{user("go")}, Params: llm.Params{MaxTokens: 60},
	}
	var out strings.Builder
	for step := range len(s.script().Replies) {
		q.ID = fmt.Sprint("call ", step)
		r, err := m.Stream(t.Context(), q, nil)
		if err != nil {
			fmt.Fprintf(&out, "%d: %s\n", step, asError(t, err).Class)
			continue
		}
		fmt.Fprintf(&out, "%d: %s %s\n", step, r.Finish, flat(r.Blocks))
		for i := range r.Blocks {
			r.Blocks[i].Owner = fmt.Sprint("answer ", step)
		}
		q.Messages = append(q.Messages, assistant(fmt.Sprint("a", step), r.Blocks...))
		calls := callsOf(r)
		for i, c := range calls {
			answer := result(c.ID, c.Name, fmt.Sprint("result ", i))
			answer.Key, answer.Blocks[0].Owner = fmt.Sprint("r", step, "-", i), fmt.Sprint("result ", step)
			q.Messages = append(q.Messages, answer)
		}
		if len(calls) == 0 {
			q.Messages = append(q.Messages, llm.Message{Role: llm.User, Key: fmt.Sprint("u", step), Blocks: []llm.Block{{Type: llm.Text, Text: "go on", Owner: fmt.Sprint("input ", step)}}})
		}
	}
	return out.String()
}

// read gives a recording, and what it came to.
func (s session) read(t *testing.T) ([]wire.Recorded, string) {
	t.Helper()
	data, err := os.ReadFile(s.file(".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := wire.ReadRecording(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", s.file(".jsonl"), err)
	}
	came, err := os.ReadFile(s.file(".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return list, string(came)
}

// write records a session.
func (s session) write(t *testing.T, o wire.Options, endpoint string) {
	t.Helper()
	rec := &wire.Recorder{}
	o.Sink = rec
	c := wire.New(o)
	defer c.Close()
	came := s.drive(t, c, endpoint)
	var b bytes.Buffer
	if err := wire.WriteRecording(&b, rec.Recording()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{s.file(".jsonl"): b.Bytes(), s.file(".txt"): []byte(came)} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded writes the session anew where the flag says so.
func (s session) recorded(t *testing.T) {
	t.Helper()
	switch {
	case *recordAgain == "requests":
		list, _ := s.read(t)
		s.write(t, wire.Options{Replay: wire.NewReplay(list)}, "http://model.example/v1")
	case *recordAgain == "scripted" && s.server == "scripted":
		server := scripted.New(s.script())
		url, err := server.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		s.write(t, wire.Options{}, url)
	case strings.HasPrefix(*recordAgain, "http") && s.server == "llama":
		s.write(t, wire.Options{}, *recordAgain)
	}
}

// TestReplay: over recorded sessions with the scripted server and with llama.cpp's, every request is to the byte what was
// sent, from the same nodes, and every reply comes to the same. llama.cpp's server is a real one with a model of random
// weights: what it says is noise, in the real form.
func TestReplay(t *testing.T) {
	for _, s := range sessions() {
		t.Run(s.name(), func(t *testing.T) {
			s.recorded(t)
			list, want := s.read(t)
			if len(list) < 5 {
				t.Errorf("%d exchanges", len(list))
			}
			replay := wire.NewReplay(list)
			c := wire.New(wire.Options{Sink: &sink{}, Replay: replay})
			if came := s.drive(t, c, "http://model.example/v1"); came != want {
				t.Errorf("it comes to\n%swant\n%s", came, want)
			}
			for _, d := range replay.Differences() {
				t.Error(d)
			}
			if n := replay.Left(); n != 0 {
				t.Errorf("%d exchanges were not asked for", n)
			}
		})
	}
}

// TestRecordingsAreScrubbed: no recording holds the key that was sent, an address, or a field of the header that could be
// somebody's.
func TestRecordingsAreScrubbed(t *testing.T) {
	files, err := filepath.Glob("testdata/recordings/*")
	if err != nil || len(files) != 2*len(sessions()) {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range []string{"planted", "sk-", "Bearer", "uthorization", "X-Api-Key", "x-api-key", "Cookie", "127.0.0.1", "localhost", "://"} {
			if i := bytes.Index(data, []byte(mark)); i >= 0 {
				t.Errorf("%s holds %q: %s", name, mark, data[max(0, i-40):min(len(data), i+40)])
			}
		}
	}
}
