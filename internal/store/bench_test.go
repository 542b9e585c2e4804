package store_test

import (
	"fmt"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// BenchmarkAppend writes one small fact per batch.
func BenchmarkAppend(b *testing.B) {
	s := open(b, b.TempDir())
	sc := event.Scope{Session: "ses_A", Task: "tsk_A", Turn: "trn_R", Run: "run_R", Step: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Append(b.Context(), event.Batch{Scope: sc, Facts: []event.Draft{
			{Subject: "tcl_R-1.1", Data: event.ToolDecided{Name: "read_file", Verdict: "allow"}},
			{Subject: "tcl_R-1.1", Data: event.ToolStarted{Name: "read_file", ReadOnly: true}},
		}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSent keeps the request of step n of a task, of which one message of 0.5 kB and one of 3 kB are new.
func BenchmarkSent(b *testing.B) {
	for _, n := range []int{20, 400} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			s := open(b, b.TempDir())
			r := newRequests(sourceText(b))
			for range n {
				r.step()
			}
			if _, err := s.Captures().Sent(b.Context(), r.sent("cal_R-0.1")); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				b.StopTimer()
				r.body = r.body[:len(r.body)-2]
				r.n = n + i
				r.step()
				sent := r.sent(fmt.Sprintf("cal_R-%d.1", i))
				b.StartTimer()
				if _, err := s.Captures().Sent(b.Context(), sent); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens an empty record and one of a million facts.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 1_000_000} {
		b.Run(fmt.Sprint("facts=", n), func(b *testing.B) {
			dir := b.TempDir()
			fill(b, dir, n)
			for b.Loop() {
				s, err := store.Open(b.Context(), store.Options{Dir: dir})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Tasks(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkErase erases a small task beside 100,000 facts of others: it reads them all and writes the file anew.
func BenchmarkErase(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 100_000)
	s := open(b, dir)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		sc := event.Scope{Task: fmt.Sprint("tsk_small", i)}
		put(b, s, sc, event.Draft{Data: text(strings.Repeat(fmt.Sprint("long ", i), 2000))})
		b.StartTimer()
		if _, err := s.Erase(b.Context(), event.Batch{Scope: sc}, "person"); err != nil {
			b.Fatal(err)
		}
	}
}
