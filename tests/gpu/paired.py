#!/usr/bin/env python3
"""Two builds measured alternately in fresh processes: the same one twice (does the ratio stay at 1?), and one that is slowed by 1 % on purpose.

  tests/gpu/paired.py --tracker build/tracker --pairs 30 --out paired.json
  tests/gpu/paired.py --tracker build/tracker --pairs 30 --only '1024^3,4096^3'     # parts of names, or slowed
"""
import argparse
import statistics
import time

import gpu_runs

SAME = [p for p in gpu_runs.PROBLEMS if p[0] in ("gemm 1024^3 bf16", "gemm 4096^3 bf16", "gemm 8192^3 bf16", "attention S2048 D128")]
SLOWED = "fma:count=8000000000,dtype=f32"


def one(tracker, backend, problems, *more):
    answers, _ = gpu_runs.tracker_run(tracker, backend, problems, "paced", *more)
    return {p: a["result"]["median"] for p, a in answers.items() if a["result"] and "median" in a["result"]}


def pairs_of(tracker, backend, problems, first, second, pairs, until):
    ratios = {p: [] for p in problems}
    for i in range(pairs):
        if time.monotonic() > until:
            break
        order = (first, second) if i % 2 == 0 else (second, first)
        got = [one(tracker, backend, problems, *options) for options in order]
        if i % 2:
            got.reverse()
        for p in problems:
            if p in got[0] and p in got[1]:
                ratios[p].append(got[1][p] / got[0][p])
    return ratios


def report(name, ratios, want, within):
    if not ratios:
        print(f"{name}: nothing could be measured")
        return {"name": name, "n": 0}
    good = sum(abs(r - want) <= within for r in ratios)
    print(f"{name:34} ratio {statistics.median(ratios):.5f}  least {min(ratios):.5f}  most {max(ratios):.5f}  within {within:.3%} of {want}: {good} of {len(ratios)}",
          flush=True)
    return {"name": name, "n": len(ratios), "good": good, "within": within, "expected": want, "median": statistics.median(ratios),
            "least": min(ratios), "most": max(ratios), "ratios": [round(r, 6) for r in ratios]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--only", default="", help="parts of names, with commas between; slowed: the kernel that is slowed on purpose")
    parser.add_argument("--budget", type=float, default=300)
    parser.add_argument("--out", default="paired.json")
    o = parser.parse_args()
    until = time.monotonic() + o.budget
    out = {"machine": gpu_runs.machine(), "rows": []}
    wanted = [w for w in o.only.split(",") if w]
    chosen = [p for p in SAME if not wanted or any(w in p[0] for w in wanted)]
    slow = pairs_of(o.tracker, "hostile_cuda", [SLOWED], [], ["--options=slow=1.01"], o.pairs, until) if not wanted or "slowed" in wanted else {}
    for ratios in slow.values():
        out["rows"].append(report("fma, one slowed by 1 %", ratios, 1.01, 0.004))
        out["rows"][-1]["told_apart"] = sum(r > 1.005 for r in ratios)
        print(f"told apart (over 1.005): {out['rows'][-1]['told_apart']} of {len(ratios)}")
    for backend, problems in gpu_runs.by_backend(chosen).items():
        ratios = pairs_of(o.tracker, backend, [p for _, p in problems], [], [], o.pairs, until)
        for name, problem in problems:
            out["rows"].append(report(name + ", the same twice", ratios[problem], 1, 0.002))
    gpu_runs.save(o.out, out)


if __name__ == "__main__":
    main()
