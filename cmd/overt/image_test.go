package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"overt/internal/scripted"
)

// pictureBytes makes a picture that no other side makes too.
func pictureBytes(name string, side int) ([]byte, error) {
	of := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Black, color.White})
	for i := range of.Pix {
		of.Pix[i] = uint8(i % 2)
	}
	var b bytes.Buffer
	var err error
	switch filepath.Ext(name) {
	case ".png":
		err = png.Encode(&b, of)
	case ".jpg":
		err = jpeg.Encode(&b, of, nil)
	case ".gif":
		err = gif.Encode(&b, of, nil)
	default:
		err = fmt.Errorf("no form is known for %s", name)
	}
	return b.Bytes(), err
}

func cmdPicture(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && (len(args) == 2 || len(args) == 3), "picture FILE SIDE [BYTES]")
	side, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := pictureBytes(args[0], side)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		data = append(data, make([]byte, n-len(data))...)
	}
	ts.Check(os.WriteFile(path, data, 0o644))
	s := stateOf(ts)
	s.pictures = append(s.pictures, base64.StdEncoding.EncodeToString(data))
}

func cmdPictures(ts *testscript.TestScript, neg bool, args []string) {
	scriptArgs(ts, !neg && len(args) == 3, "pictures NAME N COUNT")
	var r strictRequest
	ts.Check(json.Unmarshal(requestOf(ts, args[0], args[1]), &r))
	n := 0
	for _, m := range r.Messages {
		if m.Content == nil {
			continue
		}
		for _, p := range m.Content.Parts {
			if p.ImageURL == nil {
				continue
			}
			n++
			if _, code, _ := strings.Cut(p.ImageURL.URL, ";base64,"); !slices.Contains(stateOf(ts).pictures, code) {
				ts.Fatalf("a picture is none that was made: %.80s", p.ImageURL.URL)
			}
		}
	}
	if strconv.Itoa(n) != args[2] {
		ts.Fatalf("request %s has %d pictures, want %s", args[1], n, args[2])
	}
}

// TestPicturesByProtocol: pictures of the person and of tools, and a refusal, over each protocol and a server as strict as its
// vendor's.
func TestPicturesByProtocol(t *testing.T) {
	for protocol, path := range map[string]string{"openai-chat": "chat/completions", "openai-responses": "responses", "anthropic-messages": "messages"} {
		for _, flag := range []string{"--no-stream=false", "--no-stream"} {
			t.Run(protocol+flag, func(t *testing.T) {
				read := func(id, name string) scripted.Call {
					return scripted.Call{ID: id, Name: "read_image", Args: `{"path":"` + name + `"}`}
				}
				s := scripted.New(scripted.Script{Replies: []scripted.Reply{
					{Calls: []scripted.Call{read("c1", "b.jpg"), {ID: "c2", Name: "list_files", Args: `{}`}, read("c3", "c.gif")}},
					{Text: "Three."},
					{Fault: &scripted.Fault{Status: 400, Message: "Could not process image"}},
					{Text: "None."},
				}})
				url, err := s.Start()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				p := newPlace(t)
				var codes []string
				for i, name := range []string{"a.png", "b.jpg", "c.gif"} {
					data, err := pictureBytes(name, 10+i)
					if err != nil {
						t.Fatal(err)
					}
					p.write(name, string(data))
					codes = append(codes, base64.StdEncoding.EncodeToString(data))
				}
				args := []string{"-u", url, "-m", "m", "--no-probe", "--protocol", protocol, flag}
				if r := p.run(append(args, "--image", "a.png", "how many?")...).want(t, 0); r.out != "Three.\n" {
					t.Errorf("%q", r.out)
				}
				r := p.run(append(args, "--continue", "and now?")...).want(t, 0)
				if r.out != "None.\n" || !strings.Contains(r.err, "refused the pictures (Could not process image); 3 pictures are left out") {
					t.Errorf("%q %q", r.out, r.err)
				}
				log := s.Log()
				for i, want := range []int{1, 3, 3, 0} {
					if i >= len(log) || log[i].Path != "/v1/"+path {
						t.Fatalf("%d requests", len(log))
					}
					body, at := string(log[i].Request), 0
					for j, code := range codes {
						k := strings.Index(body, code)
						if k >= 0 != (j < want) || k >= 0 && k < at {
							t.Errorf("request %d: picture %d is at %d, after %d", i+1, j+1, k, at)
						}
						at = k
					}
				}
			})
		}
	}
}
