#!/usr/bin/env python3
# Written for this project, under its licence (LICENSE); no data and no code of others.
"""young.py - steps in the first weeks of a machine's series, and how many of them are reported in
time.  stdlib.

  young.py make  --seed 1 --out DIR [--tries 5] [--first 6] [--last 45] [--times 5]
                [--noise 0.01 [0.01]]
  young.py score --truth DIR/truth.json --pred on.json [--nights 4]

make writes DIR/series.csv (series_id,day,value), DIR/meta.csv (series_id,machine) and
DIR/truth.json. For each night b of the step, `tries` machines of 8 series of b + 20 nights: value
100 * exp(N(0, noise)), the first series times 1 + `times` its noise from night b on.  Two figures
of noise: each series has its own between them, log-uniform.  on.json is the output of
  tracker changepoints DIR/series.csv --online --meta=DIR/meta.csv --format=json
A step is found if it is reported within `nights` nights of its level, the first included, with a
first night at most 2 away; any other report is a false alarm.
"""

import argparse, json, math, os, random

SERIES = 8


def make(a):
    r, truth = random.Random(a.seed), {}
    os.makedirs(a.out, exist_ok=True)
    with open(os.path.join(a.out, "series.csv"), "w") as f, open(
        os.path.join(a.out, "meta.csv"), "w"
    ) as meta:
        f.write("series_id,day,value\n")
        meta.write("series_id,machine\n")
        for b in range(a.first, a.last + 1):
            for t in range(a.tries):
                for s in range(SERIES):
                    name = f"b{b}t{t}s{s}"
                    meta.write(f"{name},b{b}t{t}\n")
                    truth[name] = {"n": b + 20, "step": b if s == 0 else None}
                    noise = math.exp(r.uniform(math.log(a.noise[0]), math.log(a.noise[-1])))
                    for day in range(b + 20):
                        level = 1 + a.times * noise if s == 0 and day >= b else 1
                        f.write(f"{name},{day},{100 * level * math.exp(r.gauss(0, noise)):.6g}\n")
    with open(os.path.join(a.out, "truth.json"), "w") as f:
        json.dump(truth, f)


def score(a):
    with open(a.truth) as f:
        truth = json.load(f)
    with open(a.pred) as f:
        pred = json.load(f)
    by, false, nights, late = {}, 0, 0, 0
    for name, t in truth.items():
        step, found = t["step"], None
        for night, index in pred.get(name) or []:
            if step is not None and abs(index - step) <= 2 and night >= step:
                found = night if found is None else found
            else:
                false += 1
        nights += t["n"]
        if step is not None:
            by.setdefault(step, []).append(found is not None and found < step + a.nights)
            late += found is not None and found >= step + a.nights
    steps = sum(map(len, by.values()))
    print(
        json.dumps(
            {
                "steps": steps,
                "found": sum(map(sum, by.values())),
                "late": late,
                "recall": round(sum(map(sum, by.values())) / steps, 4),
                "false_alarms": false,
                "series_nights": nights,
                "false_alarms_per_1000_series_nights": round(1000 * false / nights, 3),
                "by_night": {b: f"{sum(v)}/{len(v)}" for b, v in sorted(by.items())},
                "missed_completely_at": [b for b, v in sorted(by.items()) if not any(v)],
            }
        )
    )


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sub = p.add_subparsers(dest="command", required=True)
    m = sub.add_parser("make")
    m.add_argument("--seed", type=int, required=True)
    m.add_argument("--out", required=True)
    m.add_argument("--tries", type=int, default=5)
    m.add_argument("--first", type=int, default=6)
    m.add_argument("--last", type=int, default=45)
    m.add_argument("--times", type=float, default=5)
    m.add_argument("--noise", type=float, nargs="+", default=[0.01])
    m.set_defaults(do=make)
    s = sub.add_parser("score")
    s.add_argument("--truth", required=True)
    s.add_argument("--pred", required=True)
    s.add_argument("--nights", type=int, default=4)
    s.set_defaults(do=score)
    a = p.parse_args()
    a.do(a)


if __name__ == "__main__":
    main()
