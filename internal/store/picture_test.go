package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// pictureOf makes a picture of some bytes that are no text, and long, with the mark in them.
func pictureOf(name string) event.Image {
	data := []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\xff\x00", 4000) + mark + name)
	hash := sha256.Sum256(data)
	return event.Image{Hash: hex.EncodeToString(hash[:]), Media: "image/png", Bytes: int64(len(data)), Name: name, Data: data}
}

func withPicture(i event.Image) event.MessageAdded {
	return event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{{Type: "image", Image: &i}, {Type: "text", Text: "look"}}}
}

// TestPictures: the bytes are kept once, with the fact that names them or not at all, and a copy of the record has them.
//
// covers L103
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	sc, one := event.Scope{Task: "tsk_A", Run: "run_R"}, pictureOf("one")
	f := put(t, s, sc, event.Draft{Data: withPicture(one)}, event.Draft{Subject: "tcl_R-1.1", Data: event.ToolCompleted{Name: "read_image", Content: "x", Images: []event.Image{one}}})
	for _, p := range []event.Payload{f[0].Data, f[1].Data} {
		if got := event.Images(p); len(got) != 1 || got[0].Data != nil || got[0].Hash != one.Hash || got[0].Bytes != one.Bytes || got[0].Name != "one" {
			t.Errorf("%+v", got)
		}
	}
	if n := count(t, dir, `SELECT count(*) FROM blob`); n != 1 {
		t.Errorf("it is kept %d times", n)
	}
	again := one
	again.Data = nil // it is there
	put(t, s, sc, event.Draft{Data: withPicture(again)})
	for name, change := range map[string]func(*event.Image){
		"not kept":   func(i *event.Image) { *i = pictureOf("two"); i.Data = nil },
		"no hash":    func(i *event.Image) { i.Hash = "../../etc/passwd" },
		"other hash": func(i *event.Image) { i.Hash = pictureOf("two").Hash },
		"other size": func(i *event.Image) { i.Bytes++ },
	} {
		bad := one
		change(&bad)
		last, _ := s.Head(t.Context(), "tsk_A")
		if _, err := s.Append(t.Context(), event.Batch{Scope: sc, Facts: []event.Draft{{Data: withPicture(pictureOf("beside"))}, {Data: withPicture(bad)}}}); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		if head, _ := s.Head(t.Context(), "tsk_A"); head != last || count(t, dir, `SELECT count(*) FROM blob`) != 1 {
			t.Errorf("%s: something of the batch is kept", name)
		}
	}
	if data, err := s.Picture(t.Context(), one.Hash); err != nil || !bytes.Equal(data, one.Data) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for _, none := range []string{"", "xyz", pictureOf("two").Hash} {
		if data, err := s.Picture(t.Context(), none); err == nil {
			t.Errorf("%q gives %d bytes", none, len(data))
		}
	}
	check(t, dir)
	b := mustBackup(t, dir, store.BackupOptions{})
	check(t, b.Path)
	if files := holding(t, b.Path, mark+"one"); !slices.Equal(files, []string{"overt.db"}) {
		t.Errorf("of the backup %q hold it", files)
	}
}

// TestErasePictures: a picture goes with the last task that names it.
func TestErasePictures(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	own, both := pictureOf("own"), pictureOf("both")
	for task, list := range map[string][]event.Image{"tsk_keep": {both}, "tsk_gone": {own, both}} {
		put(t, s, event.Scope{Task: task}, event.Draft{Subject: task, Data: event.TaskCreated{Title: "t", Origin: "person"}})
		for _, i := range list {
			put(t, s, event.Scope{Task: task}, event.Draft{Data: withPicture(i)})
		}
	}
	if done, err := erase(t, s, "tsk_gone"); err != nil || done.Bytes < own.Bytes {
		t.Fatalf("%+v, %v", done, err)
	}
	if files := holding(t, dir, mark+"own"); files != nil {
		t.Errorf("%q hold it", files)
	}
	if data, err := s.Picture(t.Context(), both.Hash); err != nil || !bytes.Equal(data, both.Data) {
		t.Errorf("the other task has lost its picture: %v", err)
	}
	check(t, dir)
	if _, err := erase(t, s, "tsk_keep"); err != nil {
		t.Fatal(err)
	}
	if files := holding(t, dir, mark+"both"); files != nil {
		t.Errorf("%q hold it", files)
	}
}

// TestCheckPictures: a picture that is not there, or not what it was, is found.
func TestCheckPictures(t *testing.T) {
	for what, damage := range map[string]string{
		"not there": `DELETE FROM blob`, "not those that were kept": `UPDATE blob SET data = zeroblob(length(data))`,
	} {
		dir := t.TempDir()
		s := open(t, dir)
		put(t, s, event.Scope{Task: "tsk_A"}, event.Draft{Data: withPicture(pictureOf("one"))})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		spoil(t, dir, "overt.db", damage)
		r, err := store.Check(t.Context(), dir)
		if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != store.ProblemText || !strings.Contains(r.Problems[0].Detail, what) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
}
