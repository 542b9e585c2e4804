package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// standIn gives, for who only looks at a record that has no captures.db, one in memory with nothing in it, so that none has to be made.
func standIn(ctx context.Context, path string, steps []migration, now time.Time) (*database, error) {
	d := &database{path: path, stmts: map[string]*sql.Stmt{}}
	// In this file system of SQLite's, the connections of a process that give the same name have the same file; d has one of its own.
	url := fmt.Sprintf("file:/overt-%p", d) + settings + "&vfs=memdb"
	var err error
	if d.pool, err = sql.Open("sqlite", url); err != nil {
		return nil, d.explain(err)
	}
	d.pool.SetMaxOpenConns(1)
	if d.conn, err = d.pool.Conn(ctx); err == nil {
		err = d.do(ctx, false, func() error { return d.apply(ctx, steps, now) })
	}
	if err == nil {
		d.read, err = sql.Open("sqlite", url+"&_pragma=query_only(1)")
	}
	if err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	return d, nil
}
