//go:build unix

package shell

// Descriptors of the gate of a lasting shell: it waits at 3, reads its state from 4, writes its state to 5, holds 6 open,
// and reads the command from 7 if it is no argument; a bash moves them out of the way of what commands do with descriptors
// of their own. What it leaves of its state goes to the sheet; whoever is left of the command is a holder of 6.
const (
	bashSheet, bashHolders = "187", "188"
	shSheet, shHolders     = "8", "9" // a plain sh knows no higher ones
)

// lastingBash is the gate of a lasting bash, in one line like [gate].
//
// The state is written when the shell ends, whatever ends it, by the text of __overt_e, the first thing in the trap on EXIT.
// The function named trap puts it before what the command itself sets there. Both are short, and what they do stands in
// variables, so that a list of functions shows little that is not the command's. In POSIX mode, which an assignment
// switches on, no function stands before unset: so no function of the command's is in the way. Nor is an alias: what could
// be one is escaped, or read once there are none. Reading BASH_ALIASES fills it. What frames the state, a random word, arrives only with the word to go. The descriptors of the gate are
// closed for the command by exec; where that is a function, by redirecting the eval that the command is in: what exec does by way of builtin is
// taken back at once. That of an eval is taken back at its end, which says so on standard error if ulimit -n then forbids such high descriptors.
const lastingBash = `exec ` + bashSheet + `>&5 5>&- ` + bashHolders + `>&6 6>&- 189<&3 3<&- 190<&4 4<&-; (( $# )) || exec 191<&7 7<&-; ` +
	`__overt_e='__overt_end() { __overt_a=${#BASH_ALIASES[@]}; ` +
	`builtin set +eux; ` +
	`{ builtin printf "%s\\0" "$__overt_w" "$__overt_o" "$__overt_b"; builtin umask; builtin printf "\\0"; builtin pwd -P; builtin printf "\\0"; ` +
	`(( $# )) && builtin printf " %q" "$@"; builtin printf "\\0"; builtin declare -p; builtin printf "\\0"; ` +
	`builtin unset -f __overt_end trap; builtin declare -fp; builtin printf "\\0%s\\0" "$__overt_w"; } >&` + bashSheet + `; return "$__overt_s"; }; ` +
	`\__overt_end "$@"'; ` +
	`__overt_t='{ __overt_s=$? __overt_o=$SHELLOPTS __overt_b=$BASHOPTS; POSIXLY_CORRECT=1; \unset -f builtin; \unset POSIXLY_CORRECT; \builtin shopt -u expand_aliases; \builtin eval "$__overt_e"; } 2>/dev/null'; ` +
	`__overt_f='if [[ $# == 0 || $1 == -p* ]]; then \local __overt_x; __overt_x=$(\builtin trap "$@"); __overt_x=${__overt_x/"trap -- '\''$__overt_t'\'' EXIT"}; ` +
	`__overt_x=${__overt_x/"$__overt_t"$'\''\n'\''}; [[ -z $__overt_x ]] || \builtin printf "%s\n" "${__overt_x#$'\''\n'\''}"; \return 0; fi; ` +
	`\builtin trap "$@" || \return; (( BASH_SUBSHELL )) && \return 0; [[ $1 == -- ]] && \shift; [[ $# == 0 || $1 == -[lP]* ]] && \return 0; ` +
	`\local __overt_x __overt_y; __overt_x=$1; [[ $# == 1 || $1 == - || $1 == [0-9]* ]] && __overt_x=; ` +
	`for __overt_y; do case $__overt_y in 0|[Ee][Xx][Ii][Tt]|[Ss][Ii][Gg][Ee][Xx][Ii][Tt]) \builtin trap -- "$__overt_t"$'\''\n'\''"$__overt_x" EXIT;; esac; done; \return 0'; ` +
	`trap() { builtin eval "$__overt_f"; }; ` +
	`builtin trap "$__overt_t" EXIT; __overt_l='set --;'; builtin . /dev/fd/190 2>/dev/null; ` +
	`builtin read -r __overt_x __overt_w __overt_y <&189 && [[ $__overt_x == go ]] || builtin exit 125; ` +
	`(( $# )) && __overt_c=$1 || builtin mapfile -d '' -t -u 191 __overt_c; ` +
	`[[ $__overt_y ]] && builtin export TRACEPARENT="$__overt_y"; builtin declare -F exec >/dev/null || exec 189<&- 190<&- 191<&-; builtin eval "\\builtin unset __overt_x __overt_y __overt_c;$__overt_l$__overt_c" 189<&- 190<&- 191<&-`

// lastingSh is the same for a plain sh, where functions can't be read, and a trap of the command's own takes the place of
// ours; then the state is written only where the command gets to its end.
const lastingSh = `exec ` + shSheet + `>&5 5>&- ` + shHolders + `>&6 6>&-; ` +
	`__overt_d=; __overt_end() { __overt_s=$?; [ "$__overt_d" ] && return "$__overt_s"; __overt_d=1; __overt_o=$(set +o); set +eux; ` +
	`{ printf '%s\0' "$__overt_w" "$__overt_o" ""; umask; printf '\0'; pwd -P; printf '\0\0'; export -p; printf '\0'; set; printf '\0'; alias; ` +
	`printf '\0%s\0' "$__overt_w"; } >&` + shSheet + `; return "$__overt_s"; }; ` +
	`trap '{ __overt_end; } 2>/dev/null' 0; __overt_l='set --;'; . /dev/fd/4 2>/dev/null; ` +
	`read -r __overt_x __overt_w __overt_y <&3 && [ "$__overt_x" = go ] || exit 125; exec 3<&- 4<&-; ` +
	`[ "$__overt_y" ] && export TRACEPARENT="$__overt_y"; unset __overt_x __overt_y; eval "$__overt_l$1"; { __overt_end; } 2>/dev/null; exit "$__overt_s"`
