package shell

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// sheet is memory that a shell writes what is left of its state to. It has no name in any folder and never is on a disk; it can't grow.
type sheet struct{ file *os.File }

// sheetName is what the memory of a command with that mark is called; so the kernel shows whose a process is that holds it.
func sheetName(mark string) string { return "overt-" + mark }

func newSheet(mark string) (*sheet, error) {
	f, err := memory(sheetName(mark))
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(maxSheet); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &sheet{f}, nil
}

// end is what the shell writes to.
func (s *sheet) end() *os.File { return s.file }

// started does nothing: nothing is read before the end.
func (s *sheet) started() {}

// read gives what was written, once the shell has ended.
func (s *sheet) read() []byte {
	n, err := s.file.Seek(0, io.SeekCurrent) // the shell's place in the file is ours too
	if err != nil || n > maxSheet {
		return nil
	}
	data := make([]byte, n)
	if _, err := s.file.ReadAt(data, 0); err != nil {
		return nil
	}
	return data
}

func (s *sheet) close() { s.file.Close() }

// letter is a file that a shell reads a text from; it never is on a disk.
func letter(text string) (*os.File, error) {
	f, err := memory("overt-letter")
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
