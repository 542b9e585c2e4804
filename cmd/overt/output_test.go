package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOutput: a model that got both ends of an output pages through the rest, in the next process too, and is told when
// the output is there no more.
func TestOutput(t *testing.T) {
	named := regexp.MustCompile(`from line (\d+) on; read_output (out_\S+) shows all\]`)
	var id string
	read := func(offset string) (strictReply, bool) {
		return strictReply{Calls: []strictCall{{Name: "read_output", Args: map[string]any{"id": id, "offset": offset, "limit": 2}}}}, true
	}
	s := startStrictFunc(t, func(r strictRequest, _ int) (strictReply, bool) {
		last := r.Messages[len(r.Messages)-1].Content.Text
		switch found := named.FindStringSubmatch(last); {
		case strings.HasSuffix(last, "print much"):
			return strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "seq 1 100000"}}}}, true
		case found != nil:
			id = found[2]
			return read(found[1])
		case strings.HasSuffix(last, "the end"):
			return read("-1")
		}
		return strictReply{Text: "I have read: " + last}, true
	})
	p := newPlace(t)
	args := []string{"-u", s.URL, "-m", "strict", "--permission", "full"}
	r := p.run(append(args, "print much")...).want(t, 0)
	if !strings.Contains(r.out, "1222\t1222\n1223\t1223\n[lines 1222-1223 of 100000; go on with offset 1224]") {
		t.Errorf("%s", r.out)
	}
	if want := fmt.Sprintf("• read_output  %s\n", id); !strings.Contains(r.err, want) {
		t.Errorf("%s: no %q", r.err, want)
	}
	args = append(args, "--continue", "the end")
	if r := p.run(args...).want(t, 0); !strings.Contains(r.out, "100000\t100000\n[lines 100000-100000 of 100000; this is the end]") {
		t.Errorf("%s", r.out)
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "*", "*", "*", "*", "captures.db*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("captures: %v, %v", found, err)
	}
	for _, name := range found {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if r := p.run(args...).want(t, 0); !strings.Contains(r.out, id+" was kept once and has been deleted to save space") {
		t.Errorf("%s", r.out)
	}
	s.valid(t)
}
