//go:build linux && (amd64 || arm64)

package shell

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// devices gives the layers of a /dev that has what any program may use, and nothing else: who is root, or in the group of
// disks, could read there past every file that is hidden, and open virtual machines and networks. Terminals are its own, and
// so is shared memory, for what takes locks there.
func devices() (layers []layer, err error) {
	root, err := tmpfs("64k")
	if err != nil {
		return nil, err
	}
	layers = append(layers, layer{"/dev", root})
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		tree, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file, err := unix.Openat(root, name, unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
		if err == nil {
			err = unix.Close(file)
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer{"/dev/" + name, tree})
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := unix.Symlinkat(target, root, name); err != nil {
			return nil, err
		}
	}
	shared, err := tmpfs("64m")
	if err != nil {
		return nil, err
	}
	for name, tree := range map[string]int{"shm": shared, "pts": terminals()} {
		if err := unix.Mkdirat(root, name, 0o755); err != nil {
			return nil, err
		}
		if tree >= 0 {
			layers = append(layers, layer{"/dev/" + name, tree})
		}
	}
	// Else anybody could make files in it, as in a folder for temporary ones.
	return layers, errors.Join(unix.Fchmodat(root, ".", 0o755, 0), readOnly(root))
}

// terminals makes an empty file system for terminals, -1 where the kernel lets nobody have one (devpts(5)).
func terminals() int {
	dev, err := unix.Fsopen("devpts", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1
	}
	defer unix.Close(dev)
	for key, value := range map[string]string{"ptmxmode": "0666", "mode": "0620"} {
		err = errors.Join(err, unix.FsconfigSetString(dev, key, value))
	}
	if err == nil {
		err = unix.FsconfigCreate(dev)
	}
	if err != nil {
		return -1
	}
	root, err := unix.Fsmount(dev, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1
	}
	return root
}
