#!/usr/bin/env python3
"""Races of `tracker tune` on a GPU against exhaustive searches: the same winner, for how many runs?
A/B runs of one winner at the end.

usage: tests/gpu/tune.py TRACKER [RESULTS.json [SECONDS]]
All of it takes at most SECONDS (default 72) and the start of a few processes.
"""

import json
import subprocess
import sys

SHAPES = [
    "gemm:m=16,n=14336,k=4096,a=bf16",
    "gemm:m=16,n=4096,k=4096,a=bf16",
    "gemm:m=128,n=4096,k=4096,a=bf16",
    "gemm:m=1024,n=1024,k=1024,a=bf16",
    "gemm:m=4096,n=4096,k=4096,a=bf16",
]
# backend, shares of the time: races, exhaustive searches
SEARCHES = [("cublaslt", 0.16, 0.26), ("hopper_gemm", 0.10, 0.14)]
CONFIRMED = [("cublaslt", SHAPES[0], 0.17), ("hopper_gemm", SHAPES[0], 0.17)]


def tune(tracker, backend, problems, seconds, *more):
    done = subprocess.run(
        [
            tracker,
            "tune",
            backend,
            *problems,
            "--mode=paced",
            f"--budget={seconds:.1f}s",
            "--format=json",
            "--no-store",
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if not done.stdout.strip():
        raise SystemExit(f"tracker tune {backend}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def time_of(row, config):
    return next((c["median_ns"] for c in row["candidates"] if c["config"] == config), None)


def compare(backend, raced, full):
    """One line per shape. How much slower the winner of the race is than that of the exhaustive
    search, by the exhaustive search's times."""
    for a, b in zip(raced["rows"], full["rows"]):
        best, chosen, default = (
            time_of(b, name)
            for name in (
                b["winner"],
                a["winner"],
                b["candidates"][0]["config"] if b["candidates"] else None,
            )
        )
        loss = f"{(chosen / best - 1) * 100:+.2f} %" if best and chosen else "-"
        gain = f"{(default / best - 1) * 100:+.1f} %" if best and default else "-"
        flags = " ".join(
            f"{name} cut short"
            for name, row in (("race", a), ("exhaustive", b))
            if row["budget_spent"]
        )
        print(
            f"{backend:12} {a['title']:34} default {(default or 0) / 1e3:8.2f} us {gain:>8} | race"
            f" {a['winner']} exhaustive {b['winner']} loss {loss} | runs {a['evaluations']} of"
            f" {b['evaluations']} {flags}",
            flush=True,
        )


def main():
    tracker = sys.argv[1]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 72
    results = []
    for backend, race, full in SEARCHES:
        raced = tune(tracker, backend, SHAPES, race * seconds, "--no-ab")
        exhaustive = tune(tracker, backend, SHAPES, full * seconds, "--no-ab", "--exhaustive")
        results += [raced, exhaustive]
        compare(backend, raced, exhaustive)
    for backend, problem, share in CONFIRMED:
        confirmed = tune(tracker, backend, [problem], share * seconds)
        results.append(confirmed)
        for row in confirmed["rows"]:
            print(
                f"A/B {backend:12} {row['title']:30} {row['verdict']} {row['winner']}"
                f" {row['change']}",
                flush=True,
            )
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
