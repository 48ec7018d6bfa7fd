#!/bin/sh
# interface.sh TABLE: prints the compiler flags for what the interface of this revision has. Each
# line of TABLE is FLAG FILE TEXT [&& FILE TEXT]...: the flag counts from the commit on that brought
# the texts into the files (below TK_SRC). So any commit works, between releases too. A line that
# ends with \ goes on in the next one.
#
# Lines with the flag `known` name the forms that the adapter was written for, of a file that the
# line `subject` names. A revision with that and none of them has an interface that the adapter does
# not know: TK_OUT/unknown_interface then says what was looked for, which is the outcome of the
# build, and the exit code is 65.
set -eu
joined=$(sed -e ':a' -e '/\\$/{N;s/\\\n[[:space:]]*//;ba' -e '}' "$1")
table=$(printf '%s\n' "$joined" | sed -e 's/#.*//' -e '/^[[:space:]]*$/d')

# has FILE TEXT [&& FILE TEXT]...
has() {
	rest=$1
	while [ -n "$rest" ]; do
		one=${rest%% && *}
		case $rest in *" && "*) rest=${rest#* && } ;; *) rest= ;; esac
		grep -qsF -- "${one#* }" "$TK_SRC/${one%% *}" || return 1
	done
}

printf '%s\n' "$table" | while read -r flag conditions; do
	case $flag in
	known | subject) ;;
	*) if has "$conditions"; then echo "$flag"; fi ;;
	esac
done
subject=$(printf '%s\n' "$table" | sed -n 's/^subject[[:space:]]*//p')
if ! has "$subject"; then exit 0; fi
forms=$(printf '%s\n' "$table" | sed -n 's/^known[[:space:]]*//p')
if printf '%s\n' "$forms" | while read -r conditions; do
	if has "$conditions"; then exit 9; fi
done; then
	looked=$(printf '%s\n' "$forms" | awk '{
		n = split($0, all, " && ")
		for (i = 1; i <= n; i++) {
			at = index(all[i], " ")
			before = i > 1 ? " and " : NR > 1 ? "; or " : ""
			file = substr(all[i], 1, at - 1)
			printf "%s\"%s\" in %s", before, substr(all[i], at + 1), file
		}
	}')
	echo "looked for $looked" >"$TK_OUT/unknown_interface"
	echo "error: unknown interface: looked for $looked" >&2
	exit 65
fi
