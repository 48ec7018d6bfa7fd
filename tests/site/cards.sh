#!/bin/bash
# Devices of one model are ranked together where they are comparable: cards.sh SITE_SEED TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" h.db fleet
cat >edit.py <<'END'
import sqlite3

db = sqlite3.connect("h.db")


# moves the newest run of a series into another environment of its device
def move(series, uid, old, new):
    run, environment = db.execute(
        "SELECT r.id, r.environment_id FROM run r JOIN series s ON s.id=r.series_id WHERE s.slug=?"
        " ORDER BY r.id DESC LIMIT 1",
        (series,),
    ).fetchone()
    db.execute(
        "INSERT INTO environment(uid, device_id, attributes) SELECT ?, device_id,"
        " replace(attributes, ?, ?) FROM environment WHERE id=?",
        (uid, old, new, environment),
    )
    (moved,) = db.execute("SELECT id FROM environment WHERE uid=?", (uid,)).fetchone()
    db.execute("UPDATE run SET environment_id=? WHERE id=?", (moved, run))
    db.execute("UPDATE measurement SET environment_id=? WHERE run_id=?", (moved, run))
    return run


names = [s for (s,) in db.execute("SELECT slug FROM series WHERE slug LIKE 'h200-node-2%1024%'")]
(cublas,) = [s for s in names if "cublas" in s]
(cutlass,) = [s for s in names if "cutlass" in s]
# another process does not matter, another clock does
move(cublas, "e1", '"ecc"', '"other_processes":1,"ecc"')
run = move(cutlass, "e2", '"max_clock_mhz":1980', '"max_clock_mhz":1755')
# what is not compared is not ranked, however fast it was
db.execute("UPDATE measurement SET value=1, lo=1, hi=1 WHERE run_id=?", (run,))
db.commit()
END
python3 edit.py
TRACKER_NOW=2026-09-25T08:00:00Z TRACKER_ASSETS='' "$tracker" --db=h.db -q site --out=site \
	>/dev/null || { echo "no site" >&2; exit 1; }
cat >check.py <<'END'
import glob, html, re

(path,) = glob.glob("site/cards/*.html")
page = html.unescape(open(path, encoding="utf-8").read()).replace("\u00a0", " ")
first, *others = page.split("<section")[1:]
text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", first))
slower = "h200-node-1/h200-0 is 3.0 % slower than h200-node-2/h200-0 on the same revisions (5 timings"
assert slower in text, text
# without a record it is not checked, and an older revision is not compared
assert "h200-node-3/h200-1 has no timing of the revisions of" in text, text
assert "driver 570.124.06; not recorded: maximum clock, " in text, text
rows = [r for r in re.findall(r"<tr>.*?</tr>", first, re.S) if 'class="sub">cu' in r]
assert len(rows) == 6, rows
for row in rows:
    rank = re.search(r'</th><td class="num">(\d)', row).group(1)
    assert rank == ("1" if "cublas" in row else "2"), row
    is_moved = "cutlass" in row and "1024x" in row
    assert row.count("not compared") == 1 + is_moved, row
    assert ("3.0 %" in row) != is_moved, row
assert len(others) == 1, others
assert (
    "Not comparable with h200-node-1/h200-0: driver 560.28.03 instead of 570.124.06, power cap 500"
    " W instead of 700 W." in others[0]
), others[0]
assert "Backends ranked together" not in others[0]
assert "4 devices, 3 comparable" in open("site/machines/index.html", encoding="utf-8").read()
assert "../cards/" in open("site/machines/h200-node-3.html", encoding="utf-8").read()
END
python3 check.py
