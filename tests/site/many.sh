#!/bin/bash
# Pages stay readable with many series: many.sh MAKE_HISTORY TRACKER
set -eu
make=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
	echo "$1" >&2
	exit 1
}
"$make" h.db --series=3200 --nights=3 >/dev/null
TRACKER_NOW=@1700300000 TRACKER_ASSETS='' "$tracker" --db=h.db site --out=site >/dev/null
for page in site/roofline/*.html; do
	data=site/data/roofline-$(basename "$page" .html).js
	points=$(grep -o '"efficiency":' "$data" | wc -l) rows=$(grep -c '<tr data-type=' "$page")
	[ "$points" -gt 500 ] || fail "$data has $points points: too few for this test"
	[ "$rows" = 200 ] || fail "$page lists $rows of $points"
	grep -q "The 100 highest and the 100 lowest are listed; $((points - 200)) more" "$page" ||
		fail "$page does not say how many rows it leaves out"
	if grep -q '"trail":\[\[[^]]*\],' "$data"; then fail "$data has whole trails"; fi
	grep -q '"trail":\[\[' "$data" || fail "$data has no trails"
done
bytes=$(gzip -9c site/index.html | wc -c)
[ "$bytes" -le 40960 ] || fail "the overview is $bytes bytes compressed"
if grep -q '<tr data-type=' site/lists/index.html; then
	fail "the list of 3,200 series is one page"
fi
for device in 0 1; do
	all=site/kernels/gemm@bench.null-$device.html
	[ "$(grep -c '<th scope="row">gemm .*</th>$' "$all")" = 106 ] ||
		fail "$all does not have all 106 problems"
	[ "$(grep -c '<th scope="row">gemm .*</tr>$' "$all")" = 106 ] ||
		fail "$all does not have the whole dispatch table"
	grep -q "href=\"../kernels/gemm@bench.null-$device.html\">All 106 problems" \
		site/kernels/gemm.html || fail "kernels/gemm.html does not lead to $all"
done
[ "$(grep -c '<th scope="row">gemm .*</th>$' site/kernels/gemm.html)" = 192 ] ||
	fail "kernels/gemm.html does not have 96 problems of each device"
! grep -q '<th scope="row">gemm .*</tr>$' site/kernels/gemm.html ||
	fail "kernels/gemm.html has a long dispatch table"
