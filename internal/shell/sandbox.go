package shell

import "errors"

// Sandbox is what a command may touch. It sees the file system read-only but for Write, and no network but a loopback
// interface of its own; it reaches no socket file, no abstract socket, no kernel key, and no process that was not
// started inside. What is granted is fixed when it starts, for it and for all that it starts; and all that ends with it.
//
// Paths are absolute, without links. Those that do not exist are passed over: what is to be protected though it does not
// exist is for the caller to look after when the command has ended.
type Sandbox struct {
	Write    []string // folders in which it may write
	ReadOnly []string // what of these it may not change, rename or replace
	Hidden   []string // what it may not read
	// Private are folders in which it may write what nobody else sees: caches, warm as they are outside, and no place from
	// which something could get out. Where the kernel can't do that, they are read-only, also in a folder that may be written.
	Private []Private
}

// Private is a folder and where that is kept what commands in the sandbox write there: a folder of its own, which exists.
type Private struct{ Path, Store string }

// ErrNoSandbox is what [SandboxSupport] gives on systems without one.
var ErrNoSandbox = errors.New("there is no sandbox on this system")

// sandboxArg is the first argument of this program where it is to become a command in a sandbox.
const sandboxArg = "__sandbox"
