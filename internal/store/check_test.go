package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/store"
)

// check checks a folder and wants no problem.
func check(t testing.TB, dir string) *store.Report {
	t.Helper()
	r, err := store.Check(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Fatalf("problems: %+v", r.Problems)
	}
	return r
}

// wholeRecord makes a record with everything in it, closes it and gives its folder.
func wholeRecord(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w-0123456789ab")
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	plantAll(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// plantAll fills a record: several tasks, one of them a fork, one erased, with exchanges that share what they begin with.
func plantAll(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := context.Background()
	plant(t, s, "tsk_one", "A")
	plant(t, s, "tsk_gone", "G")
	plant(t, s, "tsk_two", "B")
	head, err := s.Head(ctx, "tsk_one")
	if err != nil {
		t.Fatal(err)
	}
	fork := event.Scope{Task: "tsk_fork"}
	put(t, s, fork, event.Draft{Subject: "tsk_fork", Data: event.TaskCreated{Title: "a fork", Parent: "tsk_one", From: head}},
		event.Draft{Data: event.BranchCreated{Reason: "fork", From: head}}, event.Draft{Data: event.HeadMoved{To: head, Reason: "branch"}})
	put(t, s, fork, event.Draft{Data: text("what the fork says")})
	l, err := s.Lease(ctx, "erase", "ses_E")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := s.Erase(ctx, event.Batch{Scope: event.Scope{Task: "tsk_gone"}}, "person"); err != nil {
		t.Fatal(err)
	}
	exchanges(t, s, 12)
}

// tree gives the content of all files of a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCheckLeavesEverything: a check finds nothing wrong with a record, in use or not, and changes nothing.
func TestCheckLeavesEverything(t *testing.T) {
	dir := wholeRecord(t)
	before := tree(t, dir)
	r := check(t, dir)
	if r.Files[0].Rows == 0 || r.Files[1].Rows != 16 || !r.Files[0].Present || r.Files[0].Form == "" || r.Files[0].Older {
		t.Errorf("%+v", r.Files)
	}
	if after := tree(t, dir); !reflect.DeepEqual(before, after) {
		t.Error("the folder has changed")
	}
	s := open(t, dir)
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("goes on")})
	check(t, dir)
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("and on")})
	if again := check(t, dir); again.Files[0].Rows != r.Files[0].Rows+2 {
		t.Errorf("%+v", again.Files)
	}
}

// TestCheckAfterDeath: what a killed process leaves in its log counts, and is left there.
func TestCheckAfterDeath(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, "append", dir)
	for range 50 {
		told(t, out)
	}
	cmd.Process.Kill()
	for n := told(t, out); n != 0; n = told(t, out) {
	}
	cmd.Wait()
	wal := tree(t, dir)["overt.db-wal"]
	if r := check(t, dir); r.Files[0].Rows < 50 {
		t.Errorf("%d facts", r.Files[0].Rows)
	}
	if got := tree(t, dir)["overt.db-wal"]; wal == "" || got != wal {
		t.Error("the log has changed")
	}
}

func TestCheckNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := store.Check(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if len(tree(t, dir)) != 0 {
		t.Error("something was made")
	}
}

