#!/bin/bash
# Imports the measured sample, analyses it and makes a site of it: sample.sh TRACKER SAMPLE_DIR
# FOLDER; the site is FOLDER/site
set -eu
tracker=$(realpath "$1") sample=$(realpath "$2") work=$3
rm -rf "$work"
mkdir -p "$work"
"$sample/show" "$work" "$tracker" >"$work/log" || { cat "$work/log"; exit 1; }
for counts in '5 nights, 30 series, 119 points' \
	'9 nights, 58 series, 140 points' '1 night, 668 series, 715 points' \
	'14 nights, 47 series, 218 points' '43 nights, 42 series, 233 points'; do
	grep -q "$counts" "$work/log" || { cat "$work/log"; exit 1; }
done
grep -q 'class="map"' "$work/site/kernels/attention.html" || {
	echo "attention has no map"
	exit 1
}
grep -q 'data-over="Batch"' "$work/site/kernels/attention.html" || {
	echo "attention has no chart over the batch"
	exit 1
}
grep -q '72 nights of 5 machines' "$work/log" || { cat "$work/log"; exit 1; }
! grep -q 'No night has been analysed' "$work/site/index.html" || {
	echo "the overview does not know the analysed nights"
	exit 1
}
grep -q '>3\.3\.1 → 3\.4\.0<' "$work/site/versions/triton.html" || {
	echo "the versions of Triton have no step to 3.4.0"
	exit 1
}
for page in "$work"/site/roofline/*.html; do
	! grep -q 'No measurement on this device' "$page" || {
		echo "$page has no point, though its device was measured"
		exit 1
	}
done
"$tracker" --db="$work/sample.db" export >"$work/all.ndjson"
"$tracker" --db="$work/again.db" import "$work/all.ndjson" >"$work/log" 2>&1
"$tracker" --db="$work/again.db" site --out="$work/again" >>"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
grep -q 'No night has been analysed' "$work/again/index.html" || {
	echo "the overview does not ask to analyse imported nights"
	exit 1
}
