#!/usr/bin/env python3
"""usage: referee.py TRACKER [JOBS] [BACKEND] [OPTIONS...]: honest jobs that a referee judges, how
far its time is from the worker's median, and what it costs. 1: it suspected one."""

import collections, json, statistics, subprocess, sys, time

tracker, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
backend, more = sys.argv[3] if len(sys.argv) > 3 else "cpu", sys.argv[4:]
PROBLEMS = [
    "gemm:m=64,n=64,k=64",
    "gemm:m=256,n=256,k=256",
    "gemm:m=512,n=512,k=512,ta=t",
    "gemm:m=16,n=1024,k=1024,a=bf16",
    "attention:b=1,h=4,sq=256,d=64,dtype=f32",
    "attention:b=1,h=2,sq=512,d=64,dtype=bf16,causal=1",
]
GPU = [
    "gemm:m=256,n=256,k=256,a=bf16,tb=t",
    "gemm:m=2048,n=2048,k=2048,a=bf16,tb=t",
    "gemm:m=4096,n=4096,k=4096,a=f16,tb=t",
    "attention:b=4,h=16,sq=2048,d=128,dtype=bf16,causal=1",
]
PROBLEMS = PROBLEMS if backend in ("cpu", "openblas", "onednn", "mkl") else GPU


def run(problems, *options):
    command = [tracker, "run", backend, *problems, "--format=json", *options, *more]
    started = time.monotonic()
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out), time.monotonic() - started


outcomes, refused, ratios, judged_s, plain_s = collections.Counter(), [], [], 0, 0
for n in range(0, jobs, len(PROBLEMS)):
    problems = PROBLEMS[: jobs - n]
    rows, seconds = run(problems, "--referee")
    judged_s += seconds
    plain_s += run(problems)[1]
    for row in rows:
        outcomes[row["outcome"]] += 1
        referee = (row["result"] or {}).get("referee", {})
        if row["outcome"] not in ("ok", "unstable", "throttled", "unsupported"):
            refused.append((row["problem"], row["outcome"], row["message"]))
        if "ns" in referee:
            ratios.append(referee["ns"] / row["result"]["median"])
print(f"{sum(outcomes.values())} jobs: {dict(outcomes)}, {len(refused)} refused")
for problem in refused:
    print(*problem)
if ratios:
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"referee / worker: median {middle:.4f}, quartiles {low:.4f} and {high:.4f}")
print(f"{judged_s:.1f} s with a referee, {plain_s:.1f} s without: x{judged_s / plain_s:.2f}")
sys.exit(bool(refused))