// spoil changes a file of a record behind its back.
func spoil(t testing.TB, dir, file string, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// damage is a change behind a record's back, and the problem that a check finds: code table row.
type damage struct{ file, spoil, want string }

func damages() []damage {
	return []damage{
		{"overt.db", `DELETE FROM fact WHERE seq = 3`, "gap fact 4"},
		{"overt.db", `UPDATE fact SET data = '{"a":' WHERE seq = 2`, "fact fact 2"},
		{"overt.db", `UPDATE fact SET enc = 7 WHERE seq = 2`, "fact fact 2"},
		{"overt.db", `UPDATE fact SET enc = 0, data = x'7b226b696e64223a22ff227d' WHERE seq = 2`, "fact fact 2"},
		{"overt.db", `UPDATE fact SET kind = 9999 WHERE seq = 2`, "fact fact 2"},
		{"overt.db", `UPDATE fact SET time = 'noon' WHERE seq = 2`, "file fact "},
		{"overt.db", `DELETE FROM blob WHERE id = (SELECT min(id) FROM blob)`, "fact fact 3"},
		{"overt.db", `UPDATE blob SET enc = 0, data = CAST('other' AS BLOB), bytes = 5 WHERE id = (SELECT min(id) FROM blob)`, "text blob 1"},
		{"overt.db", `UPDATE blob SET bytes = 5 WHERE id = (SELECT min(id) FROM blob)`, "text blob 1"},
		{"overt.db", `UPDATE fact SET parent = 1 WHERE seq = 4`, "parent fact 4"},
		{"overt.db", `UPDATE fact SET parent = (SELECT max(seq) FROM fact) WHERE seq = 4`, "parent fact 4"},
		{"overt.db", `UPDATE fact SET parent = 4 WHERE parent > 0 AND task = (SELECT id FROM name WHERE text = 'tsk_two')`, "parent fact 24"},
		{"overt.db", `UPDATE task SET state = 'paused' WHERE id = (SELECT id FROM name WHERE text = 'tsk_two')`, "projection task tsk_two"},
		{"overt.db", `UPDATE task SET head = 3 WHERE id = (SELECT id FROM name WHERE text = 'tsk_fork')`, "projection task tsk_fork"},
		{"overt.db", `DELETE FROM run WHERE id = (SELECT id FROM name WHERE text = 'run_A')`, "projection run run_A"},
		{"overt.db", `UPDATE call SET output = 1`, "projection call 6"},
		{"overt.db", `INSERT INTO queue VALUES ('que_X', 1, 'follow', 'queued', 1)`, "projection queue que_X"},
		{"overt.db", `DROP TABLE fact`, "file fact "},
		{"overt.db", `DROP INDEX fact_run`, "fact fact 7"},
		{"overt.db", `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`, "newer migration 9999-later"},
		{"overt.db", `DROP TABLE migration`, "foreign  "},
		{"overt.db", `DELETE FROM migration WHERE name = '0002-queue'`, "file migration 0002-queue"},
		{"overt.db", `DELETE FROM migration WHERE name = '0003-task-states'`, "file migration 0003-task-states"},
		{"overt.db", `DELETE FROM migration WHERE name = '0004-cost'`, "file migration 0004-cost"},
		{"captures.db", `DELETE FROM migration WHERE name = '0002-outputs'`, "file migration 0002-outputs"},
		{"captures.db", `UPDATE chunk SET hash = x'00' WHERE id = 3`, "bytes chunk 3"},
		{"captures.db", `DELETE FROM chunk WHERE id = 3`, "file part 3"},
		{"captures.db", `UPDATE body SET sha256 = x'00' WHERE id = 1`, "bytes body 1"},
		{"captures.db", `UPDATE body SET bytes = 3 WHERE id = 1`, "bytes body 1"},
		{"captures.db", `UPDATE body SET parts = x'01' WHERE id = 1`, "bytes body 1"},
		{"captures.db", `DELETE FROM body WHERE id = (SELECT request FROM capture WHERE call = 'cal_A-1.1')`, "file capture 1"},
		{"captures.db", `UPDATE capture SET timing = x'00' WHERE call = 'cal_A-1.1'`, "bytes capture cal_A-1.1"},
		{"captures.db", `UPDATE capture SET request_headers = 99999 WHERE call = 'cal_A-1.1'`, "bytes capture cal_A-1.1"},
		{"captures.db", `UPDATE capture SET call = 'x', request = NULL WHERE 0; DROP TABLE part`, "file body "},
	}
}

// TestCheckFinds: each kind of damage is said, with its place.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	for _, tt := range damages() {
		t.Run(tt.spoil, func(t *testing.T) {
			dir := t.TempDir()
			copyFiles(t, whole, dir)
			spoil(t, dir, tt.file, `PRAGMA foreign_keys = 0`, tt.spoil)
			before := tree(t, dir)
			r, err := store.Check(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(r.Problems, func(p store.Problem) bool {
				return fmt.Sprint(p.Code, " ", p.Table, " ", p.Row) == tt.want && p.File == tt.file && p.Detail != "" && !strings.Contains(p.Detail, "\n")
			}) {
				t.Errorf("want %s, got %+v", tt.want, r.Problems)
			}
			if r.Rebuildable() != strings.HasPrefix(tt.want, "projection") {
				t.Errorf("to rebuild: %v", r.Rebuildable())
			}
			if !reflect.DeepEqual(before, tree(t, dir)) {
				t.Error("the files were changed")
			}
		})
	}
}

