//go:build unix

package checkpoint_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"overt/internal/checkpoint"
)

// TestPutBack: what matches is as it was before, the rest as the command left it; the checkpoint knows of the rest alone.
func TestPutBack(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.sh("mkdir -p keep/deep plain; echo one > keep/file; chmod 640 keep/file; ln -s file keep/link; echo one > plain/file")
	before := b.snapshot()
	ctx := context.Background()
	id := b.begin()
	b.sh("echo two > keep/file; chmod 777 keep/file; rm keep/link; rmdir keep/deep; mkdir -p keep/new/er; echo x > keep/new/er/x; ln -sfn /etc keep/out")
	back, left, err := b.k.PutBack(ctx, id, func(path string, _ bool) bool { return path == "keep" || strings.HasPrefix(path, "keep/") })
	if err != nil || len(left) != 0 || !slices.Contains(back, "keep/new/er/x") || !slices.Contains(back, "keep/deep") {
		t.Fatal(back, left, err)
	}
	if after := b.snapshot(); !maps.Equal(after, before) {
		t.Errorf("it is %v, was %v", after, before)
	}
	b.sh("echo two > plain/file")
	closed, err := b.k.After(ctx, id)
	if err != nil || len(closed.Changes) != 1 || closed.Changes[0].Path != "plain/file" {
		t.Errorf("%+v, %v", closed.Changes, err)
	}
}
