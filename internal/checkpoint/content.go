package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"

	"overt/internal/store"
)

const (
	// racyFor is how long after a change another one may leave no sign: the clock of files ticks each 10 ms at most.
	racyFor = 20_000_000 // nanoseconds
	// A transaction takes so many contents or bytes of them.
	batchObjects = 1000
	batchBytes   = 8 << 20
	// So many files, or bytes of them, are read for longer than a person takes for no time.
	slowFiles = 10_000
	slowBytes = 64 << 20
)

// difference is what a walk found, read.
type difference struct {
	path string
	old  *entry // nil: it was not known
	now  *entry // nil: it is gone
}

// changed tells whether the state differs, and not only what the system says of it.
func (n difference) changed() bool {
	before, after := n.before(), n.after()
	if n.old != nil && n.old.skipped == skippedForgotten && before.kind == after.kind && before.mode == after.mode {
		return false
	}
	if before == after && n.now != nil && n.now.state.kind == kindFile && !after.kept { // all that is known is what the system says
		return n.old.bytes != n.now.bytes || n.old.mtime != n.now.mtime
	}
	return before != after
}

func (n difference) before() state {
	if n.old == nil {
		return state{}
	}
	return n.old.state
}

func (n difference) after() state {
	if n.now == nil {
		return state{}
	}
	return n.now.state
}

// read reads what a walk found and keeps its contents.
func (k *Keeper) read(ctx context.Context, list []found) ([]difference, error) {
	out := make([]difference, len(list))
	files := []int{}
	room := k.o.Total - k.index.bytes
	for i, f := range list {
		out[i] = difference{path: f.path, old: f.old}
		if f.old != nil && f.old.kept {
			room += f.old.bytes
		}
		if f.now.kind == kindNone {
			continue
		}
		e := &entry{stat: f.now, state: state{kind: f.now.kind, mode: f.now.mode}, scan: k.index.scan}
		out[i].now = e
		switch {
		case f.now.kind == kindOther:
			e.skipped = skippedSpecial
		case f.now.kind == kindFile && f.now.bytes > k.o.File:
			e.skipped = skippedLarge
		case f.now.kind == kindFile || f.now.kind == kindLink:
			files = append(files, i)
		}
	}
	// The smallest first, so that what does not go in any more are few files.
	slices.SortFunc(files, func(a, b int) int { return cmp.Compare(list[a].now.bytes, list[b].now.bytes) })
	files = slices.DeleteFunc(files, func(i int) bool {
		if room -= list[i].now.bytes; room >= 0 || list[i].now.bytes == 0 {
			return false
		}
		out[i].now.skipped = skippedTotal
		return true
	})
	return out, k.keep(ctx, out, files)
}

