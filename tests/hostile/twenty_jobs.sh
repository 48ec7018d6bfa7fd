#!/bin/bash
# usage: twenty_jobs.sh CHEAT    ten with cold and ten with hot caches: every job must be `wrong` or
#                                `implausible`, and `none` measured
# shellcheck disable=SC1090,SC2154 # `out` is what the library's `run` kept
. "$TK_LIB"
cheat=$1

problems=()
for _ in $(seq 5); do problems+=("gemm:m=64,n=64,k=64" "gemm:m=48,n=80,k=96"); done

# An honest twin is never suspected; whether its interval is narrow enough depends on the machine.
check() {
	case $cheat in
	none) [ "$1" = ok ] || [ "$1" = unstable ] ;;
	*) [ "$1" = wrong ] || [ "$1" = implausible ] ;;
	esac
}

for mode in cold hot; do
	# With one input set, the first is also the last.
	[ "$cheat $mode" = "first_and_last hot" ] && continue
	run tracker run "$TK_HOSTILE" "${problems[@]}" --options="cheat=$cheat" --mode=$mode \
		--seconds=50ms --threads=1 --format=json
	outcomes=$(printf '%s' "$out" |
		python3 -c 'import json, sys; print(*[r["outcome"] for r in json.load(sys.stdin)])')
	assert_eq "$(echo "$outcomes" | wc -w)" 10
	for outcome in $outcomes; do
		check "$outcome" || fail "$mode: $outcomes"
	done
done
