package main

import (
	"bytes"
	"regexp"
	"slices"
	"testing"
)

// TestFixedHeaders: what goes out beside the body is the same whatever the version and the machine.
//
// covers L034
func TestFixedHeaders(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "ok"})
	newPlace(t).run("-u", s.URL, "-m", "strict", "x").want(t, 0)
	header := s.exchanges()[0].Header
	for name, want := range map[string]string{"User-Agent": "overt", "Accept": "text/event-stream", "Content-Type": "application/json"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		header.Del(name)
	}
	for name := range header {
		if !slices.Contains([]string{"Accept-Encoding", "Content-Length", "Connection"}, name) {
			t.Errorf("the header %s goes out", name)
		}
	}
}

// TestModelsLanguage: what the model reads (prompt, tools, results, errors, notes) is in one language, whatever that of
// the person is.
//
// covers L064 L071
func TestModelsLanguage(t *testing.T) {
	replies := []strictReply{
		{Calls: []strictCall{
			{Name: "no_such_tool"},
			{Name: "read_file", Args: map[string]any{"path": 5, "offset": "x"}},
			{Name: "read_file", Args: "{\"path"},
			{Name: "read_file", Args: map[string]any{"path": "none"}},
			{Name: "list_files"},
			{Name: "run_command", Args: map[string]any{"command": "touch ran"}},
		}},
		{Text: "Half", Finish: "length"},
		{Text: "Done."},
	}
	p := newPlace(t)
	plain := p.env
	id := regexp.MustCompile(`tcl_[0-9a-z.-]+`)
	var first []strictExchange
	for _, lang := range []string{"C", "zh_CN.UTF-8", "de_DE.UTF-8"} {
		s := startStrict(t, "", replies...)
		p.env = slices.Concat(plain, []string{"LANG=" + lang, "LC_ALL=" + lang, "LC_MESSAGES=" + lang, "OVERT_LANG=auto"})
		p.run("-u", s.URL, "-m", "strict", "look").want(t, 4)
		s.valid(t)
		list := s.exchanges()
		if first == nil {
			first = list
		}
		if len(list) != len(replies) || len(first) != len(replies) {
			t.Fatalf("%s: %d requests, want %d", lang, len(list), len(replies))
		}
		for i := range list {
			if got, want := id.ReplaceAll(list[i].Request, nil), id.ReplaceAll(first[i].Request, nil); !bytes.Equal(got, want) {
				t.Errorf("%s: request %d is\n%s\nwant\n%s", lang, i+1, got, want)
			}
		}
	}
}
