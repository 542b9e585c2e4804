//go:build linux && (amd64 || arm64)

package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The sandbox is made of five things, each for what the others cannot do.
//
//   - A mount namespace (mount_setattr(2), open_tree(2)): everything read-only, what may be written mounted over it, what
//     may not be changed or read inside that mounted over it again. Landlock alone can't take away below what it grants.
//     Over /dev lies one with what any program may use.
//   - Landlock (landlock(7)): the same for writing; and it forbids to mount, to trace and to signal outside, which the
//     namespaces of a user would let the command undo or go around (/proc/PID/root).
//   - A network namespace: a loopback interface, so that tests may listen, and nothing else.
//   - A process namespace: nothing outside can be named, and all that the command has started ends when it does, whatever
//     it has done to hide (pid_namespaces(7)).
//   - A filter of system calls (seccomp(2)) for sockets that no namespace confines, those with names in the file system:
//     whoever reaches the one of a container engine or of a key agent is out.
//
// Only a process that starts in the namespaces can set up the rest, before the command is there. So this program starts
// itself: see [Reexec].

// SandboxSupport tells whether commands can be confined: nil, or an error that says what the kernel does not give. It tries
// once, with a command that does nothing, which takes some milliseconds.
func SandboxSupport() error { return sandboxSupport() }

// One look serves the whole process: what the kernel allows does not change.
var sandboxSupport = sync.OnceValue(func() error {
	switch abi, err := landlocksys.LandlockGetABIVersion(); {
	case err != nil || abi < 1:
		return errors.New("the kernel has no Landlock, or it is switched off")
	case abi < 3:
		return fmt.Errorf("the kernel's Landlock does not know all kinds of writing (version %d; 3 came with Linux 6.2)", abi)
	}
	cmd := &exec.Cmd{Path: "/bin/true", Args: []string{"true"}, Env: []string{}, SysProcAttr: attributes()}
	if err := (&Sandbox{}).confine(cmd); err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case len(out) > 0:
		return errors.New(strings.TrimPrefix(strings.TrimSpace(string(out)), "overt: "))
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.ENOSYS):
		return errors.New("the kernel lets this user make no namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns forbid it)")
	}
	return fmt.Errorf("a first try failed: %v", err)
})

// confinement is what this program is told when it starts itself.
type confinement struct {
	*Sandbox
	Files int // descriptors from 0 on that the command gets
}

// confine makes a command that is about to be started, with its descriptors, begin as this program in new namespaces, which starts it
// there.
func (s *Sandbox) confine(cmd *exec.Cmd) error {
	spec, err := json.Marshal(confinement{s, 3 + len(cmd.ExtraFiles)})
	if err != nil {
		return err
	}
	cmd.Args = append([]string{"overt", sandboxArg, string(spec), cmd.Path}, cmd.Args...)
	cmd.Path = "/proc/self/exe"
	a := cmd.SysProcAttr
	a.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWPID
	// The one user is who it was. Others are nobody to it.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	// What sets up the rest (for an overlay, its working folder), kept by who is not root until dropCapabilities.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	return nil
}

// Reexec is called first of all by every program that confines commands. Where this program was started to become a
// command in a sandbox it starts that, ends with it, and returns only if it can't, with the reason for standard error; nothing was run then,
// and the program is to end with status 125. Else it does nothing and returns nil.
func Reexec() error {
	if len(os.Args) < 5 || os.Args[0] != "overt" || os.Args[1] != sandboxArg {
		return nil
	}
	runtime.LockOSThread() // the thread that starts the command is the one whose rights it gets
	return fmt.Errorf("overt: the sandbox could not be set up, and nothing was run: %w", becomeConfined(os.Args[2], os.Args[3], os.Args[4:]))
}

func becomeConfined(spec, path string, argv []string) error {
	var s confinement
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, step := range []func() error{s.mount, ownProcesses, loopbackUp, dropCapabilities, s.landlock, filterCalls} {
		if err := step(); err != nil {
			return err
		}
	}
	// The folder as it is in the new tree of mounts: in the old one it would still be writable or readable as before.
	if err := os.Chdir(dir); err != nil {
		return err
	}
	// Set anew: a change of credentials takes it away (prctl(2)).
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	return s.run(path, argv)
}

// run starts the command and ends with it, with its status; 128 and its number for a signal, as shells have it. This process
// is the first of its namespace: with it ends whatever is left there. So it hears no signal that is for the command, which
// as the first one would not hear them itself (pid_namespaces(7)).
func (s *confinement) run(path string, argv []string) error {
	// Nothing in the namespace may trace it; the command gets what any program gets.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	signal.Notify(make(chan os.Signal, 1))
	files := make([]uintptr, s.Files)
	for i := range files {
		files[i] = uintptr(i)
	}
	child, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for { // the first process is who orphans are left to; it has nothing to do at its end, where the race detector would wait for a second
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case pid == child && ws.Signaled():
			syscall.Exit(128 + int(ws.Signal()))
		case pid == child && ws.Exited():
			syscall.Exit(ws.ExitStatus())
		}
	}
}

// layer is a path with the tree that is to be mounted there.
type layer struct {
	path string
	tree int
}

