//go:build unix

package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"overt/internal/workspace"
)

// TestSwappedLinks: a program that swaps what a path leads to, between the check and the use, gets nothing read and
// nothing written where the check did not lead.
func TestSwappedLinks(t *testing.T) {
	root := t.TempDir()
	tree, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	for _, dir := range []string{"ok", "hooks", "real", "folder"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"ok/f": "fine", "hooks/f": "SECRET", "plain": "fine", "secret": "SECRET"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	// d is a link to one folder, then to the other; l likewise to files; f is a folder, then a link; x a file, then a link.
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink([]string{"real", "hooks"}[i%2], filepath.Join(root, "t"))
			os.Rename(filepath.Join(root, "t"), filepath.Join(root, "d"))
			os.Rename(filepath.Join(root, "folder"), filepath.Join(root, "f"))
			os.Rename(filepath.Join(root, "f"), filepath.Join(root, "folder"))
			os.Symlink("hooks", filepath.Join(root, "f"))
			os.Remove(filepath.Join(root, "f"))
			os.Symlink([]string{"plain", "secret"}[i%2], filepath.Join(root, "t"))
			os.Rename(filepath.Join(root, "t"), filepath.Join(root, "l"))
			os.Link(filepath.Join(root, "plain"), filepath.Join(root, "x"))
			os.Remove(filepath.Join(root, "x"))
			os.Symlink("secret", filepath.Join(root, "x"))
			os.Remove(filepath.Join(root, "x"))
		}
	})
	wrote := 0
	for i := range 1000 {
		for _, name := range []string{"l", "x"} {
			real, err := tree.Resolve(name)
			if err != nil || real == "secret" {
				continue // this is what policy is for
			}
			if f, err := tree.Read(name, real, 1000); err == nil && strings.Contains(string(f.Bytes), "SECRET") {
				t.Fatalf("%s was checked as %s, and what was read is the secret", name, real)
			}
		}
		for _, name := range []string{"d", "f"} {
			name = fmt.Sprintf("%s/new%d", name, i)
			real, err := tree.Resolve(name)
			// Where f is missing just now it would be made, and could not be swapped any more.
			if err != nil || strings.HasPrefix(real, "hooks") || strings.HasPrefix(real, "f/") && i%100 != 0 {
				continue
			}
			if tree.Write(name, real, []byte("x"), "") == nil {
				wrote++
			}
		}
	}
	close(stop)
	swapping.Wait()
	found, err := os.ReadDir(filepath.Join(root, "hooks"))
	if err != nil || len(found) != 1 || wrote == 0 {
		t.Errorf("%d files stand where nothing was allowed (%v); %d were written elsewhere", len(found)-1, err, wrote)
	}
}

// TestFailedCreateLeavesNoFolders: folders that were made for a file that could not be written are gone again.
func TestFailedCreateLeavesNoFolders(t *testing.T) {
	root := t.TempDir()
	tree, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	if err := writeAt(tree, "a/b/"+strings.Repeat("x", 300), []byte("x"), ""); err == nil {
		t.Fatal("a name of 300 bytes was written")
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
