#!/bin/sh
# test.sh: checks total.sh.
fail=0
check() { # check NAME WANT INPUT
	got=$(printf "$3" | sh ./total.sh)
	if [ "$got" = "$2" ]; then
		echo "ok    $1"
	else
		echo "FAIL  $1: got $got, want $2"
		fail=1
	fi
}
check "no input" 0 ''
check "three numbers" 6 '1\n2\n3\n'
check "comments and blank lines" 5 '# a\n2\n\n3\n'
check "last line without a line end" 6 '1\n2\n3'
exit $fail