// mount builds the tree of mounts. Every layer is taken from the tree as it was, and put in its place from the outer ones
// to the inner ones.
func (s *Sandbox) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	blind, err := blindfold()
	if err != nil {
		return err
	}
	var layers []layer
	add := func(path string, tree int, err error) error {
		if err == nil {
			layers = append(layers, layer{path, tree})
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	for _, p := range s.Write {
		tree, err := openTree(unix.AT_FDCWD, p, unix.AT_RECURSIVE)
		if err := add(p, tree, err); err != nil {
			return err
		}
	}
	for _, p := range s.Private {
		tree, err := overlay(p)
		if err != nil { // it may lie in a folder that may be written
			if tree, err = openTree(unix.AT_FDCWD, p.Path, unix.AT_RECURSIVE); err == nil {
				err = readOnly(tree)
			}
		}
		if err := add(p.Path, tree, err); err != nil {
			return err
		}
	}
	for _, p := range s.ReadOnly {
		tree, err := openTree(unix.AT_FDCWD, p, unix.AT_RECURSIVE)
		if err == nil {
			err = readOnly(tree)
		}
		if err := add(p, tree, err); err != nil {
			return err
		}
		// What holds it becomes a mount of its own too, or it could be renamed with all that is mounted in it.
		for dir := filepath.Dir(p); slices.ContainsFunc(s.Write, func(w string) bool { return strings.HasPrefix(dir, w+"/") }); dir = filepath.Dir(dir) {
			if slices.ContainsFunc(layers, func(l layer) bool { return l.path == dir }) {
				break
			}
			tree, err := openTree(unix.AT_FDCWD, dir, unix.AT_RECURSIVE)
			if err := add(dir, tree, err); err != nil {
				return err
			}
		}
	}
	own, err := devices()
	if err != nil {
		return fmt.Errorf("/dev: %w", err)
	}
	layers = append(layers, own...)
	for _, p := range s.Hidden {
		info, err := os.Lstat(p)
		tree := -1
		if err == nil {
			tree, err = blind.over(info.IsDir())
		}
		if err := add(p, tree, err); err != nil {
			return err
		}
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := readOnly(root); err != nil {
		return fmt.Errorf("mount read-only: %w", err)
	}
	slices.SortStableFunc(layers, func(a, b layer) int { return strings.Count(a.path, "/") - strings.Count(b.path, "/") })
	for _, l := range layers {
		err := unix.MoveMount(l.tree, "", unix.AT_FDCWD, l.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
		if err := unix.Close(l.tree); err != nil {
			return err
		}
		// What lies in what is hidden is hidden already.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EACCES) {
			return fmt.Errorf("mount over %s: %w", l.path, err)
		}
	}
	return nil
}

// ownProcesses shows the command its own processes under /proc, where the kernel lets a user mount that: in a container that
// hides parts of it, it does not, and then Landlock keeps what is shown of others from being entered.
func ownProcesses() error {
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// openTree takes a copy of what is mounted at a path, which is not followed if it is a link.
func openTree(dir int, path string, flags uint) (int, error) {
	return unix.OpenTree(dir, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW|flags)
}

func readOnly(tree int) error {
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// overlay lays the store of a private folder over it (Documentation/filesystems/overlayfs.rst).
func overlay(p Private) (tree int, err error) {
	if strings.ContainsAny(p.Path+p.Store, ":,\\") {
		return -1, errors.New("the name can't be given to an overlay")
	}
	dev, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dev)
	for _, dir := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(p.Store, dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return -1, err
		}
	}
	for key, value := range map[string]string{"lowerdir": p.Path, "upperdir": filepath.Join(p.Store, "upper"), "workdir": filepath.Join(p.Store, "work")} {
		if err := unix.FsconfigSetString(dev, key, value); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigSetFlag(dev, "userxattr"); err != nil { // the only ones that a user may set
		return -1, err
	}
	if err := unix.FsconfigCreate(dev); err != nil {
		return -1, err
	}
	return unix.Fsmount(dev, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
}

// blind is a file system with a folder and a file that nobody may open.
type blind struct{ root int }

func blindfold() (b blind, err error) {
	if b.root, err = tmpfs("4k"); err != nil {
		return b, err
	}
	file, err := unix.Openat(b.root, "file", unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err != nil {
		return b, err
	}
	return b, errors.Join(unix.Close(file), unix.Mkdirat(b.root, "folder", 0))
}

// tmpfs makes an empty file system in memory.
func tmpfs(size string) (root int, err error) {
	dev, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err == nil {
		defer unix.Close(dev)
		err = unix.FsconfigSetString(dev, "size", size)
	}
	if err == nil {
		err = unix.FsconfigCreate(dev)
	}
	if err == nil {
		root, err = unix.Fsmount(dev, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
	}
	if err != nil {
		return -1, fmt.Errorf("tmpfs: %w", err)
	}
	return root, nil
}

func (b blind) over(folder bool) (int, error) {
	if folder {
		return openTree(b.root, "folder", 0)
	}
	return openTree(b.root, "file", 0)
}

// loopbackUp switches on the loopback interface, which a new network namespace has switched off.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

// dropCapabilities takes away what a process gets in a user namespace of its own, also if it is root there.
func dropCapabilities() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > 0 {
			break // no more of them
		}
		if err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	// What could be inherited goes last, since the rest needs it; what is ambient goes with it.
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// landlock grants reading everywhere (what may not be read is mounted over) and writing in the given folders.
func (s *Sandbox) landlock() error {
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty").IgnoreIfMissing(),
		landlock.RWDirs("/dev/shm").IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts").WithIoctlDev().IgnoreIfMissing(), // all made inside
	}
	for _, p := range s.Write {
		rules = append(rules, landlock.RWDirs(p).WithRefer().IgnoreIfMissing())
	}
	for _, p := range s.Private {
		rules = append(rules, landlock.RWDirs(p.Path).WithRefer().IgnoreIfMissing())
	}
	// All in one: a second set of rules would deny what the first grants between folders. What version 6 adds, that no signal
	// gets out, the process namespace does too.
	config := landlock.V3
	if abi, err := landlocksys.LandlockGetABIVersion(); err == nil && abi >= 6 {
		config = landlock.V6
		config.HandledAccessNet = 0 // see the network namespace
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}
