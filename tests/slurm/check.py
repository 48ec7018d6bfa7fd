#!/usr/bin/env python3
"""Compares nights that several nodes shared with nights of one machine (tests/slurm/run).

usage: check.py SPLIT WHOLE      reads SPLIT.ndjson, SPLIT.diff.json and those of WHOLE

In SPLIT the nodes n1 to n3 share what n4 and the machine of WHOLE measure alone. Each of the three
must have each problem once a night, with the same verdict. Exit code 1: it is not so.
"""

import collections, json, sys


def read(name):
    """The runs of suites, by machine and night, and the verdicts of series without a change of
    their own time, by machine: problem and upstream, count or status."""
    rows = [json.loads(line) for line in open(name + ".ndjson")]
    by_uid = {r["uid"]: r for r in rows if r["table"] in ("night", "machine", "series")}
    runs = collections.defaultdict(collections.Counter)
    for r in rows:
        if r["table"] == "run" and by_uid[r["series"]]["role"] == "suite":
            night, series = by_uid[r["night"]], by_uid[r["series"]]
            machine = by_uid[night["machine"]]["name"]
            runs[group(machine), night["as_of_s"]][series["problem"], series["upstream"]] += 1
    verdicts = collections.defaultdict(dict)
    for row in json.load(open(name + ".diff.json"))["rows"]:
        if row["device"].endswith("null:0") or "null" in row["backend"]:
            verdicts[group(row["machine"])][row["problem"], row["upstream"]] = row["status"]
    return runs, verdicts


def group(machine):
    return "n1 to n3" if machine in ("n1", "n2", "n3") else machine


def main():
    (split, split_verdicts), (whole, whole_verdicts) = read(sys.argv[1]), read(sys.argv[2])
    expected = collections.Counter(next(iter(whole.values())).keys())
    ok = bool(expected) and len(split) == 6
    for (machine, night), runs in sorted(split.items()):
        print(f"{machine}, night {night}: {sum(runs.values())} jobs of {len(expected)}")
        ok = ok and runs == expected
    wanted = next(iter(whole_verdicts.values()))
    print("one machine:", dict(collections.Counter(wanted.values())))
    for machine, verdicts in split_verdicts.items():
        different = {p: (v, wanted.get(p)) for p, v in verdicts.items() if v != wanted.get(p)}
        print(machine, dict(collections.Counter(verdicts.values())), "different:", different)
        ok = ok and not different and len(verdicts) == len(wanted)
    return 0 if ok else 1


sys.exit(main())
