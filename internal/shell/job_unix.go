//go:build unix

package shell

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"
)

// maxPause is the longest time until the end of a job is seen that has closed what it inherited.
const maxPause = time.Second

// Background lets the command run and waits for its end for a moment only; what has not ended by then becomes the
// job of the outcome. Its state does not become the session's. The time limit of the command holds for the job too.
func (h *Held) Background(ctx context.Context, moment time.Duration, show func(string)) (Outcome, error) {
	if h.used || h.session == nil {
		return Outcome{}, errors.New("the command was already run or released, or is of no session")
	}
	h.used = true
	began := time.Now()
	j := &Job{Command: h.command, Group: h.group, leader: true, done: make(chan struct{})}
	r := h.let(show, j)
	stopped, stop := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = stop
	go func() {
		defer stop()
		o := h.await(stopped, r)
		endLeft(h.group.ID)
		if o.status(r.wait()) != nil {
			o.Exit = -1
		}
		endMarked(h.group)
		_ = h.out.SetReadDeadline(time.Now())
		<-r.read
		h.close()
		o.Took = time.Since(began)
		j.mu.Lock()
		j.end = o
		j.mu.Unlock()
		close(j.done)
	}()
	select {
	case <-j.done:
	case <-ctx.Done():
	case <-time.After(moment):
	}
	h.session.rest()
	o := Outcome{Took: time.Since(began)}
	if j.Running() {
		o.Job = h.session.begin(j)
		o.Output = r.kept.soFar()
		return o, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	o = j.end
	o.Output = r.kept.end()
	return o, nil
}

// adopt makes a job of what is left of a command whose leader has ended, and takes its files over.
func (s *Session) adopt(h *Held) *Job {
	j := &Job{Command: h.command, Group: h.group, done: make(chan struct{})}
	j.stop = func() {
		// The leader is gone, so the number of the group may be another's once nothing of it is left.
		if hasMember(j.Group) {
			_ = syscall.Kill(-j.Group.ID, syscall.SIGTERM)
			select {
			case <-j.done:
			case <-time.After(grace):
			}
		}
		if hasMember(j.Group) {
			_ = syscall.Kill(-j.Group.ID, syscall.SIGKILL)
		}
		endMarked(j.Group)
	}
	h.sheet.close()
	h.word.Close()
	if h.text != nil {
		h.text.Close()
	}
	_ = h.out.SetReadDeadline(time.Time{})
	_ = h.holders.SetReadDeadline(time.Time{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(j, h.out)
	}()
	go func() {
		defer close(j.done)
		_, _ = io.Copy(io.Discard, h.holders)
		// What has closed what it inherited is looked for, less and less often: that reads all of /proc.
		for pause := drain; syscall.Kill(-h.group.ID, 0) == nil && hasMember(h.group); pause = min(2*pause, maxPause) {
			time.Sleep(pause)
		}
		_ = h.out.SetReadDeadline(time.Now().Add(drain))
		<-read
		h.out.Close()
		h.holders.Close()
	}()
	return s.begin(j)
}
