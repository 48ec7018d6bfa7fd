#!/bin/bash
# A map names a fastest backend only where its interval lies below the others': ties.sh SITE_SEED
# TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" h.db demo
site() {
	TRACKER_NOW=2026-11-20T08:00:00Z TRACKER_ASSETS='' "$tracker" --db=h.db -q site \
		--out=site >/dev/null
}
page=site/kernels/attention.html
site
if grep -q 'class="map-tie"' $page; then echo "a tie where no intervals overlap" >&2; exit 1; fi
# one problem with overlapping intervals, one without an interval
python3 - <<'END'
import sqlite3

db = sqlite3.connect("h.db")
newest = "as_of_s=(SELECT max(as_of_s) FROM measurement o WHERE o.series_id=m.series_id)"


def pair(problem):
    return db.execute(
        "SELECT m.series_id, m.value FROM measurement m JOIN series s ON s.id=m.series_id JOIN"
        " problem p ON p.id=s.problem_id WHERE p.title=? AND s.metric='time' AND %s ORDER BY"
        " m.value LIMIT 2" % newest,
        (problem,),
    ).fetchall()


def put(series, value, lo, hi, n):
    db.execute(
        "UPDATE measurement AS m SET value=?, lo=?, hi=?, n=? WHERE series_id=? AND " + newest,
        (value, lo, hi, n, series),
    )


(_, best), (second, _) = pair("attention bf16 B1 H16 S1024 D128")
put(second, best * 1.004, best * 0.998, best * 1.01, 50)
(_, best), (second, value) = pair("attention bf16 B2 H16 S1024 D128")
put(second, value, None, None, 1)
db.commit()
END
site
[ "$(grep -c 'class="map-tie"' $page)" = 2 ] || {
	echo "there are $(grep -c 'class="map-tie"' $page) cells without a clear best, not 2" >&2
	exit 1
}
grep -q '>tie</a> <span class="lead">cutlass · 128x256x64, flash-attention</span>' $page || {
	echo "the tie does not name its backends" >&2
	exit 1
}
grep -q '<span class="lead">1.02×, no interval</span>' $page || {
	echo "a missing interval is not named" >&2
	exit 1
}
