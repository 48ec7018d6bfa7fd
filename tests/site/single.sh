#!/bin/bash
# Series with one sample, or with overlapping intervals, are never the best: single.sh SITE_SEED
# TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" tiny.db tiny
"$tracker" --db=tiny.db export >tiny.ndjson
made() { # NAME PYTHON: a site of the first night, with measurements changed by PYTHON
	python3 -c 'import json, sys
for line in sys.stdin:
    run = json.loads(line)
    m = run["measurement"]
    m and m.pop("checksum", None)  # of the values before they are changed
    if run["night"]["as_of_s"] < 1790100000:
        exec(sys.argv[1])
        print(json.dumps(run))' "$2" <tiny.ndjson >"$1.ndjson"
	"$tracker" --db="$1.db" import "$1.ndjson" >/dev/null 2>&1
	env TRACKER_ASSETS= TRACKER_NOW=2026-09-25T08:00:00Z "$tracker" --db="$1.db" \
		site --out="$1" >/dev/null
}
fail() { echo "$1"; exit 1; }
made clear pass
grep -q '>best<' clear/kernels/gemm.html ||
	fail "800 against 1200 us with narrow intervals: one is best"
grep -qE '\[[0-9]+,[0-9]+,[0-9]+\],0,0\]' clear/data/compare-0.js ||
	fail "a measurement without its interval"
made wide 'm.update(lo=m["value"] / 2, hi=m["value"] * 2)'
if grep -q '>best<' wide/kernels/gemm.html; then fail "best, though the intervals overlap"; fi
grep -q '>1.50×<' wide/kernels/gemm.html || fail "the ratio stays"
made single 'm.update(lo=m["value"], hi=m["value"], n=1)'
if grep -q '>best<' single/kernels/gemm.html; then fail "best, by one sample"; fi
if grep -rlF '±0.0' single --include='*.html'; then fail "one sample has an interval"; fi
grep -qE '\[[0-9]+\],0,0\]' single/data/compare-0.js ||
	fail "one sample has an interval in the comparison"
shown=$("$tracker" --db=single.db show lab.cpu.openblas.gemm-f32-512x512x512-nn.cold)
[[ $shown == *openblas* && $shown == *µs* ]] || fail "show: not this series: $shown"
[[ $shown != *±0.0* ]] || fail "show: an interval"
