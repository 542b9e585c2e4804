//go:build linux

// Command bench measures Overt against its targets, see docs/targets.md: `go run ./bench`, or `-quick` for fewer rounds.
//
// It builds the programs that it compares into a temporary folder, runs them in turn against a model server of its own,
// and prints a table of medians. Times are ratios to the floor program (bench/floor) that ran beside, so that a slow or
// busy machine changes them little. The exit status is 1 if a target is missed.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	if os.Getenv(launchMark) != "" {
		exitOn(launch(os.Args[1:]))
		return
	}
	quick := flag.Bool("quick", false, "fewer rounds: a glance, not a figure to keep")
	only := flag.String("only", "", "run one `PART`: start, loop, long, requests, stream, open, stop, search, checkpoint, shell, providers or binary")
	flag.Parse()
	b := &bench{rounds: 15, only: *only}
	if *quick {
		b.rounds = 5
	}
	err := b.all()
	b.print()
	exitOn(err)
	if slices.ContainsFunc(b.rows, func(r row) bool { return r.ok == "NO" }) {
		os.Exit(1)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// bench is one run of the measurements.
type bench struct {
	rounds int
	only   string
	disk   string // temporary folder on the disk
	fast   string // one in memory, where there is such a thing
	server *server
	rows   []row
}

// row is a line of the table; ok is "" where there is no target.
type row struct{ block, line, measured, target, ok string }

func (b *bench) all() (err error) {
	if b.disk, err = os.MkdirTemp("", "overt-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.disk)
	b.fast = b.disk
	if dir, err := os.MkdirTemp("/dev/shm", "overt-bench-"); err == nil {
		defer os.RemoveAll(dir)
		b.fast = dir
	}
	if err := b.build(); err != nil {
		return err
	}
	b.server = newServer()
	defer b.server.http.Close()
	b.note("", "state folders in memory", kindOf(b.fast))
	b.note("", "state folders on the disk", kindOf(b.disk))
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"start", b.start},
		{"loop", b.loop},
		{"long", b.long},
		{"requests", b.requests},
		{"stream", b.stream},
		{"open", b.open},
		{"stop", b.stop},
		{"search", b.search},
		{"checkpoint", b.checkpoint},
		{"shell", b.shell},
		{"providers", b.providers},
		{"binary", b.binary},
	} {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// kindOf names the file system that a folder is on.
func kindOf(dir string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "unknown"
	}
	switch s.Type {
	case 0x01021994:
		return "tmpfs"
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x794c7630:
		return "overlay"
	}
	return fmt.Sprintf("type %#x", s.Type)
}

// build makes the programs: ours as it is released and with its symbols, the floor, and one that does nothing.
func (b *bench) build() error {
	empty := filepath.Join(b.disk, "src")
	if err := os.MkdirAll(empty, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module empty\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(empty, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, p := range []struct{ out, pkg, dir, flags string }{
		{"overt", "overt/cmd/overt", "", "-s -w"},
		{"overt-symbols", "overt/cmd/overt", "", ""},
		{"floor", "overt/bench/floor", "", "-s -w"},
		{"empty", ".", empty, "-s -w"},
	} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags="+p.flags, "-o", b.program(p.out), p.pkg)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", p.out, err, out)
		}
		if err := install(b.program(p.out)); err != nil {
			return err
		}
	}
	return nil
}

// install writes a program anew, as whoever installs it does. The linker writes by way of memory, a page at a time, and so the system
// keeps the file in single pages, too, of which each has to be mapped when it is first touched: a start took a fifth longer.
func install(path string) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o700)
	}
	return err
}

func (b *bench) program(name string) string { return filepath.Join(b.disk, name) }

// place is a workspace and where its record is.
type place struct{ work, state string }

// place makes an empty workspace with a record of its own below a folder.
func (b *bench) place(below, name string) (place, error) {
	p := place{filepath.Join(below, name, "work"), filepath.Join(below, name, "state")}
	return p, os.MkdirAll(filepath.Join(p.work, ".overt"), 0o700)
}

// environ is what programs are run with: nothing of the person's.
func (b *bench) environ(p place) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.disk, "XDG_STATE_HOME=" + p.state, "LANG=C.UTF-8"}
}

// overt runs a task of a script; floor does the same with the floor.
func (b *bench) overt(p place, url string) (usage, error) {
	return run(p.work, b.environ(p), b.program("overt"), "-u", url, "-m", "m", "--permission", "full", "-q", "go on until you are done")
}

func (b *bench) floor(p place, url string) (usage, error) {
	return run(p.work, b.environ(p), b.program("floor"), url, "go on until you are done")
}

// note adds a line without a target.
func (b *bench) note(block, line, measured string) {
	b.rows = append(b.rows, row{block, line, measured, "", ""})
}

// most adds a line whose value may be at most so much.
func (b *bench) most(block, line string, value, limit float64, unit string) {
	ok := "yes"
	if !(value <= limit) {
		ok = "NO"
	}
	b.rows = append(b.rows, row{block, line, figure(value) + unit, "≤ " + figure(limit) + unit, ok})
}

// figure writes a number as exactly as it deserves.
func figure(v float64) string {
	digits := 0
	switch {
	case v == float64(int64(v)):
	case v < 10:
		digits = 2
	case v < 1000:
		digits = 1
	}
	return fmt.Sprintf("%.*f", digits, v)
}

func (b *bench) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 0, ' ', 0)
	last := ""
	slices.SortStableFunc(b.rows, func(x, y row) int { return cmp.Compare(x.block, y.block) })
	for _, r := range append([]row{{"block", "line", "measured", "target", "ok"}}, b.rows...) {
		block := r.block
		if block == last {
			block = ""
		}
		last = r.block
		fmt.Fprintln(w, strings.TrimRight(strings.Join([]string{block, r.line, r.measured, r.target, r.ok}, "\t | "), " |\t"))
	}
	w.Flush() // to a standard output that went away there is nothing to say
}

// median of values; it sorts them.
func median[T cmp.Ordered](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}

// medians gives the middle one of each thing that several runs took.
func medians(runs []usage) (wall, cpu time.Duration, memory int64) {
	var w, c []time.Duration
	var m []int64
	for _, u := range runs {
		w, c, m = append(w, u.Wall), append(c, u.CPU), append(m, u.Memory)
	}
	return median(w), median(c), median(m)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mb(n int64) float64 { return float64(n) / 1e6 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