// keep reads and keeps the contents of those that are named.
func (k *Keeper) keep(ctx context.Context, list []difference, which []int) error {
	if len(which) == 0 {
		return nil
	}
	if size := int64(0); k.slow != nil {
		for _, i := range which {
			size += list[i].now.bytes
		}
		if len(which) > slowFiles || size > slowBytes {
			k.slow(len(which))
		}
	}
	slices.SortFunc(which, func(a, b int) int { return cmp.Compare(list[a].path, list[b].path) })
	groups := slices.Collect(chunk(list, which))
	objects := make(chan store.FileObject, 64)
	failed := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		err := k.write(ctx, objects)
		if err != nil {
			cancel(err)
		}
		for range objects { // so that nobody waits for one that is gone
		}
		failed <- err
	}()
	var wg sync.WaitGroup
	next := make(chan []int)
	for range min(runtime.NumCPU(), len(groups)) {
		wg.Go(func() {
			for g := range next {
				if err := k.readGroup(ctx, list, g, objects); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, g := range groups {
		if ctx.Err() != nil {
			break
		}
		next <- g
	}
	close(next)
	wg.Wait()
	close(objects)
	return cmp.Or(<-failed, context.Cause(ctx))
}

// chunk groups neighbours that lie in one folder.
func chunk(list []difference, which []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		from := 0
		for i := range which {
			if i+1 == len(which) || i-from == 255 || path.Dir(list[which[i+1]].path) != path.Dir(list[which[from]].path) {
				if !yield(which[from : i+1]) {
					return
				}
				from = i + 1
			}
		}
	}
}

// write keeps contents until there are no more.
func (k *Keeper) write(ctx context.Context, objects <-chan store.FileObject) error {
	var batch []store.FileObject
	size := int64(0)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := k.files.Put(ctx, batch)
		batch, size = batch[:0], 0
		return err
	}
	for o := range objects {
		batch = append(batch, o)
		if size += o.Bytes; len(batch) == batchObjects || size > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// readGroup reads files and links of one folder.
func (k *Keeper) readGroup(ctx context.Context, list []difference, which []int, objects chan<- store.FileObject) error {
	d, err := k.folder(list[which[0]].path)
	if err != nil { // the folder is gone, or closed to us
		for _, i := range which {
			list[i].now.skipped = skippedRead
		}
		return nil
	}
	defer d.close()
	for _, i := range which {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.readOne(ctx, d, &list[i], objects); err != nil {
			return err
		}
	}
	return nil
}

// readOne reads one of them. An error is of the store; what can't be read is said in the entry.
func (k *Keeper) readOne(ctx context.Context, d dir, n *difference, objects chan<- store.FileObject) error {
	e, name := n.now, path.Base(n.path)
	e.racy = e.ctime > k.o.Now().UnixNano()-racyFor
	if e.state.kind == kindLink {
		target, err := d.readlink(name)
		if err != nil {
			e.skipped = skippedRead
			return nil
		}
		return k.offer(ctx, n, []byte(target), objects)
	}
	f, before, err := d.openFile(name)
	if err != nil {
		if old := n.old; old != nil && old.kept && old.sameContent(e.stat) { // it was only closed to us
			e.hash, e.kept = old.hash, true
			e.racy = e.racy && e.state.mode&0o200 != 0 // nobody can write to it unseen
		} else {
			e.skipped = skippedRead
		}
		return nil
	}
	defer f.Close()
	e.racy = before.ctime > k.o.Now().UnixNano()-racyFor
	if before.bytes > store.MaxInline {
		err = k.readLarge(ctx, f, n)
	} else {
		var data []byte
		if data, err = readAll(f, before.bytes); err == nil {
			err = k.offer(ctx, n, data, objects)
		}
	}
	var read *readError
	if errors.As(err, &read) {
		e.skipped = skippedRead
		return nil
	}
	if err != nil {
		return err
	}
	after, err := statFile(f)
	if err != nil {
		return err
	}
	if after != before { // it is being written; whatever it becomes is looked at again
		e.racy = true
	}
	e.stat, e.state.mode = after, after.mode
	return nil
}

// readError is a failure to read a file of the workspace.
type readError struct{ error }

func readAll(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, 0, size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, &readError{err}
		case len(data) > store.MaxInline:
			return nil, &readError{errors.New("it grows")}
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// offer keeps a content unless it was kept before.
func (k *Keeper) offer(ctx context.Context, n *difference, data []byte, objects chan<- store.FileObject) error {
	n.now.hash, n.now.kept = sha256.Sum256(data), true
	if k.looking || n.old != nil && n.old.kept && n.old.hash == n.now.hash {
		return nil
	}
	select {
	case objects <- k.files.Pack(n.now.hash, data):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) readLarge(ctx context.Context, f *os.File, n *difference) (err error) {
	if r := (&watched{f, k.o.File}); k.looking {
		h := sha256.New()
		_, err = io.Copy(h, &cancelled{ctx, r})
		h.Sum(n.now.hash[:0])
	} else {
		n.now.hash, _, err = k.files.PutLarge(ctx, r, k.o.File)
	}
	n.now.kept = err == nil
	return err
}

// watched tells errors of the file that is read from those of the store.
type watched struct {
	f    *os.File
	left int64 // bytes that it may have
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.f.Read(p)
	if w.left -= int64(n); w.left < 0 && err == nil {
		err = errors.New("it grows")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}
