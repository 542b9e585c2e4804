package store_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"overt/internal/store"
	"overt/internal/wire"
)

func TestRuns(t *testing.T) {
	tests := []struct {
		ids   []int64
		bytes int
	}{
		{nil, 0},
		{[]int64{1, 2, 3}, 3},
		{[]int64{1, 2, 3, 7, 8, 3}, 9},
		{[]int64{5, 5, 5}, 6},
		{steps(1000), 7},
	}
	for _, tt := range tests {
		list := store.PackRuns(tt.ids)
		got, err := store.UnpackRuns(list)
		if err != nil || !slices.Equal(got, tt.ids) || len(list) != tt.bytes {
			t.Errorf("%v became %d bytes and %v, %v", tt.ids, len(list), got, err)
		}
	}
}

// steps gives the ids of a request of n steps of one shape: after a head of ten parts, each brings two, and three ids of
// other things come between.
func steps(n int64) []int64 {
	ids := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for i := range n {
		ids = append(ids, 14+5*i, 15+5*i)
	}
	return ids
}

func TestDamagedRuns(t *testing.T) {
	for _, list := range [][]byte{
		{2},
		{2, 3},
		{2, 0, 1},
		{2, 1, 0},
		{1, 1, 1},
		{2, 1, 255, 255, 255, 255, 1},  // more parts than a request can have
		{2, 255, 255, 255, 7, 2},       // … in two runs
		{255, 255, 255, 255, 63, 1, 9}, // ids that go below 0
	} {
		if ids, err := store.UnpackRuns(list); err == nil {
			t.Errorf("%v was read as %d parts", list, len(ids))
		}
	}
}

func FuzzRuns(f *testing.F) {
	f.Add([]byte{2, 3, 1, 8, 1, 2})
	f.Fuzz(func(t *testing.T, list []byte) {
		ids, err := store.UnpackRuns(list)
		if err != nil || ids == nil {
			return
		}
		again, err := store.UnpackRuns(store.PackRuns(ids))
		if err != nil || !slices.Equal(ids, again) {
			t.Fatalf("%v came back as %v, %v", ids, again, err)
		}
	})
}

func FuzzTiming(f *testing.F) {
	f.Add([]byte{2, 1, 2, 3, 4})
	f.Add([]byte{2, 1, 2, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1}) // a time beyond what a Duration holds
	f.Fuzz(func(t *testing.T, data []byte) {
		chunks, err := store.UnpackTiming(data)
		if err != nil {
			return
		}
		again, err := store.UnpackTiming(store.PackTiming(chunks))
		if err != nil || len(chunks) > 0 && !reflect.DeepEqual(chunks, again) {
			t.Fatalf("%v came back as %v, %v", chunks, again, err)
		}
	})
}

func TestTimingNeverGoesBack(t *testing.T) {
	in := []wire.Chunk{{Bytes: 1, After: 2 * time.Millisecond}, {Bytes: 2, After: time.Millisecond}}
	out, err := store.UnpackTiming(store.PackTiming(in))
	want := []wire.Chunk{{Bytes: 1, After: 2 * time.Millisecond}, {Bytes: 2, After: 2 * time.Millisecond}}
	if err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestSubject(t *testing.T) {
	tests := []struct{ subject, run, stored string }{
		{"cal_01JD-3.2", "run_01JD", "cal_~-3.2"},
		{"run_01JD", "run_01JD", "run_~"},
		{"tsk_A", "", "tsk_A"},
		{"cal_X-1.1", "run_01JD", "cal_X-1.1"},
		{"a~b", "run_01JD", "=a~b"},
		{"=x", "", "==x"},
		{"x", "run_", "x"},
	}
	for _, tt := range tests {
		if got := store.ShortSubject(tt.subject, tt.run); got != tt.stored {
			t.Errorf("%q of %q is kept as %q, want %q", tt.subject, tt.run, got, tt.stored)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		subject := rapid.StringMatching(`[a-c~=_-]{0,8}`).Draw(t, "subject")
		run := rapid.StringMatching(`(run_)?[a-c~]{0,3}`).Draw(t, "run")
		if got := store.LongSubject(store.ShortSubject(subject, run), run); got != subject {
			t.Fatalf("%q of %q came back as %q", subject, run, got)
		}
	})
}

// TestDictionary: what is on people's disks can be read with this text only.
func TestDictionary(t *testing.T) {
	const want = "f78583c595490ebd37e027ced9c03003ac7a4ecfe9fc648551488b98acb7d76c"
	if got := store.Dictionary1(); got != want {
		t.Errorf("the dictionary has become %s; add another one instead", got)
	}
}

func TestPack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	tests := []struct {
		name string
		data []byte
		most int
	}{
		{"nothing", nil, 0},
		{"short", []byte("abc"), 3},
		{"fact", []byte(`{"name":"read_file","effects":[{"kind":"read","target":"internal/store/store.go"}],"verdict":"allow"}`), 60},
		{"text", []byte(strings.Repeat("all work and no play ", 5000)), 1000},
		{"noise", noise, len(noise)},
	}
	for _, tt := range tests {
		n, back, err := store.Pack(tt.data)
		if err != nil || !bytes.Equal(back, tt.data) {
			t.Errorf("%s does not come back: %v", tt.name, err)
		}
		if n > tt.most {
			t.Errorf("%s takes %d bytes, at most %d are expected", tt.name, n, tt.most)
		}
	}
}
