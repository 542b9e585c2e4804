package policy

import "slices"

// Grade says how much may go wrong with a command.
type Grade string

// Grades, from the least on. The zero Grade says that nobody has graded.
const (
	Low    Grade = "low"    // only reads, is understood to the last word, no secret
	Medium Grade = "medium" // changes the workspace, runs project code, uses the network, reads secrets, or is unknown
	High   Grade = "high"   // destroys work, leaves the workspace, raises privileges, sends data out, or runs what can't be seen
)

// rank orders grades. What is no grade counts as the highest.
func (g Grade) rank() int {
	switch g {
	case "":
		return 0
	case Low:
		return 1
	case Medium:
		return 2
	}
	return 3
}

// Most gives the higher of two grades.
func (g Grade) Most(other Grade) Grade {
	if other.rank() > g.rank() {
		return other
	}
	return g
}

// Kinds of effects that only grading speaks of, beside [Read], [Write] and [Run].
const (
	Delete  EffectKind = "delete"  // Target: a path as [Touch] gives it
	Fetch   EffectKind = "fetch"   // Target: an address, or "" where it is not known
	Send    EffectKind = "send"    // data leaves; Target as for Fetch
	Elevate EffectKind = "elevate" // Target: the program that raises privileges
)

// Touch is one effect of a command, as far as it is known before it runs. Target is a path relative to the workspace, an
// absolute one, one below "~", or what stands in the command where nobody knows more.
type Touch struct {
	Kind   EffectKind
	Target string
	// Reversible says that the former state can be put back from a copy of the workspace alone, as is always so for
	// reading.
	Reversible bool
}

// Reasons of a [Risk], for people.
const (
	RiskUnparsed   = "risk.unparsed"     // can't be read as shell
	RiskHidden     = "risk.hidden"       // holds characters that a person would not see
	RiskUnresolved = "risk.unresolved"   // names something that is known only when it runs
	RiskUnknown    = "risk.unknown"      // a program that the tables do not have
	RiskOption     = "risk.option"       // an option that the tables do not have
	RiskProject    = "risk.project"      // runs code of the project
	RiskCode       = "risk.code"         // runs code in another language than shell
	RiskUnseen     = "risk.unseen"       // runs what can't be seen beforehand
	RiskDownloaded = "risk.downloaded"   // runs what comes from elsewhere
	RiskChanges    = "risk.changes"      // changes files of the workspace
	RiskDestroys   = "risk.destroys"     // destroys work
	RiskOutside    = "risk.outside"      // changes what is outside the workspace
	RiskReads      = "risk.outside_read" // reads what is outside the workspace
	RiskSecret     = "risk.secret"       // reads what may hold credentials
	RiskLeak       = "risk.leak"         // reads credentials and talks to the network
	RiskProtected  = "risk.protected"    // changes what others run or obey later
	RiskNetwork    = "risk.network"      // talks to the network
	RiskSends      = "risk.sends"        // sends data out
	RiskPrivilege  = "risk.privilege"    // raises privileges
	RiskSystem     = "risk.system"       // acts on the whole machine
	RiskProcesses  = "risk.processes"    // acts on other processes
	RiskVariable   = "risk.variable"     // sets a variable that changes what programs do
	RiskConfig     = "risk.config"       // the repository's own configuration names programs to run
	RiskDeep       = "risk.deep"         // is nested or long beyond what is looked into
	RiskTaint      = "risk.taint"        // goes where a text says that no person wrote
	RiskModel      = "risk.model"        // the model's own grade is higher
)

// Risk is what grading found.
type Risk struct {
	Grade   Grade
	Effects []Touch
	Reasons []string // codes; package i18n has the sentences
	// Altered says that what the shell has from before makes the command another one than its words say: a function or an
	// alias, PATH, a variable or option that it obeys. No rule that allows the words means it then.
	Altered bool
	// Brought says that programs would run, or may, which the repository brings along and the command's words do not name: by
	// settings of Git and hooks. A rule on the words does not mean them, only one on every command. Without a look at files nothing
	// is known of them.
	Brought bool
}

// Raise gives the risk with a grade that the model gave itself, which can only raise it.
func (r Risk) Raise(own Grade) Risk {
	if own != "" && own.rank() > r.Grade.rank() {
		r.Grade = own
		r.Reasons = append(slices.Clip(r.Reasons), RiskModel)
	}
	return r
}

// Files is what grading may know of the workspace. Paths are relative to its root, with slashes, or absolute.
type Files interface {
	// Resolve gives the path, relative to the workspace, of what a path stands for once links are followed; it need not
	// exist. An error says that the path leads out of the workspace, or that nobody can tell.
	Resolve(path string) (string, error)
	// Script gives the text of a file. An error that is fs.ErrNotExist says that there is none.
	Script(path string) ([]byte, error)
	// Index gives the text of a file like Script, also of one as large as what Git keeps of a repository's files.
	Index(path string) ([]byte, error)
	// Linked gives the path of a file that usually holds credentials (see [Secret]) and is, by a hard link, the same as what
	// the path leads to, or may be one of the files that it is a pattern for; "": no such file is known.
	Linked(path string) string
}

// Command grades a shell command that is run in a folder of the workspace ("." or "": its root). Files may be nil: then
// no script is read, no link is followed, and absolute paths are taken to be outside.
//
// Every simple command, redirection, assignment and substitution is looked at, wherever it stands. What can't be
// read or resolved is never low. Nothing is run or changed.
func Command(text, dir string, files Files) Risk { return newGrader(dir, files).grade(text) }

func newGrader(dir string, files Files) *grader {
	if dir == "" {
		dir = "."
	}
	return &grader{files: files, risk: &Risk{Grade: Low}, at: newState(dir), left: maxCalls}
}

func (g *grader) grade(text string) Risk {
	g.text(text)
	if g.reasons(RiskSecret) && (g.reasons(RiskNetwork) || g.reasons(RiskSends)) {
		g.add(High, RiskLeak)
	}
	return *g.risk
}
