package store_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/wire"
)

// childEnv makes the test binary play one of the programs in children, with a folder as its argument.
const childEnv = "OVERT_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	name, dir, ok := strings.Cut(os.Getenv(childEnv), " ")
	if !ok {
		if raceEnabled {
			if err := flag.Set("rapid.checks", "15"); err != nil { // the command line may say otherwise
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(m.Run())
	}
	if err := child(context.Background(), name, dir); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// child is a program of its own on a folder. It prints a line for what it has done.
func child(ctx context.Context, name, dir string) error {
	if backup, ok := strings.CutPrefix(name, "restore:"); ok {
		_, err := store.Restore(ctx, dir, backup, false)
		return err
	}
	if backup, ok := strings.CutPrefix(name, "full:"); ok { // a disk that takes files of so many bytes only
		if err := limitFiles(40_000); err != nil {
			return err
		}
		if backup == "" {
			_, err := store.Backup(ctx, dir, store.BackupOptions{})
			return err
		}
		_, err := store.Restore(ctx, dir, backup, false)
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	switch name {
	case "first":
		n := int64(0)
		if l := s.Lost(); l != nil {
			n = l.Captures
		}
		// At once, so that the other one may take it for what was there before.
		if _, err := s.Captures().Sent(ctx, wire.Sent{ID: fmt.Sprint("cal_P", os.Getpid()), Lane: "p", Method: "POST", URL: "http://h/", At: time.Now()}); err != nil {
			return err
		}
		fmt.Println("opened", n, s.LostExchanges())
		return s.Close()
	case "append": // until it is killed
		for i := 1; ; i++ {
			if err := appendAndTell(ctx, s, i); err != nil {
				return err
			}
		}
	case "append50":
		for i := 1; i <= 50; i++ {
			if err := appendAndTell(ctx, s, i); err != nil {
				return err
			}
		}
		return s.Close()
	case "spool0", "spool1", "spool2": // until it is killed
		spool := s.Captures().Spool("tsk_CHILD", "tcl_C-"+strings.TrimPrefix(name, "spool"), true)
		for i := 1; ; i++ {
			fmt.Fprintf(spool, "line %d\n", i)
			if i%10_000 == 0 {
				fmt.Println("wrote", i)
			}
		}
	case "lease":
		if _, err := s.Lease(ctx, "a test", "ses_CHILD"); err != nil {
			return err
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin) // until it is killed
	}
	return nil
}

// appendAndTell appends a batch and prints the number of its last fact once it is committed.
func appendAndTell(ctx context.Context, s *store.Store, i int) error {
	sc := event.Scope{Task: "tsk_CHILD", Run: fmt.Sprintf("run_C%d", os.Getpid()), Step: i}
	b := event.Batch{Scope: sc, Facts: []event.Draft{
		{Subject: "x", Data: event.ToolStarted{Name: "run_command", ReadOnly: i%5 != 0}},
		{Data: text(strings.Repeat(strconv.Itoa(i), i%3000))},
	}}
	facts, err := s.Append(ctx, b)
	if err == nil {
		fmt.Println("fact", facts[len(facts)-1].Seq)
	}
	return err
}

// part is how many of so many equal cases are tried.
func part(n int) int {
	if raceEnabled {
		return (n + 2) / 3
	}
	return n
}

// start runs a child. Its lines are read from what comes back; the test ends it.
func start(t testing.TB, name, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+name+" "+dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// told reads "fact N" from a child; 0 at the end of its output.
func told(t testing.TB, out *bufio.Scanner) event.Seq {
	t.Helper()
	if !out.Scan() {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(out.Text(), "fact "), 10, 64)
	if err != nil {
		t.Fatalf("the child says %q", out.Text())
	}
	return event.Seq(n)
}
