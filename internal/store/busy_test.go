package store_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// TestBusyTimeout: a writer waits for the writer of another process, and when that keeps the file beyond the limit, says so and
// leaves nothing of what it wanted to write.
//
// covers F175
func TestBusyTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := sql.Open("sqlite", filepath.Join(dir, "overt.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	begin := event.Batch{Scope: event.Scope{Session: "ses_1", Task: "tsk_1"}, Facts: []event.Draft{{Subject: "tsk_1", Data: event.TaskCreated{Title: "x", Origin: "person"}}}}
	_, err = s.Append(t.Context(), begin)
	if err == nil || !strings.Contains(err.Error(), "another process has kept") || !strings.Contains(err.Error(), "locked for 5s; try again") {
		t.Fatalf("%v", err)
	}
	if _, err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	facts, err := s.Append(t.Context(), begin)
	if err != nil || len(facts) != 1 || facts[0].Seq != 1 {
		t.Errorf("afterwards: %v, %v", facts, err)
	}
}
