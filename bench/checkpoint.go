//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/store"
)

const (
	// The tree of a checkpoint: so many folders, of so many folders, of so many files; changed is how many of them change.
	keptTop, keptMid, keptFiles = 50, 20, 50
	keptChanged                 = 3
)

// checkpoint is the last part of block 6: a checkpoint around a command that changes a few files of a large tree, against a
// walk that asks the system about each.
func (b *bench) checkpoint() error {
	root, err := os.MkdirTemp(b.disk, "kept-")
	if err != nil {
		return err
	}
	content := int64(0)
	for i := range keptTop * keptMid {
		dir := filepath.Join(root, fmt.Sprintf("d%d/e%d", i/keptMid, i%keptMid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for j := range keptFiles {
			text := fmt.Sprintf("package e%d\n\n", i) + strings.Repeat(fmt.Sprintf("func f%d(n int) int { return n + %d }\n", j, i), 20)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", j)), []byte(text), 0o644); err != nil {
				return err
			}
			content += int64(len(text))
		}
	}
	state, err := os.MkdirTemp(b.disk, "kept-state-")
	if err != nil {
		return err
	}
	ctx := context.Background()
	var k *checkpoint.Keeper
	begin := func() (end func() error, err error) {
		s, err := store.Open(ctx, store.Options{Dir: state})
		if err != nil {
			return nil, err
		}
		if k, err = checkpoint.Open(checkpoint.Options{Root: root, Files: s.Files}); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return func() error { return errors.Join(k.Close(), s.Close()) }, nil
	}
	end, err := begin()
	if err != nil {
		return err
	}
	n := 0
	around := func() (time.Duration, error) {
		n++
		id := fmt.Sprintf("chk_%04d", n)
		began := time.Now()
		if _, _, err := k.Before(ctx, event.Scope{Task: "tsk_bench"}, id, nil, false, nil); err != nil {
			return 0, err
		}
		took := time.Since(began)
		for i := range keptChanged {
			name := filepath.Join(root, fmt.Sprintf("d%d/e0/f0.go", i))
			if err := os.WriteFile(name, fmt.Appendf(nil, "package changed // %d\n", n), 0o644); err != nil {
				return 0, err
			}
		}
		began = time.Now()
		closed, err := k.After(ctx, id)
		if err == nil && n > 1 && len(closed.Changes) != keptChanged {
			err = fmt.Errorf("%d changes were found, want %d", len(closed.Changes), keptChanged)
		}
		return took + time.Since(began), err
	}
	first, err := around()
	if err != nil {
		return err
	}
	if err := end(); err != nil { // so that what is in the write-ahead log comes into the file
		return err
	}
	before := sizeOf(state)
	if end, err = begin(); err != nil {
		return err
	}
	var bare, ours []float64
	for range b.rounds {
		began := time.Now()
		err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
			if err == nil {
				_, err = d.Info()
			}
			return err
		})
		if err != nil {
			return err
		}
		bare = append(bare, ms(time.Since(began)))
		took, err := around()
		if err != nil {
			return err
		}
		ours = append(ours, ms(took))
	}
	if err := end(); err != nil {
		return err
	}
	growth := float64(sizeOf(state)-before) / float64(b.rounds)
	b.most("6 files", fmt.Sprintf("checkpoint, before and after, %d of 50,000 files changed, to an lstat walk", keptChanged), median(ours)/median(bare), 2, "×")
	b.note("6 files", "… absolute", fmt.Sprintf("%.0f ms, walk %.0f ms; the first, of %d MB, %.1f s", median(ours), median(bare), content>>20, first.Seconds()))
	b.most("6 files", "… what it adds to the store, per checkpoint", growth/1024, 64, " kB")
	return nil
}

// sizeOf is how many bytes the files in a folder have.
func sizeOf(dir string) (n int64) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			n += info.Size()
		}
	}
	return n
}
