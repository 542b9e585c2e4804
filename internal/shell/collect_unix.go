//go:build unix

package shell

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	// drain is how long the output must be silent after the end, while something outside the group holds it open.
	drain = 50 * time.Millisecond
	// maxRest and maxRestBytes bound what is read after the end of what is written after it.
	maxRest      = time.Second
	maxRestBytes = 64 << 20
	// maxPipe is what a pipe can hold (/proc/sys/fs/pipe-max-size as it comes): so much may have been written before the end.
	maxPipe = 1 << 20
)

// collector reads what a command writes into a keeper.
type collector struct {
	out *os.File // a pipe that does not block
	to  io.Writer
	buf []byte
}

// all reads until nobody holds the output any more; or, once the deadline of the pipe has been set because the command
// and its group have ended, until what they wrote has been read. It tells whether somebody holds it still. lasting says that the
// group may go on.
func (c *collector) all(group int, lasting bool) (open bool) {
	c.buf = make([]byte, 32<<10)
	for {
		n, err := c.out.Read(c.buf)
		_, _ = c.to.Write(c.buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if lasting {
				group = 0
			}
			return c.rest(group)
		}
		if err != nil {
			return false
		}
	}
}

// rest reads on after the end. However slowly that goes, what is in the pipe now is read: no time counts before the pipe
// was found empty, or more has come than it can have held.
func (c *collector) rest(group int) (open bool) {
	began, got := time.Now(), 0
	empty, silent := false, false
	for {
		n, err := c.look()
		if n == 0 && err == nil {
			if silent && (group == 0 || members(group) == 0) {
				return true
			}
			empty = true
			n, err = c.wait()
			silent = n == 0
		}
		if err != nil {
			return false
		}
		got += n
		if got > maxRestBytes || (empty || got > maxPipe) && time.Since(began) > maxRest {
			return true
		}
	}
}

// look reads what is there without waiting, whatever the deadline says: a read after it gives nothing even of a full
// pipe. It gives 0 and no error if there is nothing.
func (c *collector) look() (n int, err error) {
	conn, err := c.out.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := conn.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), c.buf); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}); e != nil {
		return 0, e
	}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return 0, nil
	case err == nil && n == 0:
		return 0, io.EOF
	case err != nil:
		return 0, err
	}
	_, _ = c.to.Write(c.buf[:n])
	return n, nil
}

// wait waits for a moment of silence or for more, and reads that.
func (c *collector) wait() (n int, err error) {
	if err := c.out.SetReadDeadline(time.Now().Add(drain)); err != nil {
		return 0, err
	}
	n, err = c.out.Read(c.buf)
	_, _ = c.to.Write(c.buf[:n])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, nil
	}
	return n, err
}
