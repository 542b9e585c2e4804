//go:build !unix

package store_test

import "errors"

// limitFiles is for tests of systems that can limit files.
func limitFiles(uint64) error { return errors.ErrUnsupported }
