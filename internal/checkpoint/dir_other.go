//go:build !unix

package checkpoint

import (
	"errors"
	"os"
)

// supported says that this system has what it takes.
const supported = false

// dir is an open folder. This system has no calls to work in one whatever is done to its path, so that nothing is kept.
type dir struct{}

func openTop(*os.Root) (dir, error) { return dir{}, errors.ErrUnsupported }

func (dir) close()                                  {}
func (dir) names() ([]string, error)                { return nil, errors.ErrUnsupported }
func (dir) device() (uint64, error)                 { return 0, errors.ErrUnsupported }
func (dir) enter(string) (dir, error)               { return dir{}, errors.ErrUnsupported }
func (dir) stat(string) (stat, error)               { return stat{}, errors.ErrUnsupported }
func (dir) openFile(string) (*os.File, stat, error) { return nil, stat{}, errors.ErrUnsupported }
func (dir) readlink(string) (string, error)         { return "", errors.ErrUnsupported }
func (dir) create(string) (*os.File, error)         { return nil, errors.ErrUnsupported }
func (dir) mkdir(string, uint32) error              { return errors.ErrUnsupported }
func (dir) symlink(string, string) error            { return errors.ErrUnsupported }
func (dir) chmod(string, uint32) error              { return errors.ErrUnsupported }
func (dir) remove(string, bool) error               { return errors.ErrUnsupported }
func (dir) rename(string, dir, string) error        { return errors.ErrUnsupported }
func statFile(*os.File) (stat, error)               { return stat{}, errors.ErrUnsupported }
func (k *Keeper) folder(string) (dir, error)        { return dir{}, errors.ErrUnsupported }
func (k *Keeper) stat(string) (stat, error)         { return stat{}, errors.ErrUnsupported }
func (dir) link(string, dir, string) error          { return errors.ErrUnsupported }
func gone(error) bool                               { return false }
func notEmpty(error) bool                           { return false }
func syncAll()                                      {}
