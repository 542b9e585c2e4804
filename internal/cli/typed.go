package cli

import (
	"bufio"
	"context"
	"time"
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
		s := bufio.NewScanner(p.keys)
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

// pasteGap is how soon after a line the next one of a paste comes, and no person's.
const pasteGap = 50 * time.Millisecond

// pasted tells whether further lines come right behind one that was just taken, and takes them all away.
func (t *typed) pasted() (more bool) {
	quiet := time.NewTimer(pasteGap)
	defer quiet.Stop()
	for {
		select {
		case _, ok := <-t.c:
			if !ok {
				return more
			}
			more = true
			quiet.Reset(pasteGap)
		case <-quiet.C:
			return more
		}
	}
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
