#!/usr/bin/env python3
# Written for this project, under its licence (LICENSE); no data and no code of others.
"""inject.py - plant one step in real benchmark histories (real noise, known change).  stdlib +
numpy.

  inject.py --seed 2 --out DIR --per-source 50 NAME=file.csv.gz [NAME=...]

Every picked series is written twice: "<id>" untouched (control) and "<id>+" with every value from a
random point on multiplied by (1+rel), |rel| in 1,2,3,5,10 %, 80 % slower.  The histories carry
unknown real changes of their own, so alarms on controls are an ALARM RATE, not a false-alarm rate,
and recall is counted only where the control did not already alarm (score.py paired). Needs series
of >= 120 results; the last 365 are used.  Values are times (lower is better). Writes
DIR/series.csv.gz (series_id,day,commit,value,is_change,change_rel; blanks on controls) and
DIR/pairs.json.
"""

import argparse, csv, gzip, io, json, os
import numpy as np


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--per-source", type=int, default=50)
    ap.add_argument("sources", nargs="+")
    a = ap.parse_args()
    r = np.random.Generator(np.random.PCG64(a.seed))
    os.makedirs(a.out, exist_ok=True)
    pairs, rows, k = {}, [], 0
    for src in a.sources:
        name, path = src.split("=", 1)
        D = {}
        with gzip.open(path, "rt", newline="") as f:
            for q in csv.DictReader(f):
                D.setdefault(q["series_id"], []).append((q["commit"], float(q["value"])))
        ids = [
            s
            for s in sorted(D)
            if len(D[s]) >= 120 and min(v for _, v in D[s]) > 0 and len({v for _, v in D[s]}) >= 20
        ]
        ids = [ids[i] for i in sorted(r.permutation(len(ids))[: a.per_source])]
        for s in ids:
            x = D[s][-365:]
            n = len(x)
            c = int(r.integers(60, n - 20))
            m = (0.01, 0.02, 0.03, 0.05, 0.10)[k % 5] * (1 if r.random() < 0.8 else -1)
            k += 1
            sid = "%s:%03d" % (name, k)
            pairs[sid] = dict(n=n, index=c, rel=m, source=name, series=s)
            for i, (cm, v) in enumerate(x):
                rows.append((sid, i, cm, "%.6g" % v, "", ""))
            for i, (cm, v) in enumerate(x):
                rows.append(
                    (
                        sid + "+",
                        i,
                        cm,
                        "%.6g" % (v * (1 + m) if i >= c else v),
                        int(i == c),
                        m if i == c else 0,
                    )
                )
    with gzip.GzipFile(os.path.join(a.out, "series.csv.gz"), "wb", 9, mtime=0) as gz:
        f = io.TextIOWrapper(gz, newline="")
        w = csv.writer(f)
        w.writerow("series_id day commit value is_change change_rel".split())
        w.writerows(rows)
        f.flush()
        f.detach()
    json.dump(
        dict(seed=a.seed, pairs=pairs), open(os.path.join(a.out, "pairs.json"), "w"), indent=0
    )
    print(len(pairs), "pairs", len(rows), "rows")


if __name__ == "__main__":
    main()
