package shell_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/shell"
)

// lasting is a session in a folder of its own.
type lasting struct {
	*shell.Session
	t   *testing.T
	dir string
}

func begin(t *testing.T) *lasting {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &lasting{shell.NewSession(dir, shell.Environ(os.Environ())), t, dir}
	t.Cleanup(s.Close)
	return s
}

func (s *lasting) run(command string) shell.Outcome {
	s.t.Helper()
	h, err := s.Start(shell.Options{Command: command, Timeout: 20 * time.Second})
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	o, err := h.Go(s.t.Context(), nil, nil)
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return o
}

// TestSession: what a command leaves, the next one finds, however the first one ended.
//
// covers A013
func TestLasting(t *testing.T) {
	for _, c := range []struct {
		name  string
		first string
		exit  int
		then  string
		want  string
	}{
		{"folder and variables", "mkdir -p d; cd d; export K=v; x=1; exit 3", 3, "echo ${PWD##*/} $K $x; sh -c 'echo $K'", "d v 1\nv\n"},
		{"set -e", "set -e; y=2; false; y=3", 1, "set +e; echo $y", "2\n"},
		{"a syntax error", "y=2; if", 2, "echo ok ${y-unset}", "ok unset\n"},
		{"an error in eval", "y=2; eval 'if'; y=3", 0, "echo $y", "3\n"},
		{"options", "set -u -o pipefail; shopt -s nullglob", 0, "false | true; echo $?; echo none*; shopt -q nullglob && echo on; echo $nothing", "1\n\non\n"},
		{"set -e from before", "set -e", 0, "false; echo no", ""},
		{"a function", "f() { echo F \"$1\"; }; g() { f g; }; export -f g", 0, "f 1; g; bash -c 'type -t g'", "F 1\nF g\nfunction\n"},
		{"a function that goes", "f() { :; }", 0, "unset -f f; type f 2>/dev/null || echo gone", "gone\n"},
		{"values", `M=$'a\nb=c'; N="it's \"x\" \\ \$HOME"; export O=$'\té 中文'`, 0, `printf '%s|' "$M" "$N" "$O"; echo "${b-unset}"`, "a\nb=c|it's \"x\" \\ $HOME|\té 中文|unset\n"},
		{"arrays", `a=(1 "2 3" $'4\n5'); declare -A m=([k]=v ["a b"]='c)d'); declare -i i=7`, 0, `echo ${#a[@]} "${a[1]}" "${a[2]}" "${m[a b]}"; i=i+1; echo $i`, "3 2 3 4\n5 c)d\n8\n"},
		{"readonly", "readonly R=1; declare -rx S=2", 0, "(R=2) 2>/dev/null || echo $R; sh -c 'echo $S'", "1\n2\n"},
		{"PATH", "PATH=", 0, "echo ok; ls 2>/dev/null || echo none", "ok\nnone\n"},
		{"IFS", "IFS=:", 0, `a=1:2; printf '<%s>' $a`, "<1><2>"},
		{"aliases", "shopt -s expand_aliases; alias hi='echo hello'", 0, "hi you", "hello you\n"},
		{
			"aliases named like builtins", "shopt -s expand_aliases; alias return=echo builtin=echo local=echo unset=echo eval=echo declare=echo shift=echo printf=echo set=echo", 0,
			"trap 'echo b' EXIT; x=1; trap -p; trap", "trap -- 'echo b' EXIT\ntrap -- 'echo b' EXIT\nb\n",
		},
		{"an alias in a function", "n() { echo $#; }; shopt -s expand_aliases; alias n='n 1'\nf() { n; }", 0, "f; n", "1\n1\n"},
		{"umask", "umask 027", 0, "umask", "0027\n"},
		{"arguments", "set -- 'a b' c", 0, `echo $# "$1"`, "2 a b\n"},
		{"a trap of its own", "trap 'echo bye $?' EXIT; z=5; exit 4", 4, "echo $z; trap; trap 'echo b' EXIT; trap -p EXIT", "5\ntrap -- 'echo b' EXIT\nb\n"},
		{"a trap and exit in a function", "trap 'echo bye' 0; f() { z=6; exit 1; }; f", 1, "echo $z", "6\n"},
		{"a trap that is taken back", "trap 'echo no' EXIT; trap - EXIT; z=7", 0, "echo $z", "7\n"},
		{"a trap with a descriptor", "exec 3>f 4<f 7>&3; trap 'echo bye >&3' EXIT; z=7", 0, "cat f", "bye\n"},
		{"a trap in a subshell", "(trap 'echo sub' EXIT); z=8", 0, "echo $z", "8\n"},
		{
			"functions named like builtins", "cd() { builtin cd \"$1\"; }; printf() { echo P; }; declare() { echo D; }; eval() { echo E; }; read() { echo R; }; umask() { :; }; pwd() { :; }; unset() { :; }; set() { :; }; exec() { echo X; }; z=9",
			0, "echo $z; printf x; read", "9\nP\nR\n",
		},
		{"a function named builtin", "builtin() { echo B; }; z=10", 0, "echo $z", "10\n"},
		{"terminated", "z=11; kill -TERM $$; echo no", -1, "echo $z", "11\n"},
		{"xtrace", "set -x; z=12", 0, "set +x; echo $z", "++ set +x\n12\n"},
		{"posix", "set -o posix; z=13", 0, "echo $z; set -o | grep posix", "13\nposix          \ton\n"},
		{"a CJK folder", "mkdir 目录; cd 目录", 0, "echo ${PWD##*/}", "目录\n"},
		{"the folder before", "mkdir d; cd d", 0, "cd - >/dev/null; ls", "d\n"},
		{"a link's name", "mkdir d; ln -s d l; cd l", 0, "echo ${PWD##*/}", "l\n"},
		{"unset", "unset HOME; PAGER=x", 0, `echo "${HOME-none} $PAGER"; sh -c 'echo $PAGER'`, "none x\nx\n"},
		{"keys and ours", "export MY_API_KEY=k OVERT_X=y", 0, `echo "${MY_API_KEY-none} ${OVERT_X-none}"`, "none none\n"},
		{"a large variable", "export L=$(head -c 200000 /dev/zero | tr '\\0' x)", 0, "echo ${#L}", "200000\n"},
		{
			"names like those of bash", "export HOSTNAME=a OSTYPE=b HOSTTYPE=c MACHTYPE=d BASHRC=e BASH_LOADABLES_PATH=f BASH_MINE=g; BASHFUL=h", 0,
			`sh -c 'echo $HOSTNAME $OSTYPE $HOSTTYPE $MACHTYPE $BASHRC $BASH_LOADABLES_PATH $BASH_MINE'; echo $BASHFUL`, "a b c d e f g\nh\n",
		},
		{"nothing from standard streams", `printf 'declare -x Q="1"\n' >&2; echo x`, 0, `echo "${Q-unset}"`, "unset\n"},
		{"what a child writes to the sheet", `z=14; bash -c "printf 'declare -- z=99\\0' >&187"`, 0, "echo $z", "14\n"},
		{"noexec", "z=15; set -n; z=16", 0, "echo ${z-unset}", "unset\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t)
			if o := s.run(c.first); o.Exit != c.exit {
				t.Errorf("the first ended with %d: %q", o.Exit, o.Head)
			}
			if o := s.run(c.then); o.Head != c.want && !(c.name == "options" && strings.HasPrefix(o.Head, c.want)) {
				t.Errorf("got %q, want %q", o.Head, c.want)
			}
		})
	}
}

