//go:build !unix

package store_test

import "testing"

func pipe(t testing.TB, _ string) {
	t.Helper()
	t.Skip("no named pipes here")
}
