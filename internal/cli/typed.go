package cli

import (
	"bufio"
	"context"
	"os"
	"runtime"
)

// typed is the person's lines, in order. It is closed at the end of the input.
type typed struct {
	c     chan string
	ahead []string // typed before there was a question, so not an answer to it
}

// readLines reads standard input line by line on a goroutine of its own, which ends with the input.
func (p *program) readLines(ctx context.Context) *typed {
	t := &typed{c: make(chan string)}
	go func() {
		defer close(t.c)
		s := bufio.NewScanner(p.In)
		s.Buffer(nil, maxInput)
		for s.Scan() {
			select {
			case t.c <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return t
}

// more tells whether further input is waiting right behind a line that was just taken. It takes away the line that the
// reader may hold already.
func (t *typed) more(in *os.File) bool {
	return waiting(in) > 0 || t.drop()
}

// drop takes away what the reader holds, and tells whether that was anything.
func (t *typed) drop() (dropped bool) {
	for range 100 { // the reader may be on its way
		select {
		case _, ok := <-t.c:
			if !ok {
				return dropped
			}
			dropped = true
		default:
			runtime.Gosched()
		}
	}
	return dropped
}

// setAside keeps what was typed before a question from answering it.
func (t *typed) setAside() {
	for {
		select {
		case line, ok := <-t.c:
			if !ok {
				return
			}
			t.ahead = append(t.ahead, line)
		default:
			return
		}
	}
}
