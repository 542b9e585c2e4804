# Reads `go test -v` and shows what a person needs of it: the line of each package as it ends, everything that failed
# and skipped tests wrote, data races and panics with what stood before and 60 lines after, errors of the compiler.

function show(text) {
	printf "%s", text
	fflush()
}

# flush shows what the current test has written so far.
function flush() {
	show(written[test])
	delete written[test]
}

# The end of a package.
/^(ok  |FAIL|\?   )\t/ {
	if (/^FAIL/ && !shown)
		flush() # it ended in the midst of a test
	if (!/^\?/)
		show($0 "\n")
	if (/^FAIL/)
		failed = failed $0 "\n"
	split("", written)
	test = ""
	live = shown = 0
	next
}

# What follows a race or the end of the process.
live > 0 {
	live--
	if (race && /^==================$/)
		live = race = 0
	show($0 "\n")
	next
}
/^(panic|fatal error|SIG[A-Z]+): / || /^WARNING: DATA RACE$/ {
	flush()
	race = /RACE/
	shown = 1
	live = 60
	show($0 "\n")
	next
}

# Tests that run beside others take turns; these lines say whose what follows is.
/^=== (RUN|CONT|NAME|PAUSE) / {
	test = $3
	if ($2 == "RUN")
		written[test] = $0 "\n"
	next
}

# How a test ended; its subtests follow it.
/^ *--- (PASS|FAIL|SKIP|BENCH): / {
	if ($2 != "PASS:") {
		show(written[$3] $0 "\n")
		shown = 1
	}
	delete written[$3]
	next
}

# Outside of tests only the compiler and go itself speak.
test == "" {
	if (!/^(PASS|FAIL)$/)
		show($0 "\n")
	next
}
{ written[test] = written[test] $0 "\n" }

END {
	if (failed != "")
		show("\nfailed:\n" failed)
}
