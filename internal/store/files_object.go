package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/flate"
)

// MaxInline is the size in bytes up to which a content is kept in files.db; a larger one is a file of its own.
const MaxInline = 4 << 20

// FileObject is a content as it is kept, see [Files.Pack].
type FileObject struct {
	Hash  [sha256.Size]byte
	Bytes int64
	enc   int
	data  []byte
}

// Pack gives the form in which a content of at most [MaxInline] bytes is kept, by its hash; a larger one goes to [Files.PutLarge]. It may be called
// by several goroutines.
func (f *Files) Pack(hash [sha256.Size]byte, data []byte) FileObject {
	o := FileObject{Hash: hash, Bytes: int64(len(data)), enc: encRaw, data: nonNil(data)}
	if len(data) < packFrom {
		return o
	}
	var out bytes.Buffer
	w, ok := f.writers.Get().(*flate.Writer)
	if ok {
		w.Reset(&out)
	} else {
		// The fastest level, since a command waits for it; the form is the one of all else that is kept.
		w, _ = flate.NewWriterDict(&out, flate.BestSpeed, []byte(dictionary1))
	}
	w.Write(data) // errors come from the writer below, and a buffer has none
	w.Close()
	f.writers.Put(w)
	if out.Len() < len(data) {
		o.enc, o.data = encDeflate, out.Bytes()
	} else {
		o.data = bytes.Clone(data)
	}
	return o
}

// Put keeps contents. Nothing may name them before it has returned.
func (f *Files) Put(ctx context.Context, objects []FileObject) error {
	return f.db.do(ctx, false, func() error {
		for _, o := range objects {
			if err := f.db.exec(`INSERT OR IGNORE INTO object (hash, bytes, enc, data) VALUES (?, ?, ?, ?)`, o.Hash[:], o.Bytes, o.enc, o.data); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutLarge keeps a content that is not held in memory, and puts it on the disk. max bounds its bytes; more is an error.
func (f *Files) PutLarge(ctx context.Context, r io.Reader, max int64) (hash [sha256.Size]byte, n int64, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return hash, 0, err
	}
	temp, err := os.CreateTemp(f.dir, ".new-")
	if err != nil {
		return hash, 0, err
	}
	defer os.Remove(temp.Name()) // gone once renamed
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(temp, h), io.LimitReader(r, max+1))
	if err == nil && n > max {
		err = errors.New("it grew while it was read")
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return hash, 0, err
	}
	h.Sum(hash[:0])
	if err := os.Rename(temp.Name(), f.object(hash[:])); err != nil {
		return hash, 0, err
	}
	if err := syncFolder(f.dir); err != nil {
		return hash, 0, err
	}
	return hash, n, f.db.do(ctx, false, func() error {
		return f.db.exec(`INSERT OR IGNORE INTO object (hash, bytes, enc, data) VALUES (?, ?, ?, NULL)`, hash[:], n, encRaw)
	})
}

func (f *Files) object(sum []byte) string { return filepath.Join(f.dir, hex.EncodeToString(sum)) }

// ErrNoObject says that a content is not kept any more.
var ErrNoObject = errors.New("this content is not kept any more")

// Object gives a content. Who reads it to the end has checked that it is what was kept: an error says so otherwise.
func (f *Files) Object(ctx context.Context, hash []byte) (io.ReadCloser, error) {
	var enc int
	var data []byte
	var inline bool // an empty one is read as none
	err := f.db.read.QueryRowContext(ctx, `SELECT enc, data, data IS NOT NULL FROM object WHERE hash = ?`, hash).Scan(&enc, &data, &inline)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoObject
	}
	if err != nil {
		return nil, f.db.explain(err)
	}
	if !inline {
		file, err := openPlain(f.object(hash))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNoObject
		}
		if err != nil {
			return nil, err
		}
		return newSummed(file, hash), nil
	}
	plain, err := f.pack.unpack(enc, data)
	if err != nil {
		return nil, fmt.Errorf("%s: a content can't be read: %w", f.db.path, err)
	}
	return newSummed(io.NopCloser(bytes.NewReader(plain)), hash), nil
}

// Has tells whether a content is kept.
func (f *Files) Has(ctx context.Context, hash []byte) (bool, error) {
	var inline bool
	err := f.db.read.QueryRowContext(ctx, `SELECT data IS NOT NULL FROM object WHERE hash = ?`, hash).Scan(&inline)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil || inline:
		return err == nil, f.db.explain(err)
	}
	_, err = plain(f.object(hash))
	return err == nil, nil
}

// summed makes sure that what is read is what its hash says.
type summed struct {
	io.ReadCloser
	sum  hash.Hash
	want []byte
}

func newSummed(r io.ReadCloser, want []byte) *summed { return &summed{r, sha256.New(), want} }

// Read implements [io.Reader].
func (s *summed) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && !bytes.Equal(s.sum.Sum(nil), s.want) {
		return n, errors.New("a kept content is damaged")
	}
	return n, err
}
