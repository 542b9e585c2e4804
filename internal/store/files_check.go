package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"overt/internal/event"
)

// inspectFiles says how files.db stands; nil: it is not there, and nothing is missed. named are the changes that the facts name, and
// record is the number of these, 0 where that says nothing.
func inspectFiles(ctx context.Context, dir string, named map[string]event.Seq, record int64) (*FileStatus, error) {
	f := &FileStatus{Name: filesFile, Path: filepath.Join(dir, filesFile)}
	info, err := plain(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(named) == 0:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		n := int64(len(named))
		f.Lost = &n
		return f, nil
	case errors.Is(err, errNotPlain):
		f.Present, f.Problem = true, err.Error()
		return f, nil
	case err != nil:
		return nil, err
	}
	f.Present, f.Bytes = true, info.Size()
	if log, err := os.Stat(f.Path + "-wal"); err == nil {
		f.LogBytes = log.Size()
	}
	if err := look(ctx, f.Path, func(d *database) error { return f.readFiles(ctx, d, named) }); err != nil {
		f.Problem, f.Damaged = problem(err)
	}
	if f.Problem == "" && strangers(record, f.id) {
		f.Problem, f.Lost = "it "+strangeFilesText, nil
	}
	return f, nil
}

func (f *FileStatus) readFiles(ctx context.Context, d *database, named map[string]event.Seq) error {
	form, err := d.formOf(ctx, fileMigrations())
	if err == nil {
		err = form.refused(d.path)
	}
	if err != nil {
		return err
	}
	if form.empty {
		n := int64(len(named))
		f.Lost = &n
		return nil
	}
	if err := d.still(ctx); err != nil {
		return err
	}
	if f.id, err = d.identity(ctx); err != nil {
		return err
	}
	begun, err := d.begun(ctx)
	if err != nil {
		return err
	}
	kept, err := d.texts(ctx, `SELECT id FROM main.checkpoint`)
	if err != nil {
		return err
	}
	_, lost := gone(named, func(id string) bool { return slices.Contains(kept, id) }, true, begun)
	f.Lost = &lost
	var free, checkpoints, contents int64
	var oldest, newest sql.NullInt64
	if err := d.conn.QueryRowContext(ctx, `SELECT (SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size),
		(SELECT count(*) FROM main.checkpoint), (SELECT count(*) FROM main.object), (SELECT min(time) FROM main.checkpoint), (SELECT max(time) FROM main.checkpoint)`).
		Scan(&free, &checkpoints, &contents, &oldest, &newest); err != nil {
		return err
	}
	f.Form, f.FreeBytes, f.Checkpoints, f.Contents = form.last, &free, &checkpoints, &contents
	if oldest.Valid {
		a, b := time.UnixMilli(oldest.Int64).UTC(), time.UnixMilli(newest.Int64).UTC()
		f.Oldest, f.Newest = &a, &b
	}
	return nil
}

// checkFiles reads all of files.db and the contents beside it.
func checkFiles(ctx context.Context, dir string) (*checking, error) {
	c := &checking{ctx: ctx, file: recordFile{name: filesFile, steps: fileMigrations()}, is: CheckedFile{Name: filesFile}, kept: map[string]bool{}, there: true}
	path := filepath.Join(dir, filesFile)
	if _, err := plain(path); errors.Is(err, fs.ErrNotExist) {
		c.there = false
		return c, nil
	} else if errors.Is(err, errNotPlain) {
		c.add(ProblemNotOurs, "", nil, "%v", err)
		return c, nil
	} else if err != nil {
		return nil, err
	}
	err := look(ctx, path, func(d *database) error {
		c.is, c.id, c.problems, c.more = CheckedFile{Name: filesFile, Present: true}, 0, nil, 0 // for the second look
		clear(c.kept)
		if err := d.still(ctx); err != nil {
			return err
		}
		form, err := d.formOf(ctx, c.file.steps)
		switch {
		case err != nil:
			return err
		case form.empty:
			c.is.Present = false
			return nil
		case form.newer != "":
			c.add(ProblemNewer, "migration", form.newer, "only a newer program knows this")
			return nil
		case form.foreign:
			c.add(ProblemNotOurs, "", nil, foreignText)
			return nil
		}
		c.is.Form = form.last
		if c.id, err = d.identity(ctx); err != nil {
			return err
		}
		if c.begun, err = d.begun(ctx); err != nil {
			return err
		}
		if err := c.phase("", func() error { return c.sqlite(d) }); err != nil {
			return err
		}
		if err := c.phase("checkpoint", func() error {
			list, err := d.texts(ctx, `SELECT id FROM main.checkpoint`)
			for _, id := range list {
				c.kept[id] = true
			}
			return err
		}); err != nil {
			return err
		}
		return c.phase("object", func() error { return c.objects(d, filepath.Join(dir, objectsFolder)) })
	})
	if err != nil && damaged(err) {
		c.add(ProblemNotOurs, "", nil, "%v", cause(err))
		err = nil
	}
	return c, err
}

// objects reads every content.
func (c *checking) objects(d *database, dir string) error {
	p := &packer{}
	f := &Files{dir: dir}
	return d.each(c.ctx, `SELECT id, hash, bytes, CASE WHEN data IS NULL THEN -1 ELSE enc END, data FROM main.object WHERE id > ? ORDER BY id LIMIT 64`,
		func(id int64, hash []byte, size int64, enc int, data []byte) {
			c.is.Rows++
			if enc >= 0 {
				c.content(p, "object", ProblemBytes, id, hash, size, enc, data)
				return
			}
			file, err := openPlain(f.object(hash))
			if err == nil {
				_, err = io.Copy(io.Discard, newSummed(file, hash))
				file.Close()
			}
			if err != nil {
				c.add(ProblemBytes, "object", id, "%v", err)
			}
		})
}
