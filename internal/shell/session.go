package shell

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Session is what lasts from one command to the next: folder, variables, functions, aliases, options, umask, and the
// arguments of set. Each command is a shell of its own all the same, held like any other; it gets what the one before it
// left, and leaves what there is at its end. Of a plain sh functions do not last. Traps, limits of ulimit, the job table
// and functions named builtin or trap last in none.
//
// Nothing of it is ever written to a disk. What is left running by a command becomes a [Job] of the session; Close ends them.
// A Session may be used by several goroutines, but only one of its commands in the foreground should run at a time.
type Session struct {
	mu    sync.Mutex
	sh    string   // where the shell is
	base  []string // the environment at the start
	first string   // the folder at the start, links followed
	at    remembered
	jobs  []*Job
	begun int // jobs so far
	turn  int // counts what happens to at
	busy  bool
	ended bool

	confined bool // the last command was

	spare spare
}

// remembered is what a shell left.
type remembered struct {
	Known
	dir     string
	env     []string // as execve takes it
	restore string   // commands that restore what is not in env
	aliases string   // the last of them, so that no alias is put into functions, which have had theirs
	late    string   // what has to stand before the command itself
}

// Known is what a session knows that changes the meaning of the commands to come.
type Known struct {
	Functions string            // definitions as bash prints them
	Aliases   map[string]string // of a shell that expands them
	Vars      map[string]string // with plain values, those of the environment too
	Odd       []string          // variables of other kinds
	Set       []string          // variables that are not as at the start of the session
	Path      string            // PATH at the start of the session
	Options   []string          // of set and shopt, those that are on and are not by default
}

// Path is where the shell of commands is.
func Path() string { return shellPath() }

// NewSession begins in an absolute folder with an environment, see [Environ].
func NewSession(dir string, env []string) *Session {
	first, err := filepath.EvalSymlinks(dir)
	if err != nil { // then no command can start there either
		first = dir
	}
	return &Session{sh: shellPath(), base: slices.Clone(env), first: first, at: remembered{dir: dir, env: quiet(env)}}
}

// errClosed is what starting a command gives once the session is closed.
var errClosed = errors.New("the shell of this task is closed, because the program ends")

// over tells whether the session is closed.
func (s *Session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Dir is the absolute folder that the session is in, links followed.
func (s *Session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.dir
}

// Gone tells whether the folder that the session is in does not exist any more.
func (s *Session) Gone() bool {
	info, err := os.Stat(s.Dir())
	return err != nil || !info.IsDir()
}

// Move puts the session into another folder.
func (s *Session) Move(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.dir != dir {
		s.turn++
		s.at.env = slices.DeleteFunc(slices.Clone(s.at.env), func(kv string) bool { return strings.HasPrefix(kv, "PWD=") || strings.HasPrefix(kv, "OLDPWD=") })
		s.at.env = append(s.at.env, "OLDPWD="+s.at.dir)
		s.at.dir = dir
	}
}

// Environ is what programs of the next command will get, but for what is too large for a program's start.
func (s *Session) Environ() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at.env)
}

// Known gives what the next command will find. What is in it is not to be changed.
func (s *Session) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Known
}

// Forget drops the functions.
func (s *Session) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	s.at.restore = strings.TrimSuffix(s.at.restore, s.at.Functions)
	s.at.Functions = ""
}
