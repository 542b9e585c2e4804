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

	"github.com/rogpeppe/go-internal/testscript"
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
