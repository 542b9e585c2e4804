package config

import (
	"os"
	"path/filepath"
	"strings"
)

// portableFile beside the program makes that folder hold everything.
const portableFile = "overt.json"

// Launch is what the places depend on.
type Launch struct {
	Arg0 string // how the program was called
	Self string // the path of the program, as the system knows it; "": unknown
	Dir  string // the current folder; "": unknown
	Home string // "": unknown
	Env  func(string) (string, bool)
	File string // the configuration file that the command line names, "" for none
}

// Places says where things are.
type Places struct {
	Config   string // the person's configuration file, which need not exist; "": there is nowhere for one
	Named    Source // who named that file; its Layer is BuiltIn where nobody did
	State    string // the folder of all records; "": there is nowhere for one
	Portable bool   // both are beside the program
}

// Locate says where the person's files are: beside the program if overt.json stands there, else where the XDG Base
// Directory Specification 0.8 has them, which wants a path that is not absolute to be ignored. There is never a folder of
// records below the current one by chance, where others might find it.
func Locate(l Launch) Places {
	p := Places{Config: xdg(l, "XDG_CONFIG_HOME", ".config"), State: xdg(l, "XDG_STATE_HOME", ".local/state")}
	if p.Config != "" {
		p.Config = filepath.Join(p.Config, "config.json")
	}
	if beside := programFolder(l); beside != "" {
		if info, err := os.Stat(filepath.Join(beside, portableFile)); err == nil && info.Mode().IsRegular() {
			p = Places{Config: filepath.Join(beside, portableFile), State: filepath.Join(beside, "overt-state"), Portable: true}
		}
	}
	named, source := l.File, Source{Layer: Flag, Name: "config"}
	if named == "" {
		named, _ = l.Env("OVERT_CONFIG")
		source = Source{Layer: Environment, Name: "OVERT_CONFIG"}
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(l.Dir, named)
		}
		p.Config, p.Named = named, source
	}
	return p
}

func xdg(l Launch, variable, below string) string {
	dir, _ := l.Env(variable)
	if !filepath.IsAbs(dir) {
		if !filepath.IsAbs(l.Home) {
			return ""
		}
		dir = filepath.Join(l.Home, filepath.FromSlash(below))
	}
	return filepath.Join(dir, "overt")
}

// programFolder is the folder of the program as it was invoked: a link to the program stands for itself, while links in the
// folder part are followed. What was invoked must be the program itself, not something else of its name.
func programFolder(l Launch) string {
	self, err := os.Stat(l.Self)
	if err != nil {
		return ""
	}
	for _, path := range invoked(l) {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, self) {
			if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
				return dir
			}
		}
	}
	return filepath.Dir(l.Self)
}

// invoked lists the paths that the program may have been called by.
func invoked(l Launch) []string {
	switch {
	case filepath.IsAbs(l.Arg0):
		return []string{l.Arg0}
	case strings.ContainsRune(l.Arg0, filepath.Separator):
		return []string{filepath.Join(l.Dir, l.Arg0)}
	}
	path, _ := l.Env("PATH")
	var out []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(l.Dir, dir)
		}
		out = append(out, filepath.Join(dir, l.Arg0))
	}
	return out
}