// TestFewDescriptors: a limit that forbids the descriptors of the gate says nothing of them, and the state lasts.
func TestFewDescriptors(t *testing.T) {
	for _, c := range []struct {
		command string
		exit    int
		want    string
	}{
		{"ulimit -n 20; echo $(ulimit -n)", 0, "20\n"},
		{"ulimit -n 20; exit 3", 3, ""},
		{"ulimit -n 10; f() { echo hi | cat; }; f >out; cat out", 0, "hi\n"},
		{"trap 'echo bye' EXIT; ulimit -n 8", 0, "bye\n"},
	} {
		s := begin(t)
		if o := s.run("x=1; " + c.command); o.Exit != c.exit || o.Head != c.want || o.Lost {
			t.Errorf("%q: %d %q", c.command, o.Exit, o.Head)
		}
		if o := s.run("echo $x"); o.Head != "1\n" {
			t.Errorf("%q: then %q", c.command, o.Head)
		}
	}
}

// TestLastingSh: what lasts in a plain sh.
func TestLastingSh(t *testing.T) {
	if _, err := os.Stat("/bin/dash"); err != nil {
		t.Skip("needs dash")
	}
	for _, c := range []struct {
		name  string
		first string
		exit  int
		then  string
		want  string
	}{
		{"folder and variables", "mkdir -p d; cd d; export K=v; x=1; exit 3", 3, "echo ${PWD##*/} $K $x; sh -c 'echo $K'", "d v 1\nv\n"},
		{"set -e", "set -e; y=2; false; y=3", 1, "set +e; echo $y", "2\n"},
		{"a syntax error", "y=2; if", 2, "echo ok", "ok\n"},
		{"values", "M='a\nb=c'; N='it'\\''s \"x\" $HOME'", 0, `printf '%s|' "$M" "$N"; echo "${b-unset}"`, "a\nb=c|it's \"x\" $HOME|unset\n"},
		{"options", "set -u; set -f", 0, "echo *; echo $nothing", "*\n"},
		{"aliases", "alias hi='echo hello'", 0, "hi you", "hello you\n"},
		{"PATH and IFS", "PATH=; IFS=:", 0, `a=1:2; printf '<%s>' $a`, "<1><2>"},
		{"umask", "umask 027", 0, "umask", "0027\n"},
		{"readonly", "readonly R=1", 0, "echo $R", "1\n"},
		{"terminated", "z=11; kill -TERM $$; echo no", -1, "echo ok", "ok\n"},
		{"a trap of its own", "z=1; trap 'echo bye' EXIT; z=2", 0, "echo ${z-unset}", "2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t)
			s.UseSh("/bin/dash")
			if o := s.run(c.first); o.Exit != c.exit {
				t.Errorf("the first ended with %d: %q", o.Exit, o.Head)
			}
			if o := s.run(c.then); o.Head != c.want && !(c.name == "options" && strings.HasPrefix(o.Head, c.want)) {
				t.Errorf("got %q, want %q", o.Head, c.want)
			}
		})
	}
}

