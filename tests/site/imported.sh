#!/bin/bash
# The site of an imported history that was not analysed says so, and sends to its lists from pages
# that rank: imported.sh TRACKER MAKE_ASV
set -eu
tracker=$(realpath "$1") make=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TRACKER_NOW=@1402000000 TRACKER_ASSETS=''
python3 "$make" asv --files=6 --series=8 --benchmarks=4 --dense >/dev/null
"$tracker" --db=h.db import asv asv/results --upstream=numpy >/dev/null 2>&1
"$tracker" --db=h.db -q site --out=site >/dev/null
expect() { # FILE TEXT
	grep -qF -- "$2" "site/$1" || { echo "site/$1 does not say \"$2\"" >&2; exit 1; }
}
expect index.html 'content="8 series in 6 nights, not analysed yet.'
expect compare.html 'Imported series have <a href="lists/index.html">trends</a> only'
expect kernels/foreign.html 'these series were imported'
"$tracker" --db=h.db -q detect --since=30d >/dev/null
"$tracker" --db=h.db -q site --out=site >/dev/null
! grep -qF 'not analysed yet' site/index.html || { echo "analysed nights are denied" >&2; exit 1; }
