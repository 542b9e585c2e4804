package cli

import (
	"errors"
	"os"
	"sync"
)

// keyboard is standard input where a person types. What reads it can be made to stop for a while, between two lines, so that
// what is typed reaches somebody else.
type keyboard struct {
	in *os.File

	mu      sync.Mutex
	change  sync.Cond
	lent    bool
	reading bool
	wake    *os.File // our end of the pipe that ends the wait of a read
	woken   *os.File
}

func newKeyboard(in *os.File) *keyboard {
	k := &keyboard{in: in}
	k.change.L = &k.mu
	return k
}

// Read implements [io.Reader]. It waits for the keyboard to come back, and for something to be there, before it reads.
func (k *keyboard) Read(b []byte) (int, error) {
	for {
		woken, err := k.begin()
		if err != nil {
			return k.in.Read(b)
		}
		ready := waitTyped(k.in, woken)
		n := 0
		if ready {
			n, err = k.in.Read(b)
		}
		k.mu.Lock()
		k.reading = false
		k.change.Broadcast()
		k.mu.Unlock()
		if ready {
			return n, err
		}
	}
}

func (k *keyboard) begin() (woken *os.File, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.lent {
		k.change.Wait()
	}
	if k.wake == nil {
		if k.woken, k.wake, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	k.reading = true
	return k.woken, nil
}

// lend opens the terminal for somebody else, until back is called.
func (k *keyboard) lend() (tty *os.File, back func(), err error) {
	k.mu.Lock()
	if k.lent {
		k.mu.Unlock()
		return nil, nil, errors.New("it is in use")
	}
	k.lent = true
	for k.reading {
		if _, err := k.wake.Write([]byte{0}); err != nil {
			break
		}
		k.change.Wait()
	}
	k.mu.Unlock()
	ours := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.lent = false
		k.change.Broadcast()
	}
	tty, restore, err := rawTerminal()
	if err != nil {
		ours()
		return nil, nil, err
	}
	return tty, func() {
		restore()
		tty.Close()
		ours()
	}, nil
}
