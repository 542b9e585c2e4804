package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/redact"
	"overt/internal/store"
)

// output reads a kept output.
func output(t testing.TB, s *store.Store, task, id string) (*store.Output, []byte) {
	t.Helper()
	o, err := s.Output(t.Context(), task, id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(o.Open(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != o.Bytes {
		t.Fatalf("%s has %d bytes, and says %d", id, len(data), o.Bytes)
	}
	return o, data
}

// TestOutput: whatever the pieces, what is kept is the whole, masked as if it had come at once.
func TestOutput(t *testing.T) {
	mask := redact.New()
	mask.Add("key", "sk-0123456789abcdef")
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		random := rand.New(rand.NewPCG(uint64(rapid.IntRange(0, 1<<30).Draw(r, "seed")), 0))
		var whole []byte
		for size := rapid.SampledFrom([]int{0, 10, 65_536, 65_537, 300_000}).Draw(r, "size"); len(whole) < size; {
			piece := make([]byte, random.IntN(9000))
			for i := range piece {
				piece[i] = byte(random.IntN(256))
			}
			whole = append(whole, piece...)
			if random.IntN(3) == 0 {
				whole = append(whole, "sk-0123456789abcdef"...)
			}
		}
		spool := s.Captures().Spool("tsk_1", fmt.Sprint("tcl_R-", n), true)
		for rest := whole; len(rest) > 0; {
			k := min(1+random.IntN(40_000), len(rest))
			if got, err := spool.Write(rest[:k]); got != k || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[k:]
		}
		kept, err := spool.Keep()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := mask.Bytes(whole)
		o, got := output(t, s, "tsk_1", kept.ID)
		if !bytes.Equal(got, want) || o.Output != kept || kept.ID != fmt.Sprint("out_R-", n) || kept.Capped || !o.Raw {
			r.Fatalf("%+v, %+v: %d bytes, want %d", o, kept, len(got), len(want))
		}
	})
}

// TestOutputOfOthers: an output is found by its task alone, and one that was pruned is not one that never was.
func TestOutputOfOthers(t *testing.T) {
	dir := t.TempDir()
	now := time.UnixMilli(1_000_000)
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, call := range []string{"tcl_R-1.1", "tcl_R-2.1"} {
		now = time.UnixMilli(int64(i+1) * 1000)
		spool := s.Captures().Spool("tsk_1", call, false)
		fmt.Fprint(spool, "whole ", i)
		kept, err := spool.Keep()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_1", Run: "run_R"}, Facts: []event.Draft{
			{Subject: call, Data: event.ToolCompleted{Name: "x", Status: event.StatusOK, Output: &kept}},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	forgotten := s.Captures().Spool("tsk_1", "tcl_R-3.1", false)
	fmt.Fprint(forgotten, "short, and not kept")
	if _, got := output(t, s, "tsk_1", "out_R-1.1"); string(got) != "whole 0" {
		t.Errorf("got %q", got)
	}
	exchanges(t, s, 1)
	if err := s.Captures().Prune(t.Context(), time.UnixMilli(1500), 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task, id string
		want     error
	}{
		{"tsk_1", "out_R-1.1", store.ErrOutputGone},
		{"tsk_1", "out_R-2.1", nil},
		{"tsk_2", "out_R-2.1", store.ErrNoOutput},
		{"tsk_2", "out_R-1.1", store.ErrNoOutput},
		{"tsk_1", "out_R-3.1", store.ErrNoOutput},
		{"tsk_1", "out_", store.ErrNoOutput},
		{"tsk_1", "", store.ErrNoOutput},
		{"tsk_1", "tcl_R-2.1", store.ErrNoOutput},
	} {
		if _, err := s.Output(t.Context(), c.task, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s of %s: %v, want %v", c.id, c.task, err, c.want)
		}
	}
	if err := s.Captures().Prune(t.Context(), time.Time{}, 1); err != nil {
		t.Fatal(err)
	}
	if n := count(t, dir, `SELECT (SELECT count(*) FROM output) + (SELECT count(*) FROM body) + (SELECT count(*) FROM chunk)`); n != 0 {
		t.Errorf("%d rows are left of what was pruned by size", n)
	}
}

// TestOutputLimit: what goes over the limit is dropped and said, and memory does not grow with the output.
func TestOutputLimit(t *testing.T) {
	s := open(t, t.TempDir())
	spool := s.Captures().Spool("tsk_1", "tcl_R-1", true)
	piece := []byte(strings.Repeat("0123456789abcdef", 64<<10))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range store.MaxOutput/len(piece) + 1 {
		if n, err := spool.Write(piece); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes of memory for an output of %d", grown, store.MaxOutput)
	}
	kept, err := spool.Keep()
	if err != nil || !kept.Capped || kept.Bytes != store.MaxOutput {
		t.Fatalf("%+v, %v", kept, err)
	}
	if o, err := s.Output(t.Context(), "tsk_1", kept.ID); err != nil || !o.Capped || o.Bytes != store.MaxOutput {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestOutputWhenFull: a disk that is full is said when the output is to be kept, and what came before can be read.
func TestOutputWhenFull(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Captures().LimitPages(200); err != nil {
		t.Fatal(err)
	}
	spool := s.Captures().Spool("tsk_1", "tcl_R-1", true)
	noise := base64Text(t)
	for range 100 {
		io.WriteString(spool, noise(100_000))
	}
	if _, err := spool.Keep(); err == nil || !strings.Contains(err.Error(), "is full") {
		t.Errorf("keep: %v", err)
	}
	if o, data := output(t, s, "tsk_1", "out_R-1"); len(data) == 0 || o.Bytes > 1_000_000 {
		t.Errorf("%+v", o)
	}
}

// TestOutputOfTheKilled: of a process that dies in the middle the part that had come is an output like any other: it can
// be read, and goes whole when it is pruned.
func TestOutputOfTheKilled(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		cmd, out := start(t, fmt.Sprint("spool", i), dir)
		for range 3 + i {
			if !out.Scan() {
				t.Fatal("the child has ended")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
	}
	s := open(t, dir)
	for i := range 3 {
		if o, data := output(t, s, "tsk_CHILD", fmt.Sprint("out_C-", i)); o.Bytes < int64(2+i)*65_536 || !bytes.HasPrefix(data, []byte("line 1\nline 2\n")) {
			t.Errorf("%d bytes are left of output %d", o.Bytes, i)
		}
	}
	if err := s.Captures().Prune(t.Context(), time.Now().Add(time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	if n := count(t, dir, `SELECT (SELECT count(*) FROM output) + (SELECT count(*) FROM body) + (SELECT count(*) FROM part) + (SELECT count(*) FROM chunk)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
