#!/usr/bin/env python3
"""How long `tracker ab` takes for one kernel of about 170 us, and whether it decides rightly: equal
sides are `same`, a planted 1 % is `slower`.

  tests/gpu/ab_speed.py --tracker build/tracker --tries 30 --out ab_speed.json

Aim on an H200: 12 pairs within 12 s, 30 of 30 `same`, 30 of 30 `slower`.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import gpu_runs

CASES = {  # verdict: base, head, problem
    "same": ("cublaslt", "cublaslt", "gemm:m=4096,n=4096,k=4096,a=bf16"),
    "slower": ("hostile_cuda", "hostile_cuda:slow=1.01", "fma:count=5000000000,dtype=f32"),
}


def attempt(o, folder, base, head, problem):
    began = time.monotonic()
    done = subprocess.run(
        [
            os.path.abspath(o.tracker),
            "ab",
            f"--base={base}",
            f"--head={head}",
            "--all",
            "--mode=paced",
            "--devices=cuda:0",
            f"--threshold={o.threshold}",
            "--format=json",
            "--quiet",
            problem,
        ],
        cwd=folder,
        env={**os.environ, "TRACKER_CACHE": os.path.join(folder, "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wall = time.monotonic() - began
    if not done.stdout.strip():
        raise SystemExit(f"tracker ab: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    row = answer["rows"][0]
    return {
        "verdict": row["verdict"],
        "pairs": row["ab_test"]["count"],
        "change": row["ab_test"]["change"],
        "median_ns": row["base"]["value"],
        "seconds": round(wall, 2),
        "message": row.get("message"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--tries", type=int, default=30)
    parser.add_argument("--threshold", default="0.5%")
    parser.add_argument("--only", choices=["same", "slower"])
    parser.add_argument("--budget", type=float, default=540, help="seconds for all of it")
    parser.add_argument("--out", default="ab_speed.json")
    o = parser.parse_args()
    until = time.monotonic() + o.budget
    out = {"machine": gpu_runs.machine(), "threshold": o.threshold, "tries": {}}
    wanted = {k: v for k, v in CASES.items() if o.only in (None, k)}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "tracker.yml"), "w", encoding="utf-8") as config:
            config.write("thresholds: { min_effect_time: 0ns }\n")
        for _ in range(o.tries):
            for verdict, case in wanted.items():
                if time.monotonic() < until:
                    tries = out["tries"].setdefault(verdict, [])
                    tries.append(attempt(o, folder, *case))
                    print(verdict, json.dumps(tries[-1]), flush=True)
    for verdict, tries in out["tries"].items():
        right = sum(t["verdict"] == verdict for t in tries)
        twelve = [t["seconds"] for t in tries if t["pairs"] == 12]
        print(
            f"{verdict}: {right} of {len(tries)} right; {len(twelve)} with 12 pairs,"
            f" {statistics.median(twelve) if twelve else float('nan'):.1f} s (median),"
            f" {max(twelve, default=float('nan')):.1f} s (longest)"
        )
    gpu_runs.save(o.out, out)


if __name__ == "__main__":
    main()
