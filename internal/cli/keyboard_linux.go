package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canLend says that the terminal can be given to somebody else for a while.
const canLend = true

// waitTyped waits until something can be read from in; false: it was woken instead.
func waitTyped(in, woken *os.File) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(woken.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && fds[1].Revents != 0:
			_, _ = woken.Read(make([]byte, 16))
			return false
		default: // a hang-up is for the read to tell
			return true
		}
	}
}

// rawTerminal opens the terminal and makes it hand on every key, unseen, until restore is called. What was typed before is
// dropped: it was not meant for whoever reads now. What is written there goes on being laid out in lines.
func rawTerminal() (tty *os.File, restore func(), err error) {
	tty, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(tty.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err == nil {
		raw := *before
		raw.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.IXON | unix.ISTRIP | unix.BRKINT
		raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
		raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(fd, unix.TCSETSF, &raw)
	}
	if err != nil {
		tty.Close()
		return nil, nil, err
	}
	return tty, func() { _ = unix.IoctlSetTermios(fd, unix.TCSETSF, before) }, nil
}
