//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file's owner is the system's choice here.
func keepOwner(*os.File, fs.FileInfo) {}
