//go:build unix && !linux

package shell

import (
	"bytes"
	"io"
	"os"
	"time"
)

// sheet is a pipe that a shell writes what is left of its state to.
type sheet struct {
	from, to *os.File
	got      bytes.Buffer
	done     chan struct{}
}

func newSheet(string) (*sheet, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &sheet{from: r, to: w, done: make(chan struct{})}, nil
}

func (s *sheet) end() *os.File { return s.to }

// started begins to read.
func (s *sheet) started() {
	s.to.Close()
	go func() {
		defer close(s.done)
		_, _ = io.Copy(&s.got, io.LimitReader(s.from, maxSheet))
		_, _ = io.Copy(io.Discard, s.from)
	}()
}

// read gives what was written, once the shell has ended; something that it started may hold the pipe still.
func (s *sheet) read() []byte {
	_ = s.from.SetReadDeadline(time.Now().Add(drain))
	<-s.done
	return s.got.Bytes()
}

func (s *sheet) close() {
	s.from.Close()
	s.to.Close()
}

// letter is a pipe that a shell reads a text from.
func letter(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer w.Close()
		_, _ = io.WriteString(w, text)
	}()
	return r, nil
}
