#!/usr/bin/env python3
# Written for this project, under its licence (LICENSE); no data and no code of others.
"""data_js_csv.py data.js > history.csv - the benches of a data.js of github-action-benchmark as
series_id,day,commit,value; a day is the place of the commit in the file. Where a name comes twice
at a commit, or in several suites, the first one counts.
"""

import csv, json, sys

text = open(sys.argv[1], encoding="utf-8").read()
entries = json.loads(text[text.index("{") :].rstrip().rstrip(";"))["entries"]
w = csv.writer(sys.stdout, lineterminator="\n")
w.writerow(["series_id", "day", "commit", "value"])
rows, seen = [], set()
for suite in entries.values():
    for day, entry in enumerate(suite):
        for b in entry["benches"]:
            key = (b["name"], day)
            if key not in seen and isinstance(b["value"], (int, float)):
                seen.add(key)
                rows.append((b["name"], day, entry["commit"]["id"][:12], repr(b["value"])))
w.writerows(sorted(rows, key=lambda r: r[:2]))
