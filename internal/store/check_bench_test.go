package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/wire"
)

// BenchmarkCheck checks, copies and restores a record of 100,000 facts and 5,000 exchanges.
func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	fillRecord(b, s, 100_000)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		check(b, dir)
	}
	began := time.Now()
	saved := mustBackup(b, dir, store.BackupOptions{})
	b.ReportMetric(time.Since(began).Seconds(), "s/backup")
	began = time.Now()
	mustRestore(b, dir, saved.Path, false)
	b.ReportMetric(time.Since(began).Seconds(), "s/restore")
	b.ReportMetric(float64(saved.Bytes)/1e6, "MB")
}

// fillRecord appends runs of 20 facts, each with a call and its exchange.
func fillRecord(b *testing.B, s *store.Store, n int) {
	b.Helper()
	ctx := context.Background()
	for i := range n / 20 {
		task := fmt.Sprintf("tsk_%d", i/50)
		sc := event.Scope{Task: task, Run: fmt.Sprintf("run_%d", i), Turn: fmt.Sprintf("trn_%d", i), Step: 1}
		call := fmt.Sprintf("cal_%d-1.1", i)
		if _, err := s.Captures().Sent(ctx, wire.Sent{ID: call, Lane: task, At: time.Now(), Body: []wire.Part{{Bytes: []byte(strings.Repeat(call, 100))}}}); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Captures().Received(ctx, wire.Received{ID: call, Status: 200, At: time.Now(), Body: []byte(strings.Repeat("data "+call, 50))}); err != nil {
			b.Fatal(err)
		}
		drafts := []event.Draft{{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn"}}, {Data: event.RunStarted{}}, {Subject: call, Data: event.CallStarted{Lane: task, Attempt: 1, Model: "m"}}}
		for len(drafts) < 18 {
			drafts = append(drafts, event.Draft{Subject: "x", Data: event.ToolDecided{Name: "read_file", Verdict: "allow", Reasons: []string{"reading in the workspace"}}},
				event.Draft{Subject: "m", Data: text(strings.Repeat(fmt.Sprint("some text of a message ", i), 20))})
		}
		drafts = append(drafts[:18], event.Draft{Subject: call, Data: event.CallCompleted{HTTP: 200}}, event.Draft{Subject: sc.Run, Data: event.RunCompleted{}})
		if _, err := s.Append(ctx, event.Batch{Scope: sc, Facts: drafts}); err != nil {
			b.Fatal(err)
		}
	}
}
