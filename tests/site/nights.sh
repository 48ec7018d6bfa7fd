#!/bin/bash
# A site that is updated night by night equals a rebuilt one: nights.sh MAKE_HISTORY TRACKER
# Covers pages that are rewritten in turn, nights that bring older points, and killed builds.
set -eu
make=$(realpath "$1") tracker=$(realpath "$2") here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
nights=70
more() {
	"$make" h.db --series=400 --nights="$1" --detect >/dev/null
	nights=$((nights + $1))
}
site() {
	TRACKER_NOW=@$((1700000000 + (nights - 1) * 86400 + 21600)) TRACKER_ASSETS='' "$tracker" \
		--db=h.db site --out="$1"
}
"$make" h.db --series=400 --nights=$nights --detect >/dev/null
site site >/dev/null
fail() {
	echo "$1" >&2
	exit 1
}
written() { sed -n 's/.*(\([0-9]*\) written).*/\1/p'; }
for night in 1 2 3; do
	more 1
	n=$(site site | written)
	if [ "$n" = 0 ] || [ "$n" -gt 500 ]; then fail "night $night: $n files were written"; fi
	[ "$(site site | written)" = 0 ] || fail "night $night was written twice"
done
more 3 # three nights without a build
site site >/dev/null
site rebuilt >/dev/null
node "$here/same.mjs" site rebuilt
rm -r rebuilt
# a build that was killed, and a truncated data file
printf '{"format":2,"unfinished":true}\n' >site/site-state.json
more 1
n=$(site site | written)
[ "$n" -gt 400 ] || fail "an unfinished site was updated in place: $n files written"
more 1
site site >/dev/null
more 1
hot=$(grep -l '"night"' site/data/*.hot.js | head -n 1)
truncate -s -7 "$hot"
site site >/dev/null
tail -c 5 "$hot" | grep -q '});' || fail "$hot is still truncated"
# a data file that is empty after a power failure: checked after a reboot
cold=$(find site/data -name "*.2023.js" | head -n 1)
: >"$cold"
grep -qE '"boot":"[0-9a-f]{64}"' site/site-state.json || fail "the boot is not recorded"
if grep -rqF -e "$(cat /proc/sys/kernel/random/boot_id)" site; then
	fail "the site publishes an identifier of the machine"
fi
sed -i 's/"boot":"[^"]*"/"boot":"another"/' site/site-state.json
site site >/dev/null
[ -s "$cold" ] || fail "$cold is still empty"
# nights that are analysed again
[ "$(site site | written)" = 0 ] || fail "nothing new was written"
"$tracker" --db=h.db -q detect --since=20d >/dev/null
site site >/dev/null
site rebuilt >/dev/null
diff -r -x 'site-state.*' site rebuilt >log || fail "pages show older verdicts: $(head -n 3 log)"
rm -r rebuilt
# a point older than others of its series: of a backfill, or of an existing night
add_point() {
	python3 - h.db "$1" <<'END'
import sqlite3, sys

db, kind = sqlite3.connect(sys.argv[1]), sys.argv[2]
which = (
    "WHERE kind='nightly' ORDER BY as_of_s DESC LIMIT 1"
    if kind == "newest"
    else "ORDER BY as_of_s LIMIT 1 OFFSET 40"
)
night, at, machine = db.execute("SELECT id, as_of_s, machine_id FROM night " + which).fetchone()
series, run = db.execute(
    "SELECT series_id, run_id FROM measurement WHERE night_id=? LIMIT 1 OFFSET 7", (night,)
).fetchone()
uid = {"backfill": "a", "newest": "c", "half": "e"}[kind] * 31


def copy(table, where, **new):
    names = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)]
    row = dict(
        zip(names, db.execute("SELECT * FROM %s WHERE %s" % (table, where)).fetchone()), **new
    )
    if row.get("id", 0) is None:
        del row["id"]
    return db.execute(
        "INSERT INTO %s (%s) VALUES (%s)" % (table, ",".join(row), ",".join("?" * len(row))),
        list(row.values()),
    ).lastrowid


n = (
    copy("night", "id=%d" % night, id=None, uid=uid + "a", kind="backfill", as_of_s=at + 3600)
    if kind == "backfill"
    else night
)
at += 3600 if kind == "backfill" else 0
r = copy("run", "id=%d" % run, id=None, uid=uid + "b", night_id=n, as_of_s=at)
copy("measurement", "run_id=%d" % run, run_id=r, night_id=n, as_of_s=at)
db.commit()
END
}
add_point backfill
site site >/dev/null
site rebuilt >/dev/null
node "$here/same.mjs" site rebuilt | tee log
[ "$(site site | written)" = 0 ] || fail "the backfill was written twice"
grep -q ' 31601 points' log || fail "unexpected number of points"
# the same for the newest night, which was unfinished at the last build; the clock was set back
# since
rm -r rebuilt
sql() {
	python3 -c '
import sqlite3, sys
db = sqlite3.connect("h.db")
db.execute(sys.argv[1])
db.commit()' "$1"
}
newest="id=(SELECT max(id) FROM night WHERE kind='nightly')"
sql "UPDATE night SET status='running', finished_s=NULL WHERE $newest"
site site >/dev/null
add_point newest
sql "UPDATE night SET status='complete', finished_s=started_s-864000 WHERE $newest"
site site >/dev/null
site rebuilt >/dev/null
node "$here/same.mjs" site rebuilt | tee log
grep -q ' 31602 points' log || fail "unexpected number of points"
# a merge into a night that was finished long ago
rm -r rebuilt
add_point half
site site >/dev/null
site rebuilt >/dev/null
node "$here/same.mjs" site rebuilt | tee log
[ "$(site site | written)" = 0 ] || fail "the half of a night was written twice"
grep -q ' 31603 points' log || fail "unexpected number of points"
