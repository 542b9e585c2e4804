//go:build unix

package shell

import "time"

// Drain is for tests of what is only used inside.
const Drain = drain

// UseSh makes a session one of a plain sh.
func (s *Session) UseSh(path string) { s.sh = path }

// Timeout is the time limit of a command.
func (h *Held) Timeout() time.Duration { return h.timeout }

// UseGroup makes a job one whose group has another number.
func UseGroup(j *Job, id int) { j.Group.ID = id }
