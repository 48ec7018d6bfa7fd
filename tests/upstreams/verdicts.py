#!/usr/bin/env python3
"""Prints the verdicts of `tracker diff --all --format=json` and checks them: what regressed is of
one upstream and has its commit, enough series did, and enough of the others are the same. Exit code
1 where it is otherwise."""

import argparse
import json

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("diff")
parser.add_argument("--upstream", required=True, help="the only one that may have regressed")
parser.add_argument("--bad", required=True, help="the commit that did it")
parser.add_argument(
    "--problem", default="", help="beginning of the problems that may have regressed"
)
parser.add_argument("--regressed", type=int, required=True, help="at least so many regressed")
parser.add_argument("--same", type=int, required=True, help="at least so many are the same")
options = parser.parse_args()

with open(options.diff) as f:
    rows = json.load(f)["rows"]
for r in sorted(rows, key=lambda r: (r["status"], r["upstream"], r["problem"])):
    change = "" if r["change"] is None else f'{r["change"]["value"]:+8.1%}'
    print(
        f'{r["status"]:12} {change:9} {r["upstream"]:9} {r["problem"]:50.50}'
        f' {r["bad_rev"] or "":.12}'
    )
regressed = [r for r in rows if r["status"] == "regressed"]
wrong = [
    r
    for r in regressed
    if r["upstream"] != options.upstream
    or not r["problem"].startswith(options.problem)
    or not (r["bad_rev"] or "").startswith(options.bad)
]
same = [r for r in rows if r["status"] == "same"]
others = [
    r
    for r in rows
    if r["upstream"] != options.upstream and r["status"] not in ("same", "unsupported")
]
print(
    f"{len(regressed)} regressed, {len(same)} same of {len(rows)}; wrongly regressed: {len(wrong)};"
    f" of other upstreams not the same: {len(others)}"
)
raise SystemExit(
    bool(len(regressed) < options.regressed or len(same) < options.same or wrong or others)
)
