#!/bin/bash
# A machine that loses its device is the headline, and no commit is blamed for it: broken.sh
# SITE_SEED TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" h.db demo --no-hostile
cat >lose.py <<'END'
import json, sqlite3

db = sqlite3.connect("h.db")
(night,) = db.execute(
    "SELECT n.id FROM night n JOIN machine m ON m.id=n.machine_id WHERE m.name='h200-node-1' ORDER"
    " BY n.as_of_s DESC LIMIT 1"
).fetchone()
reason = "crashed: the device is lost"
db.execute("UPDATE night SET status='failed' WHERE id=?", (night,))
db.execute(
    "UPDATE verdict SET status='newly-failed', rule='newly-failed', cause='failure', facts=?,"
    " after_value=NULL, change=NULL WHERE night_id=? AND series_id IN (SELECT"
    " series_id FROM run WHERE night_id=? AND outcome='ok')",
    (json.dumps([{"kind": "outcome", "numbers": [0.0] * 4, "text": reason}]), night, night),
)
# regressions would come first
db.execute("UPDATE verdict SET status='same' WHERE status='regressed'")
db.commit()
END
python3 lose.py
TRACKER_NOW=2026-11-20T08:00:00Z TRACKER_ASSETS='' "$tracker" --db=h.db -q site --out=site \
	>/dev/null || { echo "no site" >&2; exit 1; }
cat >check.py <<'END'
import html, re

page = html.unescape(open("site/index.html", encoding="utf-8").read())
headline = re.search(r'<meta name="description" content="([^"]*)">', page).group(1)
assert re.search(
    r"Worst: \d\d series on h200-node-1: crashed: the device is lost\.", headline
), headline
failed = headline.index("h200-node-1: the night failed.")
assert failed < headline.index("Worst:") < headline.index("Incomplete night: epyc-lab."), headline
changes = page.split("What changed</h2>")[1].split("</table>")[0]
rows = [r for r in re.findall(r"<tr.*?</tr>", changes, re.S) if "the device is lost" in r]
assert len(rows) == 1 and "→" not in rows[0], rows
END
python3 check.py
