#!/bin/bash
# A backend that works only in its first process: a new process finds it, also where its results are
# right and only its times are not.
# shellcheck disable=SC1090,SC2154
. "$TK_LIB"

mkdir backends && cp "$TRACKER_BACKENDS"/tk_*_cpu.so \
	"$TRACKER_BACKENDS"/tk_backend_{control,ceiling}.so "$TK_HOSTILE" backends/
export TRACKER_BACKENDS=$PWD/backends
cat >suite.yml <<'YML'
title: two small ones
source: made for this test
problems:
  - gemm: { m: [64, 96], n: 64, k: 64 }
YML

night() { # DAY SHARE; the backends leave their marks outside of a sandbox
	rm -f -- *.first
	cat >tracker.yml <<YML
machine: testbed
devices: [cpu]
suites: [suite.yml]
sandbox: off
budgets: { job: 60s, measure: 50ms, confirm: 0s }
measure: { threads: 1, recheck: $2 }
control: { every: 0 }
upstreams:
  - { name: wrong, kind: system, adapter: hostile, options: "cheat=wrong,first=$PWD/wrong.first" }
  - { name: slow, kind: system, adapter: hostile, options: "cheat=six_times,first=$PWD/slow.first" }
  - { name: honest, kind: system, adapter: hostile }
YML
	TRACKER_NOW=2026-11-$1T03:00:00Z run tracker nightly --no-site
	TRACKER_NOW=2026-11-$1T03:00:00Z tracker db export >history
}

# DAY UPSTREAM EXPRESSION, of each of the two runs `r` with the attributes `a` and the time `ns`
runs() {
	python3 - "$@" <<'PYTHON' || fail "runs of $2: expected: $3"
import datetime, json, sys
day, upstream, expression = sys.argv[1:]
rows = [json.loads(line) for line in open("history")]
uid = {r["name"]: r["uid"] for r in rows if r["table"] == "upstream"}[upstream]
revisions = {r["uid"] for r in rows if r["table"] == "revision" and r["upstream"] == uid}
builds = {r["uid"] for r in rows if r["table"] == "build" and r["revision"] in revisions}
runs = [r for r in rows if r["table"] == "run" and r["build"] in builds
        and datetime.datetime.fromtimestamp(r["as_of_s"], datetime.timezone.utc).day == int(day)]
ns = {r["run"]: r["value"] for r in rows if r["table"] == "measurement"}
good = [bool(eval(expression, {"r": r, "a": json.loads(r["attributes"]), "ns": ns.get(r["uid"])}))
        for r in runs]
print(*runs, sep="\n", file=sys.stderr)
sys.exit(good != [True, True])
PYTHON
}

timed='r["outcome"] in ("ok", "unstable")'

night 10 0%
assert_code 0
judged="'recheck' not in a and a['referee']['agrees']"
for upstream in wrong slow honest; do runs 10 $upstream "$timed and $judged"; done

night 11 100%
assert_code 1
assert_out ", 2 wrong"
assert_err "wrong: in a new process: C[0][0][0]: got"
assert_err_matches "warning: testbed.cpu.slow.*: a new process took"
runs 11 wrong 'r["outcome"] == "wrong" and r["message"].startswith("in a new process: ") and a["median"] > 0'
runs 11 wrong 'a["recheck"]["outcome"] == "wrong" and a["recheck"]["check_seed"] != a["check_seed"] and not a["verify"]["passed"]'
runs 11 slow 'r["outcome"] == "unstable" and "a new process took" in r["message"]'
runs 11 slow 'a["recheck"]["median"] > 2 * ns and a["recheck"]["n"] <= 20'
runs 11 honest \
	"$timed and a['recheck']['outcome'] in ('ok', 'unstable') and a['recheck']['median'] > 0"

# What a new process found is an alert of the same night, and no point.
TRACKER_NOW=2026-11-11T03:10:00Z run tracker diff --since=1h --format=json --all
assert_json 'd["summary"]["counts"]["newly-failed"] == 2'
