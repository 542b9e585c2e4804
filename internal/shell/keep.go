package shell

import (
	"io"
	"sync"
	"unicode/utf8"
)

// keeper takes what a command writes and keeps both ends of the cleaned text. Its size does not grow with the output.
type keeper struct {
	mu    sync.Mutex
	clean cleaner
	show  func(string)
	whole io.Writer
	total int64  // bytes written
	first []byte // of these the first, more than can be in a whole head

	head  []rune
	tail  []rune // at least the last keptEach characters after head, at most three times as many
	after int    // characters after head
}

func newKeeper(show func(string), whole io.Writer) *keeper {
	k := &keeper{show: show, whole: whole}
	k.clean.emit = k.take
	return k
}

// soFar gives what was kept up to now, while more may come.
func (k *keeper) soFar() Output {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.output()
}

// Write implements io.Writer; it never fails.
func (k *keeper) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total += int64(len(p))
	if room := 2*keptEach*utf8.UTFMax + 1 - len(k.first); room > 0 {
		k.first = append(k.first, p[:min(len(p), room)]...)
	}
	if k.whole != nil {
		_, _ = k.whole.Write(p) // how that went is for its owner to say
	}
	k.clean.write(p)
	return len(p), nil
}

func (k *keeper) take(text string) {
	if k.show != nil {
		k.show(text)
	}
	if room := 2*keptEach - len(k.head); room > 0 && k.after == 0 {
		n := 0
		for n < len(text) && room > 0 {
			r, size := utf8.DecodeRuneInString(text[n:])
			k.head = append(k.head, r)
			n += size
			room--
		}
		text = text[n:]
	}
	for _, r := range text {
		k.tail = append(k.tail, r)
		k.after++
	}
	if len(k.tail) > 3*keptEach {
		k.tail = append(k.tail[:0], k.tail[len(k.tail)-keptEach:]...)
	}
}

// end gives what was kept: all of it up to twice keptEach characters, else the first and the last keptEach.
func (k *keeper) end() Output {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clean.flush()
	return k.output()
}

func (k *keeper) output() Output {
	if k.after == 0 {
		head := string(k.head)
		return Output{Head: head, Total: k.total, Exact: head == string(k.first)}
	}
	// The tail may reach back into what was kept as head.
	whole := len(k.head) + k.after
	last := append(k.head[keptEach:len(k.head):len(k.head)], k.tail...)
	last = last[len(last)-keptEach:]
	return Output{Head: string(k.head[:keptEach]), Tail: string(last), Omitted: whole - 2*keptEach, Total: k.total}
}
