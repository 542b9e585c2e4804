package wire_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"overt/internal/wire"
)

const maxLine = 1 << 16

// events reads all, as "name|data".
func events(r io.Reader) (out []string, err error) {
	e := wire.NewEvents(r, maxLine)
	for {
		x, err := e.Next()
		if err != nil {
			return out, err
		}
		out = append(out, string(x.Name)+"|"+string(x.Data))
	}
}

// pieces gives its parts one by one.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; (*p)[0] == "" {
		*p = (*p)[1:]
	}
	return n, nil
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []string{"|a", "|b", "|c"}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"byte order mark once", "\ufeff\ufeffdata: a\n\ndata: b\n\n", []string{"|b"}},
		{"no blank", "data:a\n\n", []string{"|a"}},
		{"two blanks", "data:  a\n\n", []string{"| a"}},
		{"several data", "data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb"}},
		{"comment", ": hi\ndata: a\n: ho\n\n", []string{"|a"}},
		{"name", "event: ping\ndata: a\n\ndata: b\n\n", []string{"ping|a", "|b"}},
		{"name without data", "event: ping\n\ndata: b\n\n", []string{"|b"}},
		{"field without colon", "data\ndata: a\n\n", []string{"|\na"}},
		{"empty data", "data\n\ndata:\n\ndata: a\n\n", []string{"|a"}},
		{"unknown fields", "id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []string{"|a"}},
		{"no blank line at the end", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"no line end at the end", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"end in CR", "data: a\r", []string{"|a"}},
		{"empty", "", nil},
		{"blank lines", "\n\r\n\r\r", nil},
		{"long line", "data: " + strings.Repeat("x", 60000) + "\n\n", []string{"|" + strings.Repeat("x", 60000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "bytewise": iotest.OneByteReader(strings.NewReader(c.in)), "with EOF": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := events(r)
				if err != io.EOF || !slices.Equal(got, c.want) {
					t.Errorf("%s: %q %v, want %q", how, got, err, c.want)
				}
			}
		})
	}
}

// covers L240
func TestEventsErrors(t *testing.T) {
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if err != broken || !slices.Equal(got, []string{"|a"}) {
		t.Errorf("%q %v: an event that an error cuts must not be given", got, err)
	}
	for _, in := range []string{
		"data: " + strings.Repeat("x", maxLine), "data: a\n\n" + strings.Repeat("x", maxLine+1) + "\n\n",
		strings.Repeat("data: "+strings.Repeat("x", maxLine/2)+"\n", 3) + "\n",
	} {
		for range 2 {
			var e *wire.Error
			if _, err := events(strings.NewReader(in)); !errors.As(err, &e) || e.Kind != wire.Limit {
				t.Errorf("%.20q…: %v", in, err)
			}
		}
	}
}

// FuzzEvents: any cut between reads gives the same events.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\ndata:b\r\rdata: c\n\nevent: x\ndata: 1\ndata: 2", uint64(1))
	f.Add("\ufeffdata: a\n\n: c\n", uint64(2))
	f.Add(strings.Repeat("x", maxLine+5), uint64(3))
	f.Fuzz(func(t *testing.T, in string, seed uint64) {
		want, wantErr := events(strings.NewReader(in))
		rng := rand.New(rand.NewPCG(seed, 0))
		var cut pieces
		for rest := in; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 1+rng.IntN(40000)))
			cut = append(cut, rest[:n])
			rest = rest[n:]
		}
		got, err := events(&cut)
		if !slices.Equal(got, want) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Errorf("cut: %q %v\nwhole: %q %v", got, err, want, wantErr)
		}
	})
}

func TestEventsDoNotAllocate(t *testing.T) {
	const n = 2000
	in := strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", n)
	allocs := testing.AllocsPerRun(5, func() {
		e := wire.NewEvents(strings.NewReader(in), maxLine)
		for {
			if _, err := e.Next(); err != nil {
				return
			}
		}
	})
	if allocs > 20 {
		t.Errorf("%v allocations for %d events", allocs, n)
	}
}

func BenchmarkEvents(b *testing.B) {
	in := strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"sixteen bytes ok\"}}]}\n\n", 10000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := events2(in); err != io.EOF {
			b.Fatal(err)
		}
	}
}

func events2(in string) (n int, err error) {
	e := wire.NewEvents(strings.NewReader(in), maxLine)
	for ; ; n++ {
		if _, err := e.Next(); err != nil {
			return n, err
		}
	}
}