// TestLost: a shell that could not leave its state keeps that of before, and says so.
func TestLost(t *testing.T) {
	s := begin(t)
	s.run("x=1")
	for _, c := range []string{"x=2; exec true", "x=2; kill -9 $$", "x=2; exec 187>&-"} {
		if o := s.run(c); !o.Lost {
			t.Errorf("%s: %+v", c, o)
		}
	}
	if o := s.run("echo $x"); o.Head != "1\n" || o.Lost {
		t.Errorf("%+v", o)
	}
	h, err := s.Start(shell.Options{Command: "x=3; sleep 60; x=4", Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := h.Go(t.Context(), nil, nil); err != nil || !o.TimedOut || o.Lost {
		t.Errorf("%+v, %v", o, err)
	}
	if o := s.run("echo $x"); o.Head != "3\n" {
		t.Errorf("after a time-out: %+v", o)
	}
}

// TestLargeState: of a state that is too large to last, folder and whatever fits are kept.
func TestLargeState(t *testing.T) {
	const grow = "f() { :; }; mkdir -p d; cd d; export K=v; big=x; while ((${#big} < %s)); do big=$big$big; done"
	s := begin(t)
	o := s.run("Z=1; " + strings.Replace(grow, "%s", "5000000", 1))
	if o.Lost || !o.Large || !slices.Equal(o.Unkept, []string{"big"}) {
		t.Errorf("%+v", o)
	}
	if o := s.run("echo ${PWD##*/} ${big-unset} $K $Z; sh -c 'echo $K'; type -t f"); o.Head != "d unset v 1\nv\nfunction\n" || o.Large {
		t.Errorf("%+v", o)
	}
	if o := s.run("set -- $(seq 1000000)"); o.Lost || !o.Large || !slices.Equal(o.Unkept, []string{"the arguments of set"}) {
		t.Errorf("%+v", o)
	}
	o = s.run("K=w; " + strings.Replace(grow, "%s", "80000000", 1))
	if o.Lost || !o.Large || len(o.Unkept) != 0 {
		t.Errorf("%+v", o)
	}
	if o := s.run("echo $PWD ${big-unset} $K $Z"); o.Head != s.dir+"/d/d unset v 1\n" {
		t.Errorf("%+v", o)
	}
	s = begin(t)
	dash(t, s)
	o = s.run("K=v; mkdir e; cd e; big=$(head -c 5000000 /dev/zero | tr '\\0' x)")
	if o.Lost || !o.Large || !slices.Equal(o.Unkept, []string{"big"}) {
		t.Errorf("%+v", o)
	}
	if o := s.run("echo ${PWD##*/} ${big-unset} $K"); o.Head != "e unset v\n" {
		t.Errorf("%+v", o)
	}
}

// dash makes a session one of a plain sh.
func dash(t *testing.T, s *lasting) {
	t.Helper()
	if _, err := os.Stat("/bin/dash"); err != nil {
		t.Skip("needs dash")
	}
	s.UseSh("/bin/dash")
}

// TestDeletedFolder: a session whose folder is gone can be put elsewhere, and has kept the rest.
func TestDeletedFolder(t *testing.T) {
	s := begin(t)
	if o := s.run("x=1; mkdir d; cd d; rmdir ../d; pwd"); o.Lost || o.Head != filepath.Join(s.dir, "d")+"\n" {
		t.Errorf("%+v", o)
	}
	if _, err := s.Start(shell.Options{Command: "true"}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
	s.Move(s.dir)
	if o := s.run("echo $x; pwd"); o.Head != "1\n"+s.dir+"\n" {
		t.Errorf("%+v", o)
	}
}

// TestJobs: what goes on after a command is a job, its output is no other command's, and it ends with the session.
func TestJobs(t *testing.T) {
	s := begin(t)
	o := s.run("(while :; do echo tick; sleep 0.02; done) & echo go")
	if o.Job == nil || o.Job.ID != "job_1" || o.Job.State() != "running" || !strings.HasPrefix(o.Head, "go\n") && !strings.HasPrefix(o.Head, "tick\n") || o.Left != 0 {
		t.Fatalf("%+v", o)
	}
	if o := s.run("echo next"); o.Head != "next\n" || o.Job != nil {
		t.Errorf("%+v", o)
	}
	eventually(t, "the job has a log", func() bool { _, n, _ := o.Job.Log(); return n > 20 })
	quiet := s.run("sleep 61 >/dev/null 2>&1 & setsid sleep 62 >/dev/null 2>&1 & echo ok")
	if quiet.Job == nil || quiet.Head != "ok\n" {
		t.Fatalf("%+v", quiet)
	}
	brief := s.run("(sleep 0.2; echo late) & :")
	if brief.Job == nil || brief.Head != "" {
		t.Fatalf("%+v", brief)
	}
	eventually(t, "the job ends", func() bool { return !brief.Job.Running() })
	if log, _, _ := brief.Job.Log(); read(t, log) != "late\n" {
		t.Error("its output is not in the log")
	}
	if ended := s.Ended(); len(ended) != 1 || ended[0] != brief.Job || len(s.Ended()) != 0 {
		t.Errorf("%v", ended)
	}
	quiet.Job.Stop()
	if quiet.Job.Running() || quiet.Job.State() != "ended" {
		t.Error("a job that was stopped goes on")
	}
	s.Close()
	if o.Job.Running() {
		t.Error("a job goes on after the session")
	}
}

// TestBackground: a command in the background is a job unless it ends at once, and its state is nobody's.
func TestBackground(t *testing.T) {
	s := begin(t)
	background := func(command string, moment time.Duration) shell.Outcome {
		h, err := s.Start(shell.Options{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		o, err := h.Background(t.Context(), moment, nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := background("x=1; echo out; exit 3", 20*time.Second); o.Job != nil || o.Exit != 3 || o.Head != "out\n" {
		t.Errorf("%+v", o)
	}
	o := background("echo begin; sleep 60; echo end", 200*time.Millisecond)
	if o.Job == nil || o.Head != "begin\n" {
		t.Fatalf("%+v", o)
	}
	if o := s.run("echo ${x-unset}"); o.Head != "unset\n" {
		t.Errorf("%+v", o)
	}
	o.Job.Stop()
	if o.Job.Running() || o.Job.State() != "ended by signal: terminated" {
		t.Error(o.Job.State())
	}
}

// TestClosed: a closed session starts nothing, and what a command leaves that ran meanwhile is ended.
func TestClosed(t *testing.T) {
	s := begin(t)
	h, err := s.Start(shell.Options{Command: "echo begun; read x <f; sleep 60 & echo $! >pid"})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(s.dir, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	begun, end := make(chan struct{}), make(chan shell.Outcome, 1)
	go func() {
		o, _ := h.Go(t.Context(), func(string) { close(begun) }, nil)
		end <- o
	}()
	<-begun
	s.Close()
	if _, err := s.Start(shell.Options{Command: "true"}); err == nil {
		t.Error("a command was started after the end")
	}
	if err := os.WriteFile(filepath.Join(s.dir, "f"), []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	if o := <-end; o.Job == nil || o.Job.Running() {
		t.Errorf("%+v", o)
	}
	waitGone(t, readPid(t, filepath.Join(s.dir, "pid")))
}

// TestHarness: what a command finds of ours in its shell and its descriptors is little, and nothing of the session's state.
func TestHarness(t *testing.T) {
	s := begin(t)
	for range 2 { // a shell of its own, and one that was started ahead
		if o := s.run("declare -F; declare -f; (exec 3>&-; echo $?) 2>/dev/null"); o.Head != "declare -f trap\ntrap () \n{ \n    builtin eval \"$__overt_f\"\n}\n0\n" {
			t.Errorf("%q", o.Head)
		}
		o := s.run("for n in {3..9} {189..199}; do { : >&$n; } 2>/dev/null && echo $n >&2; done; { cat <&190; } 2>/dev/null; echo ${POSIXLY_CORRECT-unset}")
		if o.Head != "unset\n" {
			t.Errorf("%q", o.Head)
		}
	}
}

// TestForget: functions go, and nothing else that reads like them.
func TestForget(t *testing.T) {
	s := begin(t)
	s.run("f() { :; }")
	s.run("a=$(declare -f f)$'\\n'; export -n a; declare -l a")
	s.Forget()
	if o := s.run("type f 2>/dev/null; echo \"$a\""); o.Head != "f () \n{ \n    :\n}\n\n" {
		t.Errorf("%q", o.Head)
	}
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// TestNoLeak: a thousand commands leave no process and no descriptor.
func TestNoLeak(t *testing.T) {
	s := begin(t)
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("needs /proc")
		}
		return len(list)
	}
	before, kids := count(), children(t)
	s.run("n=0")
	for range 1000 {
		s.run("n=$((n+1)); eval \"f$((n % 10))() { :; }\"")
	}
	if o := s.run("echo $n; declare -F | grep -c f[0-9]"); o.Head != "1000\n10\n" {
		t.Errorf("%+v", o)
	}
	s.Close()
	eventually(t, "descriptors as before", func() bool { return count() <= before })
	if now := children(t); len(now) > len(kids) {
		t.Errorf("processes %v, before %v", now, kids)
	}
}

// children are the processes that we have started and that are there still.
func children(t *testing.T) (out []string) {
	t.Helper()
	list, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		data, _ := os.ReadFile(name)
		out = append(out, strings.Fields(string(data))...)
	}
	return out
}

// TestNothingSet: a command that sets nothing leaves a session as a fresh one.
func TestNothingSet(t *testing.T) {
	dir := t.TempDir()
	for name, env := range map[string][]string{"usual": shell.Environ(os.Environ()), "little": {"PATH=" + os.Getenv("PATH")}} {
		s := shell.NewSession(dir, env)
		h, err := s.Start(shell.Options{Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Go(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		if k := s.Known(); len(k.Set)+len(k.Odd)+len(k.Options)+len(k.Aliases)+len(k.Functions) != 0 {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestTimeouts: the usual time limit, and the longest.
//
// covers F157
func TestTimeouts(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: 120 * time.Second, time.Second: time.Second, 2 * time.Hour: time.Hour} {
		if got := start(t, shell.Options{Command: "true", Timeout: asked}).Timeout(); got != want {
			t.Errorf("%s: %s, want %s", asked, got, want)
		}
	}
}

// TestReplacedFolder: a shell that was started ahead is in the folder of that name as it is when the command begins.
func TestReplacedFolder(t *testing.T) {
	s := begin(t)
	s.run("mkdir d; cd d")
	for range 20 {
		if err := os.RemoveAll(filepath.Join(s.dir, "d")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(s.dir, "d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "d", "f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if o := s.run("ls"); o.Head != "f\n" {
			t.Errorf("%q", o.Head)
		}
	}
}
