#!/usr/bin/env python3
# Written for this project, under its licence (LICENSE); no data and no code of others.
"""tcpd_csv.py SERIES_DIR > tcpd.csv - the univariate TCPD series as series_id,day,commit,value
(missing values skipped keep their day)."""

import csv, glob, json, os, sys

w = csv.writer(sys.stdout)
w.writerow(["series_id", "day", "commit", "value"])
for p in sorted(glob.glob(os.path.join(sys.argv[1], "*.json"))):
    d = json.load(open(p))
    if d["n_dim"] != 1:
        continue
    for i, v in enumerate(d["series"][0]["raw"]):
        if v is not None:
            w.writerow([d["name"], i, i, repr(v)])
