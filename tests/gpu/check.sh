# shellcheck shell=bash
# Sourced by the tests of this folder: go() asks one worker for many problems, report() prints a
# table of all answers and fails where a result is wrong, or unsupported though it should not be. A
# problem with `?` before it may be unsupported: it depends on the device or the version of a
# library.
#
# The script that sources it gets TRACKER and RESULTS.json as $1 and $2; its working folder becomes
# a temporary one.
set -uo pipefail
[ -e /dev/nvidiactl ] || {
	echo "there is no NVIDIA GPU here"
	exit 77
}
tracker=${1:-build/tracker}
results=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 4

case $tracker in /*) ;; *) tracker=$OLDPWD/$tracker ;; esac
case $results in /* | "") ;; *) results=$OLDPWD/$results ;; esac

# go BACKEND OPTIONS PROBLEM...: one worker, one file of JSON
n=0
go() {
	local backend=$1 options=$2
	shift 2
	n=$((n + 1))
	printf '%s\n' "$@" >"$work/$n.asked"
	echo "$backend $options" >"$work/$n.what"
	# shellcheck disable=SC2086   # options are words
	timeout 240 "$tracker" run "$backend" $options --seconds=0.05 --format=json "${@#\?}" \
		>"$work/$n.json" 2>"$work/$n.err"
}

gemm() {                        # gemm SIZES TYPES: all transposes
	local ta tb
	for ta in n t; do
		for tb in n t; do
			echo "gemm:$1,$2,ta=$ta,tb=$tb"
		done
	done
}

report() {
python3 - "$work" "$results" <<'PY'
import json, os, sys

work, results = sys.argv[1], sys.argv[2]
bad, count, rows = 0, 0, []
n = 0
while os.path.exists(f"{work}/{n + 1}.what"):
    n += 1
    what = open(f"{work}/{n}.what").read().strip()
    asked = open(f"{work}/{n}.asked").read().split()
    print(f"\n== {what}")
    try:
        answers = json.load(open(f"{work}/{n}.json"))
    except ValueError:
        answers = []
    if len(answers) != len(asked):
        bad += 1
        print(
            f"{len(answers)} answers to {len(asked)} problems:",
            open(f"{work}/{n}.err").read()[-2000:],
        )
    for text, a in zip(asked, answers):
        r = a["result"] or {}
        v, plan = r.get("verify") or {}, r.get("plan") or {}
        outcome, median = a["outcome"], r.get("median")
        fine = (
            outcome in ("ok", "unstable", "throttled")
            and v.get("passed")
            or outcome == "unsupported"
            and text.startswith("?")
        )
        bad += not fine
        count += 1
        rate = ""
        if median:
            rate = (
                f"{r['flops'] / median / 1e3:9.2f} TFLOP/s"
                if r["flops"]
                else f"{r['bytes'] / median:9.1f} GB/s   "
            )
        check = (
            f"{v['max_error']:.1e} of {v['tolerance']:.1e}"
            if v.get("done") and v.get("max_error") is not None
            else ""
        )
        print(
            f"{'' if fine else 'BAD '}{outcome:11} {a['problem']:110}"
            f" {'%10.2f us' % (median / 1e3) if median else '':13} {rate:18} {check:20}"
            f" {plan.get('algorithm') or ''} {a['message']}".rstrip()
        )
        rows.append({"what": what, **a})
if results:
    json.dump(rows, open(results, "w"))
print(f"\n{count} problems, {bad} bad")
sys.exit(1 if bad or not count else 0)
PY
}