// TestCheckExchange: a capture that is not the one that the record names.
func TestCheckExchange(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	sendAndReceive(t, s, "cal_A-1.1", "hello")
	sc := event.Scope{Task: "tsk_A", Run: "run_A", Step: 1}
	put(t, s, sc, event.Draft{Subject: "cal_A-1.1", Data: event.CallStarted{Lane: "run_A", Attempt: 1}})
	put(t, s, sc, event.Draft{Subject: "cal_A-1.1", Data: event.CallCompleted{Exchange: event.Exchange{Request: event.Body{Bytes: 5, SHA256: strings.Repeat("0", 64)}}}})
	r, err := store.Check(t.Context(), dir)
	if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != store.ProblemExchange || r.Problems[0].Row != "cal_A-1.1" {
		t.Errorf("%+v, %v", r, err)
	}
}

func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestRebuild: projections that are wrong in every way are made anew, and nothing else is touched.
func TestRebuild(t *testing.T) {
	dir := wholeRecord(t)
	s := open(t, dir)
	want, err := s.Tasks(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	spoil(t, dir, "overt.db", `UPDATE task SET state = 'x', head = 1, title = 'y'`, `DELETE FROM run`, `DELETE FROM call WHERE seq > 6`, `INSERT INTO queue VALUES ('que_X', 1, 'follow', 'queued', 1)`)
	l, err := s.Lease(t.Context(), "rebuild", "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := l.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	if got, err := s.Tasks(t.Context(), 0); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	// A fact that can't be read: nothing is changed.
	spoil(t, dir, "overt.db", `UPDATE fact SET data = '{' WHERE seq = 5`)
	if err := l.Rebuild(t.Context()); err == nil || !strings.Contains(err.Error(), "fact 5") {
		t.Error(err)
	}
	if got, err := s.Tasks(t.Context(), 0); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestCheckAnyRecord: whatever is appended, its projections are what the facts give.
func TestCheckAnyRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s, err := store.Open(context.Background(), store.Options{Dir: dir})
		if err != nil {
			rt.Fatal(err)
		}
		drawRecord(rt, s)
		r, err := store.Check(context.Background(), dir)
		if err != nil || !r.OK() {
			rt.Errorf("%+v, %v", r, err)
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		os.RemoveAll(dir)
	})
}

// drawRecord appends random batches of all kinds that projections look at.
func drawRecord(t *rapid.T, s *store.Store) {
	ctx := context.Background()
	began := map[string]bool{}
	n := int64(5)
	for i := range rapid.IntRange(1, 12).Draw(t, "batches") {
		task := rapid.SampledFrom([]string{"tsk_A", "tsk_B", "tsk_C"}).Draw(t, "task")
		run := rapid.SampledFrom([]string{"run_R", "run_S"}).Draw(t, "run") + task[4:]
		b := event.Batch{Scope: event.Scope{Task: task, Run: run, Turn: "trn_" + run, Session: "ses_A", Step: 1}}
		add := func(subject string, p event.Payload) {
			b.Facts = append(b.Facts, event.Draft{Subject: subject, Data: p})
		}
		if !began[task] {
			add(task, event.TaskCreated{Title: "first", Origin: "person"})
		}
		if !began[run] {
			add(run, event.RunAccepted{RunKind: "turn"})
		}
		began[task], began[run] = true, true
		call := fmt.Sprintf("cal_%s-%d.1", run[4:], rapid.IntRange(1, 2).Draw(t, "call"))
		for range rapid.IntRange(0, 3).Draw(t, "facts") {
			switch rapid.IntRange(0, 11).Draw(t, "kind") {
			case 0:
				add("", text(rapid.SampledFrom([]string{"", "short", strings.Repeat("long ", 1000)}).Draw(t, "text")))
			case 1:
				add(task, event.TaskChanged{Title: rapid.SampledFrom([]string{"", "new"}).Draw(t, "title"), State: rapid.SampledFrom([]string{"", "paused", "active"}).Draw(t, "state"), Reason: "r"})
			case 2:
				add("", event.ContextHead{Model: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model")})
			case 3:
				add(run, event.RunStarted{})
			case 4:
				add(run, event.RunCompleted{})
			case 5:
				add(run, event.RunFailed{Code: "provider"})
			case 6:
				add(fmt.Sprint("que_", i, len(b.Facts)), event.QueueAdded{Mode: event.QueueFollow, Text: "x"})
			case 7:
				add("que_00", event.QueueChanged{State: event.QueueHeld})
			case 8:
				add(call, event.CallStarted{Lane: run, Attempt: 1, Model: "m", Provider: "p"})
			case 9:
				add(call, event.CallCompleted{HTTP: 200, Usage: event.Usage{Fresh: &n, Coverage: "partial"}})
			case 10:
				add(call, event.CallFailed{Class: "x"})
			case 11:
				add("", event.HeadMoved{To: 0, Reason: "branch"})
			}
		}
		if len(b.Facts) == 0 {
			continue
		}
		if _, err := s.Append(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if !rapid.Bool().Draw(t, "erase") || !began["tsk_A"] {
		return
	}
	err := errors.New("not yet")
	for _, run := range []string{"run_RA", "run_SA"} {
		if began[run] {
			_, err = s.Append(ctx, event.Batch{Scope: event.Scope{Task: "tsk_A", Run: run}, Facts: []event.Draft{{Subject: run, Data: event.RunCancelled{}}}})
		}
		if err != nil && began[run] {
			t.Fatal(err)
		}
	}
	if _, err := s.Erase(ctx, event.Batch{Scope: event.Scope{Task: "tsk_A"}}, "person"); err != nil {
		t.Fatal(err)
	}
}

// content is all that a record gives its readers: facts, exchanges and outputs.
func content(t testing.TB, dir string) (out []any, err error) {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	tasks, err := s.Tasks(ctx, 0)
	if err != nil {
		return nil, err
	}
	out = append(out, tasks)
	for _, task := range append(tasks, store.Task{}, store.Task{ID: "tsk_gone"}) {
		list, err := collect(s.Facts(ctx, task.ID, ""))
		if err != nil {
			return nil, err
		}
		calls, err := s.Calls(ctx, task.ID)
		if err != nil {
			return nil, err
		}
		queue, err := s.Queue(ctx, task.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, list, calls, queue)
	}
	for i := 1; i <= 12; i++ {
		c, err := s.Captures().Capture(ctx, fmt.Sprintf("cal_R-%d.1", i))
		if errors.Is(err, store.ErrNoCapture) {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// TestFlip: a page of which anything became something else is found, or it holds nothing that anybody reads. Nothing
// panics, and nothing is changed by looking.
func TestFlip(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	want, err := content(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(4, 2))
	const page = 4096
	step := page
	if raceEnabled {
		step = 5 * page
	}
	found := 0
	for _, file := range []string{"overt.db", "captures.db"} {
		data, err := os.ReadFile(filepath.Join(whole, file))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(data); at += step {
			for _, how := range []string{"inverted", "zero", "random", "shifted", "cut"} {
				bad := bytes.Clone(data)
				p := bad[at:min(at+page, len(bad))]
				switch how {
				case "inverted":
					for i := range p {
						p[i] ^= 0xff
					}
				case "zero":
					clear(p)
				case "random":
					for i := range p {
						p[i] = byte(rnd.Uint32())
					}
				case "shifted":
					copy(p[512:], bytes.Clone(p[:len(p)-512]))
				case "cut":
					bad = bad[:at]
				}
				dir := t.TempDir()
				copyFiles(t, whole, dir)
				if err := os.WriteFile(filepath.Join(dir, file), bad, 0o600); err != nil {
					t.Fatal(err)
				}
				r, err := store.Check(t.Context(), dir)
				if err != nil {
					t.Fatalf("%s, page %d %s: %v", file, at/page+1, how, err)
				}
				if now, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(now, bad) {
					t.Errorf("%s, page %d %s: looking has changed it", file, at/page+1, how)
				}
				if !r.OK() || r.Lost > 0 {
					found++
					continue
				}
				if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, page %d %s: no problem was seen, yet it reads otherwise: %v", file, at/page+1, how, err)
				}
			}
		}
	}
	if found < part(120) {
		t.Errorf("only %d damages were found; the test's own assumption", found)
	}
	t.Log(found, "found")
}

// TestCheckUnknown: exchanges that no fact knows are told, which is no damage. One of a call whose process died before its end is known.
func TestCheckUnknown(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	exchanges(t, s, 3)
	put(t, s, event.Scope{Task: "tsk_one", Run: "run_R"}, event.Draft{Subject: "cal_R-2.1", Data: event.CallStarted{Lane: "l", Attempt: 1, Model: "m", Provider: "p"}})
	if r := check(t, dir); r.Unknown != 2 {
		t.Errorf("%d are told", r.Unknown)
	}
	for _, n := range []string{"1", "3"} {
		put(t, s, event.Scope{Task: "tsk_one", Run: "run_R"}, event.Draft{Subject: "cal_R-" + n + ".1", Data: event.CallStarted{Lane: "l", Attempt: 1, Model: "m", Provider: "p"}})
	}
	if r := check(t, dir); r.Unknown != 0 {
		t.Errorf("%d are told where all are known", r.Unknown)
	}
}
