#!/usr/bin/env python3
"""Pairs as `tracker confirm` measures them, of one build against itself (does the ratio stay at 1?)
and of a kernel that is slowed by 1 % on purpose.

  tests/gpu/paired.py --tracker build/tracker --pairs 30 --out paired.json
  tests/gpu/paired.py --tracker build/tracker --pairs 30 --only '1024^3,4096^3'
  tests/gpu/paired.py --tracker build/tracker --pairs 30 --apart
--only: parts of names, or slowed; --apart: one process after the other.

Each pair is two fresh workers whose bursts take turns (docs/reference/worker-protocol.md,
`device_token`), in an order that alternates as old-new-new-old.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import time

import gpu_runs

SAME = [
    p
    for p in gpu_runs.PROBLEMS
    if p[0] in ("gemm 1024^3 bf16", "gemm 4096^3 bf16", "gemm 8192^3 bf16", "attention S2048 D128")
]
SLOWED = ("fma, one slowed by 1 %", "hostile_cuda", "fma:count=8000000000,dtype=f32")


class Worker:
    """A fresh worker process with one job; `end`: its end of the socket to the other one of its
    pair."""

    def __init__(self, o, backend, problem, options, end=None):
        folder = os.path.join(os.path.dirname(os.path.abspath(o.tracker)), "backends")
        request = {
            "id": 1,
            "cmd": "measure",
            "device_layer": f"{folder}/tk_device_{o.device}.so",
            "device_index": 0,
            "threads": 4,
            "backend": f"{folder}/tk_backend_{backend}.so",
            "options": options,
            "problem": problem,
            "mode": o.mode,
            "seed": 1,
            "measure_s": 0.25,
            "relative_half_width": 0.01,
            "confidence": 0.95,
            "min_samples": 10,
            "max_samples": 1000,
            "verify": False,
        }
        if end:
            request.update(
                device_token=end.fileno(), device_token_start_s=120, device_token_wait_s=15
            )
        self.process = subprocess.Popen(
            [o.tracker, "worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            pass_fds=[end.fileno()] if end else [],
        )
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def result(self):
        """The answer, and the end of the process."""
        self.process.stdout.readline()
        line = self.process.stdout.readline()
        self.process.stdin.close()
        self.process.wait()
        answer = json.loads(line) if line else {"ok": False, "message": "the worker died"}
        result = answer.get("result", {})
        if "median" not in result:
            raise SystemExit(f"no timing: {answer.get('message') or result.get('message')}")
        return result


def pair(o, backend, problem, options):
    """The results of two workers, in the order of their options."""
    if o.apart:
        return [Worker(o, backend, problem, x).result() for x in options]
    ends = socket.socketpair()
    ends[1].send(b"b")
    with ends[0], ends[1]:  # closed here as soon as the workers have them
        workers = [Worker(o, backend, problem, x, end) for x, end in zip(options, ends)]
    return [w.result() for w in workers]


def pairs_of(o, backend, problem, old, new, until):
    """As many pairs as fit, [old, new] each, and the seconds that one took."""
    done, took = [], []
    for i in range(o.pairs):
        began = time.monotonic()
        if began > until:
            break
        swapped = i % 4 in (1, 2)
        got = pair(o, backend, problem, (new, old) if swapped else (old, new))
        done.append(got[::-1] if swapped else got)
        took.append(time.monotonic() - began)
    return done, statistics.median(took) if took else None


def report(o, name, measured, want, within):
    done, took = measured
    if not done:
        print(f"{name}: nothing could be measured")
        return {"name": name, "n": 0}
    ratios = [b["median"] / a["median"] for a, b in done]
    good = sum(abs(r - want) <= within for r in ratios)
    deviation = statistics.stdev(ratios) if len(ratios) > 1 else 0
    print(
        f"{name:34} ratio {statistics.median(ratios):.5f}  least {min(ratios):.5f}  most"
        f" {max(ratios):.5f}  deviation {deviation:.3%}  within {within:.3%} of {want}: {good} of"
        f" {len(ratios)}  {took:.2f} s a pair",
        flush=True,
    )
    out = {
        "name": name,
        "n": len(ratios),
        "good": good,
        "within": within,
        "expected": want,
        "median": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "deviation": deviation,
        "median_ns": statistics.median(a["median"] for a, _ in done),
        "samples": statistics.median(r["n"] for both in done for r in both),
        "rest_ms": statistics.median(r["idle_gap_ns"] for both in done for r in both) / 1e6,
        "clock_mhz": statistics.median(r["clock_mhz"] or 0 for both in done for r in both),
        "throttled": sum(r["throttled_samples"] for both in done for r in both),
        "pair_s": took,
        "ratios": [round(r, 6) for r in ratios],
    }
    if o.samples:
        out["medians_ns"] = [[r["median"] for r in both] for both in done]
        out["samples_ns"] = [[[round(x, 2) for x in r["samples"]] for r in both] for both in done]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument(
        "--only",
        default="",
        help="parts of names, with commas between; slowed: the kernel that is slowed on purpose",
    )
    parser.add_argument("--mode", default="paced")
    parser.add_argument(
        "--device",
        default="cuda",
        help="a device layer; with --backend=null the script itself can be tried on null",
    )
    parser.add_argument("--backend", help="instead of the one of each problem")
    parser.add_argument("--apart", action="store_true", help="one process after the other")
    parser.add_argument("--samples", action="store_true", help="all samples into the file")
    parser.add_argument("--budget", type=float, default=300)
    parser.add_argument("--out", default="paired.json")
    o = parser.parse_args()
    until = time.monotonic() + o.budget
    out = {"machine": gpu_runs.machine(), "mode": o.mode, "apart": o.apart, "rows": []}
    wanted = [w for w in o.only.split(",") if w]
    if not wanted or "slowed" in wanted:
        name, backend, problem = SLOWED
        measured = pairs_of(o, o.backend or backend, problem, "", "slow=1.01", until)
        row = report(o, name, measured, 1.01, 0.004)
        row["told_apart"] = sum(r > 1.005 for r in row.get("ratios", []))
        print(f"told apart (over 1.005): {row['told_apart']} of {row['n']}", flush=True)
        out["rows"].append(row)
    for name, backend, problem in SAME:
        if not wanted or any(w in name for w in wanted):
            out["rows"].append(
                report(
                    o,
                    name + ", the same twice",
                    pairs_of(o, o.backend or backend, problem, "", "", until),
                    1,
                    0.002,
                )
            )
            gpu_runs.save(o.out, out)
    gpu_runs.save(o.out, out)


if __name__ == "__main__":
    main()
