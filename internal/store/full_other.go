//go:build !unix

package store

func noSpace(error) bool { return false }
