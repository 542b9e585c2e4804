#!/bin/sh
# total.sh: prints the sum of the numbers on standard input, one a line.
sum=0
while read -r n; do
	case $n in
	'' | \#*) continue ;; # blank lines and comments
	esac
	sum=$((sum + n))
done
echo "$sum"
