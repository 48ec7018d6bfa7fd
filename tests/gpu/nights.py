#!/usr/bin/env python3
"""Three nights of the core suites with every vendor backend: the first in full, the others as far
as their time goes, each in an order of its own.

  tests/gpu/nights.py --tracker build/tracker --db h200.db --out nights.json
  tests/gpu/nights.py --devices cuda -- --split          # all GPUs share the problems

What is left in the folder: the history, tracker.yml and the suites."""

import argparse
import collections
import json
import os
import subprocess
import time

import gpu_runs

CONFIG = """machine: MACHINE
devices: ["DEVICES"]
suites: [SUITES]
upstreams:
UPSTREAMSmeasure: {modes: [MODES], precision: 0.5%, launch_cost: yes}
budgets: {measure: 300ms, job: 60s, job_memory: 120GiB, night: BUDGETs}
control: {problem: "gemm:m=2048,n=2048,k=2048,a=f32", every: 20}
paths: {db: DATABASE}
"""
# What the core suites do not have: attention by batch, and the f32 rows of the table (4, S, 8,
# 256).
TABLES = """title: reference tables
problems:
  - group: by-batch
    source: FlashAttention-3 sweep, by batch instead of length
    attention: { b: [1, 2, 4, 8, 16, 32], h: 16, sq: [512, 4096], d: 128, causal: yes, dtype: f16 }
  - group: b4-h8-d256-f32
    source: "the (4, S, 8, 256) table, native attention in f32"
    attention: { b: 4, sq: [512, 1024, 2048, 4096], h: 8, d: 256, causal: yes, dtype: f32 }
"""


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def night(o, name, suites, modes, budget_s):
    write(
        "tracker.yml",
        CONFIG.replace("SUITES", suites)
        .replace("MODES", modes)
        .replace("BUDGET", str(int(budget_s)))
        .replace("DATABASE", o.db)
        .replace("DEVICES", o.devices)
        .replace("MACHINE", o.machine)
        .replace(
            "UPSTREAMS",
            "".join(
                f"  - {{name: {b}, kind: system, backends: [{b}]}}\n" for b in o.backends.split(",")
            ),
        ),
    )
    begin = time.monotonic()
    done = subprocess.run(
        [os.path.abspath(o.tracker), "nightly", "--no-site", *o.more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wall = time.monotonic() - begin
    warnings = collections.Counter(
        line.strip()[:160] for line in done.stderr.splitlines() if "warning" in line
    )
    print(
        f"--- {name}: exit code {done.returncode}, {wall:.0f} s\n{done.stdout.strip()}\n"
        + "\n".join(f"{n} x {w}" for w, n in warnings.most_common(8)),
        flush=True,
    )
    return {
        "name": name,
        "exit_code": done.returncode,
        "wall_s": wall,
        "modes": modes,
        "suites": suites,
    }


def account(o, nights):
    """Where the wall time of each night went, from what the runs say of themselves."""
    text = subprocess.run(
        [os.path.abspath(o.tracker), "db", "export"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    order = sorted((r for r in rows if r["table"] == "night"), key=lambda r: r["as_of_s"])
    time = {r["uid"] for r in rows if r["table"] == "series" and r["metric"] == "time"}
    points = {r["run"]: r for r in rows if r["table"] == "measurement" and r["series"] in time}
    for row, out in zip(order, nights):
        seconds, outcomes = collections.Counter(), collections.Counter()
        for r in rows:
            if r["table"] != "run" or r["night"] != row["uid"]:
                continue
            a = json.loads(r["attributes"])
            outcomes[r["outcome"]] += 1
            seconds["unsupported" if r["outcome"] == "unsupported" else "measured"] += r["wall_s"]
            for key in ("setup_s", "verify_s", "warmup_s", "measure_s"):
                seconds[key[:-2]] += a.get(key, 0)
            point = points.get(r["uid"], {})
            n = point.get("n", 0)
            seconds["kernel"] += n * a.get("launches_per_sample", 0) * point.get("value", 0) * 1e-9
            seconds["rest"] += n * a.get("idle_gap_ns", 0) * 1e-9
        measured = sum(v for k, v in outcomes.items() if k in ("ok", "unstable", "throttled"))
        out.update(
            {
                "outcomes": dict(outcomes),
                "seconds": {k: round(v, 2) for k, v in seconds.items()},
                "measured_per_minute": measured / out["wall_s"] * 60,
            }
        )
        print(
            out["name"],
            out["outcomes"],
            f"{out['measured_per_minute']:.0f} a minute",
            out["seconds"],
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--db", default="h200.db")
    parser.add_argument("--backends", default="cublas,cublaslt,cudnn,cublas_native")
    parser.add_argument("--machine", default="h200")
    parser.add_argument(
        "--suites",
        default="gemm-core, attention-core, tables.yml",
        help="names and files, with commas between",
    )
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--budget", type=float, default=400, help="seconds for the first night")
    parser.add_argument("--again", type=float, default=40, help="seconds for each of the others")
    parser.add_argument("--out", default="nights.json")
    parser.add_argument("more", nargs="*", help="further options of tracker nightly")
    o = parser.parse_args()
    write("tables.yml", TABLES)
    nights = [
        night(o, name, o.suites, "cuda:paced", budget)
        for name, budget in (("first", o.budget), ("second", o.again), ("third", o.again))
        if budget > 0
    ]
    account(o, nights)
    gpu_runs.save(o.out, {"machine": gpu_runs.machine(), "nights": nights})


if __name__ == "__main__":
    main()
