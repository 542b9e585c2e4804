//go:build linux && (amd64 || arm64)

package shell

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if err := Reexec(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	os.Exit(m.Run())
}

// confined is a workspace, a home folder with secrets, and a sandbox over them, all below a folder for temporary files that
// may be written.
type confined struct {
	temp, root, home string
	box              *Sandbox
}

func newConfined(t *testing.T) confined {
	t.Helper()
	if err := SandboxSupport(); err != nil {
		t.Skip("no sandbox here:", err)
	}
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := confined{temp: temp, root: filepath.Join(temp, "work"), home: filepath.Join(temp, "home")}
	for name, text := range map[string]string{
		"work/a.txt": "a\n", "work/.git/hooks/pre-commit": "#!/bin/sh\n", "work/.git/config": "[core]\n", "work/.env": "TOKEN=hunter2\n",
		"home/.ssh/id_rsa": "private\n", "home/.bashrc": "# mine\n", "home/notes": "mine\n", "home/.cache/warm": "warm\n", "store/x": "", "other": "other\n",
	} {
		p := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(dir string, names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	c.box = &Sandbox{
		Write:    []string{c.root, filepath.Join(temp, "tmp")},
		ReadOnly: in(c.root, ".git/hooks", ".git/config", ".overt"),
		Private:  []Private{{filepath.Join(c.home, ".cache"), filepath.Join(temp, "store")}},
		Hidden:   append(in(c.root, ".env"), in(c.home, ".ssh", ".aws")...),
	}
	if err := os.Mkdir(filepath.Join(temp, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c confined) run(t *testing.T, command string) Outcome {
	t.Helper()
	env := Environ([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + filepath.Join(c.temp, "tmp")})
	h, err := Start(Options{Command: command, Dir: c.root, Env: env, Sandbox: c.box})
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.Go(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSandboxLets(t *testing.T) {
	c := newConfined(t)
	for _, tt := range []struct{ command, want string }{
		{"cat a.txt; pwd", "a\n" + c.root + "\n"},
		{"echo new > b.txt && mkdir -p d/e && mv b.txt d/e && cat d/e/b.txt && ln d/e/b.txt h && rm -r d h", "new\n"},
		{"echo t > $TMPDIR/t && cat $TMPDIR/t", "t\n"},
		{"cat ~/notes", "mine\n"},
		{"cat .git/hooks/pre-commit", "#!/bin/sh\n"},
		{"echo x > .git/index && cat .git/index", "x\n"},
		{"echo gone > /dev/null && head -c 3 /dev/zero | wc -c | tr -d ' '", "3\n"},
		{"id -u", strconv.Itoa(os.Getuid()) + "\n"},
		{"grep -c '^Cap\\(Inh\\|Prm\\|Eff\\|Bnd\\|Amb\\):.0000000000000000$' /proc/self/status", "5\n"},
		{"exit 3", ""},
		{"ulimit -n 100 && ulimit -n", "100\n"},
		{"python3 -c 'import multiprocessing as m; m.Lock(); print(m.Pool(2).map(abs, [-1, 2]))'", "[1, 2]\n"},
		{"cat ~/.cache/warm; echo cold > ~/.cache/warm; echo new > ~/.cache/new", "warm\n"},
		{"cat ~/.cache/*; rm ~/.cache/warm", "new\ncold\n"},
		{"ls ~/.cache", "new\n"},
		{"ls /dev | tr '\\n' ' '", "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "},
		{"echo a >/dev/stdout && echo b >/dev/fd/1 && head -c 3 /dev/urandom | wc -c | tr -d ' ' && cat <(echo c)", "a\nb\n3\nc\n"},
		{"python3 -c 'import pty; exit(pty.spawn([\"tty\"]))'", "/dev/pts/0\n"},
		{"python3 -c 'import ctypes; print(ctypes.CDLL(None).open(b\"a.txt\", 0, 0o4755) > 2)'", "True\n"},
	} {
		o := c.run(t, tt.command)
		if want := map[bool]int{true: 3}[tt.command == "exit 3"]; o.Exit != want || tt.want != "" && o.Head != tt.want {
			t.Errorf("%s: exit %d, output %q; want %q", tt.command, o.Exit, o.Head, tt.want)
		}
	}
	names, err := os.ReadDir(filepath.Join(c.home, ".cache"))
	text, err2 := os.ReadFile(filepath.Join(c.home, ".cache", "warm"))
	if err != nil || err2 != nil || len(names) != 1 || string(text) != "warm\n" {
		t.Error("a private folder was changed for others:", names, text, err, err2)
	}
}

// What a sandbox forbids fails, and leaves everything as it was.
func TestSandboxForbids(t *testing.T) {
	c := newConfined(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	named, err := net.Listen("unix", filepath.Join(c.root, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	letters, err := net.ListenPacket("unixgram", filepath.Join(c.root, "dgram"))
	if err != nil {
		t.Fatal(err)
	}
	defer letters.Close()
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	pid := func(s string) string { return strings.ReplaceAll(s, "PID", strconv.Itoa(sleeper.Process.Pid)) }

	c.run(t, ":") // makes the folders of the store
	before := tree(t, c.temp)
	for _, command := range []string{
		"echo x > ../other",
		"echo x >> ~/.bashrc",
		"touch ~/new",
		"touch /etc/overt-test /usr/overt-test /overt-test",
		"cd .. && echo x > other",
		"ln -s ../other link && echo x > link; s=$?; rm link; exit $s",
		"ln ../other hard",
		"mv ../other here; s=$?; rm -f here; exit $s",
		"mv a.txt ../moved",
		"rm -rf ../home/.ssh ../home/notes",
		"chmod 777 ../other",
		"echo x > .git/hooks/pre-commit",
		"echo x > .git/hooks/new",
		"echo x > .git/config",
		"chmod +x .git/hooks/pre-commit",
		"ln .git/config c && echo x >> c",
		"mv .git .git2",
		"mv .git/hooks .git/hooks2",
		"rm -rf .git/hooks",
		"cp a.txt n && mv n .git/config; s=$?; rm -f n; exit $s",
		"cat .env",
		"cat ~/.ssh/id_rsa",
		"ls ~/.ssh",
		"cat " + pid("/proc/PID/root") + c.home + "/.ssh/id_rsa",
		"cat " + pid("/proc/PID/environ"),
		pid("kill -9 PID"),
		"umount ~/.ssh",
		"umount .git/hooks",
		"mount --bind / /mnt",
		"mount -o remount,rw,bind /",
		"unshare -Urm sh -c 'umount " + c.home + "/.ssh; cat " + c.home + "/.ssh/id_rsa'",
		"unshare -Urm sh -c 'mount -o remount,rw,bind / ; echo x > ../other'",
		"exec 3<>/dev/tcp/127.0.0.1/" + port,
		"exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3",
		`python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("sock")'`,
		`python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'`,
		`python3 -c 'import socket; socket.socket(socket.AF_VSOCK)'`,
		`python3 -c 'import os; os.open("../other", os.O_WRONLY|os.O_TRUNC)'`,
		`python3 -c 'import os; os.truncate("../other", 0)'`,
		`python3 -c 'import os; os.utime("../other", (1, 1))'`,
		"echo core > /proc/sys/kernel/core_pattern",
		pid("prlimit --pid PID --cpu=1:1"),
		pid("renice 5 PID"),
		pid("ionice -c 3 -p PID"),
		"unshare -U true",
		"touch s && chmod u+s s; r=$?; rm -f s; exit $r",
		"touch s && chmod 2755 s; r=$?; rm -f s; exit $r",
		"mkdir -m 2755 s; r=$?; rm -rf s; exit $r",
		"head -c 13 /dev/loop0 || head -c 13 /dev/vda",
		"test -e /dev/kvm || test -e /dev/vsock || test -e /dev/net/tun",
		"touch /dev/new",
		`python3 -c 'import os; os.umask(0); os.open("s", os.O_CREAT|os.O_WRONLY, 0o4755)'`,
		`python3 -c 'import os; os.umask(0); os.open("s", os.O_CREAT|os.O_WRONLY, 0o2755)'`,
		`python3 -c 'import os; os.umask(0); os.open(".", os.O_TMPFILE|os.O_WRONLY, 0o4755)'`,
		`python3 -c 'import os; os.umask(0); os.mknod("s", 0o104755)'`,
		`python3 -c 'import os; os.umask(0); os.mkfifo("s", 0o4755)'`,
		`python3 -c 'import ctypes; exit(ctypes.CDLL(None).creat(b"s", 0o4755) < 0)'`,
		`python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(437, -100, b"a.txt", (ctypes.c_uint64 * 3)(), 24) < 0)'`, // openat2
		`python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0)'; r=$?; exit $((1 - r))`,
		pid("test -e /proc/PID"),
		`python3 -c 'import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", "dgram")'`,
		"sudo -n true",
	} {
		if o := c.run(t, command); o.Exit == 0 {
			t.Errorf("%s: exit 0, output %q", command, o.Head)
		}
		if after := tree(t, c.temp); after != before {
			t.Fatalf("%s changed something:\n%s\nbefore:\n%s", command, after, before)
		}
	}
	if err := sleeper.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("a process outside was ended:", err)
	}
}

// What holds for root holds for anybody else: the rights that set up a sandbox come from elsewhere for them.
func TestSandboxOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the other tests run as somebody else than root already")
	}
	dir, err := os.MkdirTemp("", "overt-sandbox-") // unlike those of t.TempDir, one that others reach
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "test")
	if err := os.WriteFile(bin, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=TestSandbox(Lets|Forbids|Loopback)$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "--- PASS"); err != nil || n != 3 {
		t.Errorf("as nobody: %v, %d of 3 passed:\n%s", err, n, out)
	}
}

// Whatever a command does to go on, it ends with its leader: nothing is done behind the look at what it has made.
func TestSandboxEnds(t *testing.T) {
	c := newConfined(t)
	token := fmt.Sprintf("1%d.5", os.Getpid()) // that no other process has
	for _, command := range []string{
		"sleep TOKEN &",
		"setsid sleep TOKEN >/dev/null 2>&1 &",
		"env -i setsid sh -c 'sleep TOKEN' >/dev/null 2>&1 & sleep 0.1",
		`python3 -c '
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 357); "TOKEN"; os.environ.clear()
for i in range(100000):
    if os.fork(): os._exit(0)
'`,
	} {
		command = strings.ReplaceAll(command, "TOKEN", token)
		o := c.run(t, command)
		if o.Exit != 0 {
			t.Errorf("%s: exit %d, output %q", command, o.Exit, o.Head)
		}
		if out, err := exec.Command("pgrep", "-f", token).CombinedOutput(); err == nil {
			t.Errorf("%s: it goes on: %s", command, out)
		}
	}
}

// A time limit ends all of it, too.
func TestSandboxTimeout(t *testing.T) {
	c := newConfined(t)
	token := fmt.Sprintf("2%d.5", os.Getpid())
	h, err := Start(Options{Command: "setsid sleep " + token + " & sleep " + token + "; echo late", Dir: c.root, Env: Environ(os.Environ()), Sandbox: c.box, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.Go(context.Background(), nil, nil)
	if err != nil || !o.TimedOut || strings.Contains(o.Head, "late") {
		t.Errorf("%+v, %v", o, err)
	}
	if out, err := exec.Command("pgrep", "-f", token).CombinedOutput(); err == nil {
		t.Errorf("it goes on: %s", out)
	}
}

// A command may serve itself: what tests of servers do.
func TestSandboxLoopback(t *testing.T) {
	c := newConfined(t)
	o := c.run(t, `python3 - <<'P'
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: s.accept()[0].sendall(b"hello"), daemon=True).start()
print(socket.create_connection(s.getsockname()).recv(5).decode())
a, b = socket.socketpair()
P`)
	if o.Exit != 0 || o.Head != "hello\n" {
		t.Errorf("exit %d, output %q", o.Exit, o.Head)
	}
}

func BenchmarkSandbox(b *testing.B) {
	if err := SandboxSupport(); err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for name, box := range map[string]*Sandbox{"bare": nil, "confined": {Write: []string{dir}, Hidden: []string{"/root/.ssh"}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h, err := Start(Options{Command: ":", Dir: dir, Env: os.Environ(), Sandbox: box})
				if err != nil {
					b.Fatal(err)
				}
				if o, err := h.Go(context.Background(), nil, nil); err != nil || o.Exit != 0 {
					b.Fatal(o, err)
				}
			}
		})
	}
}

// tree writes down all files below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if strings.HasSuffix(p, "/store/work") {
			return filepath.SkipDir // the kernel's own, closed to users
		}
		if err != nil {
			return err
		}
		b.WriteString(p + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.WriteString(" " + info.ModTime().String() + " " + string(text))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSandboxLasts: the state of a session passes through commands in the sandbox.
func TestSandboxLasts(t *testing.T) {
	c := newConfined(t)
	s := NewSession(c.root, Environ([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home}))
	t.Cleanup(s.Close)
	for _, x := range []struct {
		box           *Sandbox
		command, want string
	}{
		{nil, "x=1; f() { echo F; }", ""},
		{c.box, "echo $x; f; x=2; mkdir d; cd d; export K=v", "1\nF\n"},
		{c.box, "echo $x $K ${PWD##*/}; echo no >" + c.temp + "/other", "2 v d\n"},
		{nil, "echo $x $K ${PWD##*/}", "2 v d\n"},
	} {
		h, err := s.Start(Options{Command: x.command, Sandbox: x.box})
		if err != nil {
			t.Fatal(err)
		}
		o, err := h.Go(t.Context(), nil, nil)
		if err != nil || o.Lost || !strings.HasPrefix(o.Head, x.want) {
			t.Errorf("%s: %+v, %v", x.command, o, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(c.temp, "other")); err != nil || string(text) != "other\n" {
		t.Errorf("%q, %v", text, err)
	}
}
