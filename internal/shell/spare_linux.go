package shell

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// spare is a shell that was started before its command is known: when one command has ended, the shell for the next is
// started at once, with what is known by then, and waits at its gate. So a command takes no time for that.
type spare struct {
	mu   sync.Mutex // held while it is being started
	held *Held
	turn int // of the session when it was started
}

// prepare starts a spare shell, unless a command runs; or the last one was confined, for the next is so too, most likely, and
// what confines it is not known yet.
func (s *Session) prepare() {
	s.spare.mu.Lock()
	defer s.spare.mu.Unlock()
	s.mu.Lock()
	at, turn, idle := s.at, s.turn, !s.busy && !s.ended && !s.confined
	s.mu.Unlock()
	if !idle || s.spare.held != nil || !strings.HasSuffix(s.sh, "/bash") {
		return
	}
	text, err := letter("")
	if err != nil {
		return
	}
	h := &Held{session: s}
	h.text = text
	if err := h.launch(Options{Dir: at.dir, Env: at.env}, at); err != nil {
		h.close()
		return
	}
	s.spare.held, s.spare.turn = h, turn
}

// prepared gives the spare shell, made ready for a command, if it fits.
func (s *Session) prepared(o Options) *Held {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.busy, s.confined = true, o.Sandbox != nil
	turn := s.turn
	s.mu.Unlock()
	s.spare.mu.Lock()
	defer s.spare.mu.Unlock()
	h := s.spare.held
	s.spare.held = nil
	if h == nil {
		return nil
	}
	if s.spare.turn == turn && o.Sandbox == nil && h.in(o.Dir) {
		if _, err := h.text.WriteAt([]byte(o.Command), 0); err == nil {
			h.command = o.Command
			return h
		}
	}
	go h.Release()
	return nil
}

// in tells whether the shell is in the folder that has the name now: another may have taken its place.
func (h *Held) in(dir string) bool {
	is, err := os.Stat("/proc/" + strconv.Itoa(h.cmd.Process.Pid) + "/cwd")
	if err != nil {
		return false
	}
	named, err := os.Stat(dir)
	return err == nil && os.SameFile(is, named)
}

// drop ends the spare shell. Of a closed session there will be none any more.
func (s *Session) drop() {
	s.spare.mu.Lock()
	defer s.spare.mu.Unlock()
	if s.spare.held != nil {
		s.spare.held.Release()
		s.spare.held = nil
	}
}
