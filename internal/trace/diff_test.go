package trace_test

import (
	"strings"
	"testing"

	"overt/internal/event"
)

// TestDiffsWithoutCaptures: what was never sent is no request to go on from, and what is not known is said to be so. What
// requests have in common is tested through the program.
func TestDiffsWithoutCaptures(t *testing.T) {
	s, r := open(t)
	start := func(id string, head, leaf event.Seq) {
		add(t, s, "run_a", id, event.CallStarted{Lane: "tsk_a", Head: head, Leaf: leaf})
	}
	start("cal_a-1.1", 1, 2)
	add(t, s, "run_a", "cal_a-1.1", event.CallFailed{Class: "network", Exchange: event.Exchange{Request: event.Body{Bytes: 9}}})
	start("cal_a-1.2", 1, 2)
	add(t, s, "run_a", "cal_a-1.2", event.CallFailed{Class: "image"})
	start("cal_a-1.3", 1, 3)
	diffs, err := r.Diffs(t.Context(), "tsk_1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range diffs {
		before := "–"
		if d.Before != nil {
			before = *d.Before
		}
		got = append(got, d.Call+" "+before+" "+d.Cause)
		if d.Bytes != nil || d.Shared != nil || d.Owner != nil {
			t.Errorf("%+v", d)
		}
	}
	if want := "cal_a-1.1 – first, cal_a-1.2 – unsent, cal_a-1.3 cal_a-1.1 unknown"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}
