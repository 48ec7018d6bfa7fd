#!/bin/bash
# The measured sample becomes a site, and its records are those that its script makes of the results: sample.sh TRACKER SAMPLE_DIR
set -eu
tracker=$(realpath "$1") sample=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$sample/show" "$work" "$tracker" >"$work/log" || { cat "$work/log"; exit 1; }
for counts in '5 nights, 30 series, 119 points' '3 nights, 242 series, 314 points'; do
	grep -q "$counts" "$work/log" || { cat "$work/log"; exit 1; }
done
grep -q 'class="map"' "$work/site/kernels/attention.html" || { echo "attention has no map"; exit 1; }
command -v python3 >/dev/null || exit 0
python3 "$sample/h200.py" "$sample/../results/h200-vendors.json" >"$work/made"
gzip -dc "$sample/h200.ndjson.gz" | cmp - "$work/made"
