package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"overt/internal/store"
	"overt/internal/wire"
)

// exchanges keeps n exchanges of a growing task, the i-th at i seconds, and gives their request bodies.
func exchanges(t *testing.T, s *store.Store, n int) map[string][]byte {
	t.Helper()
	r := newRequests(base64Text(t))
	out := map[string][]byte{}
	for i := 1; i <= n; i++ {
		r.n = i - 1
		sent := r.sent(fmt.Sprintf("cal_R-%d.1", i))
		if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
		r.step()
		body, chunks := r.answer()
		if _, err := s.Captures().Received(t.Context(), wire.Received{ID: sent.ID, Status: 200, Body: body, Chunks: chunks, At: sent.At}); err != nil {
			t.Fatal(err)
		}
		out[sent.ID] = join(sent.Body)
	}
	return out
}

func TestPruneByAge(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	bodies := exchanges(t, s, 20)
	if err := s.Captures().Prune(t.Context(), time.UnixMilli(11_000), 0); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 20; i++ {
		call := fmt.Sprintf("cal_R-%d.1", i)
		c, err := s.Captures().Capture(t.Context(), call)
		if i <= 10 {
			if !errors.Is(err, store.ErrNoCapture) {
				t.Errorf("%s: %v", call, err)
			}
			continue
		}
		if err != nil || !bytes.Equal(c.Request.Join(), bodies[call]) || c.Response == nil {
			t.Errorf("%s is not whole: %v", call, err)
		}
		if i == 11 && c.Prev != "" {
			t.Errorf("%s follows %q, which was pruned", call, c.Prev)
		}
	}
	if n := count(t, dir, `SELECT count(*) FROM chunk WHERE id NOT IN (SELECT chunk FROM part)`); n != 0 {
		t.Errorf("%d chunks that nothing names", n)
	}
}

func TestPruneBySize(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	content := base64Text(t)
	for i := 1; i <= 100; i++ {
		sent := wire.Sent{ID: fmt.Sprint("cal_R-", i), Lane: "run_R", Body: []wire.Part{{Bytes: []byte(content(4000))}}, At: time.UnixMilli(int64(i))}
		if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
	}
	const most = 150_000
	if err := s.Captures().Prune(t.Context(), time.Time{}, most); err != nil {
		t.Fatal(err)
	}
	if n := count(t, dir, `SELECT sum(length(data)) FROM chunk`); n > most || n < most/2 {
		t.Errorf("%d bytes are left", n)
	}
	if n := count(t, dir, `SELECT min(id) + count(*) FROM capture`); n != 101 {
		t.Error("it is not the oldest that went")
	}
	if err := s.Captures().Prune(t.Context(), time.Time{}, 1); err != nil {
		t.Fatal(err)
	}
	if n := count(t, dir, `SELECT count(*) FROM capture`) + count(t, dir, `SELECT count(*) FROM part`) + count(t, dir, `SELECT count(*) FROM chunk`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "captures.db")); err != nil || info.Size() > 200_000 {
		t.Errorf("the file still has %d bytes, %v", info.Size(), err)
	}
}

// TestSentAfterPrune: what a writer remembers of a lane may be gone.
func TestSentAfterPrune(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	r := newRequests(sourceText(t))
	for i := 1; i <= 6; i++ {
		r.step()
		sent := r.sent(fmt.Sprint("cal_R-", i))
		if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
		if c := capture(t, s, sent.ID); !bytes.Equal(c.Request.Join(), join(sent.Body)) {
			t.Fatalf("request %d is not whole", i)
		}
		if i%2 == 0 {
			if err := other.Captures().Prune(t.Context(), time.Now(), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}
