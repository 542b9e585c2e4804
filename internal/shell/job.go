package shell

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxJobLog bounds, in bytes, what is kept of the output of a job: the end of it.
const maxJobLog = 1 << 20

// Job is what a command has left running, or a command that was started in the background. Its methods may be called by
// several goroutines.
type Job struct {
	ID      string // job_1, job_2, … in a session
	Command string
	Group   Group // of the command that it comes from

	leader bool // it is the command itself
	done   chan struct{}

	mu    sync.Mutex
	log   bytes.Buffer // the end of the output
	total int64
	end   Outcome // of a leader
	told  bool
	stop  func()
}

// Write takes output of the job; it never fails.
func (j *Job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total += int64(len(p))
	j.log.Write(p[max(0, len(p)-maxJobLog):])
	if over := j.log.Len() - maxJobLog; over > 0 {
		j.log.Next(over)
	}
	return len(p), nil
}

// Log gives the end of what the job wrote, raw, and how many bytes it wrote in all.
func (j *Job) Log() (kept io.Reader, size int, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.NewReader(bytes.Clone(j.log.Bytes())), j.log.Len(), j.total
}

// Running tells whether something of the job is left.
func (j *Job) Running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// State says in a word or two how the job is: running, ended, or how its command ended.
func (j *Job) State() string {
	if j.Running() {
		return "running"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case !j.leader:
		return "ended"
	case j.end.TimedOut:
		return "timed out"
	case j.end.Waiting:
		return "ended, for it waited for input"
	case j.end.Signal != "":
		return "ended by signal: " + j.end.Signal
	}
	return fmt.Sprintf("exit %d", j.end.Exit)
}

// Stop ends the job and everything that it has started, and waits for that for a moment.
func (j *Job) Stop() {
	if j.Running() {
		j.stop()
	}
	select {
	case <-j.done:
	case <-time.After(time.Second): // what can't be killed is left to the kernel
	}
}

// maxJobs bounds how many jobs of a session are kept in mind, and run at once.
const maxJobs = 32

// Jobs lists the jobs of the session in the order in which they began.
func (s *Session) Jobs() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Job(nil), s.jobs...)
}

// Job finds one; nil: there is none of that name.
func (s *Session) Job(id string) *Job {
	for _, j := range s.Jobs() {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// Ended gives the jobs that have ended since it was asked last.
func (s *Session) Ended() (out []*Job) {
	for _, j := range s.Jobs() {
		if j.Running() {
			continue
		}
		j.mu.Lock()
		if !j.told {
			j.told = true
			out = append(out, j)
		}
		j.mu.Unlock()
	}
	return out
}

// Close ends what the session has running in the background. No command is started afterwards, and what one that runs now leaves is ended too.
func (s *Session) Close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.drop()
	var wg sync.WaitGroup
	for _, j := range s.Jobs() {
		wg.Go(j.Stop)
	}
	wg.Wait()
}

// begin keeps a new job in mind, and forgets the oldest that has ended and been told of, where there are too many. Once
// the session is closed, it ends the job.
func (s *Session) begin(j *Job) *Job {
	if s.keep(j) {
		j.Stop()
	}
	return j
}

func (s *Session) keep(j *Job) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	j.ID = fmt.Sprintf("job_%d", s.begun)
	if len(s.jobs) >= maxJobs {
		for i, old := range s.jobs {
			if !old.Running() {
				s.jobs = append(s.jobs[:i:i], s.jobs[i+1:]...)
				break
			}
		}
	}
	s.jobs = append(s.jobs, j)
	return s.ended
}
