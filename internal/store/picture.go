package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"overt/internal/event"
)

// keepPicture stores the bytes of a picture that a fact names, once, as they are: they are no text, so nothing is masked in
// them. No fact names a picture that is not there.
func (a *appending) keepPicture(i event.Image) error {
	hash, err := hex.DecodeString(i.Hash)
	if err != nil {
		return fmt.Errorf("a picture is named by %q, which is no hash", i.Hash)
	}
	id, err := a.blob(hash)
	switch {
	case err != nil:
		return err
	case i.Data != nil:
		if sum := sha256.Sum256(i.Data); !bytes.Equal(sum[:], hash) || int64(len(i.Data)) != i.Bytes {
			return fmt.Errorf("the bytes of the picture %s are not those that it is named by", i.Hash)
		}
	case id == 0:
		return fmt.Errorf("the picture %s is not kept", i.Hash)
	}
	if id == 0 { // its formats are compressed
		_, err = a.db.insert(`INSERT INTO blob (hash, bytes, enc, data) VALUES (?, ?, ?, ?)`, hash, len(i.Data), encRaw, i.Data)
	}
	return err
}

// Picture gives the bytes of a picture that some fact names, by their SHA-256 in hexadecimal.
func (s *Store) Picture(ctx context.Context, hash string) ([]byte, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return nil, fmt.Errorf("%q is no hash", hash)
	}
	var enc int
	var data []byte
	err = s.facts.read.QueryRowContext(ctx, `SELECT enc, data FROM blob WHERE hash = ?`, sum).Scan(&enc, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("the picture %s is not kept", hash)
	case err != nil:
		return nil, s.facts.explain(err)
	}
	return s.pack.unpack(enc, data)
}

// blobs reads every long text and picture.
func (c *checking) blobs(d *database) error {
	p := &packer{}
	err := d.each(c.ctx, `SELECT id, hash, bytes, enc, data FROM main.blob WHERE id > ? ORDER BY id LIMIT 64`, func(id int64, hash []byte, size int64, enc int, data []byte) {
		delete(c.pictures, hex.EncodeToString(hash))
		c.content(p, "blob", ProblemText, id, hash, size, enc, data)
	})
	if err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(c.pictures)) {
		c.add(ProblemText, "fact", c.pictures[hash], "the picture %s that it names is not there", hash)
	}
	return nil
}
