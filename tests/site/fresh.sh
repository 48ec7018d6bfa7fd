#!/bin/bash
# A site that is updated equals a rebuilt one after changes without a new night: fresh.sh
# MAKE_HISTORY TRACKER Merged verdicts, nights analysed again, triage, a bisection, another title.
set -eu
make=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TRACKER_NOW=@$((1700000000 + 39 * 86400 + 21600)) TRACKER_ASSETS='' USER=jane
"$make" h.db --series=400 --nights=40 --detect >/dev/null
"$tracker" --db=h.db -q detect --since=20d >/dev/null
site() { "$tracker" --db=h.db site "--out=$1" "${@:2}"; }
same() { # AFTER [OPTIONS OF SITE]
	site site "${@:2}" >written
	site rebuilt "${@:2}" >/dev/null
	diff -r -x 'site-state.*' site rebuilt >log || {
		echo "after $1 pages are out of date: $(grep -c '' log) lines, $(head -n 3 log)" >&2
		exit 1
	}
	rm -r rebuilt
}
sql() {
	python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2])
db.commit()' "$@"
}
site site >/dev/null
same nothing
grep -q '(0 written)' written || { cat written; exit 1; }

# two copies with different verdicts, and other descriptions of a build, of an old night are merged,
# twice
cp h.db other.db
past="(SELECT id FROM night ORDER BY as_of_s LIMIT 1 OFFSET 30)"
sql other.db "UPDATE verdict SET status='regressed', reason='zz: from the other copy, with a longer reason than in this one', before_value=1e6, after_value=2e6, change=1 WHERE night_id=$past AND series_id%40=3"
sql other.db "UPDATE build SET message='zz: the other copy says more', toolchain='zz 9.9', wall_s=1e6 WHERE id=(SELECT build_id FROM resolution WHERE night_id=$past LIMIT 1)"
"$tracker" merge h.db other.db -o both.db >/dev/null
mv both.db h.db
site site >/dev/null
"$tracker" --db=h.db merge other.db >/dev/null
same "a merge"
grep -rq 'from the other copy' site/nights || {
	echo "no page has the reason of the other copy" >&2
	exit 1
}
"$tracker" --db=h.db merge other.db >/dev/null
same "a merge that brings nothing"
grep -q '(0 written)' written || { echo "a merge that brings nothing: $(cat written)" >&2; exit 1; }

# triage, and a bisection
sql h.db "INSERT INTO alert(uid,kind,group_uid,machine_id,upstream_id,series_id,night_id,status,opened_s,change,cause,good_revision_id,bad_revision_id,title)
	SELECT 'abcdef0123456789', 'change', 'abcdef0123456789', n.machine_id,
	s.upstream_id, s.id, n.id, 'open', n.as_of_s, 0.07, 'code',
	(SELECT min(id) FROM revision r WHERE r.upstream_id = s.upstream_id),
	(SELECT max(id) FROM revision r WHERE r.upstream_id = s.upstream_id), 'a step'
	FROM series s, night n WHERE n.id=$past LIMIT 1"
same "an alert"
grep -q 'abcdef01' site/alerts.html || { echo "the page of alerts does not have it" >&2; exit 1; }
"$tracker" --db=h.db -q alert ack abcdef01 --note="seen" >/dev/null
same "triage"
grep -q 'seen' site/alerts.html || { echo "the page of alerts does not have the note" >&2; exit 1; }
sql h.db "INSERT INTO bisection(uid,series_id,night_id,good_rev,bad_rev,outcome,first_bad_rev,last_good_rev,subject,author,author_time_s,change,change_lo,change_hi,confidence,build_count,failed_build_count,comparison_count,pair_count,finished_s)
	SELECT 'c', series_id, night_id, g.rev, b.rev, 'found', b.rev, g.rev,
	'the first bad commit', 'jane', 1700000000, 0.07, 0.06, 0.08, 0.99, 3, 0, 3, 40, 1700000000
	FROM alert
	JOIN revision g ON g.id = good_revision_id JOIN revision b ON b.id = bad_revision_id"
same "a bisection"
grep -q 'the first bad commit' site/alerts.html || {
	echo "the page of alerts does not have the first bad commit" >&2
	exit 1
}

# another threshold, title and address
printf 'machine: bench\nthresholds: { min_effect: 20%% }\n' >tracker.yml
"$tracker" --config=tracker.yml --db=h.db -q detect --since=20d >/dev/null
same "another threshold"
same "another title" --title=Other
same "an address" --title=Other --base-url=https://example.org/k
