package builtin_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/policy"
)

// editCase is a line of testdata/cases/edits.jsonl: edits that other agents were seen to get wrong in public.
type editCase struct {
	ID           string
	Files        []caseFile
	Edits        []caseEdit // one after the other
	Separate     []caseEdit // each on the files as they were
	Read         string     // read before, if not every file
	Meanwhile    *caseFile  // written by somebody else after that, with the old times
	Write        *caseFile  // by write_file
	AnyOf        []caseEnd  `json:"any_of"`
	Code, Says   string     // of an error
	Replacements int
	Seconds      int // that it may take
}

type caseEdit struct {
	Path, Old, New string
	All            bool `json:"replace_all"`
}

// caseEnd is an outcome that is right.
type caseEnd struct {
	Result string
	Files  []caseFile
}

// caseFile is a file given as text, in hexadecimal, as a link, or as many numbered lines, one of them replaced.
type caseFile struct {
	Path, Content, Hex, Mode string
	Link                     string `json:"symlink_to"`
	Lines                    int
	Replaced                 [2]string
}

func (f caseFile) bytes(t *testing.T) []byte {
	t.Helper()
	switch {
	case f.Hex != "":
		data, err := hex.DecodeString(f.Hex)
		if err != nil {
			t.Fatal(err)
		}
		return data
	case f.Lines > 0:
		var b bytes.Buffer
		for i := range f.Lines {
			fmt.Fprintf(&b, "line %06d\n", i+1)
		}
		if f.Replaced[0] != "" {
			return bytes.Replace(b.Bytes(), []byte(f.Replaced[0]), []byte(f.Replaced[1]), 1)
		}
		return b.Bytes()
	}
	return []byte(f.Content)
}

func (f caseFile) mode(t *testing.T) fs.FileMode {
	t.Helper()
	if f.Mode == "" {
		return 0o644
	}
	m, err := strconv.ParseUint(f.Mode, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	return fs.FileMode(m)
}

// is tells whether the file is as it should be.
func (f caseFile) is(t *testing.T, dir string) bool {
	t.Helper()
	p := filepath.Join(dir, f.Path)
	if f.Link != "" {
		to, err := os.Readlink(p)
		return err == nil && to == f.Link
	}
	data, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(p)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().IsRegular() && info.Mode().Perm() == f.mode(t) && bytes.Equal(data, f.bytes(t))
}

// TestEditCases takes every case through the dispatcher.
func TestEditCases(t *testing.T) {
	file, err := os.Open("testdata/cases/edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for lines.Scan() {
		var c editCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(c.ID, func(t *testing.T) {
			for _, e := range c.Separate {
				one := c
				one.Edits = []caseEdit{e}
				one.run(t)
			}
			if c.Separate == nil {
				c.run(t)
			}
		})
	}
	if err := lines.Err(); err != nil || n < 25 {
		t.Errorf("%d cases, %v", n, err)
	}
}

func (c editCase) run(t *testing.T) {
	p := piped(t, policy.Rules{Profile: policy.Auto}, nil)
	for _, f := range c.Files {
		path := filepath.Join(p.dir, f.Path)
		var err error
		if f.Link != "" {
			err = os.Symlink(f.Link, path)
		} else if err = os.WriteFile(path, f.bytes(t), 0o600); err == nil {
			err = os.Chmod(path, f.mode(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Read == "" {
			p.send("read_file", `{"path": "`+f.Path+`", "limit": 1}`)
		}
	}
	if c.Read != "" {
		p.send("read_file", `{"path": "`+c.Read+`"}`)
	}
	if c.Meanwhile != nil {
		path := filepath.Join(p.dir, c.Meanwhile.Path)
		before, err := os.Stat(path)
		if err == nil {
			err = os.WriteFile(path, c.Meanwhile.bytes(t), 0o644)
		}
		if err == nil {
			err = os.Chtimes(path, before.ModTime(), before.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	var out event.ToolCompleted
	for _, e := range c.Edits {
		if out = p.edit(e.Path, e.Old, e.New, e.All); out.Status != event.StatusOK {
			break
		}
	}
	if c.Write != nil {
		raw, err := json.Marshal(args{"path": c.Write.Path, "content": c.Write.Content})
		if err != nil {
			t.Fatal(err)
		}
		_, out = p.send("write_file", string(raw))
	}
	if took := time.Since(began); c.Seconds > 0 && took > time.Duration(c.Seconds)*time.Second {
		t.Errorf("took %v", took)
	}
	right := false
	for _, end := range c.AnyOf {
		ok := out.Status == end.Result
		for _, f := range end.Files {
			ok = f.is(t, p.dir) && ok
		}
		right = right || ok
	}
	if !right {
		t.Errorf("%s: %s", out.Status, out.Content)
	}
	if out.Status == event.StatusError && (out.Code != c.Code && c.Code != "" || !strings.Contains(out.Content, c.Says)) {
		t.Errorf("%s: %q", out.Code, out.Content)
	}
	if want := fmt.Sprintf("%d replacements", c.Replacements); c.Replacements > 0 && !strings.Contains(out.Content, want) {
		t.Errorf("%q does not say %s", out.Content, want)
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
