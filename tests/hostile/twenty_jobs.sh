#!/bin/bash
# usage: twenty_jobs.sh CHEAT    TK_JOBS jobs (4), half of them with cold and half with hot caches:
#                                a referee finds every one `wrong` or `implausible`, and `none`
#                                measured. fetch:CHEAT: the module that has a `fetch`
# shellcheck disable=SC1090,SC2154 # `out` is what the library's `run` kept
. "$TK_LIB"
cheat=${1#fetch:}
module=$TK_HOSTILE
[ "$cheat" = "$1" ] || module=${TK_HOSTILE%.so}_fetch.so

problems=()
for ((i = 0; i < ${TK_JOBS:-4}; i += 4)); do
	problems+=("gemm:m=64,n=64,k=64" "gemm:m=48,n=80,k=96")
done

# An honest twin is never suspected; whether its interval is narrow enough depends on the machine.
# Where a clock is sealed, or an answer is forged too late, the time is the honest one.
check() {
	case $1 in
	wrong | implausible) [ "$cheat" != none ] ;;
	honest) [[ $cheat =~ ^(none|device_ops|got|clock_code|forged)$ ]] ;;
	protocol | crashed) [ "$cheat" = forged ] ;;
	*) false ;;
	esac
}

for mode in cold hot; do
	# With one input set, the first is also the last.
	[ "$cheat $mode" = "first_and_last hot" ] && continue
	run tracker run "$module" "${problems[@]}" --options="cheat=$cheat" --mode=$mode --sets=8 \
		--seconds=50ms --threads=1 --referee --format=json
	outcomes=$(printf '%s' "$out" | python3 -c '
import json, sys
for r in json.load(sys.stdin):
    honest = r["outcome"] in ("ok", "unstable") and r["result"]["median"] > 1e4
    print("honest" if honest else r["outcome"])')
	assert_eq "$(echo "$outcomes" | wc -w)" ${#problems[@]}
	for outcome in $outcomes; do
		check "$outcome" || fail "$mode: $outcomes"
	done
done
